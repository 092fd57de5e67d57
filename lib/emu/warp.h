/* CTXRT_EMU_WARP chooses whether the lanes of a kernel's warps run together. */
#ifndef CX_EMU_WARP_H
#define CX_EMU_WARP_H

#include <stdbool.h>

/* Checks CTXRT_EMU_WARP, lockstep or independent; and applies it. */
bool cx_emu_warp_valid(void);
bool cx_emu_warp_choose(void);

bool cx_emu_warp_is_independent(void);

#endif
