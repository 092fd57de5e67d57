/*
 * The file of a counted process: one of fixed size, whatever the process does. The process writes
 * it through a shared mapping, so that it is there whatever ends the process; `ctxrt run --report`
 * reads it then.
 */
#ifndef CX_LAYER_COUNT_FORMAT_H
#define CX_LAYER_COUNT_FORMAT_H

#include "driver/table.h"

#include <stdatomic.h>
#include <stdint.h>

#define CX_COUNT_MAGIC 0x746e756f63747863u
#define CX_COUNT_VERSION 1u

enum {
    CX_COUNT_SHARES = 8, /* processors count in different ones */
    CX_COUNT_DEVICES = 80,
    CX_COUNT_FAILURES = 64,
    CX_COUNT_ABSENT = 64,
    CX_COUNT_SYMBOL = 52
};

/* One driver call. NOT_READY is no failure. */
typedef struct cx_count_row {
    atomic_ullong calls, failed, unsupported, ns;
} cx_count_row;

/* Counts of what successful calls made on a device. Memory is what cuMemGetInfo says is in use,
 * behind calls that take memory. */
typedef struct cx_count_device {
    atomic_ullong contexts, green_contexts, primary_retains, peak_bytes, total_bytes;
} cx_count_device;

/* A result of a call: all failures of the same kind. In the order of the first ones. */
typedef struct cx_count_failure {
    _Atomic uint64_t key; /* cx_count_key; 0: free */
    atomic_ullong count;
    uint64_t first; /* ns after the process began */
    int32_t tid;    /* the thread of the first one */
} cx_count_failure;

/* A call of the driver interface that has no row in symbols.def. */
typedef struct cx_count_absent {
    atomic_uint state; /* 0: free, 1: being filled, 2: filled */
    atomic_uint count;
    char symbol[CX_COUNT_SYMBOL];
} cx_count_absent;

typedef struct cx_count_region {
    uint64_t magic; /* last: the rest of the head is there */
    uint32_t version, slots;
    int32_t pid, forked_from; /* forked_from is 0: not the child of a counted process */
    int32_t host_devices;     /* the driver's first devices that are no GPUs */
    uint64_t begun;           /* ns of CLOCK_MONOTONIC */
    char program[256];
    atomic_ullong failures_beyond; /* calls that failed in more ways than there is room for */
    cx_count_device devices[CX_COUNT_DEVICES];
    cx_count_failure failures[CX_COUNT_FAILURES];
    cx_count_absent absent[CX_COUNT_ABSENT];
    cx_count_row rows[CX_COUNT_SHARES][CX_SLOT_COUNT];
} cx_count_region;

static inline uint64_t cx_count_key(cx_slot slot, cxu_result result)
{
    return (uint64_t)(slot + 1) << 32 | (uint32_t)result;
}

#endif
