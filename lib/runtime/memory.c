#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- device memory ---- */

/* What a call that fails leaves to the program: its variable as it was. The driver's layers see
 * which value that is, and know it when the program uses it all the same. */
static CUdeviceptr left_in(void *const *out_pointer)
{
    return cx_cudart_address(*out_pointer);
}

/* Nothing is allocated for 0 bytes, and that is no error. */
cxr_error cxr_cudaMalloc(void **out_pointer, size_t bytes)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer = 0;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    if (bytes != 0) {
        pointer = left_in(out_pointer);
        error = (cxr_error)driver->mem_alloc(&pointer, bytes);
    }
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaFree(void *pointer)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || pointer == NULL)
        return error;
    return (cxr_error)driver->mem_free(cx_cudart_address(pointer));
}

/* Rows are as wide as the device likes them for any element. */
cxr_error cxr_cudaMallocPitch(void **out_pointer, size_t *out_pitch, size_t width_bytes,
                              size_t height)
{
    enum { ELEMENT_BYTES = 4 };
    const cx_driver_table *driver;
    CUdeviceptr pointer = 0;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL || out_pitch == NULL)
        return CXR_INVALID_VALUE;
    *out_pitch = 0;
    if (width_bytes != 0 && height != 0) {
        pointer = left_in(out_pointer);
        error = (cxr_error)driver->mem_alloc_pitch(&pointer, out_pitch, width_bytes, height,
                                                   ELEMENT_BYTES);
    }
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaMalloc3D(cxr_pitched_pointer *out_pointer, cxr_extent extent)
{
    size_t rows;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return CXR_MEMORY_ALLOCATION;
    cxr_pitched_pointer made = {.width_bytes = extent.width, .height = extent.height};
    cxr_error error = cxr_cudaMallocPitch(&made.pointer, &made.pitch_bytes, extent.width, rows);
    if (error == CXR_SUCCESS)
        *out_pointer = made;
    return error;
}

cxr_error cxr_cudaMallocManaged(void **out_pointer, size_t bytes, unsigned int flags)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    pointer = left_in(out_pointer);
    error = (cxr_error)driver->mem_alloc_managed(&pointer, bytes, flags);
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaMallocAsync(void **out_pointer, size_t bytes, CUstream stream)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer = 0;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    if (bytes != 0) {
        pointer = left_in(out_pointer);
        error = (cxr_error)driver->mem_alloc_async(&pointer, bytes, stream);
    }
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaMallocFromPoolAsync(void **out_pointer, size_t bytes, CUmemoryPool pool,
                                      CUstream stream)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer = 0;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    if (bytes != 0) {
        pointer = left_in(out_pointer);
        error = (cxr_error)driver->mem_alloc_from_pool_async(&pointer, bytes, pool, stream);
    }
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaFreeAsync(void *pointer, CUstream stream)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || pointer == NULL)
        return error;
    return (cxr_error)driver->mem_free_async(cx_cudart_address(pointer), stream);
}

cxr_error cxr_cudaMemGetInfo(size_t *out_free, size_t *out_total)
{
    CX_CUDART_PASS(mem_get_info, (out_free, out_total));
}

/* ---- host memory ---- */

cxr_error cxr_cudaHostAlloc(void **out_pointer, size_t bytes, unsigned int flags)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    if (bytes == 0) {
        *out_pointer = NULL;
        return CXR_SUCCESS;
    }
    return (cxr_error)driver->mem_host_alloc(out_pointer, bytes, flags);
}

cxr_error cxr_cudaMallocHost(void **out_pointer, size_t bytes)
{
    return cxr_cudaHostAlloc(out_pointer, bytes, 0);
}

cxr_error cxr_cudaFreeHost(void *pointer)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || pointer == NULL)
        return error;
    return (cxr_error)driver->mem_free_host(pointer);
}

cxr_error cxr_cudaHostRegister(void *pointer, size_t bytes, unsigned int flags)
{
    CX_CUDART_PASS(mem_host_register, (pointer, bytes, flags));
}

cxr_error cxr_cudaHostUnregister(void *pointer)
{
    CX_CUDART_PASS(mem_host_unregister, (pointer));
}

cxr_error cxr_cudaHostGetDevicePointer(void **out_pointer, void *host, unsigned int flags)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    error = (cxr_error)driver->mem_host_get_device_pointer(&pointer, host, flags);
    *out_pointer = error == CXR_SUCCESS ? (void *)(uintptr_t)pointer : NULL;
    return error;
}

cxr_error cxr_cudaHostGetFlags(unsigned int *out_flags, void *host)
{
    CX_CUDART_PASS(mem_host_get_flags, (out_flags, host));
}

/* ---- pointers ---- */

static cxr_memory_type type_of(cxu_memory_type type, unsigned int is_managed)
{
    if (is_managed)
        return CXR_MEMORY_MANAGED;
    return type == CXU_MEMORYTYPE_HOST     ? CXR_MEMORY_HOST
           : type == CXU_MEMORYTYPE_DEVICE ? CXR_MEMORY_DEVICE
                                           : CXR_MEMORY_UNREGISTERED;
}

/* A pointer that the driver does not know is a host pointer like any other. */
cxr_error cxr_cudaPointerGetAttributes(cxr_pointer_attributes *out_attributes, const void *pointer)
{
    const cx_driver_table *driver;
    size_t size = cx_cudart_version < 13000 ? offsetof(cxr_pointer_attributes, reserved)
                                            : sizeof *out_attributes;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_attributes == NULL || pointer == NULL)
        return CXR_INVALID_VALUE;

    cxu_memory_type type = 0;
    unsigned int is_managed = 0;
    int device = -2;
    CUdeviceptr of_device = 0;
    void *of_host = NULL;
    cxu_pointer_attribute attributes[] = {CXU_POINTER_MEMORY_TYPE, CXU_POINTER_IS_MANAGED,
                                          CXU_POINTER_DEVICE_ORDINAL, CXU_POINTER_DEVICE_POINTER,
                                          CXU_POINTER_HOST_POINTER};
    void *values[] = {&type, &is_managed, &device, &of_device, &of_host};
    error = (cxr_error)driver->pointer_get_attributes(
        sizeof attributes / sizeof attributes[0], attributes, values, cx_cudart_address(pointer));
    if (error != CXR_SUCCESS)
        return error;
    memset(out_attributes, 0, size);
    out_attributes->type = type_of(type, is_managed);
    if (out_attributes->type == CXR_MEMORY_UNREGISTERED) {
        out_attributes->device = -2;
        out_attributes->host_pointer = (void *)(uintptr_t)pointer;
        return CXR_SUCCESS;
    }
    out_attributes->device = device;
    out_attributes->device_pointer = (void *)(uintptr_t)of_device;
    out_attributes->host_pointer = of_host;
    return CXR_SUCCESS;
}

/* ---- advice about managed memory ---- */

static cxu_mem_location place_of(int device)
{
    return device == CXR_CPU_DEVICE ? (cxu_mem_location){CXU_MEM_LOCATION_TYPE_HOST, 0}
                                    : (cxu_mem_location){CXU_MEM_LOCATION_TYPE_DEVICE, device};
}

cxr_error cxr_cudaMemAdvise_v2(const void *pointer, size_t bytes, cxu_mem_advise what,
                               cxu_mem_location location)
{
    CX_CUDART_PASS(mem_advise_v2, (cx_cudart_address(pointer), bytes, what, location));
}

cxr_error cxr_cudaMemAdvise(const void *pointer, size_t bytes, cxu_mem_advise what, int device)
{
    return cxr_cudaMemAdvise_v2(pointer, bytes, what, place_of(device));
}

cxr_error cxr_cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes, cxu_mem_location location,
                                      unsigned int flags, CUstream stream)
{
    CX_CUDART_PASS(mem_prefetch_async_v2,
                   (cx_cudart_address(pointer), bytes, location, flags, stream));
}

cxr_error cxr_cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, CUstream stream)
{
    return cxr_cudaMemPrefetchAsync_v2(pointer, bytes, place_of(device), 0, stream);
}

cxr_error cxr_cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                        cxu_mem_location *locations, size_t *first_ranges,
                                        size_t location_count, unsigned long long flags,
                                        CUstream stream)
{
    CX_CUDART_PASS(mem_prefetch_batch_async, ((CUdeviceptr *)pointers, sizes, count, locations,
                                              first_ranges, location_count, flags, stream));
}

cxr_error cxr_cudaMemDiscardBatchAsync(void **pointers, size_t *sizes, size_t count,
                                       unsigned long long flags, CUstream stream)
{
    CX_CUDART_PASS(mem_discard_batch_async, ((CUdeviceptr *)pointers, sizes, count, flags, stream));
}

cxr_error cxr_cudaMemDiscardAndPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                                  cxu_mem_location *locations, size_t *first_ranges,
                                                  size_t location_count, unsigned long long flags,
                                                  CUstream stream)
{
    CX_CUDART_PASS(mem_discard_and_prefetch_batch_async,
                   ((CUdeviceptr *)pointers, sizes, count, locations, first_ranges, location_count,
                    flags, stream));
}

cxr_error cxr_cudaMemRangeGetAttribute(void *out_value, size_t size,
                                       cxu_mem_range_attribute attribute, const void *pointer,
                                       size_t bytes)
{
    CX_CUDART_PASS(mem_range_get_attribute,
                   (out_value, size, attribute, cx_cudart_address(pointer), bytes));
}

cxr_error cxr_cudaMemRangeGetAttributes(void **out_values, size_t *sizes,
                                        cxu_mem_range_attribute *attributes, size_t count,
                                        const void *pointer, size_t bytes)
{
    CX_CUDART_PASS(mem_range_get_attributes,
                   (out_values, sizes, attributes, count, cx_cudart_address(pointer), bytes));
}
