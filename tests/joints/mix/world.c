#include "world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

world all;

#ifdef __SANITIZE_THREAD__
/* Memory of devices: a reset may free a block between a look at its life and the call that uses its
 * address, which another block may have by then. Where that can have happened the mix compares no
 * contents; TSan would report it. */
const char *__tsan_default_suppressions(void);
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void)
{
    return "race:fill_row\nrace:run_transfer\nrace:fill_on_host\nrace:copy_on_host\n"
           "race:lanes_memory.c\n";
}
#endif

/* ---- troubles ---- */

void trouble_begin(int place, trouble what)
{
    atomic_fetch_add(&all.places[place].troubles.begun[what], 1);
}

void trouble_end(int place, trouble what)
{
    atomic_fetch_add(&all.places[place].troubles.ended[what], 1);
}

span span_open(int place)
{
    span self = {.place = place};
    if (place < 0)
        return self;
    for (int i = 0; i < TROUBLES; i++) {
        unsigned ended = atomic_load(&all.places[place].troubles.ended[i]);
        self.begun[i] = atomic_load(&all.places[place].troubles.begun[i]);
        self.busy[i] = ended != self.begun[i];
    }
    return self;
}

bool span_met(const span *self, trouble what)
{
    return self->place >= 0 &&
           (self->busy[what] ||
            atomic_load(&all.places[self->place].troubles.begun[what]) != self->begun[what]);
}

life life_begin(int place)
{
    return (life){.made = span_open(place)};
}

void life_made(life *self)
{
    if (self->made.place >= 0)
        self->resets = atomic_load(&all.places[self->made.place].troubles.begun[TROUBLE_RESET]);
}

/* A reset that ended after more of them than had begun when the object was made began after it. */
health life_look(const life *self)
{
    if (!span_met(&self->made, TROUBLE_RESET))
        return LIVE;
    unsigned ended = atomic_load(&all.places[self->made.place].troubles.ended[TROUBLE_RESET]);
    return ended > self->resets ? DEAD : UNSURE;
}

unsigned may_be_gone(const life *self)
{
    if (life_look(self) == LIVE)
        return 0;
    return MAY(CTXRT_ERROR_CONTEXT_DESTROYED) |
           (self->borrowed ? MAY(CTXRT_ERROR_INVALID_HANDLE) : 0);
}

/* ---- users ---- */

bool users_hold(atomic_int *users)
{
    int count = atomic_load(users);
    while (count >= 0)
        if (atomic_compare_exchange_weak(users, &count, count + 1))
            return true;
    return false;
}

void users_drop(atomic_int *users)
{
    atomic_fetch_sub(users, 1);
}

bool users_claim(atomic_int *users, int from)
{
    return atomic_compare_exchange_strong(users, &from, CLAIMED);
}

thing *actor_hold(actor *self, kind which, int place)
{
    uint64_t first = pick(self, THINGS);
    for (uint64_t i = 0; i < THINGS; i++) {
        thing *one = &all.things[which][(first + i) % THINGS];
        if (!users_hold(&one->users))
            continue;
        if (one->place == place)
            return one;
        users_drop(&one->users);
    }
    return NULL;
}

void thing_drop(thing *self)
{
    if (self != NULL)
        users_drop(&self->users);
}

/* ---- actors ---- */

uint64_t pick(actor *self, uint64_t below)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (self->random >> 33) % below;
}

bool chance(actor *self, unsigned percent)
{
    return pick(self, 100) < percent;
}

void actor_note(actor *self, const char *what, ...)
{
    va_list arguments;
    va_start(arguments, what);
    vsnprintf(self->history[self->calls++ % HISTORY], HISTORY_BYTES, what, arguments);
    va_end(arguments);
}

void actor_fail(actor *self, const char *what, ...)
{
    va_list arguments;
    if (self->failure[0] != '\0')
        return;
    va_start(arguments, what);
    vsnprintf(self->failure, sizeof self->failure, what, arguments);
    va_end(arguments);
    atomic_store(&all.failed, true);
}

bool actor_met(const actor *self, int place, trouble what)
{
    return span_met(&self->spans[place], what);
}

bool actor_met_any(const actor *self, trouble what)
{
    for (int i = 0; i < PLACES; i++)
        if (actor_met(self, i, what))
            return true;
    return false;
}

unsigned resets_until_now(void)
{
    return (atomic_load(&all.resets) + 1) & ~1u;
}

bool actor_is_behind(const actor *self, unsigned resets)
{
    for (int i = 0; i < all.threads; i++)
        if (all.actors[i] != NULL && all.actors[i] != self &&
            atomic_load(&all.actors[i]->resets) < resets)
            return true;
    return false;
}

bool actor_met_keepers(const actor *self)
{
    return self->keepers > 0 || atomic_load(&all.keepers) > 0;
}

/* What a driver that refuses calls, or a fault that is known, excuses. */
static bool is_excused(const actor *self, ctxrt_status status)
{
    if (all.faults && (status == CTXRT_ERROR_DRIVER || status == CTXRT_ERROR_OUT_OF_MEMORY))
        return true;
    return !MENDED_USE_BESIDE_RESET && actor_met_any(self, TROUBLE_RESET);
}

bool actor_expect(actor *self, ctxrt_status status, unsigned may, const char *call)
{
    actor_note(self, "%s: %s", call, ctxrt_status_name(status) + strlen("CTXRT_"));
    if (status == CTXRT_SUCCESS)
        return true;
    if ((may & MAY(status)) == 0 && !is_excused(self, status))
        actor_fail(self, "%s gave %s: %s", call, ctxrt_status_name(status),
                   ctxrt_last_error()->message);
    return false;
}

void actor_refused(actor *self, ctxrt_status status, ctxrt_status wanted, const char *call)
{
    actor_note(self, "%s: %s", call, ctxrt_status_name(status) + strlen("CTXRT_"));
    if (status != wanted && !is_excused(self, status))
        actor_fail(self, "%s gave %s, not %s: %s", call, ctxrt_status_name(status),
                   ctxrt_status_name(wanted), ctxrt_last_error()->message);
}

/* ---- reporting ---- */

static void tell_actor(const actor *self)
{
    printf("# thread %d, step %ld%s%s\n", self->number, self->steps,
           self->failure[0] != '\0' ? ": " : "", self->failure);
    for (long i = self->calls > HISTORY ? self->calls - HISTORY : 0; i < self->calls; i++)
        printf("#   %s\n", self->history[i % HISTORY]);
}

/* Those that failed come last. */
void world_tell(void)
{
    for (int failed = 0; failed < 2; failed++)
        for (int i = 0; i < all.threads; i++)
            if (all.actors[i] != NULL && (all.actors[i]->failure[0] != '\0') == failed)
                tell_actor(all.actors[i]);
    fflush(stdout);
}
