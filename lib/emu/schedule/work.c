#include "emu/schedule/work.h"

#include "base/clock.h"
#include "base/log.h"
#include "driver/work_timestamps.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"
#include "emu/schedule/fault.h"
#include "emu/schedule/green.h"
#include "emu/schedule/schedule.h"
#include "emu/schedule/stream.h"
#include "emu/schedule/work_timestamps.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All pieces are in this list: those that only a slot refers to stay reachable for leak
 * checkers. */
static cx_emu_work *oldest, *youngest;
static uint64_t last_sequence;

static int unfinished_kernels;

/* ---- making and freeing pieces ---- */

void cx_emu_work_retain(cx_emu_work *work)
{
    work->references++;
}

void cx_emu_work_drop(cx_emu_work *work)
{
    if (work == NULL || --work->references > 0)
        return;
    *(work->older != NULL ? &work->older->younger : &oldest) = work->younger;
    *(work->younger != NULL ? &work->younger->older : &youngest) = work->older;
    free(work);
}

static cx_emu_work *create_piece(const cx_emu_work_request *request, size_t dependency_count)
{
    const size_t align = _Alignof(max_align_t);
    size_t argument_at = (sizeof(cx_emu_work) + align - 1) / align * align;
    size_t links_at = argument_at + (request->argument_bytes + align - 1) / align * align;
    size_t timed_at = links_at + dependency_count * sizeof(cx_emu_dependency);
    size_t timed_bytes = cx_emu_work_timestamps_bytes();
    cx_emu_work *work = calloc(1, timed_at + timed_bytes);

    if (work == NULL)
        return NULL;
    work->sequence = ++last_sequence;
    work->references = 1;
    if (timed_bytes > 0)
        work->timed = cx_emu_work_timestamps_begin((unsigned char *)work + timed_at, request);
    work->kind = request->kind;
    work->call = request->call;
    work->fail = request->fail;
    work->release = request->release;
    work->slot = cx_emu_call_in_progress.slot;
    work->doer = request->doer;
    if (work->doer != NULL)
        work->doer_opening = work->doer->legacy->opening;
    if (work->kind != CX_EMU_WORK_LOCKED) {
        work->fault = cx_emu_call_in_progress.work_fault;
        cx_emu_call_in_progress.work_fault = CXU_SUCCESS;
    }
    work->argument = request->argument;
    if (request->argument_bytes > 0) {
        work->argument = (unsigned char *)work + argument_at;
        memcpy(work->argument, request->argument, request->argument_bytes);
    }
    if (request->retain != NULL) {
        request->retain(work->argument);
        work->retained = true;
    }
    unfinished_kernels += work->kind == CX_EMU_WORK_KERNEL;
    work->dependencies = (void *)((unsigned char *)work + links_at);
    for (int i = 0; i < CX_EMU_WORK_USES; i++) {
        work->uses[i] = request->uses[i];
        cx_emu_allocation_use(work->uses[i]);
    }
    work->older = youngest;
    *(youngest != NULL ? &youngest->younger : &oldest) = work;
    youngest = work;
    return work;
}

void cx_emu_work_each(void (*visit)(const cx_emu_work *work, void *argument), void *argument)
{
    for (const cx_emu_work *each = oldest; each != NULL; each = each->younger)
        visit(each, argument);
}

cx_emu_work *cx_emu_work_oldest(void)
{
    return oldest;
}

uint64_t cx_emu_work_latest(void)
{
    return last_sequence;
}

bool cx_emu_work_kernels(void)
{
    return unfinished_kernels > 0;
}

/* ---- dependencies ---- */

/* Counts the dependency if the piece is unfinished, and stores it unless `links` is NULL. */
static void add_dependency(cx_emu_work *before, cx_emu_dependency *links, size_t *count)
{
    if (before == NULL || before->done)
        return;
    if (links != NULL)
        links[*count].before = before;
    ++*count;
}

/* `other` is in a stream that is ordered with the one whose last piece is `own`: of the two, the
 * one submitted later already waits for the earlier one. */
static void add_unless_implied(cx_emu_work *other, const cx_emu_work *own, cx_emu_dependency *links,
                               size_t *count)
{
    if (other != NULL && (own == NULL || own->sequence < other->sequence))
        add_dependency(other, links, count);
}

/* Rule T11. */
static void add_stream(const cx_emu_stream *stream, cx_emu_dependency *links, size_t *count)
{
    const cx_emu_stream *legacy = stream->context->legacy;

    add_dependency(stream->tail, links, count);
    add_dependency(legacy->barrier, links, count);
    if (stream->green != NULL)
        add_dependency(stream->green->barrier, links, count);
    if (stream == legacy) {
        for (const cx_emu_stream *each = stream->context->streams; each != NULL; each = each->next)
            if (cx_emu_stream_blocking(each))
                add_unless_implied(each->tail, stream->tail, links, count);
    } else if (cx_emu_stream_blocking(stream)) {
        add_unless_implied(legacy->tail, stream->tail, links, count);
    }
}

static void add_green(const cx_emu_green *green, cx_emu_dependency *links, size_t *count)
{
    add_dependency(green->barrier, links, count);
    add_dependency(green->whole, links, count);
    for (const cx_emu_stream *each = green->context->base->streams; each != NULL; each = each->next)
        if (each->green == green)
            add_dependency(each->tail, links, count);
}

static size_t gather_dependencies(const cx_emu_stream *stream, const cx_emu_work_request *request,
                                  cx_emu_dependency *links)
{
    const cx_emu_context *context = request->after_context;
    size_t count = 0;

    if (stream != NULL)
        add_stream(stream, links, &count);
    for (int i = 0; i < CX_EMU_WORK_AFTER; i++)
        add_dependency(request->after[i], links, &count);
    if (request->after_green != NULL)
        add_green(request->after_green, links, &count);
    else if (context != NULL) {
        add_dependency(context->legacy->tail, links, &count);
        for (const cx_emu_stream *each = context->streams; each != NULL; each = each->next)
            add_dependency(each->tail, links, &count);
        add_dependency(context->whole, links, &count);
    }
    return count;
}

static void link_dependencies(cx_emu_work *work, size_t count)
{
    work->unfinished = work->dependency_count = count;
    for (size_t i = 0; i < count; i++) {
        cx_emu_dependency *link = &work->dependencies[i];

        link->after = work;
        link->next = link->before->successors;
        link->before->successors = link;
    }
}

static void belong_to(cx_emu_work *work, cx_emu_context *context, uint64_t opening)
{
    work->context = context;
    work->opening = opening;
}

static void belong_to_whole(cx_emu_work *work, cx_emu_context *context)
{
    belong_to(work, context, context->legacy->opening);
    if (context->whole != NULL)
        cx_emu_work_drop(context->whole);
    cx_emu_work_retain(work);
    context->whole = work;
}

/* ---- running ---- */

static void finish_piece(cx_emu_work *work)
{
    work->done = true;
    work->done_ns = cx_clock_ns();
    unfinished_kernels -= work->kind == CX_EMU_WORK_KERNEL;
    cx_emu_work_timestamps_end(work->timed, work->done_ns);
    if (work->stream != NULL)
        cx_emu_stream_finished(work->stream, work);
    for (int i = 0; i < CX_EMU_WORK_USES; i++)
        cx_emu_allocation_drop(work->uses[i]);
    if (work->release != NULL)
        work->release(work->argument);
    for (cx_emu_dependency *link = work->successors, *next; link != NULL; link = next) {
        next = link->next;
        link->before = NULL;
        if (--link->after->unfinished == 0)
            cx_emu_schedule_ready(link->after);
    }
    work->successors = NULL;
    cx_emu_work_end_waits();
    cx_emu_work_drop(work);
}

void cx_emu_work_drop_allocation(cx_emu_use use)
{
    cx_emu_allocation_drop(use);
    cx_emu_work_end_waits();
}

/* Runs short pieces that became ready one after the other, and not from inside finish: a long chain
 * of them would be a deep recursion. */
void cx_emu_work_run_locked(void)
{
    cx_emu_work *work;

    while ((work = cx_emu_schedule_take_locked()) != NULL) {
        cx_emu_work_timestamps_run(work->timed);
        if (work->call != NULL)
            work->call(work->argument);
        finish_piece(work);
    }
}

static const cx_emu_allocation *find_gone(const cx_emu_work *work)
{
    const cx_emu_allocation *gone = NULL;

    for (int i = 0; i < CX_EMU_WORK_USES && gone == NULL; i++)
        gone = cx_emu_allocation_gone(work->uses[i]);
    return gone;
}

/* Makes the context useless: the piece would use memory after it was freed, as a kernel would. */
static cxu_result fail_by_address(cx_emu_context *context, int slot, uintptr_t address)
{
    char what[160];

    snprintf(what, sizeof what, "%s began after its memory at %#llx was freed",
             slot >= 0 ? cx_symbols[slot].symbol : "a copy or fill", (unsigned long long)address);
    cx_log(CTXRT_LOG_INFO, "embedded driver: %s: error %d", what, (int)CXU_ILLEGAL_ADDRESS);
    cx_emu_context_fail(context, CXU_ILLEGAL_ADDRESS, what);
    return CXU_ILLEGAL_ADDRESS;
}

/* A kernel of a context that has ended, in a graph that a stream of another one launches, has
 * neither memory nor code. */
static cxu_result obstacle_of_doer(const cx_emu_work *work)
{
    if (work->doer == NULL || work->doer == work->context || work->again)
        return CXU_SUCCESS;
    if (cx_emu_context_opened(work->doer, work->doer_opening))
        return cx_emu_context_blocked(work->doer);
    cx_emu_context_fail(work->context, CXU_ILLEGAL_ADDRESS,
                        "a node of a graph began after its context had ended");
    return CXU_ILLEGAL_ADDRESS;
}

/* The error that keeps the piece from running: its own fault, or an earlier one of its context. */
static cxu_result obstacle_of(const cx_emu_work *work)
{
    cx_emu_context *context = work->context;
    const cx_emu_allocation *gone;

    if (context == NULL)
        return CXU_SUCCESS;
    if (work->fault != CXU_SUCCESS && cx_emu_context_blocked(context) == CXU_SUCCESS) {
        cx_emu_context_fail(context, work->fault,
                            "CTXRT_EMU_FAULT names the call that submitted it");
        return work->fault;
    }
    gone = find_gone(work);
    if (gone != NULL && cx_emu_context_blocked(context) == CXU_SUCCESS)
        return fail_by_address(context, work->slot, gone->address);
    if (cx_emu_context_blocked(context) != CXU_SUCCESS)
        return cx_emu_context_blocked(context);
    return obstacle_of_doer(work);
}

/* The piece begins (1) to run without the lock, or has ended (-1). */
static void count_running(const cx_emu_work *work, int by)
{
    if (work->doer != NULL)
        work->doer->running += by;
    for (int i = 0; i < CX_EMU_WORK_USES; i++)
        cx_emu_allocation_reach(work->uses[i], by);
}

static void run_unlocked(cx_emu_work *work)
{
    cxu_result error = obstacle_of(work);

    if (error != CXU_SUCCESS && work->fail == NULL)
        return;
    count_running(work, 1);
    cx_lock_leave(&cx_emu_lock);
    cx_emu_in_callback = work->kind == CX_EMU_WORK_HOST;
    if (error != CXU_SUCCESS)
        work->fail(work->argument, error);
    else
        work->call(work->argument);
    cx_emu_in_callback = false;
    cx_lock_enter(&cx_emu_lock);
    count_running(work, -1);
}

static CX_EMU_THREAD_LOCAL bool call_again;

void cx_emu_work_call_again(void)
{
    call_again = true;
}

void cx_emu_work_run(cx_emu_work *work)
{
    cx_emu_work_timestamps_run(work->timed);
    if (work->kind != CX_EMU_WORK_LOCKED)
        run_unlocked(work);
    else if (work->call != NULL)
        work->call(work->argument);
    work->again = call_again;
    call_again = false;
    if (work->again)
        cx_emu_schedule_again(work);
    else
        finish_piece(work);
    cx_emu_work_run_locked();
}

/* Frees a piece that was created and will never be submitted. */
static void discard_piece(cx_emu_work *work)
{
    unfinished_kernels -= work->kind == CX_EMU_WORK_KERNEL;
    if (work->fault != CXU_SUCCESS)
        cx_emu_call_in_progress.work_fault = work->fault;
    if (work->retained)
        work->release(work->argument);
    for (int i = 0; i < CX_EMU_WORK_USES; i++)
        cx_emu_work_drop_allocation(work->uses[i]);
    cx_emu_work_drop(work);
}

/* A piece with room for its dependencies, which nothing knows yet. NULL: out of memory. */
static cx_emu_work *prepare_piece(const cx_emu_stream *stream, const cx_emu_work_request *request)
{
    size_t count = gather_dependencies(stream, request, NULL);
    bool at_once = count == 0 && cx_emu_schedule_at_once(request);

    if (!at_once && !cx_emu_schedule_open(count == 0 ? request : NULL))
        return NULL;
    return create_piece(request, count);
}

static void enter_piece(cx_emu_stream *stream, const cx_emu_work_request *request,
                        cx_emu_work *work)
{
    size_t count = gather_dependencies(stream, request, work->dependencies);
    bool at_once = count == 0 && cx_emu_schedule_at_once(request);

    link_dependencies(work, count);
    cx_emu_work_timestamps_place(work->timed, stream,
                                 stream != NULL ? stream->context : request->after_context);
    if (stream != NULL)
        cx_emu_stream_append(stream, work);
    else if (request->after_green != NULL)
        belong_to(work, request->after_context, request->after_context->legacy->opening);
    else if (request->after_context != NULL)
        belong_to_whole(work, request->after_context);
    if (at_once) {
        work->demanded = true;
        cx_emu_work_timestamps_run_at_once(work->timed);
        cx_emu_work_run(work);
    } else if (count == 0) {
        cx_emu_schedule_ready(work);
    }
}

cxu_result cx_emu_work_submit(cx_emu_stream *stream, const cx_emu_work_request *request,
                              cx_emu_work **out_work)
{
    cx_emu_work *work = prepare_piece(stream, request);

    if (work == NULL)
        return CXU_OUT_OF_MEMORY;
    if (out_work != NULL) {
        cx_emu_work_retain(work);
        *out_work = work;
    }
    enter_piece(stream, request, work);
    return CXU_SUCCESS;
}

cxu_result cx_emu_work_put_barrier(cx_emu_work **barrier, const cx_emu_work_request *request)
{
    cx_emu_work_request own = *request;
    cx_emu_work *made;
    cxu_result result;

    own.after[1] = *barrier;
    result = cx_emu_work_submit(NULL, &own, &made);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_work_drop(*barrier);
    *barrier = made;
    return CXU_SUCCESS;
}

cxu_result cx_emu_work_submit_each(cx_emu_stream *const *streams,
                                   const cx_emu_work_request *requests, size_t count,
                                   cx_emu_work **out_works)
{
    for (size_t i = 0; i < count; i++) {
        out_works[i] = prepare_piece(streams[i], &requests[i]);
        if (out_works[i] != NULL)
            continue;
        while (i > 0)
            discard_piece(out_works[--i]);
        return CXU_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < count; i++)
        enter_piece(streams[i], &requests[i], out_works[i]);
    return CXU_SUCCESS;
}

/* ---- batches ---- */

static size_t piece_limit(const cx_emu_work_piece *piece)
{
    return gather_dependencies(NULL, &piece->request, NULL) +
           (piece->after_count ? piece->after_count : 1);
}

/* Creates all pieces, with room for their dependencies, or none. */
static bool create_pieces(const cx_emu_work_batch *batch, cx_emu_work **out_works)
{
    for (size_t i = 0; i < batch->count; i++) {
        out_works[i] = create_piece(&batch->pieces[i].request, piece_limit(&batch->pieces[i]));
        if (out_works[i] == NULL) {
            while (i > 0)
                discard_piece(out_works[--i]);
            return false;
        }
    }
    return true;
}

static void link_piece(const cx_emu_work_piece *piece, const cx_emu_work_batch *batch,
                       cx_emu_work *begin, cx_emu_work *const *works, cx_emu_work *work)
{
    size_t count = gather_dependencies(NULL, &piece->request, work->dependencies);

    for (size_t i = 0; i < piece->after_count; i++)
        add_dependency(works[batch->after[piece->first_after + i]], work->dependencies, &count);
    if (piece->after_count == 0)
        add_dependency(begin, work->dependencies, &count);
    link_dependencies(work, count);
}

/* Gathers the pieces that no piece of the batch depends on. */
static size_t gather_last(const cx_emu_work_batch *batch, cx_emu_work *const *works,
                          cx_emu_dependency *links, size_t count)
{
    for (size_t i = 0; i < batch->count; i++)
        if (works[i]->successors == NULL)
            add_dependency(works[i], links, &count);
    return count;
}

static void start_batch(cx_emu_work *begin, const cx_emu_work_request *nothing)
{
    if (begin->unfinished > 0)
        return;
    if (cx_emu_schedule_at_once(nothing))
        cx_emu_work_run(begin);
    else
        cx_emu_schedule_ready(begin);
}

bool cx_emu_work_nothing_before(const cx_emu_stream *stream, cx_emu_work *after)
{
    const cx_emu_work_request nothing = {.after = {after}};

    return gather_dependencies(stream, &nothing, NULL) == 0;
}

bool cx_emu_work_repeat(cx_emu_work *work, const cx_emu_stream *stream)
{
    static const cx_emu_work_request nothing = {.kind = CX_EMU_WORK_LOCKED};

    if (cx_work_timestamps_watched() != NULL || !work->done || work->references != 1 ||
        work->context != stream->context || work->opening != stream->opening ||
        gather_dependencies(stream, &nothing, NULL) != 0 || !cx_emu_schedule_at_once(&nothing))
        return false;
    work->slot = cx_emu_call_in_progress.slot;
    work->done_ns = cx_clock_ns();
    return true;
}

cxu_result cx_emu_work_submit_batch(cx_emu_stream *stream, const cx_emu_work_batch *batch,
                                    cx_emu_work **out_works, cx_emu_work **out_end)
{
    const cx_emu_work_request nothing = {.kind = CX_EMU_WORK_LOCKED,
                                         .call = batch->begin,
                                         .argument = batch->argument,
                                         .after = {batch->after_work}};
    const cx_emu_work_request plain = {.kind = CX_EMU_WORK_LOCKED};
    size_t before = gather_dependencies(stream, &nothing, NULL);
    cx_emu_work *begin, *end;

    if (!cx_emu_schedule_open(NULL))
        return CXU_OUT_OF_MEMORY;
    begin = create_piece(&nothing, before);
    if (begin == NULL)
        return CXU_OUT_OF_MEMORY;
    if (!create_pieces(batch, out_works))
        goto discard_begin;
    end = create_piece(&plain, before + 1 + batch->count);
    if (end == NULL)
        goto discard_pieces;

    gather_dependencies(stream, &nothing, begin->dependencies);
    link_dependencies(begin, before);
    cx_emu_stream_append(stream, begin);
    for (size_t i = 0; i < batch->count; i++) {
        link_piece(&batch->pieces[i], batch, begin, out_works, out_works[i]);
        belong_to(out_works[i], stream->context, stream->opening);
        cx_emu_work_timestamps_place(out_works[i]->timed, stream, stream->context);
        cx_emu_work_retain(out_works[i]);
    }
    link_dependencies(end, gather_last(batch, out_works, end->dependencies,
                                       gather_dependencies(stream, &plain, end->dependencies)));
    cx_emu_stream_append(stream, end);
    cx_emu_work_retain(end);
    *out_end = end;
    start_batch(begin, &nothing);
    return CXU_SUCCESS;

discard_pieces:
    for (size_t i = 0; i < batch->count; i++)
        discard_piece(out_works[i]);
discard_begin:
    discard_piece(begin);
    return CXU_OUT_OF_MEMORY;
}

cxu_result cx_emu_work_submit_locked_call(CUstream handle, cx_emu_allocation *allocation,
                                          void (*call)(void *argument), void *argument)
{
    const cx_emu_work_request request = {
        .kind = CX_EMU_WORK_LOCKED, .call = call, .argument = argument, .uses = {{allocation, 0}}};
    cx_emu_stream *stream;
    cxu_result result = cx_emu_stream_find(handle, &stream);

    return result == CXU_SUCCESS ? cx_emu_work_submit(stream, &request, NULL) : result;
}
