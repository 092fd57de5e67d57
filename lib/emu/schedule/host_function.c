#include "emu/schedule/host_function.h"
#include "emu/base/state.h"
#include "emu/context/output.h"

static void run_function(void *argument)
{
    const cxu_host_node_params *host = argument;

    host->function(host->user_data);
}

cx_emu_work_request cx_emu_host_request(cxu_host_node_params *host)
{
    return (cx_emu_work_request){.kind = CX_EMU_WORK_HOST,
                                 .call = run_function,
                                 .argument = host,
                                 .argument_bytes = sizeof *host};
}

/* ---- callbacks ---- */

static void run_callback(void *argument)
{
    const cx_emu_callback *host = argument;

    cx_lock_enter(&cx_emu_lock);
    cx_emu_output_flush(host->context);
    cx_lock_leave(&cx_emu_lock);
    host->function(host->stream, CXU_SUCCESS, host->user_data);
}

/* A callback, unlike a host function, runs in a useless context too. */
static void run_failed_callback(void *argument, cxu_result error)
{
    const cx_emu_callback *host = argument;

    host->function(host->stream, error, host->user_data);
}

cx_emu_work_request cx_emu_callback_request(cx_emu_callback *host)
{
    return (cx_emu_work_request){.kind = CX_EMU_WORK_HOST,
                                 .call = run_callback,
                                 .fail = run_failed_callback,
                                 .argument = host,
                                 .argument_bytes = sizeof *host};
}
