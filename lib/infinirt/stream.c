#include "infinirt/stream.h"

#include "infinirt/address.h"
#include <ctxrt/graph.h>

/* By the driver's handle. */
static cx_addresses streams_of_gpus = CX_ADDRESSES_INIT;

/* A handle of ctxrt's has bits that no address has. */
#define ADDRESS_BITS 56

/* A pointer that is not in the table is a handle of ctxrt's or garbage; ctxrt checks which. */
static ctxrt_stream *named_stream(infinirtStream_t stream)
{
    if ((uint64_t)(uintptr_t)stream >> ADDRESS_BITS != 0)
        return stream;
    ctxrt_stream *found = cx_address_find(&streams_of_gpus, stream);
    return found != NULL ? found : stream;
}

ctxrt_status cx_stream_begin(infinirtStream_t stream, ctxrt_stream **out_stream)
{
    ctxrt_device device;
    if (stream == NULL) {
        *out_stream = CTXRT_STREAM_LEGACY;
        return cx_device_begin(&device);
    }
    ctxrt_status status = cx_runtime_begin();
    if (status == CTXRT_SUCCESS)
        *out_stream = named_stream(stream);
    return status;
}

/* Streams of GPUs are in the table; any other pointer is the handle itself. */
ctxrt_status cx_stream_begin_memory(infinirtStream_t stream, cx_stream_call *out_call)
{
    ctxrt_status status = cx_device_begin(&out_call->device);
    out_call->legacy = stream == NULL;
    out_call->target = stream == NULL ? CTXRT_STREAM_LEGACY : named_stream(stream);
    out_call->of_cpu =
        stream == NULL ? out_call->device.type == CTXRT_DEVICE_CPU : out_call->target == stream;
    return status;
}

ctxrt_status cx_stream_check(ctxrt_stream *stream)
{
    ctxrt_context *context;
    return ctxrt_stream_context(stream, &context);
}

/* The legacy stream never captures: while others do, the wait for it fails. */
static ctxrt_status is_capturing(const cx_stream_call *call, bool *out_capturing)
{
    ctxrt_status status = CTXRT_SUCCESS;
    ctxrt_capture_state state = CTXRT_CAPTURE_NONE;
    if (!call->legacy)
        status = ctxrt_stream_capture_status(call->target, &state);
    *out_capturing = state != CTXRT_CAPTURE_NONE;
    return status;
}

/* Asks first, since most often there is no work left: that takes half the time of a wait. */
static ctxrt_status await_work(ctxrt_stream *stream)
{
    ctxrt_status status = ctxrt_stream_query(stream);
    return status == CTXRT_ERROR_NOT_READY ? ctxrt_stream_synchronize(stream) : status;
}

bool cx_stream_await_for_host(const cx_stream_call *call)
{
    bool capturing;
    return call->of_cpu && call->device.type == CTXRT_DEVICE_CPU &&
           is_capturing(call, &capturing) == CTXRT_SUCCESS && !capturing &&
           await_work(call->target) == CTXRT_SUCCESS;
}

ctxrt_status cx_stream_finish_on_cpu(const cx_stream_call *call)
{
    bool capturing;
    if (!call->of_cpu)
        return CTXRT_SUCCESS;
    ctxrt_status status = is_capturing(call, &capturing);
    return status == CTXRT_SUCCESS && !capturing ? await_work(call->target) : status;
}

/* Hands out the driver's handle of a GPU's stream, for kernels and libraries. */
static infiniStatus_t hand_out(ctxrt_stream *stream, ctxrt_device device,
                               infinirtStream_t *out_stream)
{
    struct CUstream_st *native;
    if (device.type == CTXRT_DEVICE_CPU) {
        *out_stream = stream;
        return INFINI_STATUS_SUCCESS;
    }
    ctxrt_status status = ctxrt_stream_native(stream, &native);
    if (status != CTXRT_SUCCESS)
        return cx_infini_status(status);
    if (!cx_address_put(&streams_of_gpus, native, stream))
        return INFINI_STATUS_INTERNAL_ERROR;
    *out_stream = native;
    return INFINI_STATUS_SUCCESS;
}

infiniStatus_t infinirtStreamCreate(infinirtStream_t *stream_ptr)
{
    ctxrt_device device;
    ctxrt_stream *stream;
    if (stream_ptr == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = cx_device_begin(&device);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &stream);
    if (status != CTXRT_SUCCESS)
        return cx_infini_status(status);
    infiniStatus_t result = hand_out(stream, device, stream_ptr);
    if (result != INFINI_STATUS_SUCCESS)
        status = ctxrt_stream_destroy(stream);
    return result;
}

infiniStatus_t infinirtStreamDestroy(infinirtStream_t stream)
{
    infiniStatus_t status;
    if (stream == NULL)
        return INFINI_STATUS_NULL_POINTER;
    if (!cx_release_begin(&status))
        return status;
    /* Take it out before the driver can give its handle to another stream. */
    ctxrt_stream *taken = cx_address_take(&streams_of_gpus, stream);
    ctxrt_status destroyed = ctxrt_stream_destroy(taken != NULL ? taken : stream);
    if (taken != NULL && destroyed == CTXRT_ERROR_IN_USE)
        (void)cx_address_put(&streams_of_gpus, stream, taken);
    return cx_infini_status(destroyed);
}

infiniStatus_t infinirtStreamSynchronize(infinirtStream_t stream)
{
    ctxrt_stream *target;
    ctxrt_status status = cx_stream_begin(stream, &target);
    return cx_infini_status(status == CTXRT_SUCCESS ? ctxrt_stream_synchronize(target) : status);
}

infiniStatus_t infinirtStreamWaitEvent(infinirtStream_t stream, infinirtEvent_t event)
{
    ctxrt_stream *target;
    if (event == NULL)
        return INFINI_STATUS_NULL_POINTER;
    ctxrt_status status = cx_stream_begin(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_wait_event(target, event);
    return cx_infini_status(status);
}
