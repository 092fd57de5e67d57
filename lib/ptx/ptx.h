/*
 * PTX, read and run on the CPU. This room knows no driver: it asks the launcher for global memory,
 * and whether to stop.
 *
 * A module never changes once it is loaded: any number of threads may run its functions at once.
 * The launch gives the address of its variables in global and constant memory; the module tells
 * their size and their initial bytes.
 */
#ifndef CX_PTX_PTX_H
#define CX_PTX_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_ptx_module cx_ptx_module;
typedef struct cx_ptx_function cx_ptx_function;
typedef struct cx_ptx_texture cx_ptx_texture; /* texture.h */

typedef enum cx_ptx_status {
    CX_PTX_SUCCESS,
    CX_PTX_INVALID,     /* no PTX, or an error in it */
    CX_PTX_UNSUPPORTED, /* PTX that this room does not know */
    CX_PTX_NO_MEMORY
} cx_ptx_status;

typedef struct cx_ptx_error {
    int line; /* from 1 */
    char message[160];
} cx_ptx_error;

/* Static limits of a launch: bytes of shared memory of a block, and so on. */
#define CX_PTX_SHARED_MAX ((size_t)227 << 10)
#define CX_PTX_SHARED_STATIC_MAX ((size_t)48 << 10)
#define CX_PTX_PARAMETER_BYTES_MAX 32764 /* below PTX 8.1 or sm_70: 4096 */
#define CX_PTX_THREADS_MAX 1024

/* Reads PTX; `text` may be freed afterwards. On failure the error is written. */
cx_ptx_status cx_ptx_load(const char *text, size_t length, cx_ptx_module **out_module,
                          cx_ptx_error *out_error);
void cx_ptx_unload(cx_ptx_module *module); /* NULL is harmless */

/* ---- variables ---- */

typedef struct cx_ptx_variable {
    const char *name;
    size_t offset, bytes; /* in the module's memory, or in that of its managed variables */
    bool exported;        /* .visible or .weak */
    bool constant;
    bool managed; /* the host uses it too, at the address that kernels see */
} cx_ptx_variable;

size_t cx_ptx_memory_bytes(const cx_ptx_module *module);
size_t cx_ptx_constant_bytes(const cx_ptx_module *module); /* of them, those in .const */

/* The memory of managed variables, which is apart. */
size_t cx_ptx_managed_bytes(const cx_ptx_module *module);

/* Writes the initial bytes of the variables, cx_ptx_memory_bytes() of them; kernels will see the
 * memory at `address`, and managed variables at `managed_address`. */
void cx_ptx_memory_init(const cx_ptx_module *module, uint64_t address, uint64_t managed_address,
                        unsigned char *memory);

/* The same for managed variables. They may outlive the memory of the others, whose addresses in
 * them are those of now. */
void cx_ptx_managed_init(const cx_ptx_module *module, uint64_t address, uint64_t managed_address,
                         unsigned char *memory);

/* True if kernels may call malloc or launch grids; if they may also print or assert. */
bool cx_ptx_uses_heap(const cx_ptx_module *module);
bool cx_ptx_uses_builtins(const cx_ptx_module *module);

/* True if some code names textures or surfaces. */
bool cx_ptx_uses_textures(const cx_ptx_module *module);

const cx_ptx_variable *cx_ptx_variable_find(const cx_ptx_module *module, const char *name);

/* The variable that holds the offset in the module's memory, or else the last one before it, or the
 * first one; none that is managed. NULL: there is none. */
const cx_ptx_variable *cx_ptx_variable_near(const cx_ptx_module *module, size_t offset);

/* ---- references to textures and surfaces ---- */

/* A .texref or a .surfref. */
typedef struct cx_ptx_reference {
    const char *name;
    bool is_surface;
} cx_ptx_reference;

size_t cx_ptx_reference_count(const cx_ptx_module *module);
const cx_ptx_reference *cx_ptx_reference_at(const cx_ptx_module *module, size_t index);

/* Code that names a reference asks `find_texture` for this object, which no object of the driver
 * can be. */
#define CX_PTX_REFERENCE_OBJECTS (UINT64_C(0xfff1) << 48)
static inline uint64_t cx_ptx_reference_object(size_t index)
{
    return CX_PTX_REFERENCE_OBJECTS | (uint64_t)index << 6;
}

/* False: the object is no reference. */
static inline bool cx_ptx_is_reference(uint64_t object, size_t *out_index)
{
    *out_index = (size_t)(object & ~CX_PTX_REFERENCE_OBJECTS) >> 6;
    return (object & CX_PTX_REFERENCE_OBJECTS) == CX_PTX_REFERENCE_OBJECTS;
}

/* ---- kernels ---- */

typedef struct cx_ptx_parameter {
    uint32_t offset, bytes;
    uint8_t type; /* of one that is a register, as lib/ptx numbers types; 0: it is memory */
} cx_ptx_parameter;

/* The properties of a kernel; borrows from the module. */
typedef struct cx_ptx_kernel_info {
    const char *name;
    const cx_ptx_parameter *parameters;
    size_t parameter_count;
    size_t parameter_bytes;
    size_t shared_bytes; /* static */
    size_t local_bytes;  /* of a thread */
    size_t registers;    /* of 32 bits, of a thread */
    uint32_t max_threads; /* .maxntid, .reqntid; 0: the device's limit */
    uint32_t required[3]; /* .reqntid; 0: any */
    uint32_t cluster[3];  /* .reqnctapercluster; 0: any */
    uint32_t cluster_most; /* .maxclusterrank: blocks of a cluster; 0: any number */
    bool cluster_needed;   /* .explicitcluster: it runs in clusters whose size is named */
    bool counts_clusters;  /* .blocksareclusters: the size of a grid is in clusters */
} cx_ptx_kernel_info;

/* Kernels only, in the order of the text. NULL: none. */
size_t cx_ptx_kernel_count(const cx_ptx_module *module);
const cx_ptx_function *cx_ptx_kernel_at(const cx_ptx_module *module, size_t index);
const cx_ptx_function *cx_ptx_kernel_find(const cx_ptx_module *module, const char *name);
cx_ptx_kernel_info cx_ptx_kernel_describe(const cx_ptx_module *module,
                                          const cx_ptx_function *kernel);

/* True if the kernel, or a function that it may call, prints; and if it calls malloc or free. */
bool cx_ptx_kernel_prints(const cx_ptx_function *kernel);
bool cx_ptx_kernel_allocates(const cx_ptx_function *kernel);

/* The .version of the text, 7.5 as 75, and the number of its .target, sm_80 as 80. */
int cx_ptx_version(const cx_ptx_module *module);
int cx_ptx_target(const cx_ptx_module *module);

/* ---- launches ---- */

/* A range of global memory that may be used from now on until the launch is over. */
typedef struct cx_ptx_range {
    uint64_t address;
    uint64_t bytes;
    unsigned char *memory; /* its first byte for the host */
    bool read_only;
    struct cx_ptx_written *written; /* written.h; NULL: all counts as written */
    struct cx_ptx_written *held; /* the heap of kernels: what malloc has given out; NULL: all */
} cx_ptx_range;

/* An access of a thread to global memory. */
typedef struct cx_ptx_touch {
    uint64_t address;
    const unsigned char *memory; /* the same for the host */
    unsigned bytes;
    bool atomic; /* an atomic operation reads and writes */
    bool polls;  /* a load that sees what others store meanwhile: volatile, relaxed, acquire */
    const unsigned char *value; /* of a store, or an operand of an atomic operation; NULL: a load */
} cx_ptx_touch;

/* What may go wrong in a kernel without a fault. */
typedef enum cx_ptx_hazard_kind {
    CX_PTX_HAZARD_RACE,      /* two threads of a block, and nothing orders them */
    CX_PTX_HAZARD_WARP_RACE, /* two lanes of a warp that need not run together */
    CX_PTX_HAZARD_UNWRITTEN, /* a read of memory that nothing has written */
    CX_PTX_HAZARD_DIVERGED,  /* a barrier that some lanes of a warp, or threads, pass by */
    CX_PTX_HAZARD_ENDED,     /* a barrier that ended threads have not reached */
    CX_PTX_HAZARD_BLOCK_RACE, /* two blocks of a grid, and nothing orders them */
    CX_PTX_HAZARD_NOT_HELD,   /* a use of the heap that no malloc has given out */
    CX_PTX_HAZARD_GLOBAL_RACE, /* two warps of a block in global memory, and nothing orders them */
    CX_PTX_HAZARD_BEYOND      /* through an array in shared memory, and outside of it */
} cx_ptx_hazard_kind;

/* A thread at a place of the code. */
typedef struct cx_ptx_hazard_side {
    uint32_t block[3], thread[3];
    bool writes;
    int line; /* of the PTX; 0: there is no such thread */
    const char *source; /* as of cx_ptx_fault */
    int source_line;
} cx_ptx_hazard_side;

typedef struct cx_ptx_hazard {
    cx_ptx_hazard_kind kind;
    const char *kernel;
    cx_ptx_hazard_side first, second;
    bool shared;      /* shared memory: `address` is an offset in it; else global memory */
    uint64_t address; /* of the access of the second one */
    unsigned bytes;
    uint32_t threads; /* of a barrier: how many passed it by */
    const char *array; /* that it goes beyond, as the PTX names it, and where that lies */
    uint32_t array_begin, array_bytes;
} cx_ptx_hazard;

enum { CX_PTX_ASK_DEVICE = 0xfffe, CX_PTX_ASK_COUNT = 0xffff };

/* What a kernel asks of another one. */
typedef struct cx_ptx_kernel_question {
    const cx_ptx_function *kernel;
    uint32_t attribute; /* by the driver's number, or CX_PTX_ASK_BLOCKS */
    uint32_t threads;   /* of a block */
    uint64_t shared_bytes;
} cx_ptx_kernel_question;

/* The parameters' bytes; the dynamic shared memory of a launch; the blocks on a multiprocessor. */
enum { CX_PTX_ASK_PARAMETERS = 0xfffd, CX_PTX_ASK_DYNAMIC = 0xfffe, CX_PTX_ASK_BLOCKS = 0xffff };

typedef struct cx_ptx_environment {
    /* Finds the range that holds the address. False: no range there may be used. */
    bool (*find)(void *self, uint64_t address, cx_ptx_range *out_range);
    /* Describes a texture or surface object; it may be used until the launch is over. False: there
     * is none. NULL: there are none. */
    bool (*find_texture)(void *self, uint64_t handle, bool is_surface, cx_ptx_texture *out_texture);
    /* Is told each access to global memory before it is made; slow. NULL: nobody asks. */
    void (*touched)(void *self, const cx_ptx_touch *touch);
    /* Is told what may go wrong in memory and at barriers, once for each place of the code;
     * slow, and one thread of the host runs the grid. NULL: nobody wants to know. */
    void (*hazard)(void *self, const cx_ptx_hazard *hazard);
    /* True: give up; asked now and then. */
    bool (*stopped)(void *self);
    void *self;
    /* Takes text that a kernel prints; `failed`: of an assertion. NULL: the text is lost. */
    void (*print)(void *self, const char *text, size_t length, bool failed);
    /* malloc and free of kernels, and of the parameters of grids that they launch; 0, false: it
     * cannot be. NULL: there is no heap. */
    uint64_t (*allocate)(void *self, uint64_t bytes);
    bool (*release)(void *self, uint64_t address);
    /* Is told who has called malloc, where somebody wants to know of hazards. NULL: nobody. */
    void (*allocated)(void *self, uint64_t address, const char *kernel,
                      const cx_ptx_hazard_side *by);
    /* An attribute of the device, by the driver's number; CX_PTX_ASK_DEVICE: its ordinal;
     * CX_PTX_ASK_COUNT: the number of devices. INT64_MIN: no such attribute. NULL: none. */
    int64_t (*ask)(void *self, uint32_t attribute);
    /* A fact about a kernel. INT64_MIN: no such attribute. NULL: there are none. */
    int64_t (*ask_kernel)(void *self, const cx_ptx_kernel_question *question);
    /* Sets the value of a handle of conditional nodes. NULL: there are none. */
    void (*set_condition)(void *self, uint64_t handle, uint32_t value);
    /* The lanes of a warp run one after the other, not together: each as far as it gets, or, with a
     * seed that is not 0, some accesses to memory each time, in a random order. */
    bool independent;
    uint64_t seed;
    /* At most so many threads of the host run the blocks of a grid, and call these functions at the
     * same time; 0, 1: the calling one does. */
    unsigned cores;
    /* Blocks may use shared memory up to the next multiple of so many bytes, since that is what
     * GPUs allocate; 0, 1: what was asked for. */
    unsigned shared_unit;
    /* At most so many grids that kernels have launched wait to run; 0: 2048. */
    size_t pending_grids;
    /* The code that computes: "baseline", "avx2", "avx512". NULL, or one that this processor cannot
     * run: the fastest. */
    const char *code;
} cx_ptx_environment;

typedef struct cx_ptx_launch {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* besides the static ones */
    bool cooperative;      /* all blocks make progress together */
    uint32_t cluster[3];   /* blocks that make progress together; the grid is a multiple of it.
                            * 0: the size that the kernel requires */
    const void *parameters; /* parameter_bytes of the kernel */
    uint64_t memory_address; /* of the module's variables, and of managed ones */
    uint64_t managed_address;
} cx_ptx_launch;

typedef enum cx_ptx_outcome {
    CX_PTX_DONE,
    CX_PTX_STOPPED, /* `stopped` said so */
    CX_PTX_OUT_OF_MEMORY,
    CX_PTX_ILLEGAL_ADDRESS,
    CX_PTX_MISALIGNED_ADDRESS,
    CX_PTX_ILLEGAL_INSTRUCTION,
    CX_PTX_TRAP,
    CX_PTX_ASSERTION,
    CX_PTX_STACK_OVERFLOW,
    CX_PTX_DEADLOCK /* no thread of a block can go on */
} cx_ptx_outcome;

/* The place of a failure. */
typedef struct cx_ptx_fault {
    const char *kernel; /* the launched one, or one that a kernel launched */
    uint32_t block[3], thread[3];
    int line; /* of the PTX */
    const char *source; /* the source file that .loc names, or NULL; the module's */
    int source_line;
    uint64_t address; /* of ILLEGAL_ADDRESS and MISALIGNED_ADDRESS */
    unsigned bytes;   /* of the access there; 0: of text or a format that a function reads */
    bool writes, atomic; /* an atomic operation does both */
    const char *space;   /* NULL: global memory; else "shared", "local" or "parameter" memory, */
    uint64_t space_bytes; /* the size that was asked for, and `address` is an offset in it */
    const char *reason;   /* of ILLEGAL_INSTRUCTION, for a person; static */
    const char *object;   /* NULL: memory; "texture" or "surface": `address` is its handle */
    int32_t place[3];     /* of an access beyond a surface: byte of the row, row, slice */
    uint32_t extent[3];   /* the surface's; 0: there is no such object */
} cx_ptx_fault;

/*
 * Makes sure that a run of the launch, with this `shared_unit` and `cores` of its environment at
 * most, finds host memory, as long as the process lives. The launch's parameters may be missing.
 * False: out of memory; a run may still succeed.
 */
bool cx_ptx_launch_reserve(const cx_ptx_module *module, const cx_ptx_function *kernel,
                           const cx_ptx_launch *launch, unsigned shared_unit, unsigned cores);

/*
 * Runs a grid, and those that its threads launch, and returns when all are done. The caller has
 * checked the block dimensions: at most CX_PTX_THREADS_MAX threads, no dimension 0. The fault is
 * written for outcomes from ILLEGAL_ADDRESS on, and for STOPPED: a thread that was not done.
 */
cx_ptx_outcome cx_ptx_run(const cx_ptx_module *module, const cx_ptx_function *kernel,
                          const cx_ptx_launch *launch, const cx_ptx_environment *environment,
                          cx_ptx_fault *out_fault);

#endif
