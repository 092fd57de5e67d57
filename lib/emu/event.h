/* Events: the last record of each. All functions: lock "emu.state" held. */
#ifndef CX_EMU_EVENT_H
#define CX_EMU_EVENT_H

#include "emu/handle.h"
#include "emu/work.h"

typedef struct cx_emu_captured_event cx_emu_captured_event;

struct cx_emu_event {
    cx_emu_handle_slot slot;
    cx_emu_context *context;
    uint64_t opening; /* as in a stream */
    unsigned int flags;
    cx_emu_work *record;           /* a reference; NULL: never recorded, or captured */
    bool captured;                 /* last recorded in a stream that captured */
    cx_emu_captured_event *captured_event; /* during that capture (capture.h), else NULL */
    cx_emu_event *previous, *next; /* in context->events */
};

/* The event of a user's handle, or CXU_INVALID_HANDLE. */
cxu_result cx_emu_event_find(CUevent handle, cx_emu_event **out_event);

/* Records this piece of work in the event, or none. */
void cx_emu_event_set_record(cx_emu_event *event, cx_emu_work *work);

struct cx_emu_green;

/* Records an event behind all work of a green context; makes all its later work wait for one. */
cxu_result cx_emu_event_record_green(CUevent handle, struct cx_emu_green *green);
cxu_result cx_emu_event_wait_green(CUevent handle, struct cx_emu_green *green);

/* Frees all events of a context. */
void cx_emu_events_release(cx_emu_context *context);

#endif
