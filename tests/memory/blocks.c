#include "blocks.h"

#include <stdlib.h>
#include <string.h>

static size_t pick_size(member *self)
{
    uint64_t kind = pick(self, 256);
    size_t octave = (size_t)256 << pick(self, 10);
    if (kind == 0)
        return (size_t)1 << 50;
    if (kind < 4)
        return 1 + pick(self, BLOCK_BYTES_MAX);
    return octave - pick(self, octave / 2);
}

/* Together the blocks of a place are nearly all of its memory. */
static size_t pick_large_size(member *self)
{
    uint64_t kind = pick(self, 256), octave = (uint64_t)1 << pick(self, 10);
    if (kind == 0)
        return (size_t)1 << 50;
    return (size_t)(kind < 96 ? 1 + pick(self, 1536) : octave - pick(self, (octave + 1) / 2))
           << LARGE_UNIT_BITS;
}

static void fill(crowd *all, const block *one, ctxrt_stream *stream)
{
    const rows some = rows_of(all, one->pointer, one->size);
    for (size_t i = 0; i < some.count; i++)
        (void)EXPECT(all, ctxrt_fill_async(some.first + i * ROWS_APART, one->value, some.width,
                                           stream));
}

static bool allocate(member *self, block *out_block)
{
    crowd *all = self->all;
    ctxrt_status status = out_block->memory == NULL
                              ? ctxrt_alloc(out_block->size, &out_block->pointer)
                              : ctxrt_memory_alloc(out_block->size, &out_block->memory);
    if (status == CTXRT_ERROR_OUT_OF_MEMORY) {
        atomic_fetch_add_explicit(&all->refused, 1, memory_order_relaxed);
        if (strstr(ctxrt_last_error()->message, "bytes") == NULL && !all->faults)
            crowd_tell(all, "a refusal says nothing: %s", ctxrt_last_error()->message);
        return false;
    }
    if (!crowd_expect(all, status, "an allocation"))
        return false;
    atomic_fetch_add_explicit(&all->served, 1, memory_order_relaxed);
    if (out_block->memory != NULL)
        out_block->pointer = ctxrt_memory_pointer(out_block->memory);
    return true;
}

block *block_make(member *self, lane *at)
{
    uint32_t whose;
    crowd *all = self->all;
    block *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->name = crowd_name(all);
    made->size = all->large ? pick_large_size(self) : pick_size(self);
    made->value = (unsigned char)(1 + made->name % 255);
    made->place = at->place;
    made->lane = at;
    made->life = at->life;
    made->memory = pick(self, 2) == 0 ? NULL : (ctxrt_memory *)made;
    if (!allocate(self, made)) {
        free(made);
        return NULL;
    }
    if (!shadow_take((uintptr_t)made->pointer, made->size, made->name, 0, &whose))
        crowd_tell(all, "block %u got %zu bytes at %p that %u has", made->name, made->size,
                   made->pointer, whose);
    fill(all, made, at->stream);
    return made;
}

/* Looks at the block in the order of another stream, which is said for it where it is an object. */
static void use_elsewhere(member *self, const block *one)
{
    crowd *all = self->all;
    lane *other = &all->lanes[one->place][pick(self, LANES)];
    if (other == one->lane || pthread_rwlock_tryrdlock(&other->lock) != 0)
        return;
    if (!lane_order(all, one->lane, other)) {
        pthread_rwlock_unlock(&other->lock);
        return;
    }
    lane_check(all, other, one->pointer, one->size, one->value);
    if (one->memory == NULL || !EXPECT(all, ctxrt_memory_record_stream(one->memory, other->stream)))
        (void)EXPECT(all, ctxrt_stream_synchronize(other->stream));
    pthread_rwlock_unlock(&other->lock);
}

static void block_look(member *self, const block *one)
{
    pthread_rwlock_rdlock(&one->lane->lock);
    if (one->lane->life == one->life) {
        if (pick(self, 4) == 0)
            use_elsewhere(self, one);
        lane_check(self->all, one->lane, one->pointer, one->size, one->value);
    }
    pthread_rwlock_unlock(&one->lane->lock);
}

static void give_back(member *self, block *one)
{
    crowd *all = self->all;
    if (one->memory != NULL)
        (void)EXPECT(all, ctxrt_memory_release(one->memory));
    else
        (void)EXPECT(all, ctxrt_free(one->pointer));
    free(one);
}

static void pass(member *self, const block *one, uint32_t next)
{
    if (!shadow_pass((uintptr_t)one->pointer, one->size, one->name, next))
        crowd_tell(self->all, "block %u lost some of its memory", one->name);
}

void block_drop(member *self, block *one)
{
    pass(self, one, 0);
    give_back(self, one);
}

void block_free(member *self, block *one)
{
    if (one == NULL)
        return;
    block_look(self, one);
    block_drop(self, one);
}

block *block_take(member *self, int place)
{
    return atomic_exchange(&self->all->blocks[place][pick(self, BLOCKS)], NULL);
}

block *block_put(member *self, int place, block *one)
{
    return atomic_exchange(&self->all->blocks[place][pick(self, BLOCKS)], one);
}

/* What is freed while a recording is on belongs to that: its first launch waits for the work
 * before. */
void member_free_into(member *self, recorded *graph)
{
    block *one = block_take(self, self->place);
    if (one == NULL)
        return;
    block_look(self, one);
    pass(self, one, graph->name);
    recorded_has(graph, one->pointer, one->size);
    give_back(self, one);
}
