/*
 * Faults on demand: CTXRT_EMU_FAULT, a list of entries separated by commas.
 *
 *   CALL[@N][:ERROR]       the Nth call of CALL fails; without @N every one, with @N+ the Nth and
 *                          later ones. CALL is cuMemAlloc or cuMemAlloc_v2. Without ERROR one
 *                          that suits the call.
 *   *[@N][:ERROR]          every Nth call of any function; without @N every call
 *   CALL[@N]:ERROR:async   the call succeeds, and the work that it gives to a stream fails
 *   deviceI[@N][:ERROR]    GPU I is lost from the Nth call of any function on: ERROR, or
 *                          DEVICE_UNAVAILABLE, the one result about a device
 *   memory@SIZE            cuMemAlloc and its like fail if a GPU would hold more than SIZE
 *
 * ERROR is ILLEGAL_ADDRESS, CUDA_ERROR_ILLEGAL_ADDRESS or 700. A failing call does nothing; a
 * sticky error (sticky.h) sticks to the current context.
 *
 * Calls are counted from the first on, except those before cuInit and inside callbacks. Only calls
 * through the table of cx_emu_driver() count, so that there is no cost without faults.
 */
#ifndef CX_EMU_FAULT_H
#define CX_EMU_FAULT_H

#include "emu/base/state.h"
#include "emu/schedule/work.h"

/* Checks CTXRT_EMU_FAULT. False: *out_reason says why, until the thread's next call of this
 * function. */
bool cx_emu_faults_valid(const char **out_reason);

/* Applies CTXRT_EMU_FAULT. An unchanged text goes on counting. CXU_INVALID_VALUE: it is malformed;
 * CXU_OUT_OF_MEMORY. Then nothing changed. Lock "emu.state" held. */
cxu_result cx_emu_faults_choose(void);

/* The calling thread's present call: its slot, or -1, and the error that its work will fail
 * with. */
typedef struct cx_emu_call {
    int slot;
    cxu_result work_fault;
} cx_emu_call;

extern CX_EMU_THREAD_LOCAL cx_emu_call cx_emu_call_in_progress;

/* Begins a call. An error: do not make the call, and return this. */
cxu_result cx_emu_fault_begin(cx_slot slot);

#endif
