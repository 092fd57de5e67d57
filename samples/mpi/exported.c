#include "exported.h"

#include "driver.h"

#include <stdint.h>
#include <stdio.h>

static bool good(CUresult result, const char *call, char reason[REASON_BYTES])
{
    const char *name = NULL;
    if (result == CUDA_SUCCESS)
        return true;
    if (cuGetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        name = "an unknown error";
    snprintf(reason, REASON_BYTES, "%s: %s", call, name);
    return false;
}

static CUmemLocation location_of(const ctxrt_device_info *device)
{
    CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->driver_ordinal};
    return location;
}

/* Maps the handle at new addresses, for the device to read and write. */
static bool map(exported *self, const ctxrt_device_info *device, char reason[REASON_BYTES])
{
    CUdeviceptr range = 0;
    CUmemAccessDesc access = {.location = location_of(device),
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (!good(cuMemAddressReserve(&range, self->bytes, 0, 0, 0), "cuMemAddressReserve", reason))
        return false;
    if (good(cuMemMap(range, self->bytes, 0, self->handle, 0), "cuMemMap", reason)) {
        if (good(cuMemSetAccess(range, self->bytes, &access, 1), "cuMemSetAccess", reason)) {
            self->pointer = (void *)(uintptr_t)range;
            return true;
        }
        (void)cuMemUnmap(range, self->bytes);
    }
    (void)cuMemAddressFree(range, self->bytes);
    return false;
}

static bool create(exported *self, const ctxrt_device_info *device, size_t bytes,
                   char reason[REASON_BYTES])
{
    size_t step;
    int supported = 0;
    CUdevice its = 0;
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = location_of(device)};
    if (!good(cuDeviceGet(&its, device->driver_ordinal), "cuDeviceGet", reason) ||
        !good(cuDeviceGetAttribute(
                  &supported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, its),
              "cuDeviceGetAttribute", reason))
        return false;
    if (!supported) {
        snprintf(reason, REASON_BYTES, "the device exports no file descriptors");
        return false;
    }
    if (!good(cuMemGetAllocationGranularity(&step, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
              "cuMemGetAllocationGranularity", reason))
        return false;
    self->bytes = (bytes + step - 1) / step * step;
    return good(cuMemCreate(&self->handle, self->bytes, &properties, 0), "cuMemCreate", reason);
}

bool exported_create(exported *self, const ctxrt_device_info *device, size_t bytes, int *out_file,
                     char reason[REASON_BYTES])
{
    *self = (exported){0};
    if (!create(self, device, bytes, reason))
        return false;
    if (map(self, device, reason) &&
        good(cuMemExportToShareableHandle(out_file, self->handle,
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
             "cuMemExportToShareableHandle", reason))
        return true;
    exported_close(self);
    return false;
}

bool exported_open(exported *self, const ctxrt_device_info *device, size_t bytes, int file,
                   char reason[REASON_BYTES])
{
    *self = (exported){.bytes = bytes};
    if (!good(cuMemImportFromShareableHandle(&self->handle, (void *)(intptr_t)file,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              "cuMemImportFromShareableHandle", reason))
        return false;
    if (map(self, device, reason))
        return true;
    exported_close(self);
    return false;
}

void exported_close(exported *self)
{
    if (self->pointer != NULL) {
        (void)cuMemUnmap((uintptr_t)self->pointer, self->bytes);
        (void)cuMemAddressFree((uintptr_t)self->pointer, self->bytes);
    }
    if (self->handle != 0)
        (void)cuMemRelease(self->handle);
    *self = (exported){0};
}
