#include "layer/trace/thread.h"

#include "layer/arguments.h"
#include "layer/trace/file.h"

#include <stdlib.h>

typedef enum change { CHANGE_NONE, CHANGE_PUSH, CHANGE_POP, CHANGE_SET, CHANGE_END } change;

static const unsigned char changes[CX_SLOT_COUNT] = {
    [CX_SLOT_ctx_create_v2] = CHANGE_PUSH, [CX_SLOT_ctx_create_v3] = CHANGE_PUSH,
    [CX_SLOT_ctx_create_v4] = CHANGE_PUSH, [CX_SLOT_ctx_push] = CHANGE_PUSH,
    [CX_SLOT_ctx_pop] = CHANGE_POP,        [CX_SLOT_ctx_set_current] = CHANGE_SET,
    [CX_SLOT_ctx_destroy] = CHANGE_END,    [CX_SLOT_ctx_detach] = CHANGE_END,
};

bool cx_trace_changes_stack(cx_slot slot)
{
    return changes[slot] != CHANGE_NONE;
}

static bool grow(cx_trace_thread *self)
{
    unsigned more = self->capacity != 0 ? 2 * self->capacity : 16;
    uint64_t *stack = reallocarray(self->stack, more, sizeof *stack);
    if (stack == NULL)
        return false;
    self->stack = stack;
    self->capacity = more;
    return true;
}

static void push(cx_trace_thread *self, uint64_t context)
{
    if (self->depth < self->capacity || grow(self))
        self->stack[self->depth++] = context;
    else
        cx_trace_file_lose(); /* the stack is less deep in what follows */
}

static void pop(cx_trace_thread *self)
{
    if (self->depth > 0)
        self->depth--;
}

static void set(cx_trace_thread *self, uint64_t context)
{
    pop(self);
    if (context != 0)
        push(self, context);
}

/* Other code may have changed what is current by calls that the layer did not see. A driver that
 * refuses to answer has a context current that ended: it stays. */
static void compare(cx_trace_thread *self, const cx_driver_table *driver)
{
    CUcontext now = NULL;
    if (driver->ctx_get_current(&now) != CXU_SUCCESS || (uintptr_t)now == cx_trace_current(self))
        return;
    if (now == NULL)
        self->depth = 0;
    else
        set(self, (uintptr_t)now);
}

void cx_trace_stack_begin(cx_trace_thread *self, const cx_driver_table *driver)
{
    self->knows_stack = true;
    compare(self, driver);
}

static uint64_t pushed(cx_slot slot, const void *arguments)
{
    if (slot == CX_SLOT_ctx_push)
        return (uintptr_t)((const cx_arguments_ctx_push *)arguments)->context;
    /* The other calls have it first of their arguments. */
    return (uintptr_t) * ((const cx_arguments_ctx_create_v2 *)arguments)->out_context;
}

/* Only the end of the thread's own current context takes it off the stack. */
static void follow_end(cx_trace_thread *self, const void *arguments, const cx_driver_table *driver)
{
    CUcontext now;
    uint64_t ended = (uintptr_t)((const cx_arguments_ctx_destroy *)arguments)->context;
    if (cx_trace_current(self) != ended)
        return;
    if (driver->ctx_get_current(&now) != CXU_SUCCESS || (uintptr_t)now != ended)
        pop(self);
}

void cx_trace_stack_follow(cx_trace_thread *self, cx_slot slot, const void *arguments,
                           const cx_driver_table *driver)
{
    switch ((change)changes[slot]) {
    case CHANGE_NONE:
        return;
    case CHANGE_PUSH:
        push(self, pushed(slot, arguments));
        break;
    case CHANGE_POP:
        pop(self);
        break;
    case CHANGE_SET:
        set(self, (uintptr_t)((const cx_arguments_ctx_set_current *)arguments)->context);
        break;
    case CHANGE_END:
        follow_end(self, arguments, driver);
        break;
    }
    compare(self, driver);
}
