/* Memory of other interfaces, and sparse arrays: there are none; only the arguments are checked. */
#include "emu/base/state.h"
#include "emu/report/not_supported.h"

#define HANDLE_TYPE_FIRST 1
#define HANDLE_TYPE_LAST 9

cxu_result cx_emu_call_import_external_memory(CUexternalMemory *out_memory,
                                              const cxu_external_memory_handle *description)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_memory == NULL || description == NULL || description->type < HANDLE_TYPE_FIRST ||
        description->type > HANDLE_TYPE_LAST)
        return CXU_INVALID_VALUE;
    return cx_emu_not_supported("cuImportExternalMemory", "memory of another interface");
}

/* No sparse array exists that could be mapped. */
cxu_result cx_emu_call_mem_map_array_async(cxu_array_map_info *maps, unsigned int count,
                                           CUstream stream)
{
    cxu_result result = cx_emu_enter();

    (void)maps, (void)count, (void)stream;
    return result == CXU_SUCCESS ? CXU_INVALID_VALUE : result;
}
