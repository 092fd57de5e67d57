/*
 * The memory that a kernel touches, for who watches (driver/access_log.h).
 */
#ifndef CX_EMU_ACCESS_LOG_H
#define CX_EMU_ACCESS_LOG_H

#include "driver/access_log.h"
#include "ptx/ptx.h"

typedef struct cx_emu_access_log cx_emu_access_log;

/* NULL: no memory; then nothing is noted. */
cx_emu_access_log *cx_emu_access_log_new(void);
void cx_emu_access_log_free(cx_emu_access_log *self); /* NULL is harmless */

/* Threads may call it at the same time. Beyond some memory nothing more is noted. */
void cx_emu_access_log_note(cx_emu_access_log *self, const cx_ptx_touch *touch);

/* Once the kernel is done: what it touched. `fault`: the address that it failed at, 0: none. The
 * caller frees *out_all. */
size_t cx_emu_access_log_take(cx_emu_access_log *self, uint64_t fault, cx_access **out_all);

#endif
