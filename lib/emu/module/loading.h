/* CTXRT_EMU_LOADING chooses whether a kernel's first use waits for its context, as GPUs may. */
#ifndef CX_EMU_LOADING_H
#define CX_EMU_LOADING_H

#include "emu/module/module.h"

/* Checks CTXRT_EMU_LOADING: free, waits; and applies it. */
bool cx_emu_loading_valid(void);
bool cx_emu_loading_choose(void);

/* The function is about to be loaded, if it is not yet. Lock held; it may be released meanwhile, so
 * look everything up again. */
void cx_emu_loading_begin(const cx_emu_function *function);

#endif
