/*
 * What a launch of a graph tells who watches the memory that work touches (driver/access_log.h).
 * All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_EXEC_WATCH_H
#define CX_EMU_EXEC_WATCH_H

#include "emu/graph/exec_schedule.h"

/* Describes the nodes of a launch. Nothing happens if nobody watches the call. */
void cx_emu_exec_watch_launch(const cx_emu_exec_schedule *schedule);

/* Tells of a copy or fill in the body of a conditional node, which is that part of a launch. */
void cx_emu_exec_watch_moved(const cx_emu_node *node, uint64_t ticket, size_t part);

#endif
