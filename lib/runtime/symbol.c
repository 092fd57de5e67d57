#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/driver.h"

#include <stddef.h>
#include <stdint.h>

static cxr_error find_variable(const void *symbol, CUdeviceptr *out_address, size_t *out_bytes)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    return error != CXR_SUCCESS ? error : cx_cudart_variable_find(symbol, out_address, out_bytes);
}

cxr_error cxr_cudaGetSymbolAddress(void **out_pointer, const void *symbol)
{
    CUdeviceptr address;
    size_t bytes;
    if (out_pointer == NULL)
        return CXR_INVALID_VALUE;
    cxr_error error = find_variable(symbol, &address, &bytes);
    if (error == CXR_SUCCESS)
        *out_pointer = (void *)(uintptr_t)address;
    return error;
}

cxr_error cxr_cudaGetSymbolSize(size_t *out_bytes, const void *symbol)
{
    CUdeviceptr address;
    if (out_bytes == NULL)
        return CXR_INVALID_VALUE;
    return find_variable(symbol, &address, out_bytes);
}

cxr_error cx_cudart_symbol_part(const void *symbol, size_t bytes, size_t offset, void **out_pointer)
{
    CUdeviceptr address;
    size_t size;
    cxr_error error = find_variable(symbol, &address, &size);
    if (error != CXR_SUCCESS)
        return error;
    if (offset > size || bytes > size - offset)
        return CXR_INVALID_VALUE;
    *out_pointer = (void *)(uintptr_t)(address + offset);
    return CXR_SUCCESS;
}

cxr_error cxr_cudaMemcpyToSymbol(const void *symbol, const void *source, size_t bytes,
                                 size_t offset, cxr_copy_kind kind)
{
    void *part;
    cxr_error error = cx_cudart_symbol_part(symbol, bytes, offset, &part);
    return error != CXR_SUCCESS ? error : cxr_cudaMemcpy(part, source, bytes, kind);
}

cxr_error cxr_cudaMemcpyFromSymbol(void *destination, const void *symbol, size_t bytes,
                                   size_t offset, cxr_copy_kind kind)
{
    void *part;
    cxr_error error = cx_cudart_symbol_part(symbol, bytes, offset, &part);
    return error != CXR_SUCCESS ? error : cxr_cudaMemcpy(destination, part, bytes, kind);
}

cxr_error cxr_cudaMemcpyToSymbolAsync(const void *symbol, const void *source, size_t bytes,
                                      size_t offset, cxr_copy_kind kind, CUstream stream)
{
    void *part;
    cxr_error error = cx_cudart_symbol_part(symbol, bytes, offset, &part);
    return error != CXR_SUCCESS ? error : cxr_cudaMemcpyAsync(part, source, bytes, kind, stream);
}

cxr_error cxr_cudaMemcpyFromSymbolAsync(void *destination, const void *symbol, size_t bytes,
                                        size_t offset, cxr_copy_kind kind, CUstream stream)
{
    void *part;
    cxr_error error = cx_cudart_symbol_part(symbol, bytes, offset, &part);
    return error != CXR_SUCCESS ? error
                                : cxr_cudaMemcpyAsync(destination, part, bytes, kind, stream);
}
