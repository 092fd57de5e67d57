/* Memory shared with other processes, as file descriptors (V7). */
#include "emu/memory/physical.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/report/not_supported.h"

#include <string.h>

static cxu_result check_type(const char *call, cxu_mem_handle_type type)
{
    switch (type) {
    case CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
        return CXU_SUCCESS;
    case CXU_MEM_HANDLE_TYPE_WIN32:
    case CXU_MEM_HANDLE_TYPE_WIN32_KMT:
    case CXU_MEM_HANDLE_TYPE_FABRIC:
        return cx_emu_not_supported(call, "a handle type other than a file descriptor");
    default:
        return CXU_INVALID_VALUE;
    }
}

/* Memory is exported only as what it was created for: no other type can be asked for. */
static cxu_result export_handle(CUmemGenericAllocationHandle handle, cxu_mem_handle_type type,
                                int *out_file)
{
    const cx_emu_physical *physical = cx_emu_physical_find(handle);
    if (physical == NULL || type != CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CXU_INVALID_VALUE;
    cxu_result result = cx_emu_device_error(physical->device);
    return result == CXU_SUCCESS ? cx_emu_physical_export(physical, out_file) : result;
}

cxu_result cx_emu_call_mem_export_to_shareable_handle(void *out_shareable,
                                                      CUmemGenericAllocationHandle handle,
                                                      cxu_mem_handle_type type,
                                                      unsigned long long flags)
{
    int file;
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_shareable == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = export_handle(handle, type, &file);
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        memcpy(out_shareable, &file, sizeof(file));
    return result;
}

cxu_result cx_emu_call_mem_import_from_shareable_handle(CUmemGenericAllocationHandle *out_handle,
                                                        void *shareable, cxu_mem_handle_type type)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_handle == NULL)
        return CXU_INVALID_VALUE;
    result = check_type("cuMemImportFromShareableHandle", type);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_physical *physical;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_physical_import((int)(intptr_t)shareable, &physical);
    if (result == CXU_SUCCESS)
        *out_handle = cx_emu_physical_handle(physical);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
