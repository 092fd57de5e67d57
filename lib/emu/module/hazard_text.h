/* The texts of hazards in kernels. */
#ifndef CX_EMU_HAZARD_TEXT_H
#define CX_EMU_HAZARD_TEXT_H

#include "driver/access_log.h"
#include "ptx/ptx.h"

enum { CX_EMU_HAZARD_MAX = 320 };

/* The texts are written into `first` and `second`, CX_EMU_HAZARD_MAX bytes each. */
cx_access_log_hazard cx_emu_hazard_describe(const cx_ptx_hazard *hazard, char *first, char *second);

/* Text that kernels printed and that waited for the host. */
typedef struct cx_emu_hazard_output {
    size_t lost; /* texts, since there was no room */
    size_t most; /* bytes at once */
    size_t asked, given; /* the size of the buffer */
} cx_emu_hazard_output;

/* The text of a launch that printed too much; CX_EMU_HAZARD_MAX bytes. */
void cx_emu_hazard_output_say(const char *kernel, const cx_emu_hazard_output *output, char *text);

/* The text of a place, without what happens there; CX_EMU_HAZARD_MAX bytes. */
void cx_emu_hazard_place(const char *kernel, const cx_ptx_hazard_side *side, char *text);

#endif
