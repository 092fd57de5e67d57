/*
 * The deadline of a context that ends. Its unfinished work gets 2 more seconds, of time and of the
 * processor time of the process: a busy machine then cuts no work short that would have ended soon.
 * After that the kernels and loops of graphs end where they are, and no work behind them runs. All
 * functions: no lock needed.
 */
#ifndef CX_EMU_TEARDOWN_DEADLINE_H
#define CX_EMU_TEARDOWN_DEADLINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cx_emu_teardown_deadline {
    _Atomic uint64_t until_ns;           /* of CLOCK_MONOTONIC; 0: the context does not end */
    _Atomic uint64_t until_processor_ns; /* of CLOCK_PROCESS_CPUTIME_ID */
} cx_emu_teardown_deadline;

/* 2 seconds. Only tests change it, before work is submitted. */
extern uint64_t cx_emu_teardown_deadline_ns;

void cx_emu_teardown_deadline_begin(cx_emu_teardown_deadline *deadline);
void cx_emu_teardown_deadline_end(cx_emu_teardown_deadline *deadline); /* the context has ended */

/* True if work must give up. */
bool cx_emu_teardown_deadline_is_over(const cx_emu_teardown_deadline *deadline);

#endif
