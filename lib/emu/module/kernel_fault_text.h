/*
 * The text for a failure of a kernel: the kernel, the line of its PTX and of its source, and the
 * thread; for an address the allocation that lies there, or the nearest one.
 */
#ifndef CX_EMU_KERNEL_FAULT_TEXT_H
#define CX_EMU_KERNEL_FAULT_TEXT_H

#include "emu/module/launch.h"

#define CX_EMU_CULPRIT_MAX 480

/* Takes lock "emu.state". The fault is that of an outcome other than CX_PTX_DONE. Returns the
 * address of the allocation that the text speaks of; 0: it speaks of none, or of variables. */
uint64_t cx_emu_kernel_fault_describe(const cx_emu_run *run, cx_ptx_outcome outcome,
                                  const cx_ptx_fault *fault, char *text, size_t size);

#endif
