/*
 * A running grid: blocks of threads. A thread has a lane of its warp's registers and continues
 * where it stopped. The blocks of a cluster run in one thread of the host: they share only global
 * memory with others.
 */
#ifndef CX_PTX_GRID_H
#define CX_PTX_GRID_H

#include "ptx/module.h"
#include "ptx/texture.h"

#define CX_PTX_BARRIERS 16
#define CX_PTX_LOCAL_SPARE 16 /* bytes behind the local memory of each thread */
#define CX_PTX_WORKSPACE_WORDS 8
#define CX_PTX_MASK_BITS 32

/* A thread's place in a phase of the cluster's barrier. */
typedef enum cx_ptx_cluster_place {
    CX_PTX_CLUSTER_AWAY,
    CX_PTX_CLUSTER_ARRIVED,
    CX_PTX_CLUSTER_PASSED /* all have arrived, and it has not waited yet */
} cx_ptx_cluster_place;

typedef struct cx_ptx_thread {
    const cx_ptx_instruction *next; /* where it goes on or failed; warp.h knows where it waits */
    unsigned char *local;
    uint32_t words, longs; /* rows of the functions that have called its present one */
    uint32_t function;     /* the present one */
    uint32_t index;        /* in its block */
    uint8_t cluster; /* cx_ptx_cluster_place */
    uint16_t error;  /* of its latest call of the device runtime that failed */
} cx_ptx_thread;

typedef struct cx_ptx_warp cx_ptx_warp;
typedef struct cx_ptx_cluster cx_ptx_cluster; /* cluster.h */
typedef struct cx_ptx_shadow cx_ptx_shadow;   /* shadow.h */

typedef struct cx_ptx_barrier {
    uint32_t arrived;
    uint32_t expected; /* 0: all threads of the block */
    bool open;         /* a thread has arrived */
    uint32_t truths;   /* threads whose predicate is true */
} cx_ptx_barrier;

typedef struct cx_ptx_block {
    uint32_t index[3];
    uint32_t left; /* threads that have not ended */
    uint32_t rank; /* in its cluster */
    cx_ptx_cluster *cluster;
    cx_ptx_thread *threads;
    cx_ptx_warp *warps;
    unsigned char *shared;
    uint64_t shared_begin; /* its address */
    unsigned char *rows; /* of all warps */
    unsigned char *local;
    cx_ptx_barrier barriers[CX_PTX_BARRIERS];
    struct cx_ptx_block_shadow *shadow;
} cx_ptx_block;

/* Memory that an instruction found last. */
typedef struct cx_ptx_view {
    uint64_t address;
    uint64_t bytes;
    unsigned char *memory;
    bool read_only;
    struct cx_ptx_written *written; /* from the first byte on; NULL: all counts as written */
    struct cx_ptx_written *held;    /* the same */
} cx_ptx_view;

/* A texture or surface object that an instruction found. */
typedef struct cx_ptx_object {
    bool known, is_surface;
    uint64_t handle;
    cx_ptx_texture texture;
} cx_ptx_object;

enum { CX_PTX_WATCHED = 16, CX_PTX_OBJECTS = 8 };

typedef struct cx_ptx_grid {
    const cx_ptx_module *module;
    const struct cx_ptx_lanes *lanes; /* the code for this processor */
    const cx_ptx_function *kernel;
    const cx_ptx_launch *launch;
    const cx_ptx_environment *environment;
    cx_ptx_view *views; /* one for each site of the module; empty if accesses are watched */
    cx_ptx_view watched[CX_PTX_WATCHED]; /* instead, shared by sites */
    cx_ptx_object objects[CX_PTX_OBJECTS];
    uint32_t threads_in_block;
    size_t words_of_warp, longs_of_warp; /* rows for functions that call each other */
    size_t bytes_of_warp;                /* all rows */
    size_t local_of_thread;
    size_t dynamic_begin; /* of the dynamic part of shared memory */
    size_t shared_bytes, shared_spare; /* the latter, of the former: nobody asked for them */
    uint32_t cluster[3], blocks_in_cluster;
    bool explicit_cluster; /* the launch or the kernel has named the size */
    unsigned char *parameters; /* of the kernel; all threads of the host share them */
    uint64_t workspace[CX_PTX_WORKSPACE_WORDS]; /* for the barrier of all blocks */

    struct cx_ptx_children *children; /* grids that its threads launch */
    cx_ptx_shadow *shadow;            /* NULL: nobody wants to know of hazards */
    struct cx_ptx_workers *workers;   /* what all threads of the host that run this grid share */
    bool helps;               /* this is the copy of a helper */
    bool gave_up;             /* since another block has failed */
    uint64_t number;          /* of the cluster that began last */
    cx_ptx_outcome outcome;   /* CX_PTX_DONE unless something failed */
    cx_ptx_fault *fault;
} cx_ptx_grid;

static inline uint32_t cx_ptx_warps_of(const cx_ptx_grid *grid)
{
    return (grid->threads_in_block + CX_PTX_WARP_SIZE - 1) / CX_PTX_WARP_SIZE;
}

/* ---- registers ---- */

/* The rows of a warp: its special words and longs, then those of functions. */
#define CX_PTX_WARP_LONGS_BEGIN (CX_PTX_WARP_WORDS_COUNT * CX_PTX_WORDS_BYTES)
#define CX_PTX_FRAMES_BEGIN (CX_PTX_WARP_LONGS_BEGIN + CX_PTX_WARP_LONGS_COUNT * CX_PTX_LONGS_BYTES)

/* The files that a thread sees; they change when it calls or returns. */
static inline cx_ptx_rows cx_ptx_rows_of(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                         const cx_ptx_thread *thread)
{
    const cx_ptx_function *function = &grid->module->functions[thread->function];
    unsigned char *begin = block->rows + thread->index / CX_PTX_WARP_SIZE * grid->bytes_of_warp;
    unsigned char *words = begin + CX_PTX_FRAMES_BEGIN;
    unsigned char *longs = words + grid->words_of_warp * CX_PTX_WORDS_BYTES;

    return (cx_ptx_rows){{words + thread->words * CX_PTX_WORDS_BYTES,
                          longs + thread->longs * CX_PTX_LONGS_BYTES, begin,
                          begin + CX_PTX_WARP_LONGS_BEGIN, function->constant_words,
                          function->constant_longs}};
}

static inline uint32_t cx_ptx_lane_of(const cx_ptx_thread *thread)
{
    return thread->index % CX_PTX_WARP_SIZE;
}

/* A thread's value. */
static inline uint64_t cx_ptx_thread_get(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                         const cx_ptx_thread *thread, uint32_t place)
{
    const cx_ptx_rows rows = cx_ptx_rows_of(grid, block, thread);

    return cx_ptx_get(&rows, place, cx_ptx_lane_of(thread));
}

static inline void cx_ptx_thread_put(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                     const cx_ptx_thread *thread, uint32_t place, uint64_t value)
{
    const cx_ptx_rows rows = cx_ptx_rows_of(grid, block, thread);

    cx_ptx_put(&rows, place, cx_ptx_lane_of(thread), value);
}

/* Finds memory by a generic address. NULL: the thread has failed. */
unsigned char *cx_ptx_resolve(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                              uint64_t address, unsigned bytes, unsigned align);

void cx_ptx_thread_fail(cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                        cx_ptx_outcome outcome, uint64_t address);

/* Fails with ILLEGAL_INSTRUCTION; the reason is a static text. */
void cx_ptx_thread_refuse(cx_ptx_grid *grid, const cx_ptx_block *block,
                          const cx_ptx_thread *thread, const char *reason);

/* ---- calls ---- */

/* Calls a function; the thread goes on at `next`. False: the thread has failed. */
bool cx_ptx_call(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                 const cx_ptx_instruction *at);
void cx_ptx_return(const cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread);

/* Copies between this function's frame and the one behind it. False: there is no room, and the
 * thread has failed. */
bool cx_ptx_copy_argument(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                          const cx_ptx_instruction *at);

/* alloca and stackrestore. False: there is no room, and the thread has failed. */
bool cx_ptx_change_frame(cx_ptx_grid *grid, const cx_ptx_block *block, cx_ptx_thread *thread,
                         const cx_ptx_instruction *at);

/* ---- threads together ---- */

/* The lanes of the mask arrive. False: there is no such barrier, and a thread has failed. */
bool cx_ptx_barrier_arrive(cx_ptx_grid *grid, cx_ptx_block *block, const cx_ptx_rows *rows,
                           cx_ptx_warp *warp, uint32_t mask, const cx_ptx_instruction *at);

/* Releases the barriers at which all threads have arrived; true if any thread can go on. `warps`:
 * their number. */
bool cx_ptx_barriers_release(const cx_ptx_grid *grid, cx_ptx_block *block, uint32_t warps);

/* Does the joint operation that the lanes of the mask have reached. False: it needs others, or some
 * of them do it apart; cx_ptx_warp_release will do it. */
bool cx_ptx_warp_join(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp, uint32_t mask);

/* Does the joint operations that all lanes of the warp have reached. True if any lane can go on. */
bool cx_ptx_warp_release(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_warp *warp);

/* ---- values ---- */

void cx_ptx_convert(const cx_ptx_instruction *how, cx_ptx_slot *to, const cx_ptx_slot *from);
/* Sums, products, quotients and fused sums with another rounding than to nearest. */
typedef enum cx_ptx_sum {
    CX_PTX_SUM,
    CX_PTX_PRODUCT,
    CX_PTX_QUOTIENT,
    CX_PTX_ROOT,
    CX_PTX_FUSED
} cx_ptx_sum;
float cx_ptx_round_f32(cx_ptx_sum what, int how, float a, float b, float c);
double cx_ptx_round_f64(cx_ptx_sum what, int how, double a, double b, double c);
float cx_ptx_narrow_f32(int how, long double value);
double cx_ptx_narrow_f64(int how, long double value);

/* An integer of the type, extended to 64 bits. */
uint64_t cx_ptx_extend(cx_ptx_type type, uint64_t bits);

/* Does an operation on the barrier in `memory`; returns its result. */
uint64_t cx_ptx_mbarrier_do(uint8_t mode, uint64_t *memory, uint32_t operand, uint64_t state);

/* Does the operation on `memory`, which is aligned; returns the old value. `flushes`: a sum of f32
 * takes and gives no subnormal numbers. */
uint64_t cx_ptx_atomic_do(const cx_ptx_instruction *what, void *memory, uint64_t operand,
                          uint64_t other, bool flushes);

/* Its parts: the new value, and accesses of the operation's size. An exchange stores `value` if the
 * memory holds `*inout_old`; else it returns false and gives what is there. */
uint64_t cx_ptx_atomic_result(const cx_ptx_instruction *what, uint64_t old, uint64_t operand,
                              uint64_t other, bool flushes);
uint64_t cx_ptx_atomic_load(const cx_ptx_instruction *what, const void *memory);
void cx_ptx_atomic_store(const cx_ptx_instruction *what, void *memory, uint64_t value);
bool cx_ptx_atomic_exchange(const cx_ptx_instruction *what, void *memory, uint64_t *inout_old,
                            uint64_t value);

#endif
