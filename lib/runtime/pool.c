/* Pools of memory, and memory of other processes. */
#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stdint.h>

cxr_error cxr_cudaDeviceGetDefaultMemPool(CUmemoryPool *out_pool, int device)
{
    CX_CUDART_PASS(device_get_default_mem_pool, (out_pool, device));
}

cxr_error cxr_cudaDeviceGetMemPool(CUmemoryPool *out_pool, int device)
{
    CX_CUDART_PASS(device_get_mem_pool, (out_pool, device));
}

cxr_error cxr_cudaDeviceSetMemPool(int device, CUmemoryPool pool)
{
    CX_CUDART_PASS(device_set_mem_pool, (device, pool));
}

cxr_error cxr_cudaMemPoolCreate(CUmemoryPool *out_pool, const cxu_mem_pool_properties *properties)
{
    CX_CUDART_PASS(mem_pool_create, (out_pool, properties));
}

cxr_error cxr_cudaMemPoolDestroy(CUmemoryPool pool)
{
    CX_CUDART_PASS(mem_pool_destroy, (pool));
}

cxr_error cxr_cudaMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
    CX_CUDART_PASS(mem_pool_trim_to, (pool, bytes));
}

cxr_error cxr_cudaMemPoolSetAttribute(CUmemoryPool pool, cxu_mem_pool_attribute attribute,
                                      void *value)
{
    CX_CUDART_PASS(mem_pool_set_attribute, (pool, attribute, value));
}

cxr_error cxr_cudaMemPoolGetAttribute(CUmemoryPool pool, cxu_mem_pool_attribute attribute,
                                      void *out_value)
{
    CX_CUDART_PASS(mem_pool_get_attribute, (pool, attribute, out_value));
}

cxr_error cxr_cudaMemPoolSetAccess(CUmemoryPool pool, const cxu_mem_access *accesses, size_t count)
{
    CX_CUDART_PASS(mem_pool_set_access, (pool, accesses, count));
}

cxr_error cxr_cudaMemPoolGetAccess(cxu_mem_access_flags *out_flags, CUmemoryPool pool,
                                   cxu_mem_location *location)
{
    CX_CUDART_PASS(mem_pool_get_access, (out_flags, pool, location));
}

cxr_error cxr_cudaMemPoolExportToShareableHandle(void *out_shareable, CUmemoryPool pool,
                                                 cxu_mem_handle_type type, unsigned int flags)
{
    CX_CUDART_PASS(mem_pool_export_to_shareable_handle, (out_shareable, pool, type, flags));
}

cxr_error cxr_cudaMemPoolImportFromShareableHandle(CUmemoryPool *out_pool, void *shareable,
                                                   cxu_mem_handle_type type, unsigned int flags)
{
    CX_CUDART_PASS(mem_pool_import_from_shareable_handle, (out_pool, shareable, type, flags));
}

cxr_error cxr_cudaMemPoolExportPointer(cxu_mem_pool_pointer *out_shared, void *pointer)
{
    CX_CUDART_PASS(mem_pool_export_pointer, (out_shared, cx_cudart_address(pointer)));
}

cxr_error cxr_cudaMemPoolImportPointer(void **out_pointer, CUmemoryPool pool,
                                       cxu_mem_pool_pointer *shared)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    error = (cxr_error)driver->mem_pool_import_pointer(&pointer, pool, shared);
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaMemGetDefaultMemPool(CUmemoryPool *out_pool, cxu_mem_location *location,
                                       cxu_mem_allocation_type type)
{
    CX_CUDART_PASS(mem_get_default_mem_pool, (out_pool, location, type));
}

cxr_error cxr_cudaMemGetMemPool(CUmemoryPool *out_pool, cxu_mem_location *location,
                                cxu_mem_allocation_type type)
{
    CX_CUDART_PASS(mem_get_mem_pool, (out_pool, location, type));
}

cxr_error cxr_cudaMemSetMemPool(cxu_mem_location *location, cxu_mem_allocation_type type,
                                CUmemoryPool pool)
{
    CX_CUDART_PASS(mem_set_mem_pool, (location, type, pool));
}

/* ---- other processes ---- */

cxr_error cxr_cudaIpcGetMemHandle(cxu_ipc_mem_handle *out_handle, void *pointer)
{
    CX_CUDART_PASS(ipc_get_mem_handle, (out_handle, cx_cudart_address(pointer)));
}

cxr_error cxr_cudaIpcOpenMemHandle(void **out_pointer, cxu_ipc_mem_handle handle,
                                   unsigned int flags)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    error = (cxr_error)driver->ipc_open_mem_handle(&pointer, handle, flags);
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaIpcCloseMemHandle(void *pointer)
{
    CX_CUDART_PASS(ipc_close_mem_handle, (cx_cudart_address(pointer)));
}

cxr_error cxr_cudaIpcGetEventHandle(cxu_ipc_event_handle *out_handle, CUevent event)
{
    CX_CUDART_PASS(ipc_get_event_handle, (out_handle, event));
}

cxr_error cxr_cudaIpcOpenEventHandle(CUevent *out_event, cxu_ipc_event_handle handle)
{
    CX_CUDART_PASS(ipc_open_event_handle, (out_event, handle));
}
