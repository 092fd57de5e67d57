/*
 * A grid that runs: blocks of threads, each a row of slots that is taken up where it was left. All
 * of a grid runs in one thread of the host, so that only global memory is shared with anybody.
 */
#ifndef CX_PTX_GRID_H
#define CX_PTX_GRID_H

#include "ptx/module.h"

#define CX_PTX_WARP_SIZE 32
#define CX_PTX_BARRIERS 16
#define CX_PTX_MASK_BITS 32

typedef enum cx_ptx_thread_state {
    CX_PTX_THREAD_READY,
    CX_PTX_THREAD_AT_BARRIER,
    CX_PTX_THREAD_AT_WARP,
    CX_PTX_THREAD_ENDED
} cx_ptx_thread_state;

typedef struct cx_ptx_thread {
    const cx_ptx_instruction *next;
    cx_ptx_slot *slots;       /* of the function that it is in */
    cx_ptx_slot *first_slots; /* all that it has */
    unsigned char *local;
    uint32_t index; /* in its block */
    uint8_t state;
} cx_ptx_thread;

typedef struct cx_ptx_barrier {
    uint32_t arrived;
    uint32_t expected; /* 0: all threads of the block */
    bool open; /* somebody has arrived */
    uint32_t truths; /* of those that bring a predicate */
} cx_ptx_barrier;

typedef struct cx_ptx_block {
    uint32_t index[3];
    uint32_t left; /* threads that have not ended */
    bool used;
    cx_ptx_thread *threads;
    unsigned char *shared;
    cx_ptx_slot *slots;
    unsigned char *local;
    cx_ptx_barrier barriers[CX_PTX_BARRIERS];
} cx_ptx_block;

/* Memory as an instruction last found it. */
typedef struct cx_ptx_view {
    uint64_t address;
    uint64_t bytes;
    unsigned char *memory;
    bool read_only;
} cx_ptx_view;

typedef struct cx_ptx_grid {
    const cx_ptx_module *module;
    const cx_ptx_function *kernel;
    const cx_ptx_launch *launch;
    const cx_ptx_environment *environment;
    cx_ptx_view *views; /* one for each site of the module */
    uint32_t threads_in_block;
    size_t slots_of_thread, local_of_thread;
    size_t shared_bytes;
    unsigned char parameters[CX_PTX_PARAMETER_BYTES_MAX + 16];

    cx_ptx_outcome outcome; /* CX_PTX_DONE as long as nothing went wrong */
    cx_ptx_fault *fault;
} cx_ptx_grid;

/* What a thread does until it waits, ends, fails, or has had its turn. */
void cx_ptx_thread_run(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread);

void cx_ptx_thread_fail(cx_ptx_grid *grid, const cx_ptx_block *block, const cx_ptx_thread *thread,
                        cx_ptx_outcome outcome, uint64_t address);

/* ---- what threads do together ---- */

void cx_ptx_barrier_arrive(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                           const cx_ptx_instruction *at);

/* Lets those go on for whom all have arrived; whether any can. */
bool cx_ptx_barriers_release(cx_ptx_block *block, uint32_t threads);

/* Does what lanes of the warp that begins with the thread `first` have all come to; whether any can
 * go on. */
bool cx_ptx_warp_release(cx_ptx_grid *grid, cx_ptx_block *block, uint32_t first);

/* ---- values ---- */

void cx_ptx_convert(const cx_ptx_instruction *how, cx_ptx_slot *to, const cx_ptx_slot *from);
/* Sums and so on with another rounding than to nearest. */
typedef enum cx_ptx_sum { CX_PTX_SUM, CX_PTX_PRODUCT, CX_PTX_QUOTIENT, CX_PTX_FUSED } cx_ptx_sum;
float cx_ptx_round_f32(cx_ptx_sum what, int how, float a, float b, float c);
double cx_ptx_round_f64(cx_ptx_sum what, int how, double a, double b, double c);
float cx_ptx_narrow_f32(int how, long double value);
double cx_ptx_narrow_f64(int how, long double value);

float cx_ptx_half_to_float(uint16_t half);
uint16_t cx_ptx_half_of_double(double value);

/* An integer of the type, as 64 bits. */
uint64_t cx_ptx_extend(cx_ptx_type type, uint64_t bits);

/* Does the operation at `memory`, which is aligned; what was there. */
uint64_t cx_ptx_atomic_do(const cx_ptx_instruction *what, void *memory, uint64_t operand,
                          uint64_t other);

#endif
