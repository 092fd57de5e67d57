#include "blocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the shadow ---- */

static pthread_mutex_t shadow_lock = PTHREAD_MUTEX_INITIALIZER;
static block *shadow;

static bool overlaps(const block *one, const void *pointer, size_t size)
{
    const char *start = one->pointer, *other = pointer;
    return start < other + size && other < start + one->size;
}

void shadow_add(actor *self, block *one)
{
    pthread_mutex_lock(&shadow_lock);
    for (const block *other = shadow; other != NULL; other = other->next)
        if (overlaps(other, one->pointer, one->size) && block_is_live(other) && block_is_live(one))
            actor_fail(self, "block %u got %zu bytes at %p, where block %u has %zu at %p",
                       one->name, one->size, one->pointer, other->name, other->size,
                       other->pointer);
    one->next = shadow;
    shadow = one;
    pthread_mutex_unlock(&shadow_lock);
}

void shadow_remove(block *one)
{
    pthread_mutex_lock(&shadow_lock);
    block **at = &shadow;
    while (*at != NULL && *at != one)
        at = &(*at)->next;
    if (*at != NULL)
        *at = one->next;
    pthread_mutex_unlock(&shadow_lock);
}

bool shadow_has(const void *pointer, size_t size)
{
    bool found = false;
    pthread_mutex_lock(&shadow_lock);
    for (const block *one = shadow; one != NULL && !found; one = one->next)
        found = overlaps(one, pointer, size);
    pthread_mutex_unlock(&shadow_lock);
    return found;
}

/* True if a raw pointer from before a reset, still to be freed, has the block's address. */
static bool shadow_owes(const block *made)
{
    bool found = false;
    pthread_mutex_lock(&shadow_lock);
    for (const block *one = shadow; one != NULL && !found; one = one->next)
        found = (one->source == RAW || one->source == MANAGED) && one->pointer == made->pointer &&
                !one->freed && !block_is_in_slab(one) && life_look(&one->life) == DEAD;
    pthread_mutex_unlock(&shadow_lock);
    return found;
}

bool shadow_has_raw(int place)
{
    bool found = false;
    pthread_mutex_lock(&shadow_lock);
    for (const block *one = shadow; one != NULL && !found; one = one->next)
        found = one->place == place && one->source >= RAW && one->source <= MANAGED;
    pthread_mutex_unlock(&shadow_lock);
    return found;
}

void shadow_clear(void)
{
    shadow = NULL;
}

/* ---- contents ---- */

static unsigned char byte_of(uint64_t seed, size_t at)
{
    if (seed < 256)
        return (unsigned char)seed;
    uint64_t word = (seed ^ (at >> 3)) * 0x9e3779b97f4a7c15u;
    return (unsigned char)(word >> (8 * (at & 7)));
}

void content_make(unsigned char *bytes, uint64_t seed, size_t size)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = byte_of(seed, i);
}

void content_compare(actor *self, const block *one, const unsigned char *bytes)
{
    for (size_t i = 0; i < one->known; i++)
        if (bytes[i] != byte_of(one->seed, i)) {
            actor_fail(self, "byte %zu of block %u (source %d, %zu bytes at %p) is %d, not %d", i,
                       one->name, one->source, one->size, one->pointer, bytes[i],
                       byte_of(one->seed, i));
            return;
        }
    atomic_fetch_add_explicit(&all.looks, 1, memory_order_relaxed);
}

/* ---- routes ---- */

unsigned may_of_frame(const frame *top)
{
    return top->stream != NULL ? may_be_gone(&top->stream->life) : 0;
}

route route_current(actor *self)
{
    const frame *top = actor_top(self);
    route found = {0};
    if (top == NULL)
        return found;
    found.life = life_begin(top->place);
    if (top->stream != NULL)
        found.life = top->stream->life;
    if (!OK_OR(self, ctxrt_stream_current(&found.stream),
               may_of_frame(top))) {
        found.stream = NULL;
        return found;
    }
    if (top->stream == NULL && found.life.resets == 0)
        life_made(&found.life);
    found.life.borrowed = top->stream == NULL;
    if (top->stream != NULL) {
        found.thing = top->stream;
        atomic_fetch_add(&found.thing->users, 1); /* the frame holds it */
    }
    return found;
}

route route_pick(actor *self, int place)
{
    const frame *top = actor_top(self);
    if (top != NULL && top->place == place && chance(self, 60))
        return route_current(self);
    thing *one = actor_hold(self, STREAM, place);
    if (one != NULL)
        return (route){one->object, one, one->life};
    if (top != NULL && top->place == place)
        return route_current(self);
    return (route){0};
}

void route_drop(route *self)
{
    thing_drop(self->thing);
    *self = (route){0};
}

/* ---- work that is under way ---- */

static void forget_order(block *one)
{
    thing_drop(one->order_thing);
    one->order_thing = NULL;
    one->order = NULL;
}

void block_settle(actor *self, block *one)
{
    if (one->order == NULL)
        return;
    if (!OK_OR(self, ctxrt_stream_synchronize(one->order), may_be_gone(&one->order_life)))
        one->known = 0;
    forget_order(one);
}

static unsigned may_of_join(const block *one, const route *by, const life *event)
{
    return may_be_gone(&one->order_life) | may_be_gone(&by->life) | may_be_gone(event);
}

void block_join(actor *self, block *one, const route *by)
{
    const frame *top = actor_top(self);
    ctxrt_event *event;
    if (one->order == NULL || one->order == by->stream)
        return;
    if (top == NULL || top->place != one->order_life.made.place || chance(self, 40)) {
        block_settle(self, one);
        return;
    }
    life made = life_begin(top->place);
    if (!OK(self, ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING, &event))) {
        block_settle(self, one);
        return;
    }
    bool joined = OK_OR(self, ctxrt_event_record(event, one->order), may_of_join(one, by, &made)) &&
                  OK_OR(self, ctxrt_stream_wait_event(by->stream, event),
                        may_of_join(one, by, &made));
    (void)OK(self, ctxrt_event_destroy(event));
    if (!joined)
        block_settle(self, one);
    else
        forget_order(one);
}

void block_used(actor *self, block *one, const route *by)
{
    if (one->source == HOST || one->source == WRAPPED)
        return;
    thing *before = one->order_thing;
    one->order = by->stream;
    one->order_thing = by->thing;
    one->order_life = by->life;
    if (by->thing != NULL)
        atomic_fetch_add(&by->thing->users, 1); /* the route holds it */
    thing_drop(before);
    if (!block_is_live(one))
        block_settle(self, one);
}

void life_settle(actor *self, const life *of)
{
    if (life_look(of) != LIVE)
        (void)OK_OR(self, ctxrt_stream_synchronize(NULL), may_of_frame(actor_top(self)));
}

/* Forgets that others may still write to what was at the address, once none can. */
static void note_strays(const actor *self, block *one)
{
    if (!actor_is_behind(self, one->resets))
        one->resets = 0;
}

void block_has(actor *self, block *one, uint64_t seed, size_t size, const route *by)
{
    one->known = 0;
    actor_note(self, "block %u, %zu bytes at %p of place %d, resets %u: %zu of seed %llu",
               one->name, one->size, one->pointer, one->place, one->resets, size,
               (unsigned long long)seed);
    if (!block_is_live(one) || (by != NULL && life_look(&by->life) != LIVE))
        return;
    /* An operation that is over by now may have written there after this one did. */
    if (one->resets != 0) {
        note_strays(self, one);
        return;
    }
    one->seed = seed;
    one->known = size;
}

/* ---- making ---- */

bool block_is_live(const block *one)
{
    return life_look(&one->life) == LIVE;
}

unsigned block_may_be_stale(const block *one)
{
    const unsigned refused =
        MAY(CTXRT_ERROR_INVALID_ARGUMENT) | MAY(CTXRT_ERROR_CONTEXT_DESTROYED);
    if (block_is_live(one))
        return 0;
    return all.threads > 1 ? refused | MAY(CTXRT_ERROR_DRIVER) : refused;
}

bool block_is_host(const block *one)
{
    return one->source >= PINNED;
}

static size_t pick_size(actor *self)
{
    size_t wanted = self->wanted;
    self->wanted = 0;
    if (wanted != 0)
        return wanted;
    if (chance(self, 3))
        return 1 + pick(self, SCRATCH_BYTES);
    size_t octave = (size_t)64 << pick(self, 9);
    return octave - pick(self, octave / 2);
}

/* Memory of ours that an object wraps. */
static void free_wrapped(void *pointer, void *user_data)
{
    (void)user_data;
    free(pointer);
}

static bool register_pages(actor *self, block *one)
{
    one->size = (one->size + 4095) & ~(size_t)4095;
    if (posix_memalign(&one->pointer, 4096, one->size) != 0)
        abort();
    if (OK_OR(self, ctxrt_host_register(one->pointer, one->size), MAY(CTXRT_ERROR_NOT_SUPPORTED)))
        return true;
    free(one->pointer);
    return false;
}

static bool wrap(actor *self, block *one)
{
    one->pointer = malloc(one->size);
    if (one->pointer == NULL)
        abort();
    if (OK(self, ctxrt_memory_wrap(one->pointer, one->size, CTXRT_CPU(0), free_wrapped, NULL,
                                   &one->memory)))
        return true;
    free(one->pointer);
    return false;
}

/* The frame's stream may be one of before a reset. */
static unsigned may_of_memory(const route *by, bool lacking)
{
    return may_be_gone(&by->life) | MAY(CTXRT_ERROR_OUT_OF_MEMORY) |
           (lacking ? MAY(CTXRT_ERROR_NOT_SUPPORTED) : 0);
}

static bool allocate(actor *self, block *one, const route *by)
{
    switch (one->source) {
    case OBJECT:
        return OK_OR(self, ctxrt_memory_alloc(one->size, &one->memory), may_of_memory(by, false));
    case RAW:
        return OK_OR(self, ctxrt_alloc(one->size, &one->pointer), may_of_memory(by, false));
    case IN_ORDER:
        return OK_OR(self, ctxrt_alloc_async(one->size, NULL, &one->pointer),
                     may_of_memory(by, true));
    case MANAGED:
        return OK_OR(self, ctxrt_alloc_managed(one->size, &one->pointer), may_of_memory(by, true));
    case PINNED:
        return OK_OR(self, ctxrt_memory_alloc_pinned(one->size, &one->memory),
                     may_of_memory(by, true));
    case HOST:
        return OK(self, ctxrt_memory_alloc_host(one->size, &one->memory));
    case WRAPPED:
        return wrap(self, one);
    default:
        return register_pages(self, one);
    }
}

static bool is_of_frame(source which)
{
    return which == OBJECT || which == RAW;
}

static block *refuse(block *one, route *by)
{
    route_drop(by);
    if (one->place >= 0)
        users_drop(&all.places[one->place].users);
    thing_drop(one->allocator);
    free(one);
    return NULL;
}

/* A free of one of two pointers with one address could be taken for a free of the other. Only an
 * allocator whose driver has refused memory hands such an address out. */
static void check_address(actor *self, const block *made)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    if (made->source == RAW && !block_is_in_slab(made) && shadow_owes(made) &&
        OK(self, ctxrt_allocator_describe(NULL, &info)) && info.retries == 0)
        actor_fail(self, "block %u got %p, which a pointer from before a reset has", made->name,
                   made->pointer);
}

block *block_make(actor *self, source which)
{
    const frame *top = actor_top(self);
    const bool placed = which != HOST && which != WRAPPED;
    if (top == NULL && placed)
        return NULL;
    block *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->name = atomic_fetch_add(&all.names, 1) + 1;
    made->source = which;
    made->size = pick_size(self);
    made->place = placed ? top->place : -1;
    route by = {0};
    if (placed) {
        atomic_fetch_add(&all.places[made->place].users, 1); /* the frame holds it */
        if (is_of_frame(which) && top->allocator != NULL) {
            made->allocator = top->allocator;
            atomic_fetch_add(&made->allocator->users, 1);
        }
        by = route_current(self);
        if (by.stream == NULL)
            return refuse(made, &by);
    }
    made->life = life_begin(made->place);
    if (!allocate(self, made, &by))
        return refuse(made, &by);
    life_made(&made->life);
    if (made->allocator != NULL && made->allocator->custom)
        made->life = made->allocator->life; /* its slab is of then */
    made->resets = resets_until_now();
    note_strays(self, made);
    if (made->memory != NULL)
        made->pointer = ctxrt_memory_pointer(made->memory);
    made->home = by.stream;
    if (is_of_frame(which) || which == IN_ORDER)
        block_used(self, made, &by);
    route_drop(&by);
    if (made->pointer == NULL)
        actor_fail(self, "block %u of source %d has no address", made->name, which);
    check_address(self, made);
    shadow_add(self, made);
    return made;
}

/* ---- looking ---- */

static unsigned may_of_look(const block *one, const route *by)
{
    return may_be_gone(&by->life) | block_may_be_stale(one);
}

void block_look(actor *self, block *one)
{
    /* The host's own memory may be where that which the host reached has gone. */
    bool on_host = block_is_host(one) || one->source == MANAGED ||
                   (one->place >= 0 && all.places[one->place].device.type == CTXRT_DEVICE_CPU);
    if (one->known == 0 || ((on_host || all.apart) && !block_is_live(one)))
        return;
    if (one->source == HOST || one->source == WRAPPED ||
        (one->source >= PINNED && chance(self, 50))) {
        block_settle(self, one);
        /* A reset may end it now: what was read before is compared. */
        memcpy(self->scratch, one->pointer, one->known);
        if (block_is_live(one))
            content_compare(self, one, self->scratch);
        return;
    }
    route by = route_pick(self, one->place);
    if (by.stream == NULL)
        return;
    block_join(self, one, &by);
    memset(self->scratch, 0xEE, one->known);
    bool read =
        one->known > 0 &&
        OK_OR(self,
              ctxrt_copy_async(self->scratch, one->pointer, one->known, CTXRT_COPY_ANY, by.stream),
              may_of_look(one, &by)) &&
        OK_OR(self, ctxrt_stream_synchronize(by.stream), may_of_look(one, &by));
    if (read && block_is_live(one) && life_look(&by.life) == LIVE)
        content_compare(self, one, self->scratch);
    route_drop(&by);
}

/* ---- ending ---- */

/* A stream of the place is held. */
static void keep_place(block *one, int place)
{
    if ((one->keeps & (1u << place)) == 0)
        atomic_fetch_add(&all.places[place].users, 1);
    one->keeps |= 1u << place;
}

void block_touched(block *one, const route *by)
{
    if (one->source == PINNED)
        keep_place(one, by->life.made.place);
}

bool block_record(actor *self, block *one, ctxrt_stream *stream, const life *of)
{
    const int place = of->made.place;
    ctxrt_status status = ctxrt_memory_record_stream(one->memory, stream);
    if (!actor_expect(self, status, may_be_gone(of) | may_be_gone(&one->life),
                      "ctxrt_memory_record_stream"))
        return false;
    keep_place(one, place);
    return true;
}

static void drop_kept(block *one)
{
    for (int i = 0; i < PLACES; i++)
        if ((one->keeps & (1u << i)) != 0)
            users_drop(&all.places[i].users);
    one->keeps = 0;
}

/* Work of another stream than its own may be under way: the allocator is told of it. */
static void prepare_end(actor *self, block *one)
{
    /* A slab gives its pieces out again at once. */
    if (one->order == NULL || (one->order == one->home && !block_is_in_slab(one)))
        return;
    if (one->memory != NULL && one->source != HOST && chance(self, 70) &&
        block_record(self, one, one->order, &one->order_life))
        forget_order(one);
    else
        block_settle(self, one);
}

static void free_in_order(actor *self, block *one)
{
    route by = route_pick(self, one->place);
    if (by.stream != NULL && block_is_live(one)) {
        block_join(self, one, &by);
        if (OK_OR(self, ctxrt_free_async(one->pointer, by.stream), may_be_gone(&by.life))) {
            route_drop(&by);
            return;
        }
    }
    route_drop(&by);
    block_settle(self, one);
    (void)OK(self, ctxrt_free(one->pointer));
}

static void give_back(actor *self, block *one)
{
    for (; one->extra_counts > 0; one->extra_counts--)
        (void)OK(self, ctxrt_memory_release(one->memory));
    switch (one->source) {
    case RAW:
    case MANAGED:
        (void)OK(self, ctxrt_free(one->pointer));
        break;
    case IN_ORDER:
        free_in_order(self, one);
        break;
    case REGISTERED:
        (void)OK_OR(self, ctxrt_host_unregister(one->pointer),
                    block_is_live(one) ? 0 : MAY(CTXRT_ERROR_DRIVER));
        free(one->pointer);
        break;
    default:
        (void)OK(self, ctxrt_memory_release(one->memory));
        self->stale_memory[pick(self, STALE)] = one->memory;
        break;
    }
}

void block_end(actor *self, block *one)
{
    if (one == NULL)
        return;
    if (chance(self, 60))
        block_look(self, one);
    if (one->source == MANAGED || one->source == REGISTERED)
        block_settle(self, one);
    else
        prepare_end(self, one);
    shadow_remove(one);
    give_back(self, one);
    drop_kept(one);
    forget_order(one);
    thing_drop(one->allocator);
    if (one->place >= 0)
        users_drop(&all.places[one->place].users);
    free(one);
}

/* ---- the pocket ---- */

block *pocket_pick(actor *self)
{
    return self->pocket[pick(self, POCKET)];
}

block *pocket_pick_at(actor *self, int place)
{
    uint64_t first = pick(self, POCKET);
    for (uint64_t i = 0; i < POCKET; i++) {
        block *one = self->pocket[(first + i) % POCKET];
        if (one != NULL && one->place == place)
            return one;
    }
    return NULL;
}

block *pocket_take(actor *self)
{
    block **at = &self->pocket[pick(self, POCKET)];
    block *one = *at;
    *at = NULL;
    return one;
}

void pocket_put(actor *self, block *one)
{
    if (one == NULL)
        return;
    block **at = &self->pocket[pick(self, POCKET)];
    block *before = *at;
    *at = one;
    block_end(self, before);
}
