/*
 * The host memory of a thread that runs a grid: one allocation of zeroes, from which it takes
 * parts.
 *
 * A launch that the driver has accepted must not fail for want of host memory. So the process keeps
 * a reserve, which is as large as the largest room that a launch asked for. A thread that finds no
 * memory for its room takes the reserve, or waits until the thread that has it is done. The reserve
 * is address space: nobody touches it before.
 */
#ifndef CX_PTX_ROOM_H
#define CX_PTX_ROOM_H

#include "ptx/ptx.h"

/* All zeroes: it counts the bytes of the parts, and has none. */
typedef struct cx_ptx_room {
    unsigned char *begin; /* of the parts */
    size_t used;
    void *allocated; /* or */
    struct cx_ptx_reserve *reserve;
} cx_ptx_room;

/* A part of zeroes, aligned to 64 bytes; NULL if the room only counts. The room is large enough. */
void *cx_ptx_room_take(cx_ptx_room *room, size_t bytes);

/* Opens a room for parts of so many bytes, as counted. False: out of memory. */
bool cx_ptx_room_open(cx_ptx_room *room, size_t bytes);
void cx_ptx_room_close(cx_ptx_room *room);

/* Opens the reserve. False: another thread has it. */
bool cx_ptx_room_open_reserve(cx_ptx_room *room, size_t bytes);

/* Waits a moment, for a thread that lacks memory for what it has to do. False: the launch is to
 * stop instead. */
bool cx_ptx_await_memory(const cx_ptx_environment *environment);

/* True if the reserve is so large, wherever it is. */
bool cx_ptx_reserve_suffices(size_t bytes);

/* Makes the reserve that large. False: out of memory. */
bool cx_ptx_reserve_grow(size_t bytes);

#endif
