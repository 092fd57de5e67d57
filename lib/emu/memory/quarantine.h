/*
 * Freed memory of GPUs that is not given out again for a while: where somebody watches kernels, a
 * use of it is to fail, and not to reach memory that has got its address. It has no pages. All
 * functions: lock "emu.state" held.
 */
#ifndef CX_EMU_QUARANTINE_H
#define CX_EMU_QUARANTINE_H

#include "emu/memory/arena.h"

/* Bytes behind an allocation of a GPU that belong to nobody: a use beyond its end does not reach
 * the next one. A multiple of CX_EMU_ALIGNMENT; 0: nobody watches. */
size_t cx_emu_redzone_bytes(void);

/* Gives the range back to its arena, now or later. */
void cx_emu_quarantine_give(cx_emu_range *range);

/* Gives back all. */
void cx_emu_quarantine_end(void);

#endif
