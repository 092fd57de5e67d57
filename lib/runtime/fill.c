#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stddef.h>

cxr_error cxr_cudaMemset(void *pointer, int value, size_t bytes)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || bytes == 0)
        return error;
    return (cxr_error)driver->memset_d8(cx_cudart_address(pointer), (unsigned char)value, bytes);
}

cxr_error cxr_cudaMemsetAsync(void *pointer, int value, size_t bytes, CUstream stream)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || bytes == 0)
        return error;
    return (cxr_error)driver->memset_d8_async(cx_cudart_address(pointer), (unsigned char)value,
                                              bytes, stream);
}

cxr_error cxr_cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || width == 0 || height == 0)
        return error;
    return (cxr_error)driver->memset_2d_d8(cx_cudart_address(pointer), pitch, (unsigned char)value,
                                           width, height);
}

cxr_error cxr_cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                                CUstream stream)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS || width == 0 || height == 0)
        return error;
    return (cxr_error)driver->memset_2d_d8_async(cx_cudart_address(pointer), pitch,
                                                 (unsigned char)value, width, height, stream);
}

typedef cxr_error fill_slices(const cx_driver_table *driver, CUdeviceptr address, size_t pitch,
                              int value, size_t width, size_t rows, CUstream stream);

static cxr_error fill_now(const cx_driver_table *driver, CUdeviceptr address, size_t pitch,
                          int value, size_t width, size_t rows, CUstream stream)
{
    (void)stream;
    return (cxr_error)driver->memset_2d_d8(address, pitch, (unsigned char)value, width, rows);
}

static cxr_error fill_later(const cx_driver_table *driver, CUdeviceptr address, size_t pitch,
                            int value, size_t width, size_t rows, CUstream stream)
{
    return (cxr_error)driver->memset_2d_d8_async(address, pitch, (unsigned char)value, width, rows,
                                                 stream);
}

/* Slices whose rows follow each other are one fill. */
static cxr_error fill_3d(const cxr_pitched_pointer *into, int value, cxr_extent extent,
                         CUstream stream, fill_slices *fill)
{
    const cx_driver_table *driver;
    size_t slice_bytes, rows;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0)
        return CXR_SUCCESS;
    if (into->pointer == NULL || extent.width > into->pitch_bytes ||
        __builtin_mul_overflow(into->pitch_bytes, into->height, &slice_bytes) ||
        __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return CXR_INVALID_VALUE;
    CUdeviceptr address = cx_cudart_address(into->pointer);
    if (extent.depth == 1 || extent.height == into->height)
        return fill(driver, address, into->pitch_bytes, value, extent.width, rows, stream);
    for (size_t z = 0; z < extent.depth && error == CXR_SUCCESS; z++)
        error = fill(driver, address + z * slice_bytes, into->pitch_bytes, value, extent.width,
                     extent.height, stream);
    return error;
}

cxr_error cxr_cudaMemset3D(cxr_pitched_pointer into, int value, cxr_extent extent)
{
    return fill_3d(&into, value, extent, NULL, fill_now);
}

cxr_error cxr_cudaMemset3DAsync(cxr_pitched_pointer into, int value, cxr_extent extent,
                                CUstream stream)
{
    return fill_3d(&into, value, extent, stream, fill_later);
}
