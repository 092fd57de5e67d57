/* Copies and fills, of which the contents are known. */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

/* Statuses of a call that works with this memory in this stream. */
static unsigned may_of(const block *one, const route *by)
{
    unsigned may = by != NULL ? may_be_gone(&by->life) : 0;
    return may | block_may_be_stale(one);
}

/* What is in it after a call that wrote `size` bytes, or failed. */
static void wrote(actor *self, block *one, bool written, uint64_t seed, size_t size,
                  const route *by)
{
    block_has(self, one, seed, written ? size : 0, by);
}

static uint64_t pick_seed(actor *self)
{
    return 256 + pick(self, UINT32_MAX);
}

/* A block that a call may write to now: host memory is not touched while a reset may end it. */
static block *pick_target(actor *self)
{
    block *one = pocket_pick(self);
    return one != NULL && (one->place < 0 || block_is_live(one)) ? one : NULL;
}

static bool elsewhere_works(const actor *self, const block *one)
{
    const frame *top = self->depth > 0 ? &self->frames[self->depth - 1] : NULL;
    return (MENDED_MAPPED_ELSEWHERE && (MENDED_ELSEWHERE_BESIDE_CAPTURE || all.threads == 1)) ||
           one->source > MANAGED || (top != NULL && top->place == one->place);
}

void op_fill(actor *self)
{
    block *one = pick_target(self);
    int value = (int)pick(self, 256);
    if (one == NULL || actor_top(self) == NULL || !elsewhere_works(self, one))
        return;
    route by = route_current(self);
    if (by.stream == NULL)
        return;
    block_settle(self, one);
    one->known = 0;
    ctxrt_status status = ctxrt_fill(one->pointer, value, one->size);
    bool written = actor_expect(self, status, may_of(one, &by), "ctxrt_fill");
    wrote(self, one, written, (uint64_t)value, one->size, &by);
    route_drop(&by);
}

void op_fill_async(actor *self)
{
    block *one = pick_target(self);
    int value = (int)pick(self, 256);
    if (one == NULL || one->place < 0)
        return;
    route by = route_pick(self, one->place);
    if (by.stream == NULL)
        return;
    block_join(self, one, &by);
    bool words = one->size % 4 == 0 && (uintptr_t)one->pointer % 4 == 0 && value % 2 == 0;
    uint32_t word = (uint32_t)value * UINT32_C(0x01010101);
    ctxrt_status status =
        words ? ctxrt_fill32_async(one->pointer, word, one->size / 4, by.stream)
              : ctxrt_fill_async(one->pointer, value, one->size, by.stream);
    bool written = actor_expect(self, status, may_of(one, &by),
                                words ? "ctxrt_fill32_async" : "ctxrt_fill_async");
    block_used(self, one, &by);
    wrote(self, one, written, (uint64_t)value, one->size, &by);
    route_drop(&by);
}

/* From ordinary host memory, which must last until the copy is done. */
void op_write(actor *self)
{
    block *one = pick_target(self);
    uint64_t seed = pick_seed(self);
    if (one == NULL || actor_top(self) == NULL || !elsewhere_works(self, one))
        return;
    content_make(self->scratch, seed, one->size);
    route by =
        one->place >= 0 && chance(self, 60) ? route_pick(self, one->place) : route_current(self);
    if (by.stream == NULL)
        return;
    bool async = one->place >= 0 && by.life.made.place == one->place;
    ctxrt_status status;
    if (async) {
        block_join(self, one, &by);
        status =
            ctxrt_copy_async(one->pointer, self->scratch, one->size, CTXRT_COPY_ANY, by.stream);
    } else {
        block_settle(self, one);
        status = ctxrt_copy(one->pointer, self->scratch, one->size, CTXRT_COPY_ANY);
    }
    route now = by;
    if (!async) /* the copy runs in the current stream */
        now = route_current(self);
    bool written = actor_expect(self, status, may_of(one, &now), "a copy from the host");
    if (async) {
        block_used(self, one, &by);
        block_settle(self, one);
    } else {
        route_drop(&now);
    }
    wrote(self, one, written, seed, one->size, &by);
    route_drop(&by);
}

void op_write_2d(actor *self)
{
    block *one = pick_target(self);
    uint64_t seed = pick_seed(self);
    if (one == NULL || one->place < 0 || one->size < 8 || one->size > SCRATCH_BYTES / 2)
        return;
    size_t height = 1 + pick(self, 8), width = one->size / height;
    if (width == 0)
        return;
    size_t pitch = width + pick(self, 16);
    route by = route_pick(self, one->place);
    if (by.stream == NULL)
        return;
    content_make(self->other_scratch, seed, width * height);
    for (size_t i = 0; i < height; i++)
        memcpy(self->scratch + i * pitch, self->other_scratch + i * width, width);
    block_join(self, one, &by);
    const ctxrt_copy_region region = {.destination = one->pointer,
                                      .destination_pitch_bytes = width,
                                      .source = self->scratch,
                                      .source_pitch_bytes = pitch,
                                      .width_bytes = width,
                                      .height = height,
                                      .kind = CTXRT_COPY_ANY};
    ctxrt_status status = ctxrt_copy_2d_async(&region, by.stream);
    bool written = actor_expect(self, status, may_of(one, &by), "ctxrt_copy_2d_async");
    block_used(self, one, &by);
    block_settle(self, one);
    wrote(self, one, written, seed, width * height, &by);
    route_drop(&by);
}

static size_t smaller(const block *one, const block *other)
{
    return one->size < other->size ? one->size : other->size;
}

/* Between any two kinds of memory of any places. */
void op_copy(actor *self)
{
    block *from = pick_target(self), *to = pick_target(self);
    if (from == NULL || to == NULL || from == to || actor_top(self) == NULL ||
        !elsewhere_works(self, from) || !elsewhere_works(self, to))
        return;
    size_t size = smaller(from, to), known = from->known < size ? from->known : size;
    route by = route_current(self);
    if (by.stream == NULL)
        return;
    block_settle(self, from);
    block_settle(self, to);
    known = from->known < known ? from->known : known;
    to->known = 0;
    ctxrt_status status = ctxrt_copy(to->pointer, from->pointer, size, CTXRT_COPY_ANY);
    bool written = actor_expect(self, status, may_of(from, &by) | may_of(to, &by), "ctxrt_copy");
    wrote(self, to, written && block_is_live(from), from->seed, known, &by);
    route_drop(&by);
}

static bool is_of_gpu(const block *one)
{
    return one->place >= 0 && all.places[one->place].device.type == CTXRT_DEVICE_CUDA;
}

/* The other end of a copy, of the same place or of another GPU. */
static block *pick_end(actor *self, const block *from)
{
    block *to = chance(self, 50) ? pocket_pick_at(self, from->place) : pick_target(self);
    bool there = to != NULL && (to->place == from->place || (is_of_gpu(to) && is_of_gpu(from)));
    return there && to != from && block_is_live(to) ? to : NULL;
}

/* In a stream of either end. A reset of the other end's device waits for the copy. */
void op_copy_async(actor *self)
{
    block *from = pick_target(self);
    block *to = from != NULL && from->place >= 0 ? pick_end(self, from) : NULL;
    if (to == NULL || !elsewhere_works(self, from) || !elsewhere_works(self, to))
        return;
    size_t size = smaller(from, to);
    route by = route_pick(self, chance(self, 50) ? from->place : to->place);
    if (by.stream == NULL)
        return;
    block_join(self, from, &by);
    block_join(self, to, &by);
    ctxrt_status status =
        ctxrt_copy_async(to->pointer, from->pointer, size, CTXRT_COPY_ANY, by.stream);
    bool written =
        actor_expect(self, status, may_of(from, &by) | may_of(to, &by), "ctxrt_copy_async");
    block_used(self, from, &by);
    block_used(self, to, &by);
    block_touched(from, &by);
    block_touched(to, &by);
    wrote(self, to, written && block_is_live(from), from->seed,
          from->known < size ? from->known : size, &by);
    route_drop(&by);
}

static bool is_peer_memory(const block *one)
{
    return one != NULL && one->place >= 0 && one->place < PRIMARIES - 1 && one->source <= RAW &&
           MENDED_MAPPED_ELSEWHERE && (one->allocator == NULL || !one->allocator->custom);
}

void op_copy_peer(actor *self)
{
    block *from = pick_target(self), *to = pick_target(self);
    if (!is_peer_memory(from) || !is_peer_memory(to) || from == to)
        return;
    size_t size = smaller(from, to);
    route by = route_pick(self, from->place);
    if (by.stream == NULL)
        return;
    block_join(self, from, &by);
    block_join(self, to, &by);
    ctxrt_status status = ctxrt_copy_peer(to->pointer, all.places[to->place].device, from->pointer,
                                          all.places[from->place].device, size, by.stream);
    bool written =
        actor_expect(self, status, may_of(from, &by) | may_of(to, &by), "ctxrt_copy_peer");
    block_used(self, from, &by);
    block_used(self, to, &by);
    wrote(self, to, written && block_is_live(from), from->seed,
          from->known < size ? from->known : size, &by);
    route_drop(&by);
}
