/* Calls that have a stream call a function of the host. */
#include "emu/base/state.h"
#include "emu/graph/node_params.h"
#include "emu/schedule/capture_check.h"
#include "emu/schedule/host_function.h"

#define HOST_TASK_MODES_LAST 1 /* blocking, spinning */

static cxu_result find_stream(CUstream handle, cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_stream_find(handle, out_stream);

    return result == CXU_SUCCESS ? cx_emu_capture_check(*out_stream) : result;
}

static cxu_result submit_function(CUstream handle, const cxu_host_node_params *host)
{
    const cx_emu_node_params node_params = {.type = CXU_GRAPH_NODE_TYPE_HOST, .of.host = *host};
    cx_emu_stream *stream;
    cxu_result result = find_stream(handle, &stream);

    return result == CXU_SUCCESS ? cx_emu_node_params_submit(stream, &node_params) : result;
}

static cxu_result submit_callback(CUstream handle, cx_emu_callback *host)
{
    const cx_emu_work_request request = cx_emu_callback_request(host);
    cx_emu_stream *stream;
    cxu_result result = find_stream(handle, &stream);

    if (result != CXU_SUCCESS)
        return result;
    host->context = stream->context;
    /* The capture goes on, unlike with other work that cannot be captured. */
    return stream->branch != NULL ? CXU_STREAM_CAPTURE_UNSUPPORTED
                                  : cx_emu_work_submit(stream, &request, NULL);
}

cxu_result cx_emu_call_launch_host_func(CUstream stream, CUhostFn function, void *user_data)
{
    cxu_host_node_params host = {function, user_data};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (function == NULL)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = submit_function(stream, &host);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

static void call_nothing(void *user_data)
{
    (void)user_data;
}

/* The mode says how the driver's thread waits for its turn, which changes nothing here. NULL is
 * nothing to call, as recorded. */
cxu_result cx_emu_call_launch_host_func_v2(CUstream stream, CUhostFn function, void *user_data,
                                           unsigned int mode)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (mode > HOST_TASK_MODES_LAST)
        return CXU_INVALID_VALUE;
    return cx_emu_call_launch_host_func(stream, function != NULL ? function : call_nothing,
                                        user_data);
}

cxu_result cx_emu_call_stream_add_callback(CUstream stream, cxu_stream_callback function,
                                           void *user_data, unsigned int flags)
{
    cx_emu_callback host = {.function = function, .stream = stream, .user_data = user_data};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (function == NULL || flags != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = submit_callback(stream, &host);
    cx_lock_leave(&cx_emu_lock);
    return result;
}
