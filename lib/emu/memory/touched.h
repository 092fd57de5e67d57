/*
 * The memory that a kernel touches, for who watches (driver/touch.h).
 */
#ifndef CX_EMU_TOUCHED_H
#define CX_EMU_TOUCHED_H

#include "driver/touch.h"
#include "ptx/ptx.h"

typedef struct cx_emu_touched cx_emu_touched;

/* NULL: no memory; then nothing is noted. */
cx_emu_touched *cx_emu_touched_new(void);
void cx_emu_touched_free(cx_emu_touched *self); /* NULL is harmless */

/* Threads may call it at the same time. Beyond some memory nothing more is noted. */
void cx_emu_touched_note(cx_emu_touched *self, const cx_ptx_touch *touch);

/* Once the kernel is done: what it touched. A store of what is there already is none. `fault`: the
 * address that it failed at, 0: none. The caller frees *out_all. */
size_t cx_emu_touched_take(cx_emu_touched *self, uint64_t fault, cx_touch **out_all);

#endif
