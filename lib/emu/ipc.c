/* Memory shared between processes: not played so far. */
#include "emu/state.h"

static cxu_result refuse_call(const char *call)
{
    cxu_result result = cx_emu_enter();
    return result == CXU_SUCCESS ? cx_emu_not_supported(call, "memory shared between processes")
                                 : result;
}

cxu_result cx_emu_call_ipc_get_mem_handle(cxu_ipc_mem_handle *out_handle, CUdeviceptr pointer)
{
    (void)out_handle, (void)pointer;
    return refuse_call("cuIpcGetMemHandle");
}

cxu_result cx_emu_call_ipc_open_mem_handle(CUdeviceptr *out_pointer, cxu_ipc_mem_handle handle,
                                           unsigned int flags)
{
    (void)out_pointer, (void)handle, (void)flags;
    return refuse_call("cuIpcOpenMemHandle_v2");
}

cxu_result cx_emu_call_ipc_close_mem_handle(CUdeviceptr pointer)
{
    (void)pointer;
    return refuse_call("cuIpcCloseMemHandle");
}
