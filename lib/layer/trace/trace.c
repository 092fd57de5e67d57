#include "layer/trace/trace.h"

#include "base/clock.h"
#include "driver/entry.h"
#include "driver/work_timestamps.h"
#include "layer/trace/events.h"
#include "layer/trace/file.h"
#include "layer/trace/layout.h"
#include "layer/trace/thread.h"

#include <string.h>

static const cx_driver_table *driver;
static bool begun;
static bool by_events; /* work is timed by events */

/* ---- calls of the Runtime API ---- */

/* Only those that call the driver have records. */
static void note_api(cx_trace_thread *self)
{
    const cx_entry_origin *origin = cx_entry_origin_now;
    if (__builtin_expect(origin == NULL, 1) || self->api != NULL)
        return;
    cx_trace_module_see(self, origin->caller);
    cx_trace_record *record = cx_trace_take(self, sizeof(cx_trace_api));
    if (record == NULL)
        return;
    cx_trace_api *api = (cx_trace_api *)record;
    api->record = (cx_trace_record){sizeof *api, CX_TRACE_API, 0};
    api->start = self->api_start;
    api->caller = (uintptr_t)origin->caller;
    (void)strncpy(api->name, origin->name, sizeof api->name - 1);
    self->api = api;
}

void cx_trace_change_api(void)
{
    cx_trace_thread *self = cx_trace_thread_self();
    if (self == NULL)
        return;
    uint64_t now = cx_clock_ns();
    cx_trace_api *api = self->api;
    self->api = NULL;
    self->api_start = now;
    if (api == NULL)
        return;
    atomic_store_explicit(&api->end, now, memory_order_release);
    cx_trace_leave(self);
}

/* ---- before a call ---- */

static void fill_call(cx_trace_call *call, cx_trace_thread *self, const cx_layer_call *seen)
{
    const cx_trace_layout *layout = &cx_trace_layouts[seen->slot];
    call->record = (cx_trace_record){layout->bytes, CX_TRACE_CALL, (uint8_t)cx_entry_now};
    call->slot = (uint16_t)seen->slot;
    call->depth_before = (uint16_t)self->depth;
    call->caller = (uintptr_t)seen->caller;
    call->before = cx_trace_current(self);
    call->ticket = (uint64_t)self->number << 40 | ++self->calls;
    call->outer = (uintptr_t)self->innermost;
    memcpy(call + 1, seen->arguments, layout->argument_bytes);
    self->innermost = call;
    cx_work_timestamps_ticket = call->ticket;
}

static void begin_call(const cx_layer_call *seen)
{
    cx_trace_thread *self = cx_trace_thread_self();
    if (self == NULL) {
        cx_trace_file_lose();
        return;
    }
    if (__builtin_expect(!self->knows_stack, 0))
        cx_trace_stack_begin(self, driver);
    if (self->lost_calls == 0) {
        note_api(self);
        cx_trace_module_see(self, seen->caller);
    }
    cx_trace_record *record =
        self->lost_calls == 0 ? cx_trace_take(self, cx_trace_layouts[seen->slot].bytes) : NULL;
    if (__builtin_expect(record == NULL, 0)) {
        self->lost_calls++;
        cx_trace_file_lose();
        return;
    }
    cx_trace_call *call = (cx_trace_call *)record;
    fill_call(call, self, seen);
    if (__builtin_expect(by_events, 0) && self->timed == NULL)
        self->timed = cx_trace_events_before(seen, call->ticket);
    call->start = cx_clock_ns();
    cx_trace_publish(self);
}

/* ---- and after it ---- */

/* A text is read where the driver has read it. */
static bool has_read_text(cxu_result result)
{
    return result == CXU_SUCCESS || result == CXU_NOT_FOUND || result == CXU_FILE_NOT_FOUND;
}

static void keep_text(cx_trace_call *call, const cx_trace_layout *layout, const void *arguments)
{
    const cx_trace_parameter *parameter = &layout->parameters[layout->text_parameter];
    char *to = (char *)call + layout->text;
    const char *text;
    memcpy(&text, (const char *)arguments + parameter->offset, sizeof text);
    if (text == NULL)
        return;
    size_t length = strnlen(text, CX_TRACE_TEXT - 1);
    memcpy(to, text, length);
}

static void keep_values(cx_trace_call *call, const cx_trace_layout *layout, const void *arguments)
{
    for (unsigned i = 0; i < layout->count; i++) {
        const cx_trace_parameter *parameter = &layout->parameters[i];
        const void *from;
        if (parameter->back_bytes == 0)
            continue;
        memcpy(&from, (const char *)arguments + parameter->offset, sizeof from);
        if (from != NULL)
            memcpy((char *)call + parameter->back, from, parameter->back_bytes);
    }
}

static void keep_what_came_back(cx_trace_call *call, const cx_layer_call *seen)
{
    const cx_trace_layout *layout = &cx_trace_layouts[seen->slot];
    if (layout->text != 0 && has_read_text(seen->result))
        keep_text(call, layout, seen->arguments);
    if (seen->result != CXU_SUCCESS)
        return;
    keep_values(call, layout, seen->arguments);
    if (layout->numbers != 0)
        cx_trace_numbers(seen->slot, seen->arguments, (uint64_t *)((char *)call + layout->numbers));
}

/* A call that the driver makes within another one is no work of its own. */
static void end_timed(cx_trace_thread *self, const cx_trace_call *call, const cx_layer_call *seen)
{
    cx_trace_timed *timed = self->timed;
    if (timed != NULL && cx_trace_events_ticket(timed) != call->ticket)
        return;
    self->timed = NULL;
    cx_trace_events_after(seen, timed);
}

static void end_call(const cx_layer_call *seen)
{
    const uint64_t end = cx_clock_ns();
    cx_trace_thread *self = cx_trace_thread_self();
    if (self == NULL)
        return;
    if (seen->result == CXU_SUCCESS && cx_trace_changes_stack(seen->slot))
        cx_trace_stack_follow(self, seen->slot, seen->arguments, driver);
    if (__builtin_expect(self->lost_calls > 0, 0)) {
        self->lost_calls--;
        return;
    }
    cx_trace_call *call = self->innermost;
    if (call == NULL) /* there was no memory for the thread's record when the call began */
        return;
    self->innermost = (cx_trace_call *)(uintptr_t)call->outer;
    cx_work_timestamps_ticket = self->innermost != NULL ? self->innermost->ticket : 0;
    keep_what_came_back(call, seen);
    call->result = (int32_t)seen->result;
    call->depth_after = (uint16_t)self->depth;
    call->after = cx_trace_current(self);
    atomic_store_explicit(&call->end, end, memory_order_release);
    if (__builtin_expect(by_events, 0))
        end_timed(self, call, seen);
    cx_trace_leave(self);
}

/* ---- work ---- */

static void keep_work(const cx_work_timestamps *done)
{
    cx_trace_thread *self = cx_trace_thread_self();
    cx_trace_record *record =
        self != NULL ? cx_trace_take(self, sizeof(cx_trace_work)) : NULL;
    if (record == NULL) {
        cx_trace_file_lose();
        return;
    }
    cx_trace_work *work = (cx_trace_work *)record;
    *work = (cx_trace_work){
        .record = {sizeof *work, CX_TRACE_WORK, (uint8_t)done->kind},
        .ticket = done->ticket,
        .stream_id = done->stream_id,
        .stream = done->stream,
        .context = done->context,
        .function = done->function,
        .submitted = done->submitted_ns,
        .start = done->began_ns,
        .end = done->ended_ns,
    };
    cx_trace_publish(self);
}

static const cx_layer layer = {begin_call, end_call};

bool cx_trace_put(const cx_driver_table *below, bool times_itself, cx_driver_table *out_table)
{
    if (!begun && !cx_trace_file_open())
        return false;
    if (!begun) {
        begun = true;
        cx_trace_layouts_make();
        cx_trace_threads_begin();
        cx_work_timestamps_watch(keep_work);
        by_events = !times_itself && cx_trace_events_wanted();
        if (by_events)
            cx_trace_events_begin(below, keep_work);
    }
    driver = below;
    cx_layer_put(&layer, below, out_table);
    return true;
}
