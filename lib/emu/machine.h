/*
 * The memory of the machine, which is that of the host device.
 */
#ifndef CX_EMU_MACHINE_H
#define CX_EMU_MACHINE_H

#include <stddef.h>

size_t cx_emu_machine_total_bytes(void);

/* So much the system can give to programs (MemAvailable). Reads a file of /proc: takes
 * microseconds; not with a lock held. */
size_t cx_emu_machine_free_bytes(void);

#endif
