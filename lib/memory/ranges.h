/*
 * Ranges: which addresses ctxrt has from the drivers, in the order of the addresses. A range is a
 * segment of a cache, in which pieces start where its bits say, or one allocation.
 *
 * Readers take no lock: where a change comes between they look again. Changes hold lock "pointers"
 * (pointer_table.h).
 */
#ifndef CX_MEMORY_RANGES_H
#define CX_MEMORY_RANGES_H

#include "context/context.h"
#include "memory/past.h"

typedef struct cx_range_view {
    uintptr_t begin;
    size_t size_bytes;
    cx_context *context;
    uint32_t epoch; /* the context's when the memory came */
    ctxrt_memory_kind kind;
    bool segment; /* what lies in it is in the pointer table */
    bool stays;   /* a reset of the context leaves the memory alone */
    bool mapped;  /* only devices that it is mapped for reach it */
    bool callers; /* pages of the caller's own: not added where they are in another range */
} cx_range_view;

/* Adds memory that a driver gave; older ranges that it overlaps are gone.
 * CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_ranges_add(const cx_range_view *view);

/* Removes a range of a life of a context, before its memory goes back to the driver. Harmless if it
 * is gone already. */
void cx_ranges_remove(const cx_context *context, uint32_t epoch, uintptr_t begin, cx_past_end how);

/* After a reset of the context: its ranges went with it, but for those that stay. */
void cx_ranges_forget(const cx_context *context);

/* The range that an address is in. */
bool cx_ranges_find(const void *pointer, cx_range_view *out_view);

/* ---- lock "pointers" held ---- */

/* A piece starts here. */
void cx_ranges_set_start(uintptr_t address);

/* Where the last piece starts that starts at an address of a segment or before it; 0: none. Asks
 * `starts` whether a piece starts at an address where one did. */
uintptr_t cx_ranges_start(uintptr_t address, bool (*starts)(uintptr_t address));

#endif
