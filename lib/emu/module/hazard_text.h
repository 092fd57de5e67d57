/* The texts of hazards in kernels. */
#ifndef CX_EMU_HAZARD_TEXT_H
#define CX_EMU_HAZARD_TEXT_H

#include "driver/access_log.h"
#include "ptx/ptx.h"

enum { CX_EMU_HAZARD_MAX = 320 };

/* The texts are written into `first` and `second`, CX_EMU_HAZARD_MAX bytes each. */
cx_access_log_hazard cx_emu_hazard_describe(const cx_ptx_hazard *hazard, char *first, char *second);

/* The text of a place, without what happens there; CX_EMU_HAZARD_MAX bytes. */
void cx_emu_hazard_place(const char *kernel, const cx_ptx_hazard_side *side, char *text);

#endif
