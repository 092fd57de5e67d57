/*
 * Ranges: the addresses that ctxrt has from the drivers, in order. A range is a segment of a cache,
 * with bits for the starts of its blocks, or one allocation.
 *
 * Lock "pointers" (pointer_table.h).
 */
#ifndef CX_MEMORY_RANGES_H
#define CX_MEMORY_RANGES_H

#include "context/context.h"
#include "memory/freed_ranges.h"

typedef struct cx_range_view {
    uintptr_t begin;
    cx_context *context;
    size_t size_bytes;
    uint32_t epoch; /* of the context when the memory came */
    ctxrt_memory_kind kind;
    bool segment; /* its blocks are in the pointer table */
    bool stays;   /* a reset of the context leaves the memory alone */
    bool mapped;  /* reachable only for devices that it is mapped for */
    bool callers; /* the caller's own pages: not added if they are in another range */
} cx_range_view;

/* Adds memory from a driver; older ranges that it overlaps are gone. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_ranges_add(const cx_range_view *view);

/* Removes a range of an epoch of a context, before its memory goes back to the driver. Harmless if
 * it is gone already. */
void cx_ranges_remove(const cx_context *context, uint32_t epoch, uintptr_t begin, cx_freed_how how);

/* The same allocation serves a request of another size, which is not above its own. Harmless if the
 * range is gone. */
void cx_ranges_set_size(const cx_context *context, uint32_t epoch, uintptr_t begin,
                        size_t size_bytes);

/* After a reset of the context: removes its ranges, except those that stay. */
void cx_ranges_forget(const cx_context *context);

/* A number that changes with each range that comes or goes. */
uint64_t cx_ranges_changes(void);

/* ---- lock "pointers" held ---- */

/* The range that an address is in. */
bool cx_ranges_find(const void *pointer, cx_range_view *out_view);

/* Sets the bit of a block's start. */
void cx_ranges_set_start(uintptr_t address);

/* The start of the last block at or before an address of a segment; 0: none. `starts` tells whether
 * a block still starts at an address. */
uintptr_t cx_ranges_start(uintptr_t address,
                          bool (*starts)(const void *argument, uintptr_t address),
                          const void *argument);

#endif
