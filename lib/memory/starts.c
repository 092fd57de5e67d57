#include "memory/starts.h"

#include <pthread.h>
#include <stdlib.h>

#define SHARDS 64
#define SLOTS_MIN 64u

#define INDEX_MASK 0xffffffu
#define EMPTY 0u
#define ERASED 0x1000000u /* no piece is number 0 */

/* Lock "starts", one for each shard: innermost. Slots are piece | part of the hash << 24, in order
 * of the hash, each at its place or behind it with no empty one between. */
typedef struct shard {
    pthread_mutex_t lock;
    uint32_t *slots;
    uint32_t capacity; /* a power of two, or 0 */
    uint32_t used;     /* not empty */
    uint32_t live;
} shard;

static shard shards[SHARDS] = {[0 ... SHARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

/* Pieces start at multiples of a unit. */
static uint64_t hash_of(const void *pointer)
{
    return ((uint64_t)(uintptr_t)pointer >> CX_FIT_UNIT_BITS) * 0x9e3779b97f4a7c15u;
}

static shard *shard_of(uint64_t hash)
{
    return &shards[hash >> 58];
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 50 & 0xff) << 24;
}

static uint32_t place_of(const shard *self, uint64_t hash)
{
    return (uint32_t)(hash >> 20) & (self->capacity - 1);
}

static void *pointer_of(uint32_t slot)
{
    return atomic_load_explicit(&cx_piece_at(slot & INDEX_MASK)->pointer, memory_order_relaxed);
}

/* Lock held. The place of an address, or of the first slot that it can have; `capacity`: there is
 * none. */
static uint32_t find(const shard *self, uint64_t hash, const void *pointer, bool *out_found)
{
    uint32_t free_place = self->capacity;
    *out_found = false;
    if (self->capacity == 0)
        return 0;
    for (uint32_t i = place_of(self, hash);; i = (i + 1) & (self->capacity - 1)) {
        uint32_t slot = self->slots[i];
        if ((slot & INDEX_MASK) == 0) {
            if (free_place == self->capacity)
                free_place = i;
            if (slot == EMPTY)
                return free_place;
        } else if ((slot & ~INDEX_MASK) == tag_of(hash) && pointer_of(slot) == pointer) {
            *out_found = true;
            return i;
        }
    }
}

static void copy_into(shard *grown, const shard *from)
{
    for (uint32_t i = 0; i < from->capacity; i++) {
        bool found;
        if ((from->slots[i] & INDEX_MASK) == 0)
            continue;
        const void *pointer = pointer_of(from->slots[i]);
        grown->slots[find(grown, hash_of(pointer), pointer, &found)] = from->slots[i];
    }
}

/* Lock held. Seven of eight slots are used at most, erased ones too. */
static bool make_room(shard *self)
{
    if (self->used + 1 <= self->capacity / 8 * 7)
        return true;
    shard grown = {.capacity = self->capacity == 0                          ? SLOTS_MIN
                               : self->live >= self->capacity / 4 * 3 ? 2 * self->capacity
                                                                            : self->capacity};
    grown.slots = calloc(grown.capacity, sizeof *grown.slots);
    if (grown.slots == NULL)
        return false;
    copy_into(&grown, self);
    free(self->slots);
    self->slots = grown.slots;
    self->capacity = grown.capacity;
    self->used = self->live;
    return true;
}

/* Lock held. Erased slots before an empty one are of no use. */
static void erase(shard *self, uint32_t place)
{
    self->live--;
    if (self->slots[(place + 1) & (self->capacity - 1)] != EMPTY) {
        self->slots[place] = ERASED;
        return;
    }
    self->slots[place] = EMPTY;
    self->used--;
    for (place = (place - 1) & (self->capacity - 1); self->slots[place] == ERASED;
         place = (place - 1) & (self->capacity - 1)) {
        self->slots[place] = EMPTY;
        self->used--;
    }
}

/* Lock held. */
static void write_slot(shard *self, uint32_t place, uint32_t slot)
{
    self->used += self->slots[place] == EMPTY;
    self->live += (self->slots[place] & INDEX_MASK) == 0;
    self->slots[place] = slot;
}

bool cx_starts_put(uint32_t piece, uint32_t *out_before)
{
    bool found;
    const void *pointer = pointer_of(piece);
    uint64_t hash = hash_of(pointer);
    shard *self = shard_of(hash);
    pthread_mutex_lock(&self->lock);
    bool room = make_room(self);
    if (room) {
        uint32_t place = find(self, hash, pointer, &found);
        *out_before = found ? self->slots[place] & INDEX_MASK : 0;
        write_slot(self, place, tag_of(hash) | piece);
    }
    pthread_mutex_unlock(&self->lock);
    return room;
}

static uint32_t look_up(const void *pointer, bool take)
{
    bool found;
    uint64_t hash = hash_of(pointer);
    shard *self = shard_of(hash);
    pthread_mutex_lock(&self->lock);
    uint32_t place = find(self, hash, pointer, &found);
    uint32_t piece = found ? self->slots[place] & INDEX_MASK : 0;
    if (found && take)
        erase(self, place);
    pthread_mutex_unlock(&self->lock);
    return piece;
}

uint32_t cx_starts_take(const void *pointer)
{
    return look_up(pointer, true);
}

uint32_t cx_starts_find(const void *pointer)
{
    return look_up(pointer, false);
}
