/*
 * Memory and objects that a running kernel reaches: it keeps them until it is done. The functions
 * are called without a lock but for the last one, which needs "emu.state".
 */
#ifndef CX_EMU_LAUNCH_MEMORY_H
#define CX_EMU_LAUNCH_MEMORY_H

#include "emu/module/launch.h"

/* As `find`, `find_texture` and `stopped` of cx_ptx_environment; `run` is a cx_emu_run. A kernel
 * that never ends must keep neither its context nor the process from ending. */
bool cx_emu_run_find_memory(void *run, uint64_t address, cx_ptx_range *out_range);
bool cx_emu_run_find_texture(void *run, uint64_t handle, bool is_surface,
                             cx_ptx_texture *out_texture);
bool cx_emu_run_is_stopped(void *run);

/* A kernel that lacks host memory waits for it: nothing that it does may fail for that. False: it
 * is to stop. */
bool cx_emu_run_await_memory(cx_emu_run *run);

void cx_emu_run_drop_memory(cx_emu_run *run);

#endif
