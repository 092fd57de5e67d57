/* Events: the last record of each. All functions: lock "emu.state" held. */
#ifndef CX_EMU_EVENT_H
#define CX_EMU_EVENT_H

#include "emu/base/handle.h"
#include "emu/schedule/shared_event.h"
#include "emu/schedule/work.h"

typedef struct cx_emu_captured_event cx_emu_captured_event;

struct cx_emu_event {
    cx_emu_handle_slot slot;
    cx_emu_context *context;
    uint64_t opening; /* as in a stream */
    unsigned int flags;
    cx_emu_work *record;           /* a reference; NULL: never recorded, or captured */
    cx_emu_shared_event *shared;   /* with other processes; a reference, or NULL */
    uint64_t shared_number;        /* of `record` there; 0: it has none */
    bool captured;                 /* last recorded in a stream that captured */
    cx_emu_captured_event *captured_event; /* during that capture (capture.h), else NULL */
    cx_emu_event *previous, *next; /* in context->events */
};

/* The event of a user's handle, or CXU_INVALID_HANDLE. */
cxu_result cx_emu_event_find(CUevent handle, cx_emu_event **out_event);

/* Makes an event of an open context; NULL: out of memory. And frees one. */
cx_emu_event *cx_emu_event_make(cx_emu_context *context, unsigned int flags);
void cx_emu_event_destroy(cx_emu_event *event);

/* Records the event in a stream that does not capture; behind all work of a context. Errors of
 * cx_emu_work_submit. */
cxu_result cx_emu_event_record(cx_emu_event *event, cx_emu_stream *stream);
cxu_result cx_emu_event_record_behind(cx_emu_event *event, cx_emu_context *context);

/* Makes later work of a stream that does not capture wait for the event; that of the whole context
 * of `legacy`, also for the events that it waited for before. Errors of cx_emu_work_submit. */
cxu_result cx_emu_event_wait(const cx_emu_event *event, cx_emu_stream *stream);
cxu_result cx_emu_event_hold_back(const cx_emu_event *event, cx_emu_stream *legacy);

/* True if its record is done. */
bool cx_emu_event_poll(const cx_emu_event *event);

/* Waits for its record, with the lock released; the event may be gone afterwards. The error as of
 * cx_emu_work_wait. */
cxu_result cx_emu_event_synchronize(const cx_emu_event *event);

/* The time between two records. CXU_NOT_READY; CXU_INVALID_HANDLE: they have no times, or are on
 * two devices; CXU_CAPTURED_EVENT. The events may be gone afterwards. */
cxu_result cx_emu_event_elapsed(const cx_emu_event *start, const cx_emu_event *end, float *out_ms);

/* Records this piece of work in the event, or none. */
void cx_emu_event_set_record(cx_emu_event *event, cx_emu_work *work);

/* True if it was ever recorded, here or in another process. */
bool cx_emu_event_recorded(const cx_emu_event *event);

/* Makes the request for a piece that waits, for a stream of `context`, for the event's last
 * recording; `room` becomes its argument. False: nothing is to be waited for. */
bool cx_emu_event_wait_request(const cx_emu_event *event, cx_emu_context *context,
                               cx_emu_shared_wait *room, cx_emu_work_request *out_request);

/* The event whose last recording is that of `record`, made by `work`. */
void cx_emu_event_set_shared_record(cx_emu_event *event, const cx_emu_shared_record *record,
                                    cx_emu_work *work);

/* Makes an event known to other processes, once. CXU_OUT_OF_MEMORY; as cx_emu_work_submit. */
cxu_result cx_emu_event_share(cx_emu_event *event);

/* Makes the event of another process one of a context, and takes over the reference. NULL: out of
 * memory. */
cx_emu_event *cx_emu_event_adopt(cx_emu_context *context, cx_emu_shared_event *shared);

struct cx_emu_green;

/* Records an event behind all work of a green context; makes all its later work wait for one. */
cxu_result cx_emu_event_record_green(CUevent handle, struct cx_emu_green *green);
cxu_result cx_emu_event_wait_green(CUevent handle, struct cx_emu_green *green);

/* Frees all events of a context. */
void cx_emu_events_release(cx_emu_context *context);

#endif
