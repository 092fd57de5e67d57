/* The place of a thread of a kernel, as faults and hazards name it. */
#ifndef CX_EMU_PLACE_TEXT_H
#define CX_EMU_PLACE_TEXT_H

#include "base/text.h"
#include <stdint.h>

typedef struct cx_emu_place {
    const char *kernel;
    int line;           /* of the PTX */
    const char *source; /* NULL: unknown */
    int source_line;
    const uint32_t *block, *thread; /* three numbers each */
} cx_emu_place;

/* Adds "kernel k, line 5 of its PTX, k.cu:2, block (0, 0, 0), thread (1, 0, 0)", with so much of
 * the kernel's name at the most, and the end of a long path. */
void cx_emu_place_say(cx_text *to, int name_most, const cx_emu_place *place);

#endif
