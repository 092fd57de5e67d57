/*
 * Faults on demand: CTXRT_EMU_FAULT, a list of entries separated by commas.
 *
 *   CALL[@N][:ERROR]       the Nth call of CALL fails; without @N every one, with @N+ the Nth and
 *                          later ones. CALL is cuMemAlloc or cuMemAlloc_v2. Without ERROR one
 *                          that suits the call.
 *   *[@N][:ERROR]          every Nth call of any function; without @N every call
 *   CALL[@N]:ERROR:async   the call succeeds, and the work that it gives to a stream fails
 *   deviceI[@N][:ERROR]    GPU I is lost from the Nth call of any function on: ERROR, or
 *                          DEVICE_UNAVAILABLE, the one result that speaks of a device
 *   memory@SIZE            cuMemAlloc and its like fail where a GPU would hold more than SIZE
 *
 * ERROR is ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS or 700. A call that fails does nothing; if
 * its error is one that sticks (sticky.h), it does so in the context that is current.
 *
 * Calls are counted from the first on, those before cuInit and those inside callbacks left out.
 * Only calls through the table of cx_emu_driver() count, so that where nothing is asked for nothing
 * is in the way.
 */
#ifndef CX_EMU_FAULT_H
#define CX_EMU_FAULT_H

#include "emu/state.h"
#include "emu/work.h"

/* Whether CTXRT_EMU_FAULT can be read. False: *out_reason says why, until the thread's next call of
 * this. */
bool cx_emu_faults_valid(const char **out_reason);

/* Takes over what CTXRT_EMU_FAULT says. The same text as before goes on counting. False: it is
 * malformed, or memory ran out, and nothing changed. Lock "emu.state" held. */
bool cx_emu_faults_choose(void);

/* What the calling thread is doing: which call of the table, or -1, and what its work is to fail
 * with. */
typedef struct cx_emu_call {
    int slot;
    cxu_result work_fault;
} cx_emu_call;

extern CX_EMU_THREAD_LOCAL cx_emu_call cx_emu_call_in_progress;

/* A call begins. Other than CXU_SUCCESS: it must not be made, and returns this. */
cxu_result cx_emu_fault_begin(cx_slot slot);

/* How many bytes a GPU may hold. Lock "emu.state" held. */
size_t cx_emu_fault_memory_limit(void);

#endif
