#include "base/section.h"

#include "base/cancel.h"
#include "base/lock.h"
#include <linux/membarrier.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local cx_section *cx_section_mine __attribute__((tls_model("initial-exec")));
_Atomic bool cx_sections_closed;
bool cx_barrier_cheap;

cx_lock cx_sections_lock = CX_LOCK_INIT(SECTIONS);
static _Thread_local uint32_t close_depth;

/* Lock "section list": guards the list, and changes that the waits below wait for; innermost. */
static cx_lock lock = CX_LOCK_INIT(SECTION_LIST);
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static cx_section *all;

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

void cx_section_join(cx_section *self)
{
    cx_lock_enter(&lock);
    if (!self->joined) {
        self->joined = true;
        self->next = all;
        all = self;
    }
    cx_lock_leave(&lock);
    cx_section_mine = self;
}

static void set_depth(cx_section *self, uint32_t depth)
{
    cx_lock_enter(&lock);
    atomic_store(&self->depth, depth);
    pthread_cond_broadcast(&changed);
    cx_lock_leave(&lock);
}

void cx_section_quit(cx_section *self)
{
    set_depth(self, 0);
    if (cx_section_mine == self)
        cx_section_mine = NULL;
}

/* The depth is 1 already: the thread steps back, and enters again once the sections are open. */
void cx_section_enter_slowly(void)
{
    cx_section *self = cx_section_mine;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&lock);
    atomic_store(&self->depth, 0);
    pthread_cond_broadcast(&changed);
    while (atomic_load(&cx_sections_closed))
        cx_lock_wait(&lock, &changed);
    atomic_store(&self->depth, 1);
    cx_lock_leave(&lock);
    cx_cancel_restore(cancel);
}

void cx_section_left(void)
{
    cx_lock_enter(&lock);
    pthread_cond_broadcast(&changed);
    cx_lock_leave(&lock);
}

/* Lock held. */
static bool any_other_inside(void)
{
    const cx_section *section = all;
    while (section != NULL && (section == cx_section_mine || atomic_load(&section->depth) == 0))
        section = section->next;
    return section != NULL;
}

void cx_sections_close(void)
{
    if (close_depth++ != 0)
        return;
    int cancel = cx_cancel_hold();
    cx_lock_enter(&cx_sections_lock);
    cx_lock_enter(&lock);
    atomic_store(&cx_sections_closed, true);
    cx_lock_leave(&lock);
    cx_barrier_all();
    cx_lock_enter(&lock);
    while (any_other_inside())
        cx_lock_wait(&lock, &changed);
    cx_lock_leave(&lock);
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
    cx_lock_enter(&lock);
    atomic_store(&cx_sections_closed, false);
    pthread_cond_broadcast(&changed);
    cx_lock_leave(&lock);
    cx_lock_leave(&cx_sections_lock);
    cx_cancel_restore(cancel);
}

void cx_sections_pass(void)
{
    cx_sections_close();
    cx_sections_open();
}
