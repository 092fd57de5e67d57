#include "memory/home.h"

#include <sched.h>

_Atomic bool cx_homes_shared[CX_HOMES_MAX] = {true};

/* Lock "stashes". Numbers below `used` were given out at some time. */
static cx_stash *holders[CX_HOMES_MAX];
static uint32_t used = 1;

/* What an earlier holder's pieces are, the next one's are: unshared ones are better. */
static uint32_t find_idle(bool shared)
{
    for (uint32_t home = 1; home < used; home++)
        if (holders[home] == NULL && atomic_load(&cx_homes_shared[home]) == shared)
            return home;
    return 0;
}

void cx_home_assign(cx_stash *stash)
{
    uint32_t home = find_idle(false);
    if (home == 0)
        home = used < CX_HOMES_MAX ? used++ : find_idle(true);
    holders[home] = home != 0 ? stash : NULL;
    atomic_store(&stash->shared, atomic_load(&cx_homes_shared[home]));
    atomic_store(&stash->home, home);
}

void cx_home_release(cx_stash *stash)
{
    holders[atomic_exchange(&stash->home, 0)] = NULL;
}

/* Once it is said, the holder may be changing a count still, until it leaves its stash. */
void cx_home_share(uint32_t home)
{
    cx_stash *holder = holders[home];
    if (holder != NULL) {
        atomic_store(&holder->shared, true);
        cx_announce_barrier();
        while (atomic_load(&holder->busy))
            sched_yield();
    }
    atomic_store_explicit(&cx_homes_shared[home], true, memory_order_release);
}
