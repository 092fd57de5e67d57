/*
 * The kinds of values that steps of a scenario take and give, and a cell that holds one of any
 * kind.
 */
#ifndef CX_PLAY_KIND_H
#define CX_PLAY_KIND_H

#include "driver/cuda_abi.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CX_KIND(kind, field of cx_cell, its word in messages and in the reference). Things with names
 * come first, then numbers. */
#define CX_KINDS(CX_KIND)                     \
    CX_KIND(CONTEXT, context, "context")      \
    CX_KIND(STREAM, stream, "stream")         \
    CX_KIND(EVENT, event, "event")            \
    CX_KIND(MEMORY, pointer, "device memory") \
    CX_KIND(HOST, host, "host memory")        \
    CX_KIND(GRAPH, graph, "graph")            \
    CX_KIND(EXEC, exec, "executable graph")   \
    CX_KIND(HANDLE, handle, "memory handle")  \
    CX_KIND(FILE, integer, "file")            \
    CX_KIND(POOL, pool, "memory pool")        \
    CX_KIND(MODULE, module, "module")         \
    CX_KIND(LIBRARY, library, "library")      \
    CX_KIND(KERNEL, kernel, "kernel")         \
    CX_KIND(NODE, node, "node")               \
    CX_KIND(GREEN, green, "green context")    \
    CX_KIND(OBJECT, object, "user object")    \
    CX_KIND(IPC, host, "IPC handle")          \
    CX_KIND(GATE, host, "gate")               \
    CX_KIND(FUNCTION, host, "host function")  \
    CX_KIND(INTEGER, integer, "integer")      \
    CX_KIND(FLAGS, flags, "flags")            \
    CX_KIND(SIZE, size, "size")               \
    CX_KIND(WIDE, wide, "64-bit number")

typedef enum cx_kind {
#define CX_KIND(kind, field, word) CX_KIND_##kind,
    CX_KINDS(CX_KIND)
#undef CX_KIND
        CX_KIND_COUNT
} cx_kind;

/* Big enough for any value; zeroed before one is put in, so that all bits compare. */
typedef union cx_cell {
    uint64_t bits;
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr pointer;
    CUmemGenericAllocationHandle handle;
    CUmemoryPool pool;
    CUmodule module;
    CUlibrary library;
    CUfunction kernel;
    CUgraphNode node;
    CUgreenCtx green;
    CUuserObject object;
    void *host;
    int integer;
    unsigned int flags;
    size_t size;
    unsigned long long wide;
    float real;
} cx_cell;

/* The contents of a cell that a driver call should have written and did not. */
#define CX_CELL_UNTOUCHED UINT64_C(0xa5a5a5a5a5a5a5a5)

static inline bool cx_kind_is_number(cx_kind kind)
{
    return kind >= CX_KIND_INTEGER;
}

/* "stream", "device memory"; as messages say it. */
const char *cx_kind_word(cx_kind kind);

/* A number as a cell of this kind, and back; kinds of named objects hold addresses. */
cx_cell cx_cell_of(cx_kind kind, int64_t number);
int64_t cx_cell_number(cx_kind kind, cx_cell cell);

/* A cell that a call wrote, reduced to the bytes of its kind. */
cx_cell cx_cell_settle(cx_kind kind, cx_cell cell);

#endif
