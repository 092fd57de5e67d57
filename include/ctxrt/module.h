/**
 * Modules: code loaded into a context; their kernels, and launches.
 *
 * A module belongs to one context, and so do its kernels. Only the two calls that load, and
 * launches into a NULL or legacy stream, need a current context; no call changes it. Thread-safe.
 * Handles as in context.h: a module that was unloaded, and its kernels, are recognised and refused.
 * A module keeps its context from being destroyed or released.
 *
 * Kernels run wherever there are contexts: on GPUs, and, where the embedded driver plays the
 * device, on emulated ones and on the CPU, which take PTX (docs/kernels.md lists the supported
 * instructions).
 *
 * Besides the errors named at each function: CTXRT_ERROR_NULL_POINTER if a pointer is NULL,
 * CTXRT_ERROR_INVALID_HANDLE if the module or the kernel is gone or never was one,
 * CTXRT_ERROR_CONTEXT_DESTROYED if its context was reset.
 */
#ifndef CTXRT_MODULE_H
#define CTXRT_MODULE_H

#include <ctxrt/stream.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUmod_st;  /* the driver's CUmodule is a pointer to it */
struct CUfunc_st; /* the driver's CUfunction is a pointer to it */

typedef struct ctxrt_module ctxrt_module;
typedef struct ctxrt_kernel ctxrt_kernel;

/* ---- modules ---- */

/**
 * Loads code into the calling thread's current context. The caller owns the module. `image` may be
 * freed after the call. Captures of the calling thread go on.
 *
 * @param image       PTX text, a cubin or a fat binary, as for cuModuleLoadData
 * @param size_bytes  of the image; text needs no zero byte at its end then, and a binary that is
 *                    longer than that is refused. 0: text ends with a zero byte, and a binary says
 *                    its size itself: that is not checked
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  a binary image is not all there
 * @retval CTXRT_ERROR_NO_DEVICE         nothing is current
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the code has something that the driver does not know
 * @retval CTXRT_ERROR_DRIVER            the driver refused the code. The message has the beginning
 *                                       of what its compiler says, and the log all of it: what
 *                                       the embedded driver lacks at CTXRT_LOG_WARNING, the rest
 *                                       at CTXRT_LOG_INFO
 */
CTXRT_API ctxrt_status ctxrt_module_load(const void *image, size_t size_bytes,
                                         ctxrt_module **out_module) CTXRT_CHECK_RESULT;

/**
 * Loads code as ctxrt_module_load does, into `context` as ctxrt_stream_create_on does.
 *
 * @param image, size_bytes  as of ctxrt_module_load
 */
CTXRT_API ctxrt_status ctxrt_module_load_on(ctxrt_context *context, const void *image,
                                            size_t size_bytes,
                                            ctxrt_module **out_module) CTXRT_CHECK_RESULT;

/**
 * Loads code from a file. The path is one for fopen().
 *
 * @retval CTXRT_ERROR_SYSTEM            the file could not be read; the message names it
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is empty, no regular file, or a binary that is not all
 *                                       there
 */
CTXRT_API ctxrt_status ctxrt_module_load_file(const char *path,
                                              ctxrt_module **out_module) CTXRT_CHECK_RESULT;

/**
 * Unloads a module: its handle and those of its kernels are refused from now on, and its globals
 * are not to be used any more. Wait for its kernels first: no driver documents what becomes of
 * running ones (the embedded driver lets them end). NULL is harmless. A module whose context was
 * reset is gone already: then only the handles go.
 *
 * The driver keeps the code, and the globals, for as long as a graph of ctxrt has a kernel of it:
 * such graphs can be launched as before, and the release of the last of them unloads it. This holds
 * from the end of the capture on: until then keep the module loaded.
 *
 * @retval CTXRT_ERROR_DRIVER  the driver reported an error, maybe of earlier work, or captures on
 *                             the calling thread, which does not allow this; the handles are gone
 *                             all the same
 */
CTXRT_API ctxrt_status ctxrt_module_unload(ctxrt_module *module) CTXRT_CHECK_RESULT;

/**
 * Finds a kernel by name: the name of its .entry, which is mangled for C++. Borrowed: it goes with
 * its module. The same name gives the same handle.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  there is no kernel of that name
 */
CTXRT_API ctxrt_status ctxrt_module_get_kernel(ctxrt_module *module, const char *name,
                                               ctxrt_kernel **out_kernel) CTXRT_CHECK_RESULT;

/**
 * Finds a variable in global or constant memory by name. Borrowed: it goes with its module.
 *
 * @param out_pointer     device memory
 * @param out_size_bytes  may be NULL
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  there is no variable of that name
 */
CTXRT_API ctxrt_status ctxrt_module_get_global(ctxrt_module *module, const char *name,
                                               void **out_pointer,
                                               size_t *out_size_bytes) CTXRT_CHECK_RESULT;

/** The driver's CUmodule. Borrowed. */
CTXRT_API ctxrt_status ctxrt_module_native(ctxrt_module *module,
                                           struct CUmod_st **out_native) CTXRT_CHECK_RESULT;

/* ---- kernels ---- */

typedef struct ctxrt_kernel_info {
    const char *name;          /**< as long as the module is loaded */
    int parameter_count;       /**< -1 where the driver does not tell (before CUDA 12.4) */
    int max_threads_per_block; /**< the most that a launch may have */
    int registers;             /**< of 32 bits, of a thread */
    size_t shared_bytes;       /**< of a block, besides what a launch asks for */
    size_t local_bytes;        /**< of a thread */
    size_t constant_bytes;     /**< of the user's */
} ctxrt_kernel_info;

/**
 * Describes a kernel and what it needs.
 *
 * @param out_info  its parameters, registers and memory
 */
CTXRT_API ctxrt_status ctxrt_kernel_describe(ctxrt_kernel *kernel,
                                             ctxrt_kernel_info *out_info) CTXRT_CHECK_RESULT;

typedef struct ctxrt_occupancy {
    int block_threads;             /**< as asked for, or suggested */
    int blocks_per_multiprocessor; /**< of that size, that run at once; 0: not even one fits */
    int blocks_on_device;          /**< the same for all multiprocessors: the most that a
                                        cooperative launch may have */
} ctxrt_occupancy;

/**
 * Calculates how many blocks of a size run at once.
 *
 * @param block_threads  threads of a block; 0: the size that has most threads running at once, and
 *                       of several such sizes the largest
 * @param shared_bytes   that each block asks for, besides what is the kernel's own
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  `block_threads` is 0 and no block fits, or it is more than
 *                                       INT_MAX
 */
CTXRT_API ctxrt_status ctxrt_kernel_occupancy(ctxrt_kernel *kernel, unsigned int block_threads,
                                              size_t shared_bytes,
                                              ctxrt_occupancy *out_occupancy) CTXRT_CHECK_RESULT;

/** The driver's CUfunction. Borrowed. For calls that ctxrt does not have, such as
 * cuFuncSetAttribute. */
CTXRT_API ctxrt_status ctxrt_kernel_native(ctxrt_kernel *kernel,
                                           struct CUfunc_st **out_native) CTXRT_CHECK_RESULT;

/* ---- launches ---- */

typedef struct ctxrt_launch_config {
    size_t struct_size;    /**< sizeof(ctxrt_launch_config) */
    unsigned int grid[3];  /**< blocks: x, y, z; none of them 0 */
    unsigned int block[3]; /**< threads of a block; none of them 0 */
    size_t shared_bytes;   /**< of a block, besides what is the kernel's own */
    ctxrt_stream *stream;  /**< as in stream.h */
    int cooperative;       /**< 1: all blocks run at once, and may wait for each other; else 0 */
    /** blocks of a cluster, which run at once and reach each other's shared memory; they divide the
     * grid. All 0: as the kernel says */
    unsigned int cluster[3];
} ctxrt_launch_config;

#ifdef __cplusplus
#define CTXRT_LAUNCH_CONFIG_INIT \
    {sizeof(ctxrt_launch_config), {1, 1, 1}, {1, 1, 1}, 0, NULL, 0, {0, 0, 0}}
#else
#define CTXRT_LAUNCH_CONFIG_INIT \
    {.struct_size = sizeof(ctxrt_launch_config), .grid = {1, 1, 1}, .block = {1, 1, 1}}
#endif

/**
 * Submits a kernel to a stream of its context. In a stream that captures, and so in an operator
 * that is captured (graph.h), it becomes a node of the graph.
 *
 * The kernel gets memory as plain addresses, which neither ctxrt nor a driver looks at: keep the
 * memory alive until the kernel is done. ctxrt's memory that was allocated in the same stream may
 * be released after the launch: it is used again only behind the kernel. For another stream see
 * ctxrt_memory_record_stream. An error of the kernel, an illegal address say, shows in a later
 * call.
 *
 * @param config  the grid, the block, their shared memory and the stream
 * @param arguments       the address of each parameter's value; read before the call returns. May
 *                        be NULL if there are none
 * @param argument_count  the number of arguments; checked if the driver tells the kernel's
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  a dimension is 0; the number of arguments is wrong; a wrong
 *                                       struct_size; `cooperative` is neither 0 nor 1; one
 *                                       dimension of the cluster is 0, and not all are, or it does
 *                                       not divide the grid's
 * @retval CTXRT_ERROR_NULL_POINTER      also: one of the arguments is NULL
 * @retval CTXRT_ERROR_WRONG_CONTEXT     the stream is of another context than the kernel
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the driver has no cooperative launches, or no clusters
 * @retval CTXRT_ERROR_DRIVER            the driver refused: the block is too large for the kernel,
 *                                       the grid for a cooperative launch ...; or reported an error
 *                                       of earlier work
 */
CTXRT_API ctxrt_status ctxrt_launch(const ctxrt_launch_config *config, ctxrt_kernel *kernel,
                                    void **arguments, size_t argument_count) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
