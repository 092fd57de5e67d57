/*
 * Chooses the ready piece of work that runs next, when, and on which thread. CTXRT_EMU_SCHEDULE
 * sets the schedule:
 *
 *   threads      (default) a pool of workers, first come first served; tiny work without
 *                dependencies, even a whole graph of it, runs at once on the thread that submits
 *                it. Blocked host functions do not count against the pool: they do not keep copies
 *                from running. Idle workers leave a process whose main thread has left.
 *   lazy         nothing runs until something waits for it, and then only what the wait needs, one
 *                piece at a time, always the youngest ready one. So a program sees no order that
 *                it did not ask for.
 *   random:SEED  any legal order, one piece at a time, while something waits. The order depends on
 *                the seed and on the order of the calls, not on how long anything takes.
 *
 * Under lazy and random a query lets one piece run, so that polling makes progress, and returns the
 * state before that. It waits for no host function: while one runs, a query lets nothing run, so
 * the number of polls then depends on time. A host function that blocks holds up everything; the
 * driver's interface forbids that. Synchronous copies are waits.
 *
 * All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_SCHEDULE_H
#define CX_EMU_SCHEDULE_H

#include "emu/schedule/work.h"

#define CX_EMU_TINY_BYTES ((size_t)64 << 10)

/* True if CTXRT_EMU_SCHEDULE names a schedule, or is not set. Needs no lock. */
bool cx_emu_schedule_valid(void);

/* Applies CTXRT_EMU_SCHEDULE; no work may exist. False: it names no schedule, and nothing
 * changed. */
bool cx_emu_schedule_choose(void);

/* True if work runs only once something waits for it; and if CTXRT_EMU_SCHEDULE asks for that,
 * which needs no lock. */
bool cx_emu_schedule_lazy(void);
bool cx_emu_schedule_wants_lazy(void);

/* Makes sure that a thread exists to run the work about to be queued; one that is free, for a piece
 * without dependencies, `ready` (NULL: it has some). False: there is none. */
bool cx_emu_schedule_open(const cx_emu_work_request *ready);

/* Work that became ready may have found no new thread: tries again. False: some still lacks one. */
bool cx_emu_schedule_complete(void);

/* True if the main thread has ended: idle threads must not keep the process. */
bool cx_emu_main_has_left(void);

/* True if a piece without dependencies runs on the submitting thread. */
bool cx_emu_schedule_at_once(const cx_emu_work_request *request);

/* All dependencies of the piece are done. */
void cx_emu_schedule_ready(cx_emu_work *work);

/* A thread waits for the piece, which may not be ready. */
void cx_emu_schedule_demand(cx_emu_work *work);

/* True if the schedule runs one piece at a time, so that none may wait for others. Needs no lock:
 * it changes only with the configuration. */
bool cx_emu_schedule_one_at_a_time(void);

/* A piece was run, and must be run again after others. */
void cx_emu_schedule_again(cx_emu_work *work);

/* Something looks whether the piece, which is not done, is done: where nothing else would run it,
 * one piece runs. The lock is released meanwhile; the caller has a reference. */
void cx_emu_schedule_step(cx_emu_work *work);

/* A wait has begun; its pieces are demanded. */
void cx_emu_schedule_wake(void);

/* Takes the next of the short pieces that any thread runs under the lock; NULL: none. */
cx_emu_work *cx_emu_schedule_take_locked(void);

#endif
