#include "emu/state.h"
#include "emu/stream.h"

/* ---- host functions ---- */

typedef struct host_function {
    CUhostFn function;
    void *user_data;
} host_function;

static void run_function(void *argument)
{
    const host_function *host = argument;

    host->function(host->user_data);
}

/* ---- callbacks ---- */

typedef struct callback {
    cxu_stream_callback function;
    CUstream stream; /* as the user named it */
    void *user_data;
} callback;

static void run_callback(void *argument)
{
    const callback *host = argument;

    host->function(host->stream, CXU_SUCCESS, host->user_data);
}

static cxu_result submit(CUstream handle, void (*call)(void *), void *argument,
                         size_t argument_bytes)
{
    const cx_emu_work_request request = {.kind = CX_EMU_WORK_HOST,
                                         .call = call,
                                         .argument = argument,
                                         .argument_bytes = argument_bytes};
    cx_emu_stream *stream;
    cxu_result result;

    pthread_mutex_lock(&cx_emu_lock);
    result = cx_emu_stream_find(handle, &stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_work_submit(stream, &request, NULL);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_launch_host_func(CUstream stream, CUhostFn function, void *user_data)
{
    host_function host = {function, user_data};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return function ? submit(stream, run_function, &host, sizeof host) : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_stream_add_callback(CUstream stream, cxu_stream_callback function,
                                           void *user_data, unsigned int flags)
{
    callback host = {function, stream, user_data};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    return function && flags == 0 ? submit(stream, run_callback, &host, sizeof host)
                                  : CXU_INVALID_VALUE;
}
