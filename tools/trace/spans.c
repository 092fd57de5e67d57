#include "trace/spans.h"

#include <stdlib.h>

/* The entries that are open while the calls of a thread are followed: indexes of spans. */
typedef struct open_entries {
    const trace_thread *thread;
    size_t *all;
    size_t count, capacity;
} open_entries;

static bool push_index(open_entries *self, size_t index)
{
    if (self->count == self->capacity) {
        size_t more = self->capacity != 0 ? 2 * self->capacity : 16;
        size_t *all = reallocarray(self->all, more, sizeof *all);
        if (all == NULL)
            return false;
        self->all = all;
        self->capacity = more;
    }
    self->all[self->count++] = index;
    return true;
}

/* The entry stays until the thread ends, or else the process. */
static bool open_span(const trace_process *process, trace_spans *spans, open_entries *open,
                      uint64_t handle, uint64_t time)
{
    const uint64_t end = open->thread->ended != 0 ? open->thread->ended : process->ended;
    if (spans->count == spans->capacity) {
        size_t more = spans->capacity != 0 ? 2 * spans->capacity : 64;
        trace_span *all = reallocarray(spans->all, more, sizeof *all);
        if (all == NULL)
            return false;
        spans->all = all;
        spans->capacity = more;
    }
    spans->all[spans->count] = (trace_span){
        .context = trace_object_at(process, CX_HANDLE_CONTEXT, handle, time),
        .handle = handle,
        .start = time,
        .end = end,
        .level = (unsigned)open->count,
    };
    return push_index(open, spans->count++);
}

static void close_span(trace_spans *spans, open_entries *open, uint64_t time)
{
    spans->all[open->all[--open->count]].end = time;
}

static uint64_t top(const trace_spans *spans, const open_entries *open)
{
    return open->count > 0 ? spans->all[open->all[open->count - 1]].handle : 0;
}

/* Brings the open entries to this depth and this current context. What goes ends at `from`, what
 * comes begins at `to`. */
static bool settle(const trace_process *process, trace_spans *spans, open_entries *open,
                   unsigned depth, uint64_t current, uint64_t from, uint64_t to)
{
    while (open->count > depth)
        close_span(spans, open, from);
    if (open->count == depth && depth > 0 && top(spans, open) != current)
        close_span(spans, open, from);
    while (open->count + 1 < depth)
        if (!open_span(process, spans, open, 0, to))
            return false;
    return open->count >= depth || open_span(process, spans, open, current, to);
}

bool trace_spans_of(const trace_process *process, const trace_thread *thread, trace_spans *out)
{
    open_entries open = {.thread = thread};
    bool good = true;
    uint64_t begun = 0;
    *out = (trace_spans){.count = 0};
    for (size_t i = 0; good && i < thread->count; i++) {
        const cx_trace_call *call = thread->calls[i];
        if (call->start < begun) /* within a call that changed the stack */
            continue;
        good = settle(process, out, &open, call->depth_before, call->before, call->start,
                      call->start);
        if (!good || trace_call_end(call) == 0 ||
            (call->depth_after == call->depth_before && call->after == call->before))
            continue;
        begun = trace_call_end(call);
        good = settle(process, out, &open, call->depth_after, call->after, call->start, begun);
    }
    free(open.all);
    if (!good)
        free(out->all);
    return good;
}
