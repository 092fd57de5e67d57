/* Tells whether other processes of this machine still live. */
#ifndef CX_EMU_PROCESS_LIFE_H
#define CX_EMU_PROCESS_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* A process as a number that no later process has: its id and when it started. Never 0. */
uint64_t cx_emu_process_self(void);

/* True if the process has ended, though nobody may have waited for it. A process that the system
 * says nothing about counts as living. */
bool cx_emu_process_ended(uint64_t process);

#endif
