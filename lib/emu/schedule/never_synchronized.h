/* Work of a whole process that nothing ever waited for under CTXRT_EMU_SCHEDULE=lazy; see also
 * cx_emu_never_synchronized in emu.h. */
#ifndef CX_EMU_NEVER_SYNCHRONIZED_H
#define CX_EMU_NEVER_SYNCHRONIZED_H

#include "emu/context/context.h"

/* The context is about to wait for all its work: counts the work that nothing has waited for until
 * now. Lock held. */
void cx_emu_never_synchronized_closing(cx_emu_context *context);

/* The process ends: logs one warning, if there was any. */
void cx_emu_never_synchronized_log(void);

#endif
