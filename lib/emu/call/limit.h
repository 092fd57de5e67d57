/* The limits of a context: cuCtxSetLimit and cuCtxGetLimit. */
#ifndef CX_EMU_LIMIT_H
#define CX_EMU_LIMIT_H

#include "emu/context/context.h"

/* Gives every limit of a new context its default. True. Lock held. */
bool cx_emu_limits_open(cx_emu_context *context);

#endif
