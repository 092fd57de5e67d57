/*
 * The settings of a function for its launches, which the calls before CUDA 4 made.
 */
#ifndef CX_EMU_OLD_LAUNCH_H
#define CX_EMU_OLD_LAUNCH_H

#define CX_EMU_OLD_ARGUMENTS_MAX 32764

typedef struct cx_emu_old_launch cx_emu_old_launch;

void cx_emu_old_launch_free(cx_emu_old_launch *settings); /* NULL is harmless */

#endif
