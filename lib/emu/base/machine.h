/*
 * The memory of the machine, which the host device has.
 */
#ifndef CX_EMU_MACHINE_H
#define CX_EMU_MACHINE_H

#include <stddef.h>

/* The same for the life of the process. */
size_t cx_emu_machine_total_bytes(void);

/* The memory that the system can give to programs (MemAvailable). Reads a file of /proc, which
 * takes microseconds: do not call it with a lock held. */
size_t cx_emu_machine_free_bytes(void);

#endif
