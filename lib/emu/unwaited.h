/* What nothing ever waited for under CTXRT_EMU_SCHEDULE=lazy, over a whole process; see also
 * cx_emu_unwaited in emu.h. */
#ifndef CX_EMU_UNWAITED_H
#define CX_EMU_UNWAITED_H

#include "emu/context.h"

/* The context is about to wait for all its work: what nothing has waited for until now counts. Lock
 * held. */
void cx_emu_unwaited_closing(const cx_emu_context *context);

/* The process ends: one warning, if there is something to say. */
void cx_emu_unwaited_log(void);

#endif
