/*
 * Random PTX programs: a description (make.c), its text (text.c) and what it computes (evaluate.c).
 * The evaluator knows the description only, and shares nothing with lib/ptx.
 */
#ifndef CX_TEST_RANDOM_PROGRAM_H
#define CX_TEST_RANDOM_PROGRAM_H

#include "../edges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANDOM_STEPS 256
#define RANDOM_FUNCTIONS 3 /* besides the kernel, which is number RANDOM_FUNCTIONS */
#define RANDOM_REGISTERS 6 /* of a class */
#define RANDOM_THREADS 64
#define RANDOM_BLOCKS 3
#define RANDOM_SLOTS 6 /* of each size that a thread has of its own */
#define RANDOM_COMMON 24
#define RANDOM_TABLE 256 /* bytes */
#define RANDOM_LOCAL 64
#define RANDOM_ADDRESS UINT64_C(0x10000)

/* Predicates; integers of 16, 32, 64 bits; f32, f64, f16, bf16, f16x2, bf16x2. */
typedef enum random_class { P, H, W, D, F, G, X, Y, V, Z, RANDOM_CLASSES } random_class;

typedef struct random_place {
    random_class class;
    int number;
} random_place;

unsigned random_bytes_of(random_class class);
uint64_t random_mask_of(random_class class);

/* ---- instructions that compute a register from others ---- */

typedef struct random_row {
    const edge_row *edge;
    size_t length; /* of the text that counts */
    random_class to, from[3];
    int operands;
    bool takes_literals;
} random_row;

size_t random_row_count(void);
const random_row *random_row_at(size_t index);

/* ---- programs ---- */

typedef enum random_kind {
    DO_ROW,
    DO_IF,   /* steps up to `middle`, else up to `end`; `generic`: by brx.idx */
    DO_LOOP, /* steps up to `end`, from[0] & 3 times; leaves early if the guard is true */
    DO_LOAD,
    DO_STORE,
    DO_ATOM,     /* on a word of the thread's own; gives the old value */
    DO_REDUCE,   /* on a word of all threads */
    DO_CALL,     /* of function `number` with W and D; gives W. `generic`: of this or the next one
                  * by its address, as from[0] & 1 says */
    DO_FAIL,     /* reads where nothing is, or oddly, if from[0] & 3 is 0 */
    DO_SPECIAL,  /* register `number` of random_specials */
    DO_SHUFFLE,  /* these from here on only where all threads are */
    DO_VOTE,
    DO_EXCHANGE  /* through shared memory */
} random_kind;

typedef enum random_space { GLOBAL, SHARED, LOCAL, TABLE, CONSTANT, PARAMETER } random_space;

/* Which element of its slot a thread uses (a slot has one pattern only, else threads would share
 * elements); the last two are of TABLE and the like. */
typedef enum random_pattern { UNIT, REVERSED, PERMUTED, UNIFORM, SCATTERED } random_pattern;

typedef struct random_step {
    random_kind kind;
    bool off; /* left out */
    int guard; /* number of a predicate, -1: none */
    bool inverted;
    random_place to, from[3];
    bool is_literal[3];
    uint64_t literal[3];
    const random_row *row;
    int middle, end;
    random_space space;
    random_pattern pattern;
    unsigned bytes, count; /* of an element; elements of a vector */
    bool is_signed, generic;
    unsigned slot; /* of a shuffle: the width */
    unsigned number;
} random_step;

typedef struct random_program {
    uint64_t seed;
    unsigned threads, blocks;
    unsigned width, height; /* of a block; the depth is what is left */
    bool fails;             /* there is a DO_FAIL */
    random_step steps[RANDOM_STEPS];
    int count;
    int first[RANDOM_FUNCTIONS + 2]; /* of each function; then the end */
    /* by each function */
    bool used[RANDOM_FUNCTIONS + 1][RANDOM_CLASSES][RANDOM_REGISTERS];
    bool called[RANDOM_FUNCTIONS + 1];
} random_program;

void random_make(random_program *self, uint64_t seed);

/* Finds again what is used, after steps were left out. */
void random_find_used(random_program *self);

/* The register that many behind, of its class. */
random_place random_next_place(random_place place, unsigned by);

/* The bits of a register where a function begins; a kernel's come from memory. */
uint64_t random_initial(random_place place);

/* The common word of a reduction. Those that share one do the same: their order does not matter. */
unsigned random_common_of(const random_step *step);

/* True if `step` writes a register `to`. */
bool random_has_result(const random_step *step);

/* The words of PTX. */
extern const char *const random_atoms[], *const random_votes[], *const random_shuffles[];
extern const char *const random_specials[];
enum { ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_CAS, ATOM_INC,
       ATOM_DEC, RANDOM_ATOMS, RANDOM_REDUCTIONS = ATOM_EXCH };
enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT, VOTE_MATCH, VOTE_REDUX, RANDOM_VOTES };
enum { SHUFFLE_IDX, SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, RANDOM_SHUFFLES };
enum { TID, TID_Y, TID_Z, NTID, CTAID, NCTAID, LANEID, LANEMASK_LT, LANEMASK_GE, RANDOM_SPECIALS };

/* ---- memory: bytes from RANDOM_ADDRESS on ---- */

typedef struct random_layout {
    uint64_t threads; /* of the grid */
    uint64_t table, constant, parameter, common, out, in, bytes;
    uint64_t own[5];    /* of elements of 1, 2, 4, 8 and 16 bytes */
    uint64_t shared[5]; /* the same in shared memory, which begins at 0 */
    uint64_t exchanged, shared_bytes;
} random_layout;

random_layout random_layout_of(const random_program *self);

/* The place of a register in `out` or `in`, for thread 0; the next thread's is 8 bytes behind. */
uint64_t random_register_at(const random_program *self, random_place place);

/* Writes the memory that the program finds. `constant` and `parameter` are copied by the text. */
void random_fill(random_program *self, unsigned char *memory);

/* Returns the length, or 0 where the text is too long. */
size_t random_write(const random_program *self, const unsigned char *memory, char *text,
                    size_t bytes);

/* Which threads fail, and how: by an address where nothing is, or by an odd one. */
typedef struct random_failures {
    bool any, odd;
    bool at[RANDOM_BLOCKS][RANDOM_THREADS];
} random_failures;

uint64_t random_failing_address(bool odd, unsigned thread);

/* Runs the program on memory; if threads fail, the memory is what it would be if they did not. */
void random_evaluate(const random_program *self, unsigned char *memory,
                     random_failures *out_failures);

#endif
