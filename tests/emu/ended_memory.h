/*
 * Memory that ends while work that names it is queued: kinds of memory and the ways in which each
 * ends (ended_memory_kinds.c), and kinds of work (ended_memory_works.c). check_ended_memory.c goes
 * through all of them.
 */
#ifndef CX_TEST_ENDED_MEMORY_H
#define CX_TEST_ENDED_MEMORY_H

#include "work_fixture.h"

#define ENDED_BYTES \
    ((size_t)4096) /* that the work uses of the memory; at least so many there are */

/* What one row of the table has. */
typedef struct ended_world {
    CUdevice owner_device;
    bool owner_is_primary;
    CUcontext owner;        /* of the memory; NULL: it has ended */
    CUcontext worker;       /* its stream does the work; NULL: it has ended */
    CUcontext bystander;    /* of memory that comes after */
    CUstream stream, other; /* of the worker; `other` does nothing else */
    CUstream of_bystander;
    CUdeviceptr address; /* of the memory */
    CUdeviceptr device;  /* memory of the worker */
    unsigned char *host; /* pinned memory of the worker */
    CUmodule code;
    CUfunction store;
    CUgraph graph; /* of the work, and what is launched of it */
    CUgraphExec exec;

    /* Of one kind of memory each. */
    CUmemoryPool pool;
    CUmemGenericAllocationHandle physical, next_physical;
    CUdeviceptr range;
    CUmodule module;
    CUlibrary library;
    CUgraph memory_graph;
    CUgraphExec memory_exec;
    void *pages;
    CUdeviceptr next; /* memory that came after; 0: none */
} ended_world;

typedef enum ended_outcome {
    ENDED_COMPLETES, /* the work runs to its end */
    ENDED_FAILS,     /* illegal address */
    ENDED_OVER       /* the work's context has ended, and nothing is left to ask */
} ended_outcome;

/* Work that names its memory when it is queued, and work that finds it when it runs. */
typedef enum ended_binding { ENDED_NAMED, ENDED_FOUND, ENDED_BINDINGS } ended_binding;

typedef struct ended_way {
    const char *name;
    void (*end)(ended_world *self);
    bool waits[ENDED_BINDINGS]; /* the call returns only once the work is done */
    ended_outcome outcome[ENDED_BINDINGS];
    bool waits_beside;   /* it waits for other work, so that all work may run meanwhile */
    bool keeps;          /* calls still find the memory */
    bool lets_copies;    /* which the driver stages */
    bool of_the_primary; /* the owner is the primary context */
} ended_way;

/* The host device has memory of ENDED_ANYWHERE too; another process exports that of ENDED_FOREIGN.
 */
enum {
    ENDED_MANAGED = 1,
    ENDED_HOST = 2,
    ENDED_PEER = 4,
    ENDED_USERS = 8,
    ENDED_ANYWHERE = 16,
    ENDED_FOREIGN = 32
};

typedef struct ended_kind {
    const char *name;
    unsigned int traits;
    void (*make)(ended_world *self); /* the owner is current */
    void (*drop)(ended_world *self); /* what may be left of it */
    /* Makes memory that may get the address of the memory that has ended; returns 0 if there is no
     * such memory. */
    CUdeviceptr (*make_next)(ended_world *self);
    const ended_way *ways; /* the last one has no name */
} ended_kind;

typedef struct ended_work {
    const char *name;
    ended_binding binding;
    void (*prepare)(ended_world *self); /* while the memory is there; may be NULL */
    cxu_result (*submit)(ended_world *self);
    unsigned int needs, refuses; /* traits of the memory */
    bool by_pointer;             /* only what runs knows the address: it is refused by nothing */
    bool reads;                  /* the bytes come to `host` */
    bool copies;
    bool only_hints; /* it reaches no memory */
} ended_work;

/* The memory of the other process, for kinds of ENDED_FOREIGN. */
extern cxu_ipc_mem_handle ended_exported;

extern const ended_kind ended_kinds[];
extern const size_t ended_kind_count;
extern const ended_work ended_works[];
extern const size_t ended_work_count;

/* The memory's context is current to the calling thread from now on. */
void ended_enter(CUcontext context);

#endif
