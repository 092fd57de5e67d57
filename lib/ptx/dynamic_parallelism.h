/*
 * Grids that threads of a grid launch. They run once it is done: first those of its other streams,
 * in the order of their launches, each with the grids that it launches itself; then those of its
 * tail stream. So one thread of the host is enough, and no lock.
 */
#ifndef CX_PTX_DYNAMIC_PARALLELISM_H
#define CX_PTX_DYNAMIC_PARALLELISM_H

#include "ptx/grid.h"

typedef struct cx_ptx_child cx_ptx_child;

struct cx_ptx_child {
    cx_ptx_child *next;
    const cx_ptx_function *kernel;
    cx_ptx_launch launch;
    uint64_t buffer; /* the thread writes the parameters there before the launch */
    unsigned depth;  /* 1: the host launched its parent */
    unsigned char parameters[];
};

typedef struct cx_ptx_child_list {
    cx_ptx_child *first, *last;
} cx_ptx_child_list;

/* The children of the running grid, and those of earlier ones that have not run. */
typedef struct cx_ptx_children {
    cx_ptx_child_list prepared, launched, tail, waiting;
    size_t count; /* of all but the prepared ones */
    unsigned depth; /* of the running grid */
    uint64_t streams; /* that threads have created */
} cx_ptx_children;

/* The kernel at an address. NULL: there is none. */
const cx_ptx_function *cx_ptx_child_kernel(const cx_ptx_grid *grid, uint64_t address);

/*
 * Gives memory for the parameters of a child, and remembers how it is to run. `kernel`: the address
 * of the function. 0: it cannot run, and the thread's last error says why.
 */
uint64_t cx_ptx_child_prepare(cx_ptx_grid *grid, cx_ptx_thread *thread, uint64_t kernel,
                              const uint32_t blocks[3], const uint32_t threads[3],
                              uint32_t shared_bytes);

/*
 * Gives a handle of a new stream, or of a new event. Children of all streams run one after the
 * other in the order of their launches, which suits whatever the events of those streams demand.
 */
uint64_t cx_ptx_child_create_stream(cx_ptx_grid *grid);

/* Launches what was prepared there; `out_error` is a cudaError_t. False: the thread has failed. */
bool cx_ptx_child_launch(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                         uint64_t buffer, uint64_t stream, uint32_t *out_error);

/* The child that runs next, which the caller frees; NULL: none is left. The running grid is
 * done. */
cx_ptx_child *cx_ptx_children_take(cx_ptx_children *children);

/* Frees all that have not run, and their memory. */
void cx_ptx_children_drop(cx_ptx_children *children, const cx_ptx_environment *environment);

#endif
