/* Code that the program loads itself, the driver's calls by name, and the driver's log. */
#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/driver.h"

#include <stddef.h>
#include <stdint.h>

cxr_error cxr_cudaLibraryLoadData(CUlibrary *out_library, const void *code,
                                  cxu_jit_option *jit_options, void **jit_values,
                                  unsigned int jit_count, cxu_library_option *options,
                                  void **values, unsigned int count)
{
    CX_CUDART_PASS(library_load_data,
                   (out_library, code, jit_options, jit_values, jit_count, options, values, count));
}

cxr_error cxr_cudaLibraryLoadFromFile(CUlibrary *out_library, const char *path,
                                      cxu_jit_option *jit_options, void **jit_values,
                                      unsigned int jit_count, cxu_library_option *options,
                                      void **values, unsigned int count)
{
    CX_CUDART_PASS(library_load_from_file,
                   (out_library, path, jit_options, jit_values, jit_count, options, values, count));
}

cxr_error cxr_cudaLibraryUnload(CUlibrary library)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    cx_cudart_library_forget(library);
    return (cxr_error)driver->library_unload(library);
}

cxr_error cxr_cudaLibraryGetKernel(CUkernel *out_kernel, CUlibrary library, const char *name)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->library_get_kernel(out_kernel, library, name);
    if (error == CXR_SUCCESS)
        cx_cudart_kernel_know(*out_kernel, library);
    return error;
}

cxr_error cxr_cudaLibraryGetGlobal(void **out_pointer, size_t *out_bytes, CUlibrary library,
                                   const char *name)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer = 0;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->library_get_global(&pointer, out_bytes, library, name);
    if (error == CXR_SUCCESS && out_pointer != NULL)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaLibraryGetManaged(void **out_pointer, size_t *out_bytes, CUlibrary library,
                                    const char *name)
{
    const cx_driver_table *driver;
    CUdeviceptr pointer = 0;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->library_get_managed(&pointer, out_bytes, library, name);
    if (error == CXR_SUCCESS && out_pointer != NULL)
        *out_pointer = (void *)(uintptr_t)pointer;
    return error;
}

cxr_error cxr_cudaLibraryGetUnifiedFunction(void **out_function, CUlibrary library,
                                            const char *name)
{
    CX_CUDART_PASS(library_get_unified_function, (out_function, library, name));
}

cxr_error cxr_cudaLibraryGetKernelCount(unsigned int *out_count, CUlibrary library)
{
    CX_CUDART_PASS(library_get_kernel_count, (out_count, library));
}

cxr_error cxr_cudaLibraryEnumerateKernels(CUkernel *out_kernels, unsigned int count,
                                          CUlibrary library)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = (cxr_error)driver->library_enumerate_kernels(out_kernels, count, library);
    for (unsigned int i = 0; i < count && error == CXR_SUCCESS; i++)
        if (out_kernels[i] != NULL)
            cx_cudart_kernel_know(out_kernels[i], library);
    return error;
}

cxr_error cxr_cudaKernelSetAttributeForDevice(CUkernel kernel, cxu_func_attribute attribute,
                                              int value, int device)
{
    CX_CUDART_PASS(kernel_set_attribute, (attribute, value, kernel, device));
}

/* ---- the driver's calls by name ---- */

enum { QUERY_FOUND = 0, QUERY_SYMBOL_NOT_FOUND = 1, QUERY_VERSION_NOT_SUFFICIENT = 2 };

/* A name that the driver lacks is no error where the caller asks for the outcome. */
static cxr_error find_entry_point(const char *name, void **out_function, unsigned int version,
                                  unsigned long long flags, int *out_outcome)
{
    typedef cxu_result (*proc_address)(const char *, void **, int, uint64_t, int *);
    const cx_driver_table *driver;
    proc_address ask;
    int outcome = QUERY_SYMBOL_NOT_FOUND;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (name == NULL || *name == '\0' || out_function == NULL)
        return CXR_INVALID_VALUE;
    *(void **)&ask = cx_driver_symbol(cx_cudart_driver(), "cuGetProcAddress_v2");
    if (ask == NULL)
        return CXR_CALL_REQUIRES_NEWER_DRIVER;
    /* By default the default stream is the caller's: that of the variant that it called. */
    const cx_cudart_call *call = cx_cudart_thread_get()->call;
    if (flags == CXU_GET_PROC_ADDRESS_DEFAULT)
        flags = call != NULL && call->per_thread ? CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                                 : CXU_GET_PROC_ADDRESS_LEGACY_STREAM;
    *out_function = NULL;
    error = (cxr_error)ask(name, out_function, (int)version, flags, &outcome);
    if (error == CXR_SUCCESS && *out_function != NULL)
        outcome = QUERY_FOUND;
    if (out_outcome != NULL)
        *out_outcome = outcome;
    return error;
}

cxr_error cxr_cudaGetDriverEntryPoint(const char *name, void **out_function,
                                      unsigned long long flags, int *out_outcome)
{
    return find_entry_point(name, out_function, (unsigned int)cx_cudart_version, flags,
                            out_outcome);
}

cxr_error cxr_cudaGetDriverEntryPoint_v11(const char *name, void **out_function,
                                          unsigned long long flags)
{
    int outcome = QUERY_FOUND;
    cxr_error error =
        find_entry_point(name, out_function, (unsigned int)cx_cudart_version, flags, &outcome);
    return error == CXR_SUCCESS && outcome != QUERY_FOUND ? CXR_SYMBOL_NOT_FOUND : error;
}

cxr_error cxr_cudaGetDriverEntryPointByVersion(const char *name, void **out_function,
                                               unsigned int version, unsigned long long flags,
                                               int *out_outcome)
{
    return find_entry_point(name, out_function, version, flags, out_outcome);
}

/* ---- the driver's log ---- */

cxr_error cxr_cudaLogsRegisterCallback(cxu_logs_callback callback, void *user_data,
                                       CUlogsCallbackHandle *out_handle)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->logs_register_callback(callback, user_data, out_handle);
}

cxr_error cxr_cudaLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    return error != CXR_SUCCESS ? error : (cxr_error)driver->logs_unregister_callback(handle);
}

cxr_error cxr_cudaLogsCurrent(cxu_log_iterator *out_iterator, unsigned int flags)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    return error != CXR_SUCCESS ? error : (cxr_error)driver->logs_current(out_iterator, flags);
}

cxr_error cxr_cudaLogsDumpToFile(cxu_log_iterator *iterator, const char *path, unsigned int flags)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    return error != CXR_SUCCESS ? error
                                : (cxr_error)driver->logs_dump_to_file(iterator, path, flags);
}

cxr_error cxr_cudaLogsDumpToMemory(cxu_log_iterator *iterator, char *buffer, size_t *size,
                                   unsigned int flags)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_driver(&driver);
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->logs_dump_to_memory(iterator, buffer, size, flags);
}

/* What NVIDIA's own libraries ask their runtime for is theirs. */
cxr_error cxr_cudaGetExportTable(const void **out_table, const cxu_uuid *id)
{
    if (out_table == NULL || id == NULL)
        return CXR_INVALID_VALUE;
    *out_table = NULL;
    return CXR_NOT_SUPPORTED;
}

cxr_channel_format cxr_cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (cxr_channel_format){x, y, z, w, kind};
}
