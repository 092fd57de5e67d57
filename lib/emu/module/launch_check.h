/*
 * What is checked before a kernel is launched. Lock "emu.state" held.
 */
#ifndef CX_EMU_LAUNCH_CHECK_H
#define CX_EMU_LAUNCH_CHECK_H

#include "emu/module/launch.h"

/* Checks the dimensions, the shared memory and the blocks of a cooperative launch, and gives the
 * launch the clusters that it is to have. Errors: as of cx_emu_launch_request. */
cxu_result cx_emu_launch_check(cx_emu_launch *launch, const cx_emu_function *function);

#endif
