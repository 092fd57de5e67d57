/*
 * Which ready piece of work runs next, when, and on which thread. CTXRT_EMU_SCHEDULE chooses:
 *
 *   threads      (default) a pool of workers, first come first served; tiny work with nothing
 * before it runs at once on the thread that submits it lazy         nothing runs until something
 * waits for it; a query counts as waiting random:SEED  any legal order, one piece at a time, while
 * something waits; the same order for the same seed if one thread submits. A host function that
 * blocks holds up everything.
 *
 * Workers run the user's host functions without counting them against the limit of the pool:
 * blocked host functions do not keep copies from running. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_SCHEDULE_H
#define CX_EMU_SCHEDULE_H

#include "emu/work.h"

#define CX_EMU_TINY_BYTES ((size_t)64 << 10)

/* Makes sure that there is a thread to run what is going to be queued. */
bool cx_emu_schedule_open(void);

/* Whether a piece that nothing is before runs on the thread that submits it. */
bool cx_emu_schedule_at_once(const cx_emu_work_request *request);

/* All that the piece depends on is done. */
void cx_emu_schedule_ready(cx_emu_work *work);

/* Something waits for the piece, which may not be ready, or looks whether it is done. */
void cx_emu_schedule_demand(cx_emu_work *work);

/* A wait began (its pieces are demanded), or a query gives a schedule the chance to move on. */
void cx_emu_schedule_wake(bool query);

/* The next of the short pieces that run on whichever thread holds the lock, or NULL. */
cx_emu_work *cx_emu_schedule_take_locked(void);

#endif
