/* The parts of a shadow; for shadow_*.c. */
#ifndef CX_PTX_SHADOW_STATE_H
#define CX_PTX_SHADOW_STATE_H

#include "ptx/shadow.h"

#define CX_PTX_SHADOW_TIME_LAST (UINT32_MAX - 1) /* from then on only global memory is told */

enum {
    CX_PTX_SHADOW_TOLD = 64,      /* hazards of a launch; nothing is told beyond */
    CX_PTX_SHADOW_UNWRITTEN = 16, /* of a block between two barriers */
    CX_PTX_SHADOW_FACTS = 256,
    CX_PTX_SHADOW_PHASE = 64 /* between the numbers of two: more than a block has warps */
};

/* An access of a thread, as a part of a word of memory remembers it. */
typedef struct cx_ptx_shadow_side {
    uint32_t time; /* 0: there is none */
    uint32_t code; /* its place in the code */
    uint16_t thread;
    uint8_t bytes; /* of the word: a bit for each */
    bool strong;   /* volatile, relaxed, ...: others may use the memory meanwhile */
    bool many;     /* several lanes did it together, and none atomically */
} cx_ptx_shadow_side;

/* A word of shared memory. */
typedef struct cx_ptx_shadow_cell {
    uint32_t epoch;  /* of the block whose threads have used it */
    uint8_t written; /* bytes */
    cx_ptx_shadow_side write;
    cx_ptx_shadow_side read, other_read; /* the latest ones of two warps */
} cx_ptx_shadow_cell;

/* A read of shared memory that nothing had written: a write may still come, and then they race. */
typedef struct cx_ptx_shadow_unwritten {
    uint32_t code, thread;
    uint32_t offset, bytes;
    bool writes; /* it changes what it reads */
} cx_ptx_shadow_unwritten;

/* Of a block that runs. */
typedef struct cx_ptx_block_shadow {
    struct cx_ptx_block_shadow *next;
    uint32_t index[3];
    uint32_t began;
    uint32_t met;     /* when threads of different warps may last have been ordered, */
    uint32_t all_met; /* and when all threads were */
    uint32_t *synced; /* when each thread last synchronised */
    uint32_t *latest; /* the place behind each thread's latest write; 0: there was none */
    cx_ptx_shadow_unwritten unwritten[CX_PTX_SHADOW_UNWRITTEN];
    unsigned unwritten_count;
    cx_ptx_shadow_cell *cells; /* of its shared memory */
    uint32_t *known; /* for each word: the phase in which two warps, or (plus one plus its number)
                      * one, have read all of it, and another read tells nothing new; 0: none */
    uint32_t phase;  /* since all threads were ordered last: a number of its own */
} cx_ptx_block_shadow;

/* What a hazard is about; told once. */
typedef struct cx_ptx_shadow_key {
    cx_ptx_hazard_kind kind;
    uint32_t first, second; /* places in the code, in their order there */
} cx_ptx_shadow_key;

/* What the code says about a pair of places: found once. */
typedef struct cx_ptx_shadow_fact {
    uint32_t from, to;
    bool known, holds;
} cx_ptx_shadow_fact;

typedef struct cx_ptx_shadow_blocks cx_ptx_shadow_blocks;

/* What a matrix instruction has loaded. */
typedef struct cx_ptx_shadow_matrix {
    unsigned pieces;
    bool shared;
    bool written;    /* a byte of it */
    uint32_t thread; /* of the first piece, which is here: */
    uint64_t place;
    unsigned bytes;
} cx_ptx_shadow_matrix;

struct cx_ptx_shadow {
    const cx_ptx_grid *grid;
    cx_ptx_shadow_blocks *across; /* what blocks do to global memory; NULL: there is one block */
    uint32_t time;
    cx_ptx_block_shadow *blocks;
    cx_ptx_shadow_key told[CX_PTX_SHADOW_TOLD];
    unsigned told_count;
    bool knows_writes; /* of shared memory: all of them; not those of other blocks of a cluster */
    const uint32_t *array_of; /* cx_ptx_shadow_arrays_find */
    bool apart;        /* lanes of a warp need not run together: since sm_70 */
    cx_ptx_shadow_matrix matrix;
    cx_ptx_shadow_fact facts[CX_PTX_SHADOW_FACTS];
};

/* An access of active lanes. */
typedef struct cx_ptx_shadow_access {
    const cx_ptx_step *run;
    const cx_ptx_instruction *at;
    uint32_t code;
    uint32_t time;
    bool reads, writes, strong, many;
    bool covers; /* it writes without a race of its own: a barrier object */
    bool lands;  /* others are told when it is there: later accesses do not race with it */
} cx_ptx_shadow_access;

static inline uint32_t cx_ptx_shadow_place(const cx_ptx_module *module,
                                           const cx_ptx_instruction *at)
{
    return (uint32_t)(at - module->code);
}

/* Tells a hazard between two places, unless it has been told. */
bool cx_ptx_shadow_is_new(cx_ptx_shadow *shadow, cx_ptx_hazard_kind kind, uint32_t first,
                          uint32_t second);
void cx_ptx_shadow_tell(const cx_ptx_grid *grid, const cx_ptx_hazard *hazard);

/* The access of these lanes to shared memory, and to global memory. */
void cx_ptx_shadow_shared(const cx_ptx_shadow_access *access, uint32_t lanes);
void cx_ptx_shadow_global(const cx_ptx_shadow_access *access, uint32_t lanes);

/* The access of a thread to a piece of shared memory. `named`: it is of the array that the address
 * of the instruction is of. True if any byte of it has been written. */
bool cx_ptx_shadow_shared_piece(const cx_ptx_shadow_access *access, uint32_t thread,
                                uint32_t offset, uint32_t bytes, bool named, bool changes);

/* A read of shared memory that nothing has written. */
void cx_ptx_shadow_note_unwritten(const cx_ptx_shadow_access *access, uint32_t thread,
                                  uint64_t offset);

/* For each instruction of the module the array (its number, from 1) that its address is of; 0: it
 * is of none, or that is not known. Found once for a module, which keeps it. NULL: the module names
 * no arrays, or no memory. */
const uint32_t *cx_ptx_shadow_arrays_find(const cx_ptx_module *module);

/* NULL: there is one block, or no memory. */
cx_ptx_shadow_blocks *cx_ptx_shadow_blocks_new(const cx_ptx_grid *grid);
void cx_ptx_shadow_blocks_free(cx_ptx_shadow_blocks *blocks); /* NULL is harmless */

/* The block has done what may order it with others: an atomic operation, a fence, ... */
void cx_ptx_shadow_blocks_order(const cx_ptx_grid *grid, const cx_ptx_block *block);

/* Accesses of lanes to global memory, in a row and in one page of 4096 bytes. */
typedef struct cx_ptx_shadow_range {
    uint64_t begin;
    const uint8_t *lanes; /* in the order of their addresses */
    unsigned count;
    const unsigned char *values; /* that are stored, or found */
    uint32_t changed; /* of stores: a bit for each, in that order, whose value was not there */
} cx_ptx_shadow_range;

/* The lanes are not strong. */
void cx_ptx_shadow_blocks_note(const cx_ptx_shadow_access *access,
                               const cx_ptx_shadow_range *range);

/* All threads of the block are ordered now. */
void cx_ptx_shadow_order_all(const cx_ptx_grid *grid, cx_ptx_block_shadow *block);

/* Tells the reads of shared memory that nothing has written since. */
void cx_ptx_shadow_settle(const cx_ptx_grid *grid, cx_ptx_block_shadow *block);

/* True if each way from one place to the end of its function leads over the other one. */
bool cx_ptx_shadow_must_pass(cx_ptx_shadow *shadow, uint32_t from, uint32_t over);

/* True if the value that the load leaves, or one that is computed of it, decides a way or an
 * address, or goes elsewhere: of shared memory, not only into shared memory again; of global
 * memory, not only as it is, as the padding of a structure. */
bool cx_ptx_shadow_is_used(cx_ptx_shadow *shadow, uint32_t load, bool of_shared);

/* True if any instruction takes the value. */
bool cx_ptx_shadow_is_taken(const cx_ptx_shadow *shadow, uint32_t load);

#endif
