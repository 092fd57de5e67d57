/*
 * The file of a traced process: a head, and chunks of records. Each chunk is one thread's. The
 * process writes it through shared mappings, so that it is there whatever ends the process; `ctxrt
 * trace` reads it, meanwhile too.
 */
#ifndef CX_LAYER_TRACE_FORMAT_H
#define CX_LAYER_TRACE_FORMAT_H

#include <stdatomic.h>
#include <stdint.h>

/* The head takes the place of a chunk; chunk N begins at (N + 1) * CX_TRACE_CHUNK_BYTES. */
#define CX_TRACE_CHUNK_BYTES ((uint64_t)1 << 18)
#define CX_TRACE_PATH 232u
#define CX_TRACE_API_NAME 64u
#define CX_TRACE_MAGIC 0x6563617274787463u
#define CX_TRACE_VERSION 4u

typedef struct cx_trace_head {
    uint64_t magic; /* last: the rest of the head is there */
    uint32_t version;
    int32_t pid;
    int32_t forked_from;  /* 0: not the child of a traced process */
    int32_t host_devices; /* the driver's first devices that are no GPUs */
    uint64_t begun;       /* ns of CLOCK_MONOTONIC, as all times */
    atomic_uint chunks;   /* that were taken; one may be incomplete */
    atomic_uint threads;  /* numbers that were given */
    atomic_ullong lost;   /* calls and work for which there was no room */
    char program[256];
} cx_trace_head;

typedef struct cx_trace_chunk {
    uint64_t magic; /* last */
    uint32_t thread; /* a number from 1 */
    int32_t tid;
    char name[16];
    atomic_uint used; /* bytes of the records that follow */
    uint32_t number;  /* among the thread's chunks, from 0 */
    uint64_t ended;   /* when the thread ended, in its last chunk; 0: it did not */
} cx_trace_chunk;

typedef enum cx_trace_what {
    CX_TRACE_CALL = 1,
    CX_TRACE_WORK,
    CX_TRACE_MODULE,
    CX_TRACE_API
} cx_trace_what;

/* Each record begins with this. Records of a thread are in the order in which they began. */
typedef struct cx_trace_record {
    uint16_t bytes; /* of the whole record, a multiple of 8 */
    uint8_t what;   /* cx_trace_what */
    uint8_t detail; /* cx_entry of a call, cx_timed_kind of work */
} cx_trace_record;

/* A call. What follows it is in layout.h. */
typedef struct cx_trace_call {
    cx_trace_record record;
    uint16_t slot;
    uint16_t depth_before, depth_after; /* of the thread's stack */
    uint16_t zero;
    int32_t result;
    uint64_t start;
    _Atomic uint64_t end; /* written last; 0: the call is under way */
    uint64_t ticket;      /* tells the call from all others of the process */
    uint64_t caller;      /* the return address of the call */
    uint64_t before;      /* the current context before the call; 0: none */
    union {
        uint64_t after; /* and after it */
        uint64_t outer; /* until then, for the thread itself: the call that this one is made in */
    };
} cx_trace_call;

/* A call of the CUDA Runtime API that makes calls of the driver, before the first of them. */
typedef struct cx_trace_api {
    cx_trace_record record;
    uint32_t zero;
    uint64_t start;
    _Atomic uint64_t end; /* written last; 0: it is under way */
    uint64_t caller;
    char name[CX_TRACE_API_NAME];
} cx_trace_api;

/* Where a program or a library lies, before the first call of a thread from within it. */
typedef struct cx_trace_module {
    cx_trace_record record;
    uint32_t zero;
    uint64_t begin, end;
    char path[CX_TRACE_PATH]; /* empty: the program's, which the head names */
} cx_trace_module;

/* Work that a driver timed: see driver/work_timestamps.h. */
typedef struct cx_trace_work {
    cx_trace_record record;
    uint32_t zero;
    uint64_t ticket, stream_id, stream, context, function;
    uint64_t submitted, start, end;
} cx_trace_work;

#endif
