#include "shim/exports.h"
#include "shim/runtime_library.h"
#include "shim/shim.h"

#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static cxu_result query_symbol(const char *name, void **out_function, int version, uint64_t flags,
                               cx_shim_query *out_status)
{
    if (name == NULL || out_function == NULL || version > cx_shim_version)
        return CXU_INVALID_VALUE;
    if (flags != CXU_GET_PROC_ADDRESS_DEFAULT && flags != CXU_GET_PROC_ADDRESS_LEGACY_STREAM &&
        flags != CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return CXU_INVALID_VALUE;

    void (*function)(void) = NULL;
    bool per_thread = flags == CXU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *out_status = cx_shim_find(name, version, per_thread, &function);
    *out_function = (void *)function;
    return CXU_SUCCESS;
}

/* The first form has no status argument, so an unknown name is an error. */
cxu_result cx_shim_call_cuGetProcAddress(const char *name, void **out_function, int version,
                                         uint64_t flags)
{
    cx_shim_query status;
    cxu_result result = query_symbol(name, out_function, version, flags, &status);
    return result == CXU_SUCCESS && status != CX_SHIM_FOUND ? CXU_NOT_FOUND : result;
}

cxu_result cx_shim_call_cuGetProcAddress_v2(const char *name, void **out_function, int version,
                                            uint64_t flags, cx_shim_query *out_status)
{
    cx_shim_query status;
    cxu_result result = query_symbol(name, out_function, version, flags, &status);
    if (result == CXU_SUCCESS && out_status != NULL)
        *out_status = status;
    return result;
}

/* Gives no table: the private protocol between NVIDIA's libraries and their driver is theirs. */
cxu_result cx_shim_call_cuGetExportTable(const void **out_table, const cxu_uuid *id)
{
    if (out_table == NULL || id == NULL)
        return CXU_INVALID_VALUE;
    cx_shim_warn_of_runtime_library();
    return CXU_NOT_FOUND;
}

CX_SHIM_EXPORT(cuGetProcAddress, cx_shim_call_cuGetProcAddress)
CX_SHIM_EXPORT(cuGetProcAddress_v2, cx_shim_call_cuGetProcAddress_v2)
CX_SHIM_EXPORT(cuGetExportTable, cx_shim_call_cuGetExportTable)
