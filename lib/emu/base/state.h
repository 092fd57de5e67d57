/*
 * The embedded driver's phases: not initialised, running, in a forked child, ending. And its one
 * lock.
 *
 * The lock "emu.state" guards devices, contexts, allocations, streams, events and the queue of
 * work; a thread's own stack of contexts needs no lock. No callback and no copy runs while it is
 * held. Threads that wait for work or for the end of a context wait on a condition, which releases
 * it. Only the locks behind it in docs/architecture.md are taken under it. A fork takes it, so that
 * the child finds it free.
 */
#ifndef CX_EMU_STATE_H
#define CX_EMU_STATE_H

#include "base/lock.h"
#include "driver/cuda_abi.h"
#include "emu/base/refusal.h"
#include "emu/emu.h"
#include <errno.h>
#include <stdatomic.h>

typedef enum cx_emu_phase {
    CX_EMU_UNINITIALIZED, /* NOT_INITIALIZED (I1) */
    CX_EMU_RUNNING,
    CX_EMU_FORKED,  /* the child of a process that had called cuInit: NOT_INITIALIZED (I4) */
    CX_EMU_ENDING   /* process teardown began: DEINITIALIZED (I3) */
} cx_emu_phase;

extern cx_lock cx_emu_lock;

/* A count of the changes that may spoil an earlier request: memory that is freed or becomes known,
 * access to it, reserved addresses, contexts that end, nodes that change. Never 0. Lock held. */
extern uint64_t cx_emu_changes;

extern _Atomic int cx_emu_current_phase;

/* Thread-local state that every call reads: never reached through a function call. */
#define CX_EMU_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) _Thread_local

/* True while the calling thread runs a host function or callback of a stream (T10). Set by the
 * workers of schedule.c. */
extern CX_EMU_THREAD_LOCAL bool cx_emu_in_callback;

/* Comes first in every call, except the few that work before cuInit: CXU_SUCCESS if the call may go
 * on, else NOT_INITIALIZED, DEINITIALIZED, or NOT_PERMITTED inside a callback (T10). Takes no
 * lock. */
cxu_result cx_emu_enter_slowly(void);
static inline cxu_result cx_emu_enter(void)
{
    cx_emu_why = NULL;
    if (atomic_load_explicit(&cx_emu_current_phase, memory_order_acquire) == CX_EMU_RUNNING &&
        !cx_emu_in_callback)
        return CXU_SUCCESS;
    return cx_emu_enter_slowly();
}

/* The result of a call of the system that has just failed: `otherwise`, unless it lacked memory. */
static inline cxu_result cx_emu_system_result(cxu_result otherwise)
{
    return errno == ENOMEM ? CXU_OUT_OF_MEMORY : otherwise;
}

/* The present configuration; fixed while contexts exist. Lock held, or after cx_emu_enter(). */
const cx_emu_config *cx_emu_configuration(void);

/* Sets it, without a check. Lock held. */
void cx_emu_configuration_set(const cx_emu_config *config);

#endif
