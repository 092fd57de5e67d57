/* CTXRT_EMU_WARP chooses whether the lanes of a kernel's warps run together. */
#ifndef CX_EMU_WARP_H
#define CX_EMU_WARP_H

#include <stdbool.h>
#include <stdint.h>

/* Checks CTXRT_EMU_WARP: lockstep, independent, independent:SEED; and applies it. */
bool cx_emu_warp_valid(void);
bool cx_emu_warp_choose(void);

bool cx_emu_warp_is_independent(void);
uint64_t cx_emu_warp_seed(void); /* 0: none */

#endif
