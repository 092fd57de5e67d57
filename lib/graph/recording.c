#include "graph/recording.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/log.h"
#include "context/observer.h"
#include "graph/ready.h"
#include "work/stream.h"
#include <stdlib.h>

/* Recordings left by ended threads. Each thread that takes some takes all. */
static cx_recording *_Atomic left_over;

static _Atomic uint64_t last_token;

/* ---- discarding ---- */

/* Frees the recording and all that it still owns. */
static void discard_recording(cx_recording *recording)
{
    cx_error_saved saved;
    cx_context *context = recording->context;
    cx_error_save(&saved);
    for (size_t i = recording->operator_count; i-- > 0;)
        cx_operator_destroy(&recording->operators[i]);
    free(recording->operators);
    cx_private_pool_close(&recording->use);
    if (recording->pool != NULL && cx_private_pool_release(recording->pool) != CTXRT_SUCCESS)
        cx_log(CTXRT_LOG_WARNING, "memory of a recording in %s could not be given back: %s",
               cx_context_text(context), ctxrt_last_error()->message);
    free(recording);
    cx_context_object_drop(context, CX_OBJECT_RECORDING);
    cx_error_restore(&saved);
}

static void take_off(cx_thread *thread, const cx_recording *recording)
{
    cx_recording **link = (cx_recording **)&thread->recordings;
    while (*link != recording)
        link = &(*link)->next;
    *link = recording->next;
}

/* The thread ends, or goes on without its record: no driver call is allowed. */
static void leave_thread(cx_thread *thread)
{
    cx_recording *next;
    for (cx_recording *recording = thread->recordings; recording != NULL; recording = next) {
        next = recording->next;
        cx_private_pool_close(&recording->use);
        recording->next = atomic_load(&left_over);
        while (!atomic_compare_exchange_weak(&left_over, &recording->next, recording))
            ;
    }
    thread->recordings = NULL;
}

static const cx_observer observer = {.thread_ends = leave_thread};

static bool has_frame(const cx_thread *thread, uint64_t token)
{
    for (uint32_t i = cx_thread_depth(thread); i-- > 0;)
        if (thread->frames[i].token == token)
            return true;
    return false;
}

static cx_recording *take_lost(cx_thread *thread)
{
    for (cx_recording *recording = thread->recordings; recording != NULL;
         recording = recording->next)
        if (!has_frame(thread, recording->token)) {
            take_off(thread, recording);
            return recording;
        }
    return NULL;
}

static void discard_left_over(void)
{
    cx_recording *next;
    if (atomic_load_explicit(&left_over, memory_order_relaxed) == NULL)
        return;
    int cancel = cx_cancel_hold();
    for (cx_recording *recording = atomic_exchange(&left_over, NULL); recording != NULL;
         recording = next) {
        next = recording->next;
        discard_recording(recording);
    }
    cx_cancel_restore(cancel);
}

/* Ends recordings that no call can end any more. True: one of them was the calling thread's. */
static bool sweep_recordings(cx_thread *thread)
{
    bool lost = false;
    cx_recording *recording;
    discard_left_over();
    while ((recording = take_lost(thread)) != NULL) {
        cx_log(CTXRT_LOG_WARNING,
               "a recording in %s is over: its frame was popped, detached or set to another device",
               cx_context_text(recording->context));
        discard_recording(recording);
        lost = true;
    }
    return lost;
}

/* ---- finding ---- */

static cx_recording *find_recording(const cx_thread *thread, const cx_frame *frame)
{
    cx_recording *recording = thread->recordings;
    while (recording != NULL && recording->token != frame->token)
        recording = recording->next;
    return recording;
}

static ctxrt_status is_over(void)
{
    return cx_error(CTXRT_ERROR_NOT_PERMITTED, "the recording is over: the frame that it was "
                                               "started in was popped, detached or set to another "
                                               "device");
}

/* The recording of the top frame, or NULL, after ending those that are over. *out_lost: one of
 * these was the calling thread's. */
static ctxrt_status find_to_end(cx_thread **out_thread, cx_recording **out_recording,
                                bool *out_lost)
{
    cx_frame *frame;
    cx_error_saved saved;
    cx_error_save(&saved);
    *out_recording = NULL;
    ctxrt_status status = cx_thread_self(out_thread);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_stack_settle(*out_thread, &frame);
    *out_lost = sweep_recordings(*out_thread);
    if (status == CTXRT_SUCCESS)
        *out_recording = find_recording(*out_thread, frame);
    if (status == CTXRT_ERROR_NO_DEVICE) {
        cx_error_restore(&saved);
        return CTXRT_SUCCESS;
    }
    if (*out_recording != NULL && (*out_recording)->stopping)
        return cx_error(CTXRT_ERROR_NOT_PERMITTED,
                        "the recording is being stopped: its operators cannot end it");
    return status;
}

/* ---- starting ---- */

static ctxrt_status join_memory(const cx_graph *graph, const cx_context *context,
                                cx_private_pool **out_pool)
{
    cx_sequence *sequence = graph->sequence;
    if (sequence->pool == NULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_recording_start: the graph to share memory with was not recorded");
    if (sequence->context != context)
        return cx_error(CTXRT_ERROR_WRONG_CONTEXT,
                        "the graph to share memory with is of %s, and the top frame of %s",
                        cx_context_text(sequence->context), cx_context_text(context));
    cx_private_pool_retain(sequence->pool);
    *out_pool = sequence->pool;
    return CTXRT_SUCCESS;
}

static ctxrt_status get_pool(ctxrt_graph *shared, const cx_context *context,
                             cx_private_pool **out_pool)
{
    cx_graph *graph;
    if (shared == NULL) {
        *out_pool = cx_private_pool_make();
        return *out_pool != NULL ? CTXRT_SUCCESS : CTXRT_ERROR_OUT_OF_MEMORY;
    }
    ctxrt_status status = cx_graph_enter(shared, &graph);
    return status == CTXRT_SUCCESS ? cx_graph_leave(shared, join_memory(graph, context, out_pool))
                                   : status;
}

static ctxrt_status begin_recording(cx_thread *thread, cx_frame *frame, ctxrt_graph *shared)
{
    cx_context *context = cx_frame_context(frame);
    cx_recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a recording");
    ctxrt_status status = get_pool(shared, context, &recording->pool);
    if (status != CTXRT_SUCCESS) {
        free(recording);
        return status;
    }
    cx_observe(CX_OBSERVED_BY_GRAPH, &observer);
    recording->context = context;
    recording->epoch = atomic_load(&context->epoch);
    recording->token = atomic_fetch_add(&last_token, 1) + 1;
    cx_context_object_add(context, CX_OBJECT_RECORDING);
    recording->next = thread->recordings;
    thread->recordings = recording;
    frame->token = recording->token;
    cx_private_pool_open(&recording->use, recording->pool, recording->token);
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_recording_start(const ctxrt_recording_options *options)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (options != NULL && options->struct_size != sizeof *options)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_recording_start: struct_size is %zu, not %zu: start from "
                        "CTXRT_RECORDING_OPTIONS_INIT",
                        options->struct_size, sizeof *options);
    status = cx_stack_enter(&thread, &frame);
    if (status != CTXRT_SUCCESS)
        return status;
    (void)sweep_recordings(thread);
    if (find_recording(thread, frame) != NULL)
        return cx_error(CTXRT_ERROR_ALREADY,
                        "the top frame of the calling thread is being recorded already");
    return begin_recording(thread, frame, options != NULL ? options->share_memory_with : NULL);
}

/* ---- submitting ---- */

static ctxrt_status append_operator(cx_recording *recording, const cx_operator *added)
{
    if (recording->operator_count == recording->operator_capacity) {
        size_t capacity = recording->operator_capacity != 0 ? 2 * recording->operator_capacity : 16;
        cx_operator *grown = reallocarray(recording->operators, capacity, sizeof *grown);
        if (grown == NULL)
            return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for an operator of a recording");
        recording->operators = grown;
        recording->operator_capacity = capacity;
    }
    recording->operators[recording->operator_count++] = *added;
    return CTXRT_SUCCESS;
}

static ctxrt_status run_operator(const cx_thread *thread, const cx_operator *called)
{
    ctxrt_status status = cx_operator_run(thread, called, 0);
    if (status == CTXRT_SUCCESS)
        cx_operator_destroy(called);
    return status;
}

ctxrt_status ctxrt_operator_submit(const ctxrt_operator *operation)
{
    cx_thread *thread;
    cx_frame *frame;
    cx_operator submitted;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS && thread->recordings != NULL && sweep_recordings(thread))
        status = is_over();
    if (status == CTXRT_SUCCESS)
        status = cx_operator_read(operation, cx_frame_context(frame), &submitted);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_recording *recording = find_recording(thread, frame);
    return recording != NULL && !recording->stopping ? append_operator(recording, &submitted)
                                                     : run_operator(thread, &submitted);
}

/* ---- ending ---- */

static ctxrt_status make_graph(cx_thread *thread, cx_recording *recording, ctxrt_graph **out_graph)
{
    cx_sequence *sequence;
    cx_graph *graph;
    cx_error_saved saved;
    ctxrt_status status = cx_graph_take(recording->context, &graph);
    if (status != CTXRT_SUCCESS)
        return status;
    recording->stopping = true;
    status = cx_recording_build(thread, recording, &sequence);
    if (status == CTXRT_SUCCESS) {
        cx_private_pool_close(&recording->use);
        status = cx_ready_record(sequence, &recording->use);
        if (status == CTXRT_SUCCESS)
            status = cx_graph_instantiate(graph, sequence);
        if (status == CTXRT_SUCCESS) {
            *out_graph = cx_graph_publish(graph, sequence);
            return status;
        }
        cx_error_save(&saved);
        (void)cx_sequence_release(sequence);
        cx_error_restore(&saved);
    }
    cx_graph_put_back(graph);
    return status;
}

static ctxrt_status check_not_reset(const cx_recording *recording)
{
    if (recording->epoch == atomic_load(&recording->context->epoch))
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_CONTEXT_DESTROYED,
                    "the recording is over: %s was reset after it was started",
                    cx_context_text(recording->context));
}

static ctxrt_status stop_recording(cx_thread *thread, cx_recording *recording,
                                   ctxrt_graph **out_graph)
{
    ctxrt_status status = check_not_reset(recording);
    if (status == CTXRT_SUCCESS)
        status = make_graph(thread, recording, out_graph);
    take_off(thread, recording);
    discard_recording(recording);
    return status;
}

ctxrt_status ctxrt_recording_stop(ctxrt_graph **out_graph)
{
    cx_thread *thread;
    cx_recording *recording;
    bool lost;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_graph == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_recording_stop: out_graph is NULL");
    int cancel = cx_cancel_hold();
    status = find_to_end(&thread, &recording, &lost);
    if (status == CTXRT_SUCCESS && recording != NULL)
        status = stop_recording(thread, recording, out_graph);
    else if (status == CTXRT_SUCCESS)
        status = lost ? is_over()
                      : cx_error(CTXRT_ERROR_NOT_PERMITTED,
                                 "the top frame of the calling thread is not being recorded");
    cx_cancel_restore(cancel);
    return status;
}

/* A recording whose frame is gone has ended with the others, as the caller wants. */
ctxrt_status ctxrt_recording_cancel(void)
{
    cx_thread *thread;
    cx_recording *recording;
    bool lost;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold();
    status = find_to_end(&thread, &recording, &lost);
    if (status == CTXRT_SUCCESS && recording != NULL) {
        take_off(thread, recording);
        discard_recording(recording);
    }
    cx_cancel_restore(cancel);
    return status;
}

ctxrt_status ctxrt_recording_active(int *out_active)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_active == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_recording_active: out_active is NULL");
    status = cx_thread_self(&thread);
    if (status != CTXRT_SUCCESS)
        return status;
    if (thread->recordings == NULL) {
        *out_active = 0;
        return status;
    }
    status = cx_stack_settle(thread, &frame);
    if (status != CTXRT_SUCCESS && status != CTXRT_ERROR_NO_DEVICE)
        return status;
    *out_active = status == CTXRT_SUCCESS && find_recording(thread, frame) != NULL;
    return CTXRT_SUCCESS;
}
