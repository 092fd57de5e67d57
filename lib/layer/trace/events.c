#include "layer/trace/events.h"

#include "base/clock.h"
#include "base/option.h"
#include "driver/entry.h"
#include "layer/arguments.h"
#include "layer/trace/clock.h"
#include "layer/trace/layout.h"
#include "layer/trace/thread.h"

#include <string.h>

static const cx_driver_table *driver;
static cx_work_timestamps_watcher *tell;

#define ARGUMENTS(call, slot) ((const cx_arguments_##slot *)(call)->arguments)

/* ---- which calls ---- */

/* Above 0 for calls that submit work to a stream: the kind of work, and 1. */
#define SUBMITS(slot, kind) [CX_SLOT_##slot] = CX_TIMED_##kind + 1
static const unsigned char submits[CX_SLOT_COUNT] = {
    SUBMITS(launch_kernel, KERNEL),
    SUBMITS(launch_kernel_ex, KERNEL),
    SUBMITS(launch_cooperative_kernel, KERNEL),
    SUBMITS(launch_grid_async, KERNEL),
    SUBMITS(graph_launch, KERNEL),
    SUBMITS(launch_host_func, HOST),
    SUBMITS(launch_host_func_v2, HOST),
    SUBMITS(mem_prefetch_async, MOVE),
    SUBMITS(mem_prefetch_async_v2, MOVE),
    SUBMITS(mem_prefetch_batch_async, MOVE),
    SUBMITS(mem_discard_batch_async, MOVE),
    SUBMITS(mem_discard_and_prefetch_batch_async, MOVE),
    SUBMITS(memcpy_unified_async, MOVE),
    SUBMITS(memcpy_peer_async, MOVE),
    SUBMITS(memcpy_htod_async, MOVE),
    SUBMITS(memcpy_dtoh_async, MOVE),
    SUBMITS(memcpy_dtod_async, MOVE),
    SUBMITS(memcpy_htoa_async, MOVE),
    SUBMITS(memcpy_atoh_async, MOVE),
    SUBMITS(memcpy_2d_async, MOVE),
    SUBMITS(memcpy_3d_async, MOVE),
    SUBMITS(memcpy_3d_peer_async, MOVE),
    SUBMITS(memcpy_batch_async_v1, MOVE),
    SUBMITS(memcpy_batch_async, MOVE),
    SUBMITS(memcpy_3d_batch_async_v1, MOVE),
    SUBMITS(memcpy_3d_batch_async, MOVE),
    SUBMITS(memcpy_with_attributes_async, MOVE),
    SUBMITS(memcpy_3d_with_attributes_async, MOVE),
    SUBMITS(memset_d8_async, MOVE),
    SUBMITS(memset_d16_async, MOVE),
    SUBMITS(memset_d32_async, MOVE),
    SUBMITS(memset_2d_d8_async, MOVE),
    SUBMITS(memset_2d_d16_async, MOVE),
    SUBMITS(memset_2d_d32_async, MOVE),
    SUBMITS(stream_wait_value_32, WAIT),
    SUBMITS(stream_wait_value_64, WAIT),
    SUBMITS(stream_batch_mem_op, WAIT),
};

/* The driver's two default streams have handles of their own. */
static CUstream stream_of(const cx_layer_call *call)
{
    uintptr_t stream = 0;
    if (call->slot == CX_SLOT_launch_kernel_ex) {
        const cxu_launch_config *config = ARGUMENTS(call, launch_kernel_ex)->config;
        stream = config != NULL ? (uintptr_t)config->stream : 0;
    } else {
        cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
        int count = cx_layer_handles(call, handles);
        for (int i = 0; i < count; i++)
            if (handles[i].kind == CX_HANDLE_STREAM)
                stream = handles[i].value;
    }
    if (stream != 0)
        return (CUstream)stream;
    return cx_entry_now == CX_ENTRY_PER_THREAD ? CXU_STREAM_PER_THREAD : CXU_STREAM_LEGACY;
}

static bool is_default(CUstream stream)
{
    return stream == CXU_STREAM_LEGACY || stream == CXU_STREAM_PER_THREAD;
}

/* ---- before a call ---- */

static bool is_captured(CUstream stream)
{
    cxu_stream_capture_status status;
    return driver->stream_is_capturing(stream, &status) != CXU_SUCCESS ||
           status != CXU_STREAM_CAPTURE_STATUS_NONE;
}

/* Ids of streams are never used twice; older drivers have none. */
static uint64_t id_of(CUstream stream)
{
    unsigned long long id;
    return driver->stream_get_id(stream, &id) == CXU_SUCCESS ? id : (uintptr_t)stream;
}

/* Makes `context` current; returns whether a pop is to follow. */
static bool enter(CUcontext context)
{
    CUcontext now;
    return driver->ctx_get_current(&now) == CXU_SUCCESS && now != context &&
           driver->ctx_push(context) == CXU_SUCCESS;
}

static void leave(bool entered)
{
    CUcontext popped;
    if (entered)
        (void)driver->ctx_pop(&popped);
}

static cx_trace_timed *begin_work(CUstream stream, CUcontext context)
{
    cx_trace_clock *clock = cx_trace_clock_of(driver, context);
    cx_trace_timed *timed = clock != NULL ? cx_trace_clock_take(driver, clock) : NULL;
    if (timed == NULL)
        return NULL;
    timed->stream = stream;
    timed->timing.stream = (uintptr_t)stream;
    timed->timing.stream_id = id_of(stream);
    timed->timing.context = (uintptr_t)context;
    if (driver->event_record(timed->began, stream) == CXU_SUCCESS)
        return timed;
    cx_trace_clock_drop(timed);
    return NULL;
}

/* A stream may be of another context than the current one. */
static cx_trace_timed *begin_in_stream(CUstream stream)
{
    CUcontext context = NULL;
    cxu_result known = is_default(stream) ? driver->ctx_get_current(&context)
                                          : driver->stream_get_ctx(stream, &context);
    if (known != CXU_SUCCESS || context == NULL || is_captured(stream))
        return NULL;
    bool entered = enter(context);
    cx_trace_timed *timed = begin_work(stream, context);
    leave(entered);
    return timed;
}

static cxu_stream_capture_mode exchange(cxu_stream_capture_mode mode)
{
    (void)driver->thread_exchange_stream_capture_mode(&mode);
    return mode;
}

/* ---- ends of contexts ---- */

static bool ends(const cx_layer_call *call, const cx_trace_clock *clock)
{
    switch (call->slot) {
    case CX_SLOT_ctx_destroy:
        return ARGUMENTS(call, ctx_destroy)->context == cx_trace_clock_context(clock);
    case CX_SLOT_ctx_detach:
        return ARGUMENTS(call, ctx_detach)->context == cx_trace_clock_context(clock);
    case CX_SLOT_primary_reset:
        return cx_trace_clock_is_primary(clock, ARGUMENTS(call, primary_reset)->device);
    default:
        return false;
    }
}

static void end_clocks(const cx_layer_call *call)
{
    for (cx_trace_clock *clock = cx_trace_clock_next(NULL); clock != NULL;
         clock = cx_trace_clock_next(clock))
        if (ends(call, clock)) {
            cx_trace_clock_look(driver, clock, tell);
            cx_trace_clock_end(clock);
        }
}

/* Whether a release was the last one shows afterwards. */
static void end_released(CUdevice device)
{
    unsigned int flags;
    int active = 1;
    if (driver->primary_get_state(device, &flags, &active) != CXU_SUCCESS || active != 0)
        return;
    for (cx_trace_clock *clock = cx_trace_clock_next(NULL); clock != NULL;
         clock = cx_trace_clock_next(clock))
        if (cx_trace_clock_is_primary(clock, device))
            cx_trace_clock_end(clock);
}

static void look_at_all(void)
{
    for (cx_trace_clock *clock = cx_trace_clock_next(NULL); clock != NULL;
         clock = cx_trace_clock_next(clock))
        cx_trace_clock_look(driver, clock, tell);
}

/* ---- the layer's side ---- */

bool cx_trace_events_wanted(void)
{
    const char *told = cx_option("CTXRT_TRACE_EVENTS");
    return told != NULL && strcmp(told, "1") == 0;
}

void cx_trace_events_begin(const cx_driver_table *below, cx_work_timestamps_watcher *watcher)
{
    driver = below;
    tell = watcher;
}

cx_trace_timed *cx_trace_events_before(const cx_layer_call *call, uint64_t ticket)
{
    cx_trace_timed *timed = NULL;
    bool at_end = call->slot == CX_SLOT_ctx_destroy || call->slot == CX_SLOT_ctx_detach ||
                  call->slot == CX_SLOT_primary_reset || call->slot == CX_SLOT_primary_release;
    if (submits[call->slot] == 0 && !at_end)
        return NULL;
    cxu_stream_capture_mode mode = exchange(CXU_STREAM_CAPTURE_MODE_RELAXED);
    if (call->slot == CX_SLOT_primary_release)
        look_at_all();
    else if (at_end)
        end_clocks(call);
    else
        timed = begin_in_stream(stream_of(call));
    (void)exchange(mode);
    if (timed != NULL) {
        timed->timing.ticket = ticket;
        timed->timing.kind = (cx_timed_kind)(submits[call->slot] - 1);
        timed->timing.submitted_ns = cx_clock_ns();
    }
    return timed;
}

uint64_t cx_trace_events_ticket(const cx_trace_timed *timed)
{
    return timed->timing.ticket;
}

/* Asking for an event may make a driver begin with work, so that is left to calls that wait. */
static void end_work(const cx_layer_call *call, cx_trace_timed *timed)
{
    bool much = false, entered = enter((CUcontext)(uintptr_t)timed->timing.context);
    if (call->result == CXU_SUCCESS &&
        driver->event_record(timed->ended, timed->stream) == CXU_SUCCESS)
        much = cx_trace_clock_keep(timed);
    else
        cx_trace_clock_drop(timed);
    leave(entered);
    if (much)
        look_at_all();
}

static bool waits(cx_slot slot)
{
    return slot == CX_SLOT_ctx_synchronize || slot == CX_SLOT_ctx_synchronize_v2 ||
           slot == CX_SLOT_stream_synchronize || slot == CX_SLOT_event_synchronize ||
           slot == CX_SLOT_stream_query || slot == CX_SLOT_event_query;
}

void cx_trace_events_after(const cx_layer_call *call, cx_trace_timed *timed)
{
    bool released = call->slot == CX_SLOT_primary_release && call->result == CXU_SUCCESS;
    if (timed == NULL && !released && !waits(call->slot))
        return;
    cxu_stream_capture_mode mode = exchange(CXU_STREAM_CAPTURE_MODE_RELAXED);
    if (timed != NULL)
        end_work(call, timed);
    if (released)
        end_released(ARGUMENTS(call, primary_release)->device);
    else if (waits(call->slot))
        look_at_all();
    (void)exchange(mode);
}
