/* The limits of a context: cuCtxSetLimit and cuCtxGetLimit. */
#ifndef CX_EMU_LIMIT_H
#define CX_EMU_LIMIT_H

#include "emu/context/context.h"

/* Gives every limit its default. Lock held. */
void cx_emu_limits_reset(cx_emu_context *context);

#endif
