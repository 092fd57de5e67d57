#include "emu/schedule/never_synchronized.h"

#include "base/log.h"
#include "emu/base/state.h"
#include "emu/emu.h"
#include "emu/schedule/schedule.h"
#include "emu/schedule/stream.h"
#include <stdio.h>

/* Counts for contexts that are gone. */
static long closed_count;
static char first_closed[64];

static bool is_unwaited(const cx_emu_work *work)
{
    return cx_emu_schedule_lazy() && !work->done && !work->demanded &&
           work->kind != CX_EMU_WORK_LOCKED && work->kind != CX_EMU_WORK_WAIT;
}

static const char *call_of(const cx_emu_work *work)
{
    return work->slot >= 0 ? cx_symbols[work->slot].symbol : NULL;
}

/* ---- reporting now ---- */

typedef struct visitor {
    void (*visit)(const cx_emu_never_synchronized_work *work, void *argument);
    void *argument;
} visitor;

static CUstream handle_of(const cx_emu_stream *stream)
{
    if (stream == NULL)
        return NULL;
    if (stream->id == stream->opening)
        return CXU_STREAM_LEGACY;
    return stream->thread ? CXU_STREAM_PER_THREAD : (CUstream)(void *)stream;
}

static void show_work(const cx_emu_work *work, void *argument)
{
    const visitor *to = argument;

    if (!is_unwaited(work))
        return;
    const cx_emu_never_synchronized_work shown = {
        call_of(work), cx_emu_context_handle(work->context), handle_of(work->stream)};
    to->visit(&shown, to->argument);
}

void cx_emu_never_synchronized(void (*visit)(const cx_emu_never_synchronized_work *work,
                                             void *argument),
                               void *argument)
{
    visitor to = {visit, argument};

    cx_lock_enter(&cx_emu_lock);
    cx_emu_work_each(show_work, &to);
    cx_lock_leave(&cx_emu_lock);
}

/* ---- at the end of the process ---- */

static void note_work(const cx_emu_work *work, void *context)
{
    const char *call = call_of(work);

    if (!is_unwaited(work) || (context != NULL && work->context != context))
        return;
    if (closed_count++ == 0)
        snprintf(first_closed, sizeof first_closed, "%s", call != NULL ? call : "unnamed");
}

void cx_emu_never_synchronized_closing(cx_emu_context *context)
{
    cx_emu_work_each(note_work, context);
}

void cx_emu_never_synchronized_log(void)
{
    cx_lock_enter(&cx_emu_lock);
    cx_emu_work_each(note_work, NULL);
    if (closed_count > 0)
        cx_log(CTXRT_LOG_WARNING,
               "CTXRT_EMU_SCHEDULE=lazy: nothing waited for %ld piece%s of work, first that of %s",
               closed_count, closed_count == 1 ? "" : "s", first_closed);
    cx_lock_leave(&cx_emu_lock);
}
