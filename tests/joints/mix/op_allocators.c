/* Allocators, of each source and of our own. */
#include "blocks.h"

#include <stdlib.h>

/* ---- an allocator of ours: equal pieces of one slab ---- */

enum { PIECES = 16, PIECE_BYTES = 4096 };

typedef struct slab {
    char *memory;
    atomic_uint used; /* a bit for each piece */
    life life;
} slab;

static ctxrt_status slab_alloc(void *argument, size_t size, ctxrt_stream *stream, void **out)
{
    slab *self = argument;
    (void)stream;
    if (size > PIECE_BYTES || life_look(&self->life) != LIVE)
        return CTXRT_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < PIECES; i++)
        if ((atomic_fetch_or(&self->used, 1u << i) & (1u << i)) == 0) {
            *out = self->memory + (size_t)i * PIECE_BYTES;
            return CTXRT_SUCCESS;
        }
    return CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status slab_free(void *argument, void *pointer, size_t size)
{
    slab *self = argument;
    (void)size;
    atomic_fetch_and(&self->used,
                     ~(1u << (unsigned)(((char *)pointer - self->memory) / PIECE_BYTES)));
    return CTXRT_SUCCESS;
}

/* ---- making and ending ---- */

static thing *claim_empty(actor *self)
{
    const frame *top = actor_top(self);
    thing *one = &all.things[ALLOCATOR][pick(self, THINGS)];
    if (top == NULL || !users_claim(&one->users, EMPTY))
        return NULL;
    one->place = top->place;
    one->custom = false;
    one->extra = NULL;
    return one;
}

static void settle_thing(thing *one, ctxrt_allocator *made)
{
    one->object = made;
    if (made != NULL)
        atomic_fetch_add(&all.places[one->place].users, 1);
    atomic_store(&one->users, made != NULL ? 0 : EMPTY);
}

void op_allocator(actor *self)
{
    thing *one = claim_empty(self);
    ctxrt_allocator *made = NULL;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    if (one == NULL)
        return;
    options.source = chance(self, 50) ? CTXRT_ALLOCATOR_SOURCE_DEFAULT : CTXRT_ALLOCATOR_SOURCE_VMM;
    options.limit_bytes = chance(self, 30) ? pick(self, 4 << 20) : 0;
    options.release_threshold_bytes = chance(self, 30) ? pick(self, 4 << 20) : 0;
    one->life = life_begin(one->place);
    if (!OK_OR(self, ctxrt_allocator_create(&options, &made), MAY(CTXRT_ERROR_NOT_SUPPORTED)))
        made = NULL;
    life_made(&one->life);
    settle_thing(one, made);
}

void op_custom_allocator(actor *self)
{
    static const ctxrt_allocator_vtable table = {sizeof table, slab_alloc, slab_free, NULL};
    const frame *top = actor_top(self);
    if (top == NULL ||
        (top->allocator != NULL && top->allocator->custom))
        return;
    thing *one = claim_empty(self);
    ctxrt_allocator *made = NULL;
    slab *own = calloc(1, sizeof *own);
    if (own == NULL)
        abort();
    if (one == NULL) {
        free(own);
        return;
    }
    one->life = life_begin(one->place);
    /* The slab is of the context's own allocator: the frame's may be ended before this one. */
    thing *before = top->allocator;
    if ((before == NULL || OK(self, ctxrt_frame_set_allocator(NULL))) &&
        OK_OR(self, ctxrt_alloc(PIECES * PIECE_BYTES, (void **)&own->memory),
              MAY(CTXRT_ERROR_OUT_OF_MEMORY) | may_of_frame(top)) &&
        !OK(self, ctxrt_allocator_create_custom(&table, own, &made)))
        made = NULL;
    if (before != NULL)
        (void)OK(self, ctxrt_frame_set_allocator(before->object));
    life_made(&one->life);
    own->life = one->life;
    if (made == NULL && own->memory != NULL)
        (void)OK(self, ctxrt_free(own->memory));
    if (made == NULL)
        free(own);
    one->custom = made != NULL;
    one->extra = made != NULL ? own : NULL;
    settle_thing(one, made);
}

bool slabs_have(const void *pointer)
{
    for (int i = 0; i < THINGS; i++) {
        const thing *one = &all.things[ALLOCATOR][i];
        if (atomic_load(&one->users) != EMPTY && one->extra != NULL &&
            ((const slab *)one->extra)->memory == pointer)
            return true;
    }
    return false;
}

void op_end_allocator(actor *self)
{
    thing *one = &all.things[ALLOCATOR][pick(self, THINGS)];
    slab *own;
    if (!users_claim(&one->users, 0))
        return;
    if (!OK_OR(self, ctxrt_allocator_destroy(one->object),
               actor_met_keepers(self) ? MAY(CTXRT_ERROR_IN_USE) : 0)) {
        atomic_store(&one->users, 0);
        return;
    }
    own = one->extra;
    if (own != NULL)
        (void)OK(self, ctxrt_free(own->memory));
    free(own);
    self->stale[ALLOCATOR][pick(self, STALE)] = one->object;
    users_drop(&all.places[one->place].users);
    atomic_store(&one->users, EMPTY);
}

void op_refused_allocator_end(actor *self)
{
    const frame *top = actor_top(self);
    void *stale = self->stale[ALLOCATOR][pick(self, STALE)];
    if (top != NULL && top->allocator != NULL)
        REFUSED(self, ctxrt_allocator_destroy(top->allocator->object), CTXRT_ERROR_IN_USE);
    if (stale != NULL)
        REFUSED(self, ctxrt_allocator_destroy(stale), CTXRT_ERROR_INVALID_HANDLE);
}

/* ---- using ---- */

void op_limit(actor *self)
{
    const frame *top = actor_top(self);
    thing *one = top != NULL ? actor_hold(self, ALLOCATOR, top->place) : NULL;
    if (one == NULL)
        return;
    (void)OK(self,
             ctxrt_allocator_set_limit(one->object, chance(self, 50) ? 0 : pick(self, 8 << 20)));
    thing_drop(one);
}

static unsigned may_of_trim(actor *self)
{
    return actor_met(self, actor_top(self)->place, TROUBLE_CAPTURE)
               ? MAY(CTXRT_ERROR_NOT_PERMITTED)
               : 0;
}

void op_trim(actor *self)
{
    const frame *top = actor_top(self);
    ctxrt_allocator *pinned;
    if (top == NULL)
        return;
    if (chance(self, 70))
        (void)OK_OR(self, ctxrt_allocator_trim(NULL, NULL), may_of_trim(self));
    else if (OK_OR(self, ctxrt_allocator_pinned(&pinned), MAY(CTXRT_ERROR_NOT_SUPPORTED)))
        (void)OK_OR(self, ctxrt_allocator_trim(pinned, NULL), may_of_trim(self));
}

void op_describe_allocator(actor *self)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    ctxrt_allocator_figures figures;
    if (actor_top(self) == NULL)
        return;
    (void)OK(self, ctxrt_allocator_describe(NULL, &info));
    (void)OK(self, ctxrt_allocator_statistics(NULL, &figures));
    (void)OK(self, ctxrt_allocator_snapshot_write(NULL, self->nowhere,
                                                  (ctxrt_snapshot_format)pick(self, 2)));
}

void op_trace(actor *self)
{
    const frame *top = actor_top(self);
    thing *one = top != NULL ? actor_hold(self, ALLOCATOR, top->place) : NULL;
    if (one == NULL)
        return;
    if (chance(self, 50)) {
        (void)OK(self, ctxrt_allocator_trace_start(one->object, 1000));
    } else {
        (void)OK(self, ctxrt_allocator_trace_stop(one->object));
        (void)OK_OR(self, ctxrt_allocator_trace_write(one->object, self->nowhere),
                    MAY(CTXRT_ERROR_INVALID_ARGUMENT));
    }
    thing_drop(one);
}
