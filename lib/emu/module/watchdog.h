/* Ends kernels that run too long: CTXRT_EMU_WATCHDOG. */
#ifndef CX_EMU_WATCHDOG_H
#define CX_EMU_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

/* Checks CTXRT_EMU_WATCHDOG, a number of seconds; and applies it. */
bool cx_emu_watchdog_valid(void);
bool cx_emu_watchdog_choose(void);

/* When a kernel that starts now has run too long, in nanoseconds of CLOCK_MONOTONIC; UINT64_MAX:
 * never. */
uint64_t cx_emu_watchdog_deadline(void);
bool cx_emu_watchdog_passed(uint64_t deadline);

#endif
