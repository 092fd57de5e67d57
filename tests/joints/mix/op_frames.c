/* Operations on the stack of frames, and frames that go from thread to thread. */
#include "blocks.h"

#include <stdlib.h>

frame *actor_top(actor *self)
{
    return self->depth > 0 ? &self->frames[self->depth - 1] : NULL;
}

static void drop_frame(frame *one)
{
    thing_drop(one->stream);
    thing_drop(one->allocator);
    users_drop(&all.places[one->place].users);
}

static void add_frame(actor *self, frame one)
{
    self->frames[self->depth++] = one;
}

static bool has_room(const actor *self)
{
    return self->depth < DEPTH - 1;
}

/* A place, held; -1: the one that was picked does not exist now. */
static int hold_place(actor *self)
{
    int place = (int)pick(self, PLACES);
    return users_hold(&all.places[place].users) ? place : -1;
}

static int hold_primary(actor *self)
{
    int place = (int)pick(self, PRIMARIES);
    return users_hold(&all.places[place].users) ? place : -1;
}

/* ---- comparing ---- */

void actor_compare(actor *self)
{
    const frame *top = actor_top(self);
    ctxrt_frame_info info;
    if (ctxrt_stack_depth() != (size_t)self->depth) {
        actor_fail(self, "the depth is %zu, not %d", ctxrt_stack_depth(), self->depth);
        return;
    }
    ctxrt_status status = ctxrt_stack_peek(0, &info);
    if (top == NULL) {
        if (status != CTXRT_ERROR_STACK_EMPTY)
            actor_fail(self, "an empty stack has a top: %s", ctxrt_status_name(status));
        return;
    }
    const site *there = &all.places[top->place];
    if (status != CTXRT_SUCCESS)
        actor_fail(self, "ctxrt_stack_peek: %s", ctxrt_last_error()->message);
    else if (info.origin != top->origin || info.device.type != there->device.type ||
             info.device.index != there->device.index)
        actor_fail(self, "the top is %s:%d, origin %d, not place %d, origin %d",
                   ctxrt_device_type_name(info.device.type), info.device.index, info.origin,
                   top->place, top->origin);
    else if (there->context != NULL && info.context != there->context)
        actor_fail(self, "the top frame has another context than that of place %d", top->place);
    else if ((top->stream != NULL || top->origin != CTXRT_FRAME_ATTACH) &&
             info.stream != (top->stream != NULL ? top->stream->object : NULL))
        actor_fail(self, "the top frame has another stream than was set");
    else if (info.allocator != (top->allocator != NULL ? top->allocator->object : NULL))
        actor_fail(self, "the top frame has another allocator than was set");
}

/* ---- pushing and popping ---- */

static bool push_held(actor *self, int place)
{
    const site *there = &all.places[place];
    if (!has_room(self) || !(there->context != NULL && chance(self, 100)
                                 ? OK(self, ctxrt_stack_push(there->context))
                                 : OK(self, ctxrt_device_push(there->device)))) {
        users_drop(&all.places[place].users);
        return false;
    }
    add_frame(self, (frame){.place = place, .origin = CTXRT_FRAME_PUSH});
    return true;
}

bool actor_push(actor *self, int place)
{
    return users_hold(&all.places[place].users) && push_held(self, place);
}

void op_push(actor *self)
{
    int place = hold_place(self);
    if (place >= 0)
        (void)push_held(self, place);
}

/* How many frames a pop takes; 0: the top level is a scope's. */
static int level(const actor *self)
{
    const frame *top = &self->frames[self->depth - 1];
    int frames = top->origin == CTXRT_FRAME_SET && self->depth > 1 ? 2 : 1;
    return self->frames[self->depth - frames].origin == CTXRT_FRAME_SCOPE ? 0 : frames;
}

void actor_pop(actor *self)
{
    int frames = self->depth > 0 ? level(self) : 0;
    if (self->depth == 0)
        REFUSED(self, ctxrt_stack_pop(), CTXRT_ERROR_STACK_EMPTY);
    else if (frames == 0)
        REFUSED(self, ctxrt_stack_pop(), CTXRT_ERROR_NOT_PERMITTED);
    else if (OK(self, ctxrt_stack_pop()))
        for (; frames > 0; frames--)
            drop_frame(&self->frames[--self->depth]);
}

void op_pop(actor *self)
{
    actor_pop(self);
}

void op_set_device(actor *self)
{
    frame *top = actor_top(self);
    int place = hold_primary(self);
    if (place < 0)
        return;
    bool replaces = top != NULL && top->origin == CTXRT_FRAME_SET;
    if ((!replaces && !has_room(self)) || !OK(self, ctxrt_device_set(all.places[place].device))) {
        users_drop(&all.places[place].users);
        return;
    }
    if (replaces && top->place == place) {
        users_drop(&all.places[place].users);
        return;
    }
    if (replaces)
        drop_frame(&self->frames[--self->depth]);
    add_frame(self, (frame){.place = place, .origin = CTXRT_FRAME_SET});
}

/* ---- scopes ---- */

void op_enter(actor *self)
{
    int place = hold_place(self);
    if (place < 0)
        return;
    const site *there = &all.places[place];
    ctxrt_scope *scope = &self->scopes[self->depth];
    *scope = (ctxrt_scope){0};
    if (!has_room(self) ||
        !(there->context != NULL ? OK(self, ctxrt_scope_enter_context(there->context, scope))
                                 : OK(self, ctxrt_scope_enter(there->device, scope)))) {
        users_drop(&all.places[place].users);
        return;
    }
    add_frame(self, (frame){.place = place, .origin = CTXRT_FRAME_SCOPE, .scope = scope});
}

static bool leave(actor *self)
{
    int index = self->depth - 1;
    while (index >= 0 && self->frames[index].origin != CTXRT_FRAME_SCOPE)
        index--;
    if (index < 0)
        return false;
    bool leftover = false;
    for (int i = index + 1; i < self->depth; i++)
        leftover |= self->frames[i].origin != CTXRT_FRAME_SET;
    ctxrt_scope *scope = self->frames[index].scope;
    if (leftover)
        REFUSED(self, ctxrt_scope_leave(scope), CTXRT_ERROR_STACK_LEFTOVER);
    else
        (void)OK(self, ctxrt_scope_leave(scope));
    while (self->depth > index)
        drop_frame(&self->frames[--self->depth]);
    return true;
}

void op_leave(actor *self)
{
    (void)leave(self);
}

void actor_unwind(actor *self)
{
    for (int i = 0; i < 64 && self->depth > 0; i++)
        if (level(self) == 0)
            (void)leave(self);
        else
            actor_pop(self);
    if (self->depth > 0)
        actor_fail(self, "%d frames cannot be popped", self->depth);
}

/* ---- hand-off ---- */

/* A default stream goes with its frame: its work is finished, or is that of blocks that are freed
 * behind it. */
static void leave_default_stream(actor *self, ctxrt_stream *stream)
{
    for (int i = 0; i < POCKET; i++) {
        block *one = self->pocket[i];
        if (one == NULL || one->order == NULL || one->order != stream)
            continue;
        if (chance(self, 50)) {
            block_settle(self, one);
        } else {
            self->pocket[i] = NULL;
            block_end(self, one);
        }
    }
}

static bool may_detach(const frame *top)
{
    return top->origin == CTXRT_FRAME_PUSH || top->origin == CTXRT_FRAME_ATTACH;
}

void op_detach(actor *self)
{
    frame *top = actor_top(self);
    ctxrt_detached_frame *detached;
    if (!MENDED_DETACH_BESIDE_RESET && all.threads > 1)
        return;
    if (top == NULL) {
        REFUSED(self, ctxrt_stack_detach(&detached), CTXRT_ERROR_STACK_EMPTY);
        return;
    }
    if (!may_detach(top)) {
        REFUSED(self, ctxrt_stack_detach(&detached), CTXRT_ERROR_NOT_PERMITTED);
        return;
    }
    if (top->stream == NULL) {
        route by = route_current(self);
        leave_default_stream(self, by.stream);
        route_drop(&by);
    }
    mail *made = malloc(sizeof *made);
    if (made == NULL)
        abort();
    made->life = life_begin(top->place);
    if (!OK(self, ctxrt_stack_detach(&made->frame))) {
        free(made);
        return;
    }
    life_made(&made->life);
    made->place = top->place;
    made->stream = top->stream;
    made->allocator = top->allocator;
    self->depth--;
    mail *before = atomic_exchange(&all.mails[pick(self, MAILS)], made);
    if (before == NULL)
        return;
    if (OK(self, ctxrt_stack_discard(before->frame)))
        REFUSED(self, ctxrt_stack_discard(before->frame), CTXRT_ERROR_INVALID_HANDLE);
    drop_frame(
        &(frame){.place = before->place, .stream = before->stream, .allocator = before->allocator});
    free(before);
}

void op_attach(actor *self)
{
    mail *one = has_room(self) ? atomic_exchange(&all.mails[pick(self, MAILS)], NULL) : NULL;
    if (one == NULL)
        return;
    if (!OK(self, ctxrt_stack_attach(one->frame))) {
        mail *before = atomic_exchange(&all.mails[pick(self, MAILS)], one);
        if (before != NULL && OK(self, ctxrt_stack_discard(before->frame))) {
            drop_frame(&(frame){
                .place = before->place, .stream = before->stream, .allocator = before->allocator});
            free(before);
        }
        return;
    }
    REFUSED(self, ctxrt_stack_attach(one->frame), CTXRT_ERROR_INVALID_HANDLE);
    add_frame(self, (frame){.place = one->place,
                            .origin = CTXRT_FRAME_ATTACH,
                            .stream = one->stream,
                            .allocator = one->allocator,
                            .life = one->life});
    free(one);
}

void op_discard(actor *self)
{
    mail *one = atomic_exchange(&all.mails[pick(self, MAILS)], NULL);
    if (one == NULL)
        return;
    (void)OK(self, ctxrt_stack_discard(one->frame));
    drop_frame(&(frame){.place = one->place, .stream = one->stream, .allocator = one->allocator});
    free(one);
}

void op_resync(actor *self)
{
    ctxrt_resync_report report;
    if (OK(self, ctxrt_stack_resync(&report)) && report.finding != CTXRT_RESYNC_IN_STEP)
        actor_fail(self, "resync found %d (%d)", report.finding, report.count);
}

/* ---- what a frame has ---- */

void op_set_stream(actor *self)
{
    frame *top = actor_top(self);
    if (top == NULL) {
        REFUSED(self, ctxrt_frame_set_stream(NULL), CTXRT_ERROR_NO_DEVICE);
        return;
    }
    thing *next = chance(self, 40) ? NULL : actor_hold(self, STREAM, top->place);
    if (!OK_OR(self, ctxrt_frame_set_stream(next != NULL ? next->object : NULL),
               next != NULL ? may_be_gone(&next->life) : 0)) {
        thing_drop(next);
        return;
    }
    thing_drop(top->stream);
    top->stream = next;
}

void op_set_allocator(actor *self)
{
    frame *top = actor_top(self);
    if (top == NULL)
        return;
    thing *next = chance(self, 40) ? NULL : actor_hold(self, ALLOCATOR, top->place);
    if (!OK(self, ctxrt_frame_set_allocator(next != NULL ? next->object : NULL))) {
        thing_drop(next);
        return;
    }
    thing_drop(top->allocator);
    top->allocator = next;
}
