#include "base/section.h"

#include "base/cancel.h"
#include "base/eventcount.h"
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local cx_section *cx_section_mine __attribute__((tls_model("initial-exec")));
_Atomic bool cx_sections_closed;
bool cx_barrier_cheap;

cx_lock cx_sections_lock = CX_LOCK_INIT(SECTIONS);
static _Thread_local uint32_t close_depth;

/* All records of threads; one that has joined stays. */
static cx_section *_Atomic all;

/* For waiting until the sections are open, or until a thread has left its own. */
static cx_eventcount changed = CX_EVENTCOUNT_INIT;

/* ThreadSanitizer does not know the barrier: under it both sides are sequentially consistent. */
void cx_barrier_begin(void)
{
#ifndef __SANITIZE_THREAD__
    cx_barrier_cheap =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#endif
}

void cx_barrier_all(void)
{
    if (cx_barrier_cheap)
        (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    else
        atomic_thread_fence(memory_order_seq_cst);
}

/* If a thread that closes the sections does not find the record here, cx_section_enter sees that
 * they are closed: both sides are sequentially consistent. */
static void add_to_all(cx_section *self)
{
    self->next = atomic_load(&all);
    while (!atomic_compare_exchange_weak(&all, &self->next, self))
        ;
}

void cx_section_join(cx_section *self)
{
    if (!self->joined)
        add_to_all(self);
    self->joined = true;
    cx_section_mine = self;
}

void cx_section_left(void)
{
    cx_eventcount_wake_slowly(&changed);
}

void cx_section_quit(cx_section *self)
{
    atomic_store(&self->depth, 0);
    cx_section_left();
    if (cx_section_mine == self)
        cx_section_mine = NULL;
}

static bool are_open(const void *unused)
{
    (void)unused;
    return !atomic_load(&cx_sections_closed);
}

/* The depth is 1 already: the thread steps back, and enters again once the sections are open. */
void cx_section_enter_slowly(void)
{
    cx_section *self = cx_section_mine;
    do {
        atomic_store(&self->depth, 0);
        cx_section_left();
        cx_eventcount_wait(&changed, are_open, NULL);
        atomic_store(&self->depth, 1);
    } while (atomic_load(&cx_sections_closed));
}

static bool no_other_is_inside(const void *mine)
{
    const cx_section *section = atomic_load(&all);
    while (section != NULL && (section == mine || atomic_load(&section->depth) == 0))
        section = section->next;
    return section == NULL;
}

void cx_sections_close(void)
{
    if (close_depth++ != 0)
        return;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_sections_lock);
    atomic_store(&cx_sections_closed, true);
    cx_barrier_all();
    cx_eventcount_wait(&changed, no_other_is_inside, cx_section_mine);
    /* The thread itself passes: its own sections nest in the closed state. */
    if (cx_section_mine != NULL)
        atomic_fetch_add(&cx_section_mine->depth, 1);
    cx_cancel_restore(cancel);
}

void cx_sections_open(void)
{
    if (--close_depth != 0)
        return;
    int cancel = cx_cancel_hold();
    if (cx_section_mine != NULL)
        atomic_fetch_sub(&cx_section_mine->depth, 1);
    atomic_store(&cx_sections_closed, false);
    cx_eventcount_wake(&changed);
    cx_lock_leave(&cx_sections_lock);
    cx_cancel_restore(cancel);
}

void cx_sections_pass(void)
{
    cx_sections_close();
    cx_sections_open();
}
