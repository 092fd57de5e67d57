/* Streams and events. */
#include "blocks.h"

static thing *claim_empty(actor *self, kind which)
{
    thing *one = &all.things[which][pick(self, THINGS)];
    return users_claim(&one->users, EMPTY) ? one : NULL;
}

static void settle_thing(thing *one, bool made)
{
    if (made)
        atomic_fetch_add(&all.places[one->place].users, 1); /* a frame holds it */
    atomic_store(&one->users, made ? 0 : EMPTY);
}

void op_stream(actor *self)
{
    const frame *top = actor_top(self);
    thing *one = top != NULL ? claim_empty(self, STREAM) : NULL;
    if (one == NULL)
        return;
    one->place = top->place;
    one->life = life_begin(top->place);
    one->blocking = chance(self, 30);
    ctxrt_stream *made;
    bool done = OK(
        self, ctxrt_stream_create(one->blocking ? CTXRT_STREAM_DEFAULT : CTXRT_STREAM_NON_BLOCKING,
                                  (int)pick(self, 3) - 1, &made));
    life_made(&one->life);
    one->object = done ? made : NULL;
    settle_thing(one, done);
}

void op_event(actor *self)
{
    static const unsigned int flags[] = {CTXRT_EVENT_DEFAULT, CTXRT_EVENT_BLOCKING_SYNC,
                                         CTXRT_EVENT_DISABLE_TIMING};
    const frame *top = actor_top(self);
    thing *one = top != NULL ? claim_empty(self, EVENT) : NULL;
    if (one == NULL)
        return;
    one->place = top->place;
    one->life = life_begin(top->place);
    ctxrt_event *made;
    bool done = OK(self, ctxrt_event_create(flags[pick(self, 3)], &made));
    life_made(&one->life);
    one->object = done ? made : NULL;
    settle_thing(one, done);
}

static void end(actor *self, kind which)
{
    thing *one = &all.things[which][pick(self, THINGS)];
    if (!users_claim(&one->users, 0))
        return;
    (void)(which == STREAM ? OK(self, ctxrt_stream_destroy(one->object))
                           : OK(self, ctxrt_event_destroy(one->object)));
    self->stale[which][pick(self, STALE)] = one->object;
    users_drop(&all.places[one->place].users);
    atomic_store(&one->users, EMPTY);
}

void op_end_stream(actor *self)
{
    end(self, STREAM);
}

void op_end_event(actor *self)
{
    end(self, EVENT);
}

/* An event of the top frame's place, or of any. */
static thing *hold_event(actor *self)
{
    return actor_hold(self, EVENT, (int)pick(self, PLACES));
}

void op_record(actor *self)
{
    thing *event = hold_event(self);
    if (event == NULL)
        return;
    route by = route_pick(self, event->place);
    if (by.stream != NULL) {
        ctxrt_status status = ctxrt_event_record(event->object, by.stream);
        (void)actor_expect(self, status, may_be_gone(&event->life) | may_be_gone(&by.life),
                           "ctxrt_event_record");
    }
    route_drop(&by);
    thing_drop(event);
}

void op_wait_event(actor *self)
{
    thing *event = hold_event(self);
    const frame *top = actor_top(self);
    if (event == NULL)
        return;
    route by = route_pick(self, top != NULL && chance(self, 70) ? top->place : event->place);
    if (by.stream != NULL) {
        ctxrt_status status = ctxrt_stream_wait_event(by.stream, event->object);
        (void)actor_expect(self, status, may_be_gone(&event->life) | may_be_gone(&by.life),
                           "ctxrt_stream_wait_event");
    }
    route_drop(&by);
    thing_drop(event);
}

void op_ask_event(actor *self)
{
    thing *event = hold_event(self);
    if (event == NULL)
        return;
    bool waits = chance(self, 50);
    ctxrt_status status =
        waits ? ctxrt_event_synchronize(event->object) : ctxrt_event_query(event->object);
    (void)actor_expect(self, status,
                       may_be_gone(&event->life) | (waits ? 0 : MAY(CTXRT_ERROR_NOT_READY)),
                       waits ? "ctxrt_event_synchronize" : "ctxrt_event_query");
    thing_drop(event);
}

void op_ask_stream(actor *self)
{
    const frame *top = actor_top(self);
    route by = route_pick(self, top != NULL ? top->place : (int)pick(self, PLACES));
    if (by.stream == NULL)
        return;
    bool waits = chance(self, 50);
    ctxrt_status status =
        waits ? ctxrt_stream_synchronize(by.stream) : ctxrt_stream_query(by.stream);
    (void)actor_expect(self, status,
                       may_be_gone(&by.life) | (waits ? 0 : MAY(CTXRT_ERROR_NOT_READY)),
                       waits ? "ctxrt_stream_synchronize" : "ctxrt_stream_query");
    route_drop(&by);
}

/* Holds a stream up for a while, so that work behind it is to come. */
static void spin(void *argument)
{
    volatile unsigned count = (unsigned)(uintptr_t)argument;
    while (count > 0)
        count--;
}

void op_delay(actor *self)
{
    const frame *top = actor_top(self);
    route by = route_pick(self, top != NULL ? top->place : (int)pick(self, PLACES));
    if (by.stream == NULL)
        return;
    ctxrt_status status =
        ctxrt_stream_add_host_function(by.stream, spin, (void *)(uintptr_t)pick(self, 200000));
    (void)actor_expect(self, status, may_be_gone(&by.life), "ctxrt_stream_add_host_function");
    route_drop(&by);
}

/* ---- waits for a whole context ---- */

static unsigned may_meet_captures(const actor *self, int place)
{
    return actor_met(self, place, TROUBLE_CAPTURE)
               ? MAY(CTXRT_ERROR_DRIVER) | MAY(CTXRT_ERROR_NOT_PERMITTED)
               : 0;
}

void op_legacy(actor *self)
{
    const frame *top = actor_top(self);
    if (top == NULL)
        return;
    trouble_begin(top->place, TROUBLE_WAIT);
    ctxrt_status status = ctxrt_stream_synchronize(CTXRT_STREAM_LEGACY);
    (void)actor_expect(self, status, may_meet_captures(self, top->place),
                       "ctxrt_stream_synchronize of the legacy stream");
    trouble_end(top->place, TROUBLE_WAIT);
}

void op_wait_for_all(actor *self)
{
    const frame *top = actor_top(self);
    if (top == NULL) {
        REFUSED(self, ctxrt_device_synchronize(), CTXRT_ERROR_NO_DEVICE);
        return;
    }
    trouble_begin(top->place, TROUBLE_WAIT);
    ctxrt_status status = ctxrt_device_synchronize();
    (void)actor_expect(self, status, may_meet_captures(self, top->place),
                       "ctxrt_device_synchronize");
    trouble_end(top->place, TROUBLE_WAIT);
}

/* ---- calls that are refused ---- */

void op_refused_stream_end(actor *self)
{
    const frame *top = actor_top(self);
    if (top == NULL)
        return;
    if (top->stream != NULL) {
        ctxrt_status status = ctxrt_stream_destroy(top->stream->object);
        if (status != CTXRT_ERROR_IN_USE)
            actor_fail(self, "a stream of the top frame was destroyed: %s",
                       ctxrt_status_name(status));
        return;
    }
    route by = route_current(self);
    if (by.stream != NULL &&
        OK_OR(self, ctxrt_stream_destroy(by.stream),
              MAY(CTXRT_ERROR_INVALID_ARGUMENT) | may_be_gone(&by.life)))
        actor_fail(self, "a default stream was destroyed");
    route_drop(&by);
}

void op_stale_thing(actor *self)
{
    void *stream = self->stale[STREAM][pick(self, STALE)];
    void *event = self->stale[EVENT][pick(self, STALE)];
    if (stream != NULL) {
        REFUSED(self, ctxrt_stream_query(stream), CTXRT_ERROR_INVALID_HANDLE);
        REFUSED(self, ctxrt_stream_destroy(stream), CTXRT_ERROR_INVALID_HANDLE);
    }
    if (event != NULL) {
        REFUSED(self, ctxrt_event_query(event), CTXRT_ERROR_INVALID_HANDLE);
        REFUSED(self, ctxrt_event_destroy(event), CTXRT_ERROR_INVALID_HANDLE);
    }
}
