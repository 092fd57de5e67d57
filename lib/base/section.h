/*
 * Sections: in a section a thread checks that an object is live and then uses it. A thread that
 * ends objects closes the sections first: then no other thread is in one, and none gets in until
 * they are opened again.
 *
 * How it works. Each thread writes its own `depth`; the thread that closes the sections writes
 * cx_sections_closed. A thread stores its depth and then loads cx_sections_closed; the other one
 * stores that, has all threads pass a barrier (cx_barrier_all), and then loads each depth. So at
 * least one of the two sees the other. The barrier is on the rare side, where the kernel has
 * membarrier(2): entering and leaving are two plain stores and two loads. Without it both sides are
 * sequentially consistent.
 *
 * Rules. In a section a thread makes no call that waits for work of a device, calls no function of
 * the user's, and does not close the sections. Sections come before all locks but "graph", "plan",
 * "runtime", "handles", "contexts" and "device", which a thread takes only outside of them: it
 * neither enters nor closes while it holds another lock. Sections nest.
 */
#ifndef CX_BASE_SECTION_H
#define CX_BASE_SECTION_H

#include "base/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A thread's record in the protocol. Never freed: it joins the list once, and later threads use it
 * again. */
typedef struct cx_section {
    _Atomic uint32_t depth; /* of nested sections; written by its thread only */
    bool joined;            /* it is in the list; written by its thread only */
    struct cx_section *next;
} cx_section;

/* initial-exec, because every call that does work enters a section. NULL: the thread has not
 * joined. */
extern _Thread_local cx_section *cx_section_mine __attribute__((tls_model("initial-exec")));

extern _Atomic bool cx_sections_closed;

/* "sections": held by the thread that has closed them. To the check of the lock order a thread in a
 * section holds it too. */
extern cx_lock cx_sections_lock;

/* True if cx_barrier_all orders the stores and loads of all threads, so that the frequent side of a
 * protocol needs no barrier. Set by the first call of cx_barrier_begin. */
extern bool cx_barrier_cheap;
void cx_barrier_begin(void);
void cx_barrier_all(void);

/* Makes `self`, which is zeroed or was another thread's, the calling thread's record. */
void cx_section_join(cx_section *self);

/* Called when the thread ends, or is found dead: it is in no section any more. */
void cx_section_quit(cx_section *self);

__attribute__((cold)) void cx_section_enter_slowly(void);
__attribute__((cold)) void cx_section_left(void);

/* The thread has joined before. */
static inline void cx_section_enter(void)
{
    cx_section *self = cx_section_mine;
    uint32_t depth = atomic_load_explicit(&self->depth, memory_order_relaxed);
    if (depth == 0) {
        cx_lock_expect(&cx_sections_lock);
        cx_lock_note(&cx_sections_lock);
    }
    if (__builtin_expect(cx_barrier_cheap, 1)) {
        atomic_store_explicit(&self->depth, depth + 1, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        atomic_store(&self->depth, depth + 1);
    }
    if (__builtin_expect(depth == 0 && atomic_load(&cx_sections_closed), 0))
        cx_section_enter_slowly();
}

static inline void cx_section_leave(void)
{
    cx_section *self = cx_section_mine;
    uint32_t depth = atomic_load_explicit(&self->depth, memory_order_relaxed) - 1;
    if (depth == 0)
        cx_lock_forget(&cx_sections_lock);
    if (__builtin_expect(cx_barrier_cheap, 1)) {
        atomic_store_explicit(&self->depth, depth, memory_order_release);
        atomic_signal_fence(memory_order_seq_cst);
    } else {
        atomic_store(&self->depth, depth);
    }
    if (__builtin_expect(depth == 0 && atomic_load(&cx_sections_closed), 0))
        cx_section_left();
}

/* True if the calling thread is in a section. */
static inline bool cx_section_is_entered(void)
{
    return cx_section_mine != NULL &&
           atomic_load_explicit(&cx_section_mine->depth, memory_order_relaxed) != 0;
}

/* Waits until no other thread is in a section; none gets in before cx_sections_open. Not within a
 * section; take it before any lock. One thread at a time; nests on that thread. */
void cx_sections_close(void);
void cx_sections_open(void);

/* Waits until each other thread has left the section that it is in, on the same terms. */
void cx_sections_pass(void);

#endif
