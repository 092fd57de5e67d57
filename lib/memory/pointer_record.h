/*
 * Records of raw pointers whose memory is in no cache. While its raw pointer lives a record is in
 * the pointer table (pointer_table.h).
 */
#ifndef CX_MEMORY_POINTER_RECORD_H
#define CX_MEMORY_POINTER_RECORD_H

#include "memory/block.h"

typedef enum cx_pointer_kind {
    CX_POINTER_DEVICE = 1,     /* ctxrt_alloc, from the block's allocator */
    CX_POINTER_MANAGED = 2,    /* ctxrt_alloc_managed */
    CX_POINTER_ASYNC = 4,      /* ctxrt_alloc_async */
    CX_POINTER_REGISTERED = 8, /* ctxrt_host_register: the caller's own pages */
    CX_POINTER_PINNED = 16     /* ctxrt_alloc_pinned */
} cx_pointer_kind;

typedef struct cx_pointer_record {
    cx_block block; /* allocator: for CX_POINTER_DEVICE only */
    cx_pointer_kind kind;
    const ctxrt_stream *stream; /* of an allocation in stream order: its handle */
} cx_pointer_record;

/* Makes a record that is in no table yet; NULL with the error recorded. */
cx_pointer_record *cx_pointer_record_make(cx_pointer_kind kind);
void cx_pointer_record_drop(cx_pointer_record *record);

/* A record's number, and the record of a number. */
uint32_t cx_pointer_record_index(const cx_pointer_record *record);
cx_pointer_record *cx_pointer_record_at(uint32_t index);

/* Adds a record's memory to the ranges, unless an allocator's kind does that itself.
 * CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_pointer_record_enter(const cx_pointer_record *record);

/* Removes the memory of a record that was taken out of the table, before it is freed. */
void cx_pointer_record_leave(const cx_pointer_record *record);

#endif
