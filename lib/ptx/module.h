/* A module that is ready to run. */
#ifndef CX_PTX_MODULE_H
#define CX_PTX_MODULE_H

#include "ptx/names.h"
#include "ptx/ptx.h"
#include "ptx/row.h"

#include <stdatomic.h>

/* A lane's value of a register. */
typedef union cx_ptx_slot {
    uint16_t u16;
    int16_t s16;
    uint32_t u32;
    int32_t s32;
    uint64_t u64;
    int64_t s64;
    float f32;
    double f64;
} cx_ptx_slot;

/* Slots number the registers of a function while it is parsed. Those that every function has: */
enum {
    CX_PTX_SLOT_ZERO,

    CX_PTX_SLOT_TID, /* words of the warp */
    CX_PTX_SLOT_NTID = CX_PTX_SLOT_TID + 3,
    CX_PTX_SLOT_CTAID = CX_PTX_SLOT_NTID + 3,
    CX_PTX_SLOT_NCTAID = CX_PTX_SLOT_CTAID + 3,
    CX_PTX_SLOT_LANEID = CX_PTX_SLOT_NCTAID + 3,
    CX_PTX_SLOT_WARPID,
    CX_PTX_SLOT_NWARPID,
    CX_PTX_SLOT_SMID,
    CX_PTX_SLOT_NSMID,
    CX_PTX_SLOT_LANEMASK_EQ,
    CX_PTX_SLOT_LANEMASK_LE,
    CX_PTX_SLOT_LANEMASK_LT,
    CX_PTX_SLOT_LANEMASK_GE,
    CX_PTX_SLOT_LANEMASK_GT,
    CX_PTX_SLOT_DYNAMIC_BYTES,
    CX_PTX_SLOT_SHARED_BYTES,
    CX_PTX_SLOT_WORKSPACE_LOW, /* the address of the grid's workspace, in two words */
    CX_PTX_SLOT_WORKSPACE_HIGH,
    CX_PTX_SLOT_CARRY,

    CX_PTX_SLOT_GLOBAL, /* longs of the warp: the address of the module's variables, */
    CX_PTX_SLOT_CONSTANT, /* of those in .const, */
    CX_PTX_SLOT_MANAGED,  /* of managed ones, */
    CX_PTX_SLOT_SHARED,   /* of the block's shared memory, */
    CX_PTX_SLOT_DYNAMIC,  /* of what the launch adds to it */

    CX_PTX_SLOT_RETURN, /* words of the frame: the return address, */
    CX_PTX_SLOT_CALLER, /* the function that has called */

    CX_PTX_SLOT_LOCAL, /* longs of the frame: its place in the thread's local memory, */
    CX_PTX_SLOT_TOP,   /* the end of it and of what it allocated */
    CX_PTX_SLOTS_FIXED
};

#define CX_PTX_WARP_WORDS_COUNT (CX_PTX_SLOT_GLOBAL - CX_PTX_SLOT_TID)
#define CX_PTX_WARP_LONGS_COUNT (CX_PTX_SLOT_RETURN - CX_PTX_SLOT_GLOBAL)
#define CX_PTX_FRAME_WORDS_COUNT (CX_PTX_SLOT_LOCAL - CX_PTX_SLOT_RETURN)
#define CX_PTX_FRAME_LONGS_COUNT (CX_PTX_SLOTS_FIXED - CX_PTX_SLOT_LOCAL)

/* The place of such a slot; not of ZERO. */
static inline uint32_t cx_ptx_fixed_place(uint32_t slot)
{
    if (slot < CX_PTX_SLOT_GLOBAL)
        return cx_ptx_place(CX_PTX_WARP_WORDS, slot - CX_PTX_SLOT_TID);
    if (slot < CX_PTX_SLOT_RETURN)
        return cx_ptx_place(CX_PTX_WARP_LONGS, slot - CX_PTX_SLOT_GLOBAL);
    if (slot < CX_PTX_SLOT_LOCAL)
        return cx_ptx_place(CX_PTX_FRAME_WORDS, slot - CX_PTX_SLOT_RETURN);
    return cx_ptx_place(CX_PTX_FRAME_LONGS, slot - CX_PTX_SLOT_LOCAL);
}

/* Generic addresses of memory that is not global. */
#define CX_PTX_WINDOW_MASK (UINT64_C(0xff) << 56)
#define CX_PTX_WINDOW_SHARED (UINT64_C(0x71) << 56)
#define CX_PTX_WINDOW_LOCAL (UINT64_C(0x72) << 56)
#define CX_PTX_WINDOW_PARAMETER (UINT64_C(0x73) << 56)
#define CX_PTX_WINDOW_WORKSPACE (UINT64_C(0x75) << 56)

/* The address of a function: its number in the module, from 1, times 16. */
#define CX_PTX_WINDOW_CODE (UINT64_C(0x74) << 56)

typedef enum cx_ptx_op {
#define CX_PTX_OP(id, key, arity, d, a, b, c, value) CX_PTX_OP_##id,
#include "ptx/ops.def"
    CX_PTX_COMPUTED, /* the number of operations in the table */

    CX_PTX_LOAD_U8 = CX_PTX_COMPUTED,
    CX_PTX_LOAD_S8,
    CX_PTX_LOAD_U16,
    CX_PTX_LOAD_S16,
    CX_PTX_LOAD_U32,
    CX_PTX_LOAD_S32,
    CX_PTX_LOAD_U64,
    CX_PTX_STORE_8,
    CX_PTX_STORE_16,
    CX_PTX_STORE_32,
    CX_PTX_STORE_64,
    CX_PTX_ADD_ADDRESS, /* d = a + immediate */
    CX_PTX_TO_WINDOW,   /* d = a + immediate, NULL stays */
    CX_PTX_IS_WINDOW,
    CX_PTX_IS_GLOBAL,
    CX_PTX_IS_CONSTANT,
    CX_PTX_PACK,   /* d is made of a and b, each `size` bytes */
    CX_PTX_UNPACK, /* d is the part `mode` of a, `size` bytes */
    CX_PTX_EXTEND, /* integers of other sizes */
    CX_PTX_CONVERT,
    CX_PTX_BFI_32,
    CX_PTX_BFI_64,
    CX_PTX_LOP3,
    CX_PTX_VIDEO, /* immediate: cx_ptx_video */
    CX_PTX_ADD_CARRY_32, /* mode: 1 takes the carry, 2 gives it */
    CX_PTX_ADD_CARRY_64,
    CX_PTX_SUB_CARRY_32,
    CX_PTX_SUB_CARRY_64,
    CX_PTX_ATOMIC,
    CX_PTX_TEXTURE,    /* mode: cx_ptx_texture_operation; immediate: cx_ptx_texture_code */
    CX_PTX_ACCESS_128, /* mode: cx_ptx_wide_mode; d, b, c: each a register and the next one */
    CX_PTX_CLOCK_32,
    CX_PTX_CLOCK_HIGH,
    CX_PTX_CLOCK_64,
    CX_PTX_TIMER,
    CX_PTX_CLUSTER_REGISTER, /* mode: cx_ptx_cluster_register */
    CX_PTX_MAP_SHARED,       /* d: the address of what block b has where this one has a */
    CX_PTX_RANK_OF_SHARED,   /* d: the rank of the block that has the address a */
    CX_PTX_FENCE,
    CX_PTX_COPY_ASYNC,
    CX_PTX_BULK, /* bulk.h */
    CX_PTX_BRANCH, /* branches: flow.h */
    CX_PTX_BRANCH_BACK,
    CX_PTX_BRANCH_IF,
    CX_PTX_BRANCH_UNLESS,
    CX_PTX_BRANCH_IF_BACK,
    CX_PTX_BRANCH_UNLESS_BACK,
    CX_PTX_BRANCH_INDEX,
    CX_PTX_ARGUMENT, /* copied into the frame of the callee */
    CX_PTX_RESULT,   /* copied from the frame of the callee */
    CX_PTX_CALL,
    CX_PTX_ALLOCATE, /* d: the address of a bytes in the frame, aligned */
    CX_PTX_RESTORE,  /* the end of the frame is a again */
    CX_PTX_MBARRIER, /* mode: cx_ptx_mbarrier */
    CX_PTX_CALL_INDIRECT, /* of the function whose address is in a */
    CX_PTX_RETURN,
    CX_PTX_EXIT,
    CX_PTX_TRAPPED,
    CX_PTX_PAUSE,
    CX_PTX_BARRIER, /* from: 1: lanes of a warp may come apart */
    CX_PTX_BARRIER_ARRIVE,
    CX_PTX_CLUSTER_ARRIVE,
    CX_PTX_CLUSTER_WAIT,
    CX_PTX_WARP, /* a joint operation of a warp's lanes */
    CX_PTX_ACTIVE_MASK,
    CX_PTX_MATRIX /* mode: cx_ptx_matrix_mode; c: the number of a cx_ptx_matrix */
} cx_ptx_op;

/* The operation of CX_PTX_ATOMIC: its mode. */
typedef enum cx_ptx_atomic {
    CX_PTX_ATOMIC_ADD,
    CX_PTX_ATOMIC_MIN,
    CX_PTX_ATOMIC_MAX,
    CX_PTX_ATOMIC_AND,
    CX_PTX_ATOMIC_OR,
    CX_PTX_ATOMIC_XOR,
    CX_PTX_ATOMIC_EXCHANGE,
    CX_PTX_ATOMIC_SWAP, /* cas */
    CX_PTX_ATOMIC_INC,
    CX_PTX_ATOMIC_DEC
} cx_ptx_atomic;

/* The value that CX_PTX_BARRIER computes from all threads. */
typedef enum cx_ptx_reduction {
    CX_PTX_REDUCE_NONE,
    CX_PTX_REDUCE_COUNT,
    CX_PTX_REDUCE_AND,
    CX_PTX_REDUCE_OR
} cx_ptx_reduction;

/* The operation of CX_PTX_WARP. */
typedef enum cx_ptx_warp_mode {
    CX_PTX_WARP_SYNC,
    CX_PTX_WARP_SHUFFLE_UP,
    CX_PTX_WARP_SHUFFLE_DOWN,
    CX_PTX_WARP_SHUFFLE_BUTTERFLY,
    CX_PTX_WARP_SHUFFLE_INDEX,
    CX_PTX_WARP_ALL,
    CX_PTX_WARP_ANY,
    CX_PTX_WARP_UNIFORM,
    CX_PTX_WARP_BALLOT,
    CX_PTX_WARP_MATCH_ANY,
    CX_PTX_WARP_MATCH_ALL,
    CX_PTX_WARP_REDUCE_ADD,
    CX_PTX_WARP_REDUCE_MIN,
    CX_PTX_WARP_REDUCE_MAX,
    CX_PTX_WARP_REDUCE_AND,
    CX_PTX_WARP_REDUCE_OR,
    CX_PTX_WARP_REDUCE_XOR,
    CX_PTX_WARP_ELECT
} cx_ptx_warp_mode;

/* Flags of a reduction of singles: `from`. */
enum { CX_PTX_REDUCE_ABSOLUTE = 1, CX_PTX_REDUCE_KEEPS_NAN = 2 };

/* The operation of CX_PTX_MBARRIER. */
typedef enum cx_ptx_mbarrier {
    CX_PTX_MBARRIER_INIT,
    CX_PTX_MBARRIER_ARRIVE,
    CX_PTX_MBARRIER_ARRIVE_DROP,
    CX_PTX_MBARRIER_TEST,
    CX_PTX_MBARRIER_TEST_PARITY,
    CX_PTX_MBARRIER_COUNT,
    CX_PTX_MBARRIER_EXPECT,
    CX_PTX_MBARRIER_COMPLETE
} cx_ptx_mbarrier;

/* The mode of CX_PTX_CONVERT. */
typedef enum cx_ptx_rounding {
    CX_PTX_ROUND_NONE, /* to nearest if the result is a float */
    CX_PTX_ROUND_NEAREST,
    CX_PTX_ROUND_ZERO,
    CX_PTX_ROUND_DOWN,
    CX_PTX_ROUND_UP,
    CX_PTX_ROUND_FLOAT_ZERO, /* for a result that is a float */
    CX_PTX_ROUND_FLOAT_DOWN,
    CX_PTX_ROUND_FLOAT_UP,
    CX_PTX_ROUNDING_MASK = 7,
    CX_PTX_SATURATED = 8,
    CX_PTX_FLUSHED = 16,
    CX_PTX_RELU = 32,       /* negative results become 0 */
    CX_PTX_FINITE = 64,     /* the largest finite number instead of infinity */
    CX_PTX_ROUND_AWAY = 128 /* ties away from zero */
} cx_ptx_rounding;

typedef struct cx_ptx_instruction {
    uint16_t op;
    uint8_t mode;
    uint8_t space; /* cx_ptx_space */
    uint8_t size;  /* bytes of memory that the access needs */
    uint8_t type;  /* cx_ptx_type of the operation */
    uint8_t from;  /* cx_ptx_type of a conversion's source */
    uint8_t align; /* of the address */
    uint32_t d, a, b, c; /* slots; places once the function is parsed */
    int64_t immediate;
    uint32_t site; /* number of an access to global memory */
    uint32_t e;    /* one more place: the mask of a warp's lanes, the predicate of a shuffle */
    int line;
} cx_ptx_instruction;

/* Functions that a module declares and the device has. */
typedef enum cx_ptx_builtin {
    CX_PTX_NO_BUILTIN,
    CX_PTX_BUILTIN_ASSERTION,
    CX_PTX_BUILTIN_PRINT,
    CX_PTX_BUILTIN_ALLOCATE,
    CX_PTX_BUILTIN_RELEASE,
    CX_PTX_BUILTIN_PREPARE_CHILD,
    CX_PTX_BUILTIN_LAUNCH_CHILD,
    CX_PTX_BUILTIN_LAST_ERROR,
    CX_PTX_BUILTIN_CREATE_STREAM,
    CX_PTX_BUILTIN_ASK_DEVICE,
    CX_PTX_BUILTIN_ASK_KERNEL,
    CX_PTX_BUILTIN_SET_CONDITION
} cx_ptx_builtin;

struct cx_ptx_function {
    char *name;
    cx_ptx_builtin builtin;
    bool kernel, defined;
    bool prototyped; /* its parameters are known */
    bool external;   /* declared for another module: the definition may have other results */
    cx_ptx_parameter *parameters; /* of kernels; of other functions: results first, in their
                                   * frame */
    size_t parameter_count;
    size_t result_count;
    size_t parameter_bytes;
    size_t frame_bytes;
    size_t shared_bytes;
    size_t begin; /* in the code */
    uint32_t words, longs; /* rows of its frame */
    bool *predicates; /* for each row of words, until its registers are counted */
    uint32_t live;    /* the most registers of 32 bits that are live at once, without callees */
    uint32_t *live_at_calls; /* for each of `calls`: those that outlive it */
    unsigned char *constant_words, *constant_longs; /* rows, in one allocation */
    uint32_t max_threads, required[3];
    uint32_t cluster[3], cluster_most; /* as of cx_ptx_kernel_info */
    bool cluster_needed, counts_clusters;
    uint32_t min_blocks, max_registers; /* .minnctapersm, .maxnreg; 0: none */
    size_t stack_words, stack_longs, stack_bytes, stack_registers; /* with all its callees */
    bool calls_indirectly, allocates;
    bool prints, uses_heap; /* with all its callees */
    size_t *calls; /* functions */
    size_t call_count, call_capacity;
    int mark; /* while stacks are measured */
};

/* Where a variable lies. While a module is parsed offsets are in the part; then constants are the
 * end of the module's memory, and only managed variables are apart. */
typedef enum cx_ptx_part {
    CX_PTX_PART_PLAIN,
    CX_PTX_PART_CONSTANT,
    CX_PTX_PART_MANAGED
} cx_ptx_part;

/* The initial bytes of a variable. */
typedef struct cx_ptx_image {
    size_t offset, bytes;
    unsigned char *content;
    cx_ptx_part part;
} cx_ptx_image;

/* An address in the initial bytes of a variable. */
typedef struct cx_ptx_relocation {
    size_t offset;
    uint64_t target;
    cx_ptx_part part, to_part; /* of the offset, of the target */
} cx_ptx_relocation;

/* Code from this place on comes from that line of a source file (.loc); 0: unknown. */
typedef struct cx_ptx_mark {
    size_t code;
    uint32_t file, line;
} cx_ptx_mark;

/* A variable in shared memory, of those whose size is known. */
typedef struct cx_ptx_array {
    char *name;
    uint32_t begin, bytes;
} cx_ptx_array;

/* The instruction at that place takes the address of an array, or uses it. */
typedef struct cx_ptx_array_use {
    size_t code;
    uint32_t array; /* its number; CX_PTX_NO_ARRAY: one of several */
} cx_ptx_array_use;
#define CX_PTX_NO_ARRAY UINT32_MAX

/* The name of a source file (.file). */
typedef struct cx_ptx_file {
    uint32_t number;
    char *name;
} cx_ptx_file;

struct cx_ptx_module {
    int version, target;
    cx_ptx_mark *marks;
    size_t mark_count, mark_capacity;
    cx_ptx_file *files;
    size_t file_count, file_capacity;
    cx_ptx_array *arrays;
    size_t array_count, array_capacity;
    cx_ptx_array_use *array_uses; /* in the order of the code */
    size_t array_use_count, array_use_capacity;
    _Atomic(uint32_t *) array_of; /* for each instruction: shadow_arrays.c; NULL: not found yet */
    cx_ptx_instruction *code;
    size_t code_count, code_capacity;
    cx_ptx_function *functions;
    size_t function_count, function_capacity;
    cx_ptx_variable *variables;
    size_t variable_count, variable_capacity;
    cx_ptx_image *images;
    size_t image_count, image_capacity;
    cx_ptx_relocation *relocations;
    size_t relocation_count, relocation_capacity;
    uint32_t *targets; /* of brx.idx: a count, then places in the code */
    size_t target_count, target_capacity;
    struct cx_ptx_matrix *matrices; /* operands of matrix instructions */
    size_t matrix_count, matrix_capacity;
    cx_ptx_reference *references; /* to textures and surfaces */
    size_t reference_count, reference_capacity;
    bool uses_textures; /* or surfaces */
    size_t memory_bytes;
    size_t constant_begin; /* constants are the end of the memory, which kernels only read */
    size_t constant_space; /* with gaps between them */
    size_t constant_bytes; /* without */
    size_t managed_bytes;  /* of variables that the host reaches too */
    size_t shared_bytes; /* of functions that are no kernels */
    uint32_t sites;
};

/* The source file and line of a place in the code; NULL: unknown. */
const char *cx_ptx_source_of(const cx_ptx_module *module, size_t code, int *out_line);

/* True if both have parameters and results of the same sizes. */
bool cx_ptx_is_same_prototype(const cx_ptx_function *one, const cx_ptx_function *other);

#define CX_PTX_NO_OP UINT16_MAX

/* The operation of a key of ops.def, or CX_PTX_NO_OP; and its number of operands. */
uint16_t cx_ptx_op_find(const char *key, size_t length);
int cx_ptx_op_arity(uint16_t op);

/* True if operand `index` of the operation is a long: 0 to 2; 3: its result. */
bool cx_ptx_op_takes_long(uint16_t op, int index);

/* The type of that operand (as above) of an operation whose opcode ends with `type`. */
cx_ptx_type cx_ptx_op_type(uint16_t op, int index, cx_ptx_type type);

/* True if a key begins with that word. */
bool cx_ptx_op_family(const char *word, size_t length);

#endif
