#include "memory/place.h"

#include "base/error.h"

/* False: the driver does not know the address. */
static bool ask(cx_driver *driver, CUdeviceptr address, cx_place *out_place)
{
    unsigned int type = 0, managed = 0;
    int ordinal = -2;
    CUdeviceptr base = 0;
    size_t size_bytes = 0;
    cxu_pointer_attribute attributes[] = {CXU_POINTER_MEMORY_TYPE, CXU_POINTER_IS_MANAGED,
                                          CXU_POINTER_DEVICE_ORDINAL, CXU_POINTER_RANGE_START_ADDR,
                                          CXU_POINTER_RANGE_SIZE};
    void *values[] = {&type, &managed, &ordinal, &base, &size_bytes};
    if (driver->table.pointer_get_attributes(5, attributes, values, address) != CXU_SUCCESS || type == 0)
        return false;
    cx_device *device = cx_device_of_native(driver, ordinal);
    if (device == NULL)
        return false;
    *out_place = (cx_place){
        .device = device,
        .kind = managed                      ? CTXRT_MEMORY_MANAGED
                : type == CXU_MEMORYTYPE_HOST ? CTXRT_MEMORY_PINNED
                                              : CTXRT_MEMORY_DEVICE,
        .base = (uintptr_t)base,
        .size_bytes = size_bytes,
    };
    return true;
}

cx_place cx_place_of(const void *pointer)
{
    cx_place place = {.kind = CTXRT_MEMORY_HOST};
    for (int i = cx_driver_count() - 1; i >= 0; i--)
        if (cx_drivers[i].loaded && ask(&cx_drivers[i], (CUdeviceptr)(uintptr_t)pointer, &place))
            break;
    return place;
}

ctxrt_status cx_place_check(const cx_place *place, const void *pointer, size_t size_bytes, const char *what)
{
    uintptr_t address = (uintptr_t)pointer;
    if (size_bytes > UINTPTR_MAX - address)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: %zu bytes from %p run over the end of the address space",
                        what, size_bytes, pointer);
    if (place->device != NULL && place->size_bytes != 0 &&
        size_bytes > place->size_bytes - (address - place->base))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: %zu bytes from %p run over the end of its %zu bytes at %p",
                        what, size_bytes, pointer, place->size_bytes, (void *)place->base);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_pointer_query(const void *pointer, ctxrt_pointer_info *out_info)
{
    if (out_info == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_pointer_query: out_info is NULL");
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    cx_place place = cx_place_of(pointer);
    *out_info = (ctxrt_pointer_info){0};
    if (place.device != NULL)
        *out_info = (ctxrt_pointer_info){
            .known = 1,
            .kind = place.kind,
            .device = place.device->id,
            .base = (void *)place.base,
            .size_bytes = place.size_bytes,
        };
    return CTXRT_SUCCESS;
}
