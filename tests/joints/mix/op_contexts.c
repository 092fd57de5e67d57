/* Contexts, resets, releases and shutdowns, most of them refused. */
#include "blocks.h"

void op_create_context(actor *self)
{
    static const unsigned int flags[] = {CTXRT_CONTEXT_SCHED_AUTO, CTXRT_CONTEXT_SCHED_YIELD,
                                         CTXRT_CONTEXT_SCHED_BLOCKING_SYNC};
    site *there = &all.places[PRIMARIES + pick(self, CREATED)];
    ctxrt_context *made;
    if (!users_claim(&there->users, EMPTY))
        return;
    there->device = all.places[pick(self, PRIMARIES)].device;
    bool done = OK(self, ctxrt_context_create(there->device, flags[pick(self, 3)], &made));
    there->context = done ? made : NULL;
    atomic_store(&there->users, done ? 0 : EMPTY);
}

void op_destroy_context(actor *self)
{
    site *there = &all.places[PRIMARIES + pick(self, CREATED)];
    if (!users_claim(&there->users, 0))
        return;
    ctxrt_context *context = there->context;
    if (!OK_OR(self, ctxrt_context_destroy(context),
               actor_met_keepers(self) ? MAY(CTXRT_ERROR_IN_USE) : 0)) {
        atomic_store(&there->users, 0);
        return;
    }
    REFUSED(self, ctxrt_stack_push(context), CTXRT_ERROR_INVALID_HANDLE);
    there->context = NULL;
    atomic_store(&there->users, EMPTY);
}

void op_refused_destroy(actor *self)
{
    const frame *top = actor_top(self);
    if (top == NULL || all.places[top->place].context == NULL ||
        (!MENDED_REFUSED_DESTROY && all.threads > 1))
        return;
    REFUSED(self, ctxrt_context_destroy(all.places[top->place].context), CTXRT_ERROR_IN_USE);
}

void op_refused_release(actor *self)
{
    int place = (int)pick(self, PRIMARIES);
    if (place == UNANCHORED || (!MENDED_REFUSED_DESTROY && all.threads > 1))
        return;
    REFUSED(self, ctxrt_device_release(all.places[place].device), CTXRT_ERROR_IN_USE);
}

/* Of a device that nothing keeps: granted if nobody uses it. */
void op_release(actor *self)
{
    site *there = &all.places[UNANCHORED];
    if (!MENDED_REFUSED_DESTROY && all.threads > 1)
        return;
    bool used = atomic_load(&there->users) > 0;
    if (all.threads == 1 && !used && !actor_met_keepers(self))
        (void)OK(self, ctxrt_device_release(there->device));
    else if (all.threads == 1 && used)
        REFUSED(self, ctxrt_device_release(there->device), CTXRT_ERROR_IN_USE);
    else
        (void)OK_OR(self, ctxrt_device_release(there->device), MAY(CTXRT_ERROR_IN_USE));
}

void op_retain_primary(actor *self)
{
    int place = (int)pick(self, PRIMARIES);
    ctxrt_context *context;
    if (!users_hold(&all.places[place].users))
        return;
    if (OK(self, ctxrt_context_retain_primary(all.places[place].device, &context))) {
        if (OK(self, ctxrt_stack_push(context)))
            (void)OK(self, ctxrt_stack_pop());
        (void)OK(self, ctxrt_context_release(context));
    }
    users_drop(&all.places[place].users);
}

/* Prefers a device whose memory is in use by a stream of another one: the reset waits for that. */
static int pick_reset(actor *self)
{
    for (int i = 0; i < POCKET && chance(self, 90); i++) {
        const block *one = self->pocket[i];
        if (one != NULL && one->order != NULL && one->place >= 0 && one->place < PRIMARIES &&
            one->order_life.made.place != one->place)
            return one->place;
    }
    return (int)pick(self, PRIMARIES);
}

void op_reset(actor *self)
{
    int place = pick_reset(self);
    if (all.faults || (!MENDED_MEMORY_BESIDE_RESET && all.threads > 1) ||
        (!MENDED_FREE_AFTER_RESET && shadow_has_raw(place)))
        return;
    trouble_begin(place, TROUBLE_RESET);
    trouble_begin(place, TROUBLE_WAIT);
    pthread_rwlock_wrlock(&all.resetting);
    atomic_fetch_add(&all.resets, 1);
    (void)OK(self, ctxrt_device_reset(all.places[place].device));
    atomic_fetch_add(&all.resets, 1);
    pthread_rwlock_unlock(&all.resetting);
    trouble_end(place, TROUBLE_WAIT);
    trouble_end(place, TROUBLE_RESET);
}

void op_refused_shutdown(actor *self)
{
    REFUSED(self, ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
}

void op_peer(actor *self)
{
    const frame *top = actor_top(self);
    ctxrt_device peer = all.places[pick(self, 2)].device;
    if (top == NULL)
        return;
    const unsigned may = MAY(CTXRT_ERROR_ALREADY) | MAY(CTXRT_ERROR_INVALID_ARGUMENT) |
                         MAY(CTXRT_ERROR_NOT_SUPPORTED);
    (void)(chance(self, 50) ? OK_OR(self, ctxrt_device_enable_peer(peer), may)
                            : OK_OR(self, ctxrt_device_disable_peer(peer), may));
}

void op_ask_device(actor *self)
{
    const frame *top = actor_top(self);
    const site *there = top != NULL ? &all.places[top->place] : &all.places[0];
    size_t free_bytes, total_bytes;
    ctxrt_context *context;
    ctxrt_device device;
    uint64_t id;
    if (OK(self, ctxrt_device_memory_info(there->device, &free_bytes, &total_bytes)) &&
        free_bytes > total_bytes)
        actor_fail(self, "%zu of %zu bytes are free", free_bytes, total_bytes);
    if (top == NULL) {
        REFUSED(self, ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
        return;
    }
    if (OK(self, ctxrt_device_get(&device)) &&
        (device.type != there->device.type || device.index != there->device.index))
        actor_fail(self, "the device is %s:%d", ctxrt_device_type_name(device.type), device.index);
    if (OK(self, ctxrt_context_current(&context)) && there->context != NULL &&
        context != there->context)
        actor_fail(self, "another context is current");
    (void)OK(self, ctxrt_context_id(NULL, &id));
}
