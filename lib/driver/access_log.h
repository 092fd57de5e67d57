/*
 * The memory that work touches: a driver that runs the work itself tells it to whoever watches. A
 * driver of a real GPU tells nothing.
 */
#ifndef CX_DRIVER_ACCESS_LOG_H
#define CX_DRIVER_ACCESS_LOG_H

#include "driver/cuda_abi_copy.h"
#include "driver/cuda_abi_graph.h"

#include <stdbool.h>

typedef enum cx_access_how {
    CX_ACCESS_READ,
    CX_ACCESS_WRITE, /* whatever was there before */
    CX_ACCESS_ATOMIC,
    CX_ACCESS_POLL,  /* a load that sees what others store meanwhile, and the work does not */
    CX_ACCESS_FAULT /* the work ended here: nothing that it may use has the address */
} cx_access_how;

/* Bytes from `begin` to before `end`, as addresses of the device. */
typedef struct cx_access {
    uint64_t begin, end;
    cx_access_how how;
} cx_access;

/* Why work failed with an error that all later calls return. */
typedef struct cx_access_log_failure {
    int result;       /* cxu_result */
    const char *what; /* "kernel add, line 8 of its PTX, ...": who failed, where and at what */
    uint64_t memory;  /* the address of the allocation that `what` speaks of; 0: of none */
} cx_access_log_failure;

/* A node of a launch of a graph, valid during the call that tells of it. Nodes of child graphs come
 * before the node that has the child. */
typedef struct cx_access_log_node {
    cxu_graph_node_type type;
    uint32_t place;  /* cx_access_log_place when it was added */
    uint32_t number; /* in its graph */
    size_t parent;   /* the node whose child graph it is in; SIZE_MAX: none */
    uint64_t given;  /* cx_access_log_turn when it got its parameters */
    bool disabled;
    const size_t *after; /* the earlier nodes that it comes after; none: only the stream's work */
    size_t after_count;
    const char *kernel;                 /* the name of a kernel; NULL: it is none, or is gone */
    const cxu_memcpy_3d *copy;          /* NULL: it is no copy */
    const cxu_memset_node_params *fill; /* NULL: it is no fill */
    const void *arguments;              /* of a kernel */
    size_t argument_bytes;
    CUevent event;                      /* that it records or waits for; NULL: none */
    uint64_t begin, end;                /* the memory that it allocates or frees */
} cx_access_log_node;

typedef struct cx_access_log_graph {
    size_t count;
    void (*describe)(const struct cx_access_log_graph *graph, size_t index,
                     cx_access_log_node *out_node);
    const void *self;
} cx_access_log_graph;

/* What may go wrong inside a kernel that did not fail. */
typedef enum cx_access_log_hazard_kind {
    CX_ACCESS_RACE_SHARED,
    CX_ACCESS_RACE_WARP,
    CX_ACCESS_RACE_BLOCKS,
    CX_ACCESS_RACE_GLOBAL, /* of warps of one block */
    CX_ACCESS_UNWRITTEN,
    CX_ACCESS_UNWRITTEN_SHARED,
    CX_ACCESS_BARRIER_DIVERGED,
    CX_ACCESS_BARRIER_ENDED,
    CX_ACCESS_HEAP_NOT_HELD, /* of the heap of kernels */
    CX_ACCESS_BEYOND_ARRAY,  /* in shared memory */
    CX_ACCESS_TEXT_LOST,     /* that kernels printed, or nearly so */
    CX_ACCESS_COPIED_UNWRITTEN /* to the host, by a copy that its call does not wait for */
} cx_access_log_hazard_kind;

typedef struct cx_access_log_hazard {
    cx_access_log_hazard_kind kind;
    const char *first;  /* who did what, and where: "a write by ..."; NULL: only one did */
    const char *second; /* the later one */
    uint64_t memory;    /* the address in global memory; 0: shared memory, or none */
} cx_access_log_hazard;

/* Blocks of the heap of kernels that one place has left. */
typedef struct cx_access_log_heap_left {
    const char *by; /* "kernel ..., thread ...": of the first one */
    uint64_t blocks, bytes;
} cx_access_log_heap_left;

/* Called by any thread, with locks of the driver held: none of them calls the driver. `part`: the
 * index of a node, if the call launches a graph, else 0. */
typedef struct cx_access_log_watcher {
    /* The call launches a graph, if it does not fail. Before anything else is told of it. */
    void (*launched)(uint64_t ticket, const cx_access_log_graph *graph);
    /* A piece of the call's work will tell what it touches. */
    void (*promised)(uint64_t ticket, size_t part);
    /* A copy or fill in the body of a conditional node, which is that part. */
    void (*moved)(uint64_t ticket, size_t part, const cx_access_log_node *node);
    /* Before the piece is over, and before any call returns the error. */
    void (*failed)(uint64_t ticket, size_t part, const cx_access_log_failure *failure);
    /* It is over, or will never run; in no order of addresses. */
    void (*told)(uint64_t ticket, size_t part, const cx_access *all, size_t count);
    /* Before the piece is over; none of the driver's locks is held. NULL: nobody wants to know, and
     * kernels have no shadow, nor device memory a quarantine. */
    void (*hazard)(uint64_t ticket, const cx_access_log_hazard *hazard);
    /* A copy of the call is about to run, with pinned memory; none of the driver's locks is held.
     * NULL: nobody wants to know. Else pages may be closed, and a handler of SIGSEGV opens them. */
    void (*starts)(uint64_t ticket);
    /* A context ends. NULL: nobody wants to know. */
    void (*heap_left)(const cx_access_log_heap_left *left);
} cx_access_log_watcher;

/* The work that this thread's calls submit has this number; 0: nobody watches it. */
extern _Thread_local uint64_t cx_access_log_ticket;

/* Nodes that this thread's calls add to graphs keep this number, and so do copies of them. */
extern _Thread_local uint32_t cx_access_log_place;

/* The same of the parameters that this thread's calls give to nodes, also later ones. UINT64_MAX:
 * nobody watches the thread's calls. */
extern _Thread_local uint64_t cx_access_log_turn;

/* What a copy to the host that this thread's call has waited for found unwritten; 0 bytes: nothing.
 * Who reads it takes it away. */
typedef struct cx_access_log_unwritten {
    uint64_t address; /* of the first byte */
    uint64_t bytes;
} cx_access_log_unwritten;
extern _Thread_local cx_access_log_unwritten cx_access_log_copied;

/* The thread is the driver's own: it runs work, and functions of the program that are work. */
extern _Thread_local bool cx_access_log_driver_thread;

/* This thread's call has closed memory that the other process had freed already. Who reads it sets
 * it back. */
extern _Thread_local bool cx_access_log_withdrawn;

/* Before the first ticket, once in a process. */
void cx_access_log_watch(const cx_access_log_watcher *watcher);

/* NULL: nobody watches. */
const cx_access_log_watcher *cx_access_log_watched(void);

/* True if somebody watches who wants to know of hazards. */
bool cx_access_log_wants_hazards(void);

/* Whether the watcher wants to know when copies are about to run. */
bool cx_access_log_wants_starts(void);

#endif
