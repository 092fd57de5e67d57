/* The texts of hazards in kernels. */
#ifndef CX_EMU_HAZARD_TEXT_H
#define CX_EMU_HAZARD_TEXT_H

#include "driver/access_log.h"
#include "ptx/ptx.h"

enum { CX_EMU_HAZARD_MAX = 320 };

/* The texts are written into `first` and `second`, CX_EMU_HAZARD_MAX bytes each. */
cx_access_log_hazard cx_emu_hazard_describe(const cx_ptx_hazard *hazard, char *first, char *second);

#endif
