/*
 * Homes of pieces: who may change the count of a piece without a locked instruction.
 *
 * A piece's home is the stash that it was allocated from. The stash's thread changes counts of its
 * pieces by plain stores while it is in the stash, until another thread wants to change one of
 * them, too: that one makes the home shared first, once for good, and from then on every thread
 * changes them by compare-and-exchange. A number is of one stash at a time, and of one life of an
 * allocator until that has ended: two pieces of a home are of the same memory.
 */
#ifndef CX_MEMORY_HOME_H
#define CX_MEMORY_HOME_H

#include "memory/stash.h"

#define CX_HOMES_MAX 4096

/* Zero is none's, and shared from the start. */
extern _Atomic bool cx_homes_shared[CX_HOMES_MAX];

/* Gives a stash without a home a number for pieces of a life, if there is any, and takes it back.
 * Lock "stashes" held. */
void cx_home_assign(cx_stash *stash, const void *life);
void cx_home_release(cx_stash *stash);

/* No piece of a life is live any more. Lock "stashes" held. */
void cx_home_end(const void *life);

/* Makes a home shared; lock "stashes" held. */
void cx_home_share(uint32_t home);

/* The lock "stashes" taken. */
void cx_home_share_slowly(uint32_t home);

/* Before a thread that is not in the piece's stash changes its count. The piece is live. */
static inline void cx_home_visit(const cx_piece_head *piece)
{
    uint32_t home = cx_piece_home(piece);
    if (__builtin_expect(atomic_load_explicit(&cx_homes_shared[home], memory_order_acquire), 1))
        return;
    const cx_stash *stash = cx_thread_current != NULL ? cx_thread_current->stashes : NULL;
    while (stash != NULL && atomic_load_explicit(&stash->home, memory_order_relaxed) != home)
        stash = stash->next_of_thread;
    if (stash == NULL)
        cx_home_share_slowly(home);
}

#endif
