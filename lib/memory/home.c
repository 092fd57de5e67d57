#include "memory/home.h"

#include <sched.h>

_Atomic bool cx_homes_shared[CX_HOMES_MAX] = {true};

/* Lock "stashes". Numbers below `used` were given out at some time. */
static cx_stash *holders[CX_HOMES_MAX];
static const void *lives[CX_HOMES_MAX];
static uint32_t used = 1;

/* What an earlier holder's pieces are, the next one's are: unshared ones are better. 0: none. */
static uint32_t find_idle(const void *life, bool shared)
{
    for (uint32_t home = 1; home < used; home++)
        if (holders[home] == NULL && lives[home] == life &&
            atomic_load(&cx_homes_shared[home]) == shared)
            return home;
    return 0;
}

static uint32_t find(const void *life)
{
    uint32_t home = find_idle(life, false);
    if (home == 0)
        home = find_idle(NULL, false);
    if (home == 0 && used < CX_HOMES_MAX)
        home = used++;
    if (home == 0)
        home = find_idle(life, true);
    return home != 0 ? home : find_idle(NULL, true);
}

void cx_home_assign(cx_stash *stash, const void *life)
{
    uint32_t home = life != NULL ? find(life) : 0;
    if (home != 0) {
        holders[home] = stash;
        lives[home] = life;
    }
    atomic_store(&stash->shared, atomic_load(&cx_homes_shared[home]));
    atomic_store(&stash->home, home);
}

void cx_home_release(cx_stash *stash)
{
    atomic_store(&stash->free_stamp, CX_PIECE_NO_STAMP);
    holders[atomic_exchange(&stash->home, 0)] = NULL;
}

void cx_home_end(const void *life)
{
    for (uint32_t home = 1; home < used; home++)
        if (lives[home] == life)
            lives[home] = NULL;
}

/* Once it is said, the holder may be changing a count still, until it leaves its stash. */
void cx_home_share(uint32_t home)
{
    cx_stash *holder = holders[home];
    if (holder != NULL) {
        atomic_store(&holder->shared, true);
        atomic_store(&holder->free_stamp, CX_PIECE_NO_STAMP);
        cx_barrier_all();
        while (atomic_load(&holder->busy))
            sched_yield();
    }
    atomic_store_explicit(&cx_homes_shared[home], true, memory_order_release);
}
