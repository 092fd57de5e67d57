/* CTXRT_EMU_CORES limits the threads that run a kernel. */
#ifndef CX_EMU_CORES_H
#define CX_EMU_CORES_H

#include <stdbool.h>

/* Checks CTXRT_EMU_CORES, a number from 1 to 1024; and applies it. */
bool cx_emu_cores_valid(void);
bool cx_emu_cores_choose(void);

/* Unless it is set, the cores that this process may use; 1 where one piece of work runs at a
 * time. */
unsigned cx_emu_cores(void);

#endif
