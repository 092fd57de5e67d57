/*
 * Which limit the calling thread's latest refused launch was over, for messages.
 */
#ifndef CX_EMU_LAUNCH_REFUSAL_H
#define CX_EMU_LAUNCH_REFUSAL_H

#include "emu/module/launch.h"
#include "emu/module/module.h"
#include <stddef.h>

/* A launch begins: no refusal of an earlier one explains it. */
void cx_emu_launch_refusal_forget(void);

/* Records a refused launch. Lock "emu.state" held. */
void cx_emu_launch_refusal_note(const cx_emu_launch *launch, const cx_emu_function *function);

/* Tells the limit, in a sentence without a capital. False: the launch was over none, or another
 * thread was refused since. Takes the lock "emu.state". */
bool cx_emu_launch_refusal_describe(char *text, size_t size);

#endif
