/* Operations on memory: allocating, freeing, counting, asking, and what is stale. */
#include "blocks.h"

#include <stdio.h>
#include <string.h>

void op_allocate(actor *self)
{
    static const source sources[] = {OBJECT, OBJECT, OBJECT,   RAW,     RAW,     RAW,       PINNED,
                                     PINNED, HOST,   IN_ORDER, MANAGED, WRAPPED, REGISTERED};
    block *made = block_make(self, sources[pick(self, sizeof sources / sizeof *sources)]);
    if (made == NULL)
        return;
    /* Most memory is written at once, so that it can be looked at. */
    if (chance(self, 85) && made->source != HOST && made->source != WRAPPED) {
        route by = route_pick(self, made->place);
        if (by.stream != NULL) {
            unsigned value = (unsigned)pick(self, 256);
            unsigned may = 0;
            block_join(self, made, &by);
            ctxrt_status status =
                ctxrt_fill_async(made->pointer, (int)value, made->size, by.stream);
            may = may_be_gone(&by.life) | block_may_be_stale(made);
            bool filled = actor_expect(self, status, may, "ctxrt_fill_async of a new block");
            block_used(self, made, &by);
            block_has(self, made, value, filled ? made->size : 0, &by);
        }
        route_drop(&by);
    }
    pocket_put(self, made);
}

static bool write_value(actor *self, block *one, const route *by)
{
    unsigned value = (unsigned)pick(self, 256);
    bool written = OK_OR(self, ctxrt_fill_async(one->pointer, (int)value, one->size, by->stream),
                         may_be_gone(&by->life) | block_may_be_stale(one));
    block_used(self, one, by);
    block_has(self, one, value, written ? one->size : 0, by);
    return written;
}

/* A block that its stream still works on is freed; the next of its size is of another stream. */
void op_reuse(actor *self)
{
    source which = chance(self, 50) ? OBJECT : RAW;
    block *first = block_make(self, which);
    route by = first != NULL ? route_current(self) : (route){0};
    if (by.stream != NULL)
        (void)write_value(self, first, &by);
    self->wanted = first != NULL ? first->size : 0;
    block_end(self, first);
    op_set_stream(self);
    block *second = by.stream != NULL ? block_make(self, which) : NULL;
    route behind = second != NULL ? route_current(self) : (route){0};
    if (behind.stream != NULL && write_value(self, second, &behind))
        block_look(self, second);
    if (by.stream != NULL)
        (void)OK_OR(self, ctxrt_stream_synchronize(by.stream), may_be_gone(&by.life));
    if (second != NULL)
        block_look(self, second);
    self->wanted = 0;
    route_drop(&behind);
    route_drop(&by);
    pocket_put(self, second);
}

void op_free(actor *self)
{
    block_end(self, pocket_take(self));
}

void op_look(actor *self)
{
    block *one = pocket_pick(self);
    if (one != NULL)
        block_look(self, one);
}

/* A block goes to other threads: its work is in a stream that all may use, or is done. */
void op_give(actor *self)
{
    block *one = pocket_take(self);
    if (one == NULL)
        return;
    if (one->order_thing == NULL)
        block_settle(self, one);
    pocket_put(self, atomic_exchange(&all.pool[pick(self, POOL)], one));
}

void op_take(actor *self)
{
    pocket_put(self, atomic_exchange(&all.pool[pick(self, POOL)], NULL));
}

void op_retain(actor *self)
{
    block *one = pocket_pick(self);
    ctxrt_memory_info info;
    if (one == NULL || one->memory == NULL)
        return;
    if (one->extra_counts > 0 && chance(self, 50)) {
        (void)OK(self, ctxrt_memory_release(one->memory));
        one->extra_counts--;
        return;
    }
    one->extra_counts += OK(self, ctxrt_memory_retain(one->memory));
    if (OK(self, ctxrt_memory_describe(one->memory, &info)) &&
        (info.pointer != one->pointer || info.size_bytes != one->size))
        actor_fail(self, "block %u is described as %zu bytes at %p", one->name, info.size_bytes,
                   info.pointer);
}

void op_record_stream(actor *self)
{
    block *one = pocket_pick(self);
    const frame *top = actor_top(self);
    if (one == NULL || one->memory == NULL || top == NULL)
        return;
    bool current = chance(self, 30);
    route by = current ? route_current(self) : route_pick(self, top->place);
    if (by.stream != NULL)
        (void)block_record(self, one, current ? NULL : by.stream, &by.life);
    route_drop(&by);
}

void op_query(actor *self)
{
    block *one = pocket_pick(self);
    ctxrt_pointer_info info = {0};
    if (one == NULL || one->source == HOST || one->source == WRAPPED ||
        (one->source == OBJECT && block_is_in_slab(one)))
        return;
    const char *inside = (const char *)one->pointer + pick(self, one->size);
    if (block_is_in_slab(one))
        inside = one->pointer;
    if (!OK(self, ctxrt_pointer_query(inside, &info)) || !block_is_live(one) ||
        one->source == REGISTERED)
        return;
    if (!info.known || info.base != one->pointer || info.size_bytes != one->size)
        actor_fail(self, "block %u of %zu bytes at %p (source %d): known %d, %zu bytes at %p",
                   one->name, one->size, one->pointer, one->source, info.known, info.size_bytes,
                   info.base);
}

void op_stale_memory(actor *self)
{
    ctxrt_memory *one = self->stale_memory[pick(self, STALE)];
    ctxrt_memory_info info;
    if (one == NULL)
        return;
    REFUSED(self, ctxrt_memory_retain(one), CTXRT_ERROR_INVALID_HANDLE);
    REFUSED(self, ctxrt_memory_release(one), CTXRT_ERROR_INVALID_HANDLE);
    REFUSED(self, ctxrt_memory_describe(one, &info), CTXRT_ERROR_INVALID_HANDLE);
    if (ctxrt_memory_pointer(one) != NULL)
        actor_fail(self, "a stale handle has an address");
}

/* Alone, so that nobody gets the address meanwhile. */
void op_stale_pointer(actor *self)
{
    block *one = block_make(self, RAW);
    if (one == NULL)
        return;
    void *pointer = one->pointer;
    size_t size = one->size;
    bool custom = block_is_in_slab(one);
    bool on_host = all.places[one->place].device.type == CTXRT_DEVICE_CPU;
    block_end(self, one);
    if (shadow_has(pointer, size) || slabs_have(pointer) || custom)
        return;
    REFUSED(self, ctxrt_free(pointer), CTXRT_ERROR_INVALID_ARGUMENT);
    if (on_host) /* anybody may have the address by now */
        return;
    REFUSED(self, ctxrt_fill(pointer, 1, size), CTXRT_ERROR_INVALID_ARGUMENT);
    REFUSED(self, ctxrt_fill_async(pointer, 1, size, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
    REFUSED(self, ctxrt_copy(self->scratch, pointer, size, CTXRT_COPY_ANY),
            CTXRT_ERROR_INVALID_ARGUMENT);
    REFUSED(self, ctxrt_copy(pointer, self->scratch, size, CTXRT_COPY_ANY),
            CTXRT_ERROR_INVALID_ARGUMENT);
}

void op_beyond(actor *self)
{
    block *one = pocket_pick(self);
    const frame *top = actor_top(self);
    if (one == NULL || one->source > RAW || top == NULL || !block_is_live(one) ||
        (one->source == OBJECT && block_is_in_slab(one)) ||
        actor_met(self, one->place, TROUBLE_RESET))
        return;
    size_t offset = block_is_in_slab(one) ? 0 : pick(self, one->size);
    ctxrt_status status =
        ctxrt_fill_async((char *)one->pointer + offset, 1, one->size - offset + 1, NULL);
    if (status != CTXRT_ERROR_INVALID_ARGUMENT && block_is_live(one) &&
        !actor_met(self, top->place, TROUBLE_RESET))
        actor_fail(self, "a fill beyond block %u gave %s", one->name, ctxrt_status_name(status));
    life_settle(self, &one->life);
}
