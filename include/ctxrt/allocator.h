/**
 * Allocators: the memory of a frame comes from its allocator.
 *
 * Each context has a default one; a frame may have another (ctxrt_frame_set_allocator). An
 * allocator asks its driver for large segments and keeps freed memory for later requests:
 * docs/allocator.md.
 * Sizes are in bytes. An allocator is used from any thread, whatever is current there. Thread-safe,
 * except ctxrt_device_reset while other threads work with memory of that device.
 *
 * Besides the errors named at each function: CTXRT_ERROR_INVALID_HANDLE if the allocator was
 * destroyed or never was one; CTXRT_ERROR_NO_DEVICE if NULL means the allocator of the top frame
 * and nothing is current.
 */
#ifndef CTXRT_ALLOCATOR_H
#define CTXRT_ALLOCATOR_H

#include <ctxrt/stack.h>
#include <ctxrt/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Figures of an allocator, in bytes unless they count. They give the requested sizes, without
 * rounding. Each is exact; while other threads allocate, the figures may be of different
 * moments. */
typedef struct ctxrt_allocator_figures {
    uint64_t current_bytes;   /**< in use */
    uint64_t peak_bytes;
    uint64_t total_bytes;     /**< ever allocated */
    uint64_t current_count;
    uint64_t peak_count;
    uint64_t total_count;
    uint64_t failures;        /**< requests refused */
    uint64_t limit_bytes;     /**< 0: none */
} ctxrt_allocator_figures;

/** An amount: bytes, and a number of blocks, ranges or segments; now, at its peak, and in total. */
typedef struct ctxrt_allocator_amount {
    uint64_t current_bytes, peak_bytes, total_bytes;
    uint64_t current_count, peak_count, total_count;
} ctxrt_allocator_amount;

/**
 * All that an allocator counts; start from CTXRT_ALLOCATOR_INFO_INIT. For a custom allocator only
 * `requested` is known.
 * Each is exact; while other threads allocate, the figures may be of different moments.
 */
typedef struct ctxrt_allocator_info {
    size_t struct_size;               /**< sizeof(ctxrt_allocator_info) */
    ctxrt_context *context;           /**< borrowed */
    ctxrt_device device;
    uint64_t limit_bytes;             /**< 0: none */
    ctxrt_allocator_amount requested; /**< in use, in requested bytes */
    /** bytes of blocks, rounded up: those in use, and free ones that streams keep */
    ctxrt_allocator_amount allocated;
    ctxrt_allocator_amount reserved;  /**< segments from the driver; a mapped range counts as one */
    /**
     * free ranges of the segments, for any later request; the totals count what was freed into them
     */
    ctxrt_allocator_amount inactive;
    uint64_t hits;          /**< requests served without the driver */
    uint64_t misses;        /**< requests for which the driver was asked */
    /** how often the driver had no memory and was asked again, after free memory was collected */
    uint64_t retries;
    uint64_t failures;      /**< requests refused, for any reason */
    uint64_t out_of_memory; /**< requests refused because the device had no memory */
} ctxrt_allocator_info;

#ifdef __cplusplus
#define CTXRT_ALLOCATOR_INFO_INIT                                                         \
    {                                                                                     \
        sizeof(ctxrt_allocator_info), NULL, {CTXRT_DEVICE_CPU, 0}, 0, {0, 0, 0, 0, 0, 0}, \
            {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, 0, 0, 0, 0, 0     \
    }
#else
#define CTXRT_ALLOCATOR_INFO_INIT {.struct_size = sizeof(ctxrt_allocator_info)}
#endif

/** Checks of the debug mode. */
enum {
    /** 256 bytes before and behind each block, checked when it is freed */
    CTXRT_DEBUG_CANARY = 1,
    /**
     * memory is filled when it is allocated (0xA7) and when it is freed (0xDB), and checked in
     * quarantine before it is used again
     */
    CTXRT_DEBUG_POISON = 2
};

/**
 * The debug mode of an allocator. Start from CTXRT_ALLOCATOR_DEBUG_INIT; all 0 is none. It fills
 * and checks in the order of the memory's stream, so a free waits for that stream; in a capturing
 * stream it does neither. The host fills and checks pinned memory: a free waits for the streams
 * recorded with it.
 */
typedef struct ctxrt_allocator_debug {
    size_t struct_size;            /**< sizeof(ctxrt_allocator_debug) */
    unsigned int flags;            /**< CTXRT_DEBUG_* */
    uint64_t quarantine_bytes;     /**< this much of the memory freed last is not used again yet */
    uint64_t context_limit_bytes;  /**< requests beyond it, of all allocators of the context, are
                                    * CTXRT_ERROR_OUT_OF_MEMORY; 0: no limit */
    /** the allocator's Nth call to the driver for memory is refused; 0: none */
    uint64_t fail_call;
} ctxrt_allocator_debug;

#ifdef __cplusplus
#define CTXRT_ALLOCATOR_DEBUG_INIT \
    {sizeof(ctxrt_allocator_debug), 0, 0, 0, 0}
#else
#define CTXRT_ALLOCATOR_DEBUG_INIT {.struct_size = sizeof(ctxrt_allocator_debug)}
#endif

/**
 * The source of an allocator's segments: memory that it asks the driver for at once, and hands out
 * block by block.
 */
typedef enum ctxrt_allocator_source {
    /**
     * The environment's CTXRT_ALLOCATOR decides (its vmm holds for devices of type CUDA); ALLOC if
     * it is not set.
     */
    CTXRT_ALLOCATOR_SOURCE_DEFAULT = 0,
    CTXRT_ALLOCATOR_SOURCE_ALLOC = 1, /**< CTXRT_ALLOCATOR=alloc: cuMemAlloc */
    /**
     * CTXRT_ALLOCATOR=vmm: one range of addresses; chunks of it are mapped where memory is needed
     * (cuMemCreate, cuMemMap).
     * Free chunks move when memory is short, so little is lost between blocks in use. Devices with
     * peer access enabled by ctxrt_device_enable_peer reach it too. cuIpcGetMemHandle does not know
     * such memory; the chunks can be exported as file descriptors if the device supports that.
     */
    CTXRT_ALLOCATOR_SOURCE_VMM = 2,
    /**
     * CTXRT_ALLOCATOR=direct, also for the CPU device: each request is one driver call
     * (cuMemAlloc), and each free returns the memory to the driver at once (cuMemFree, which waits
     * for work that uses the memory). Nothing is kept: for programs that cache memory themselves,
     * and to let the driver see every overrun. Options of segments are ignored.
     */
    CTXRT_ALLOCATOR_SOURCE_DIRECT = 3
} ctxrt_allocator_source;

/**
 * Options of ctxrt_allocator_create. Start from CTXRT_ALLOCATOR_OPTIONS_INIT; 0 is the default of
 * each.
 */
typedef struct ctxrt_allocator_options {
    size_t struct_size;      /**< sizeof(ctxrt_allocator_options) */
    uint64_t limit_bytes;    /**< requests beyond it are CTXRT_ERROR_OUT_OF_MEMORY; 0: no limit */
    ctxrt_allocator_source source;
    /**
     * the least size of a segment, in steps of 2 MiB; 0: 2 MiB. A device with less memory left
     * gives what the request needs.
     */
    uint64_t segment_bytes;
    /**
     * while more than this is held, wholly free segments go back to the driver at once; 0: they are
     * kept
     */
    uint64_t release_threshold_bytes;
    /** copied; NULL: as the environment's CTXRT_DEBUG_MEMORY says */
    const ctxrt_allocator_debug *debug;
} ctxrt_allocator_options;

#ifdef __cplusplus
#define CTXRT_ALLOCATOR_OPTIONS_INIT \
    {sizeof(ctxrt_allocator_options), 0, CTXRT_ALLOCATOR_SOURCE_DEFAULT, 0, 0, NULL}
#else
#define CTXRT_ALLOCATOR_OPTIONS_INIT {.struct_size = sizeof(ctxrt_allocator_options)}
#endif

/**
 * Creates an allocator of the calling thread's current context with its own memory, figures and
 * limit. The caller owns it. Put it into a frame with ctxrt_frame_set_allocator.
 *
 * @param options  NULL: the default of each
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  struct_size or the source is not right, or CTXRT_ALLOCATOR
 *     in the environment
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the source is VMM, and the device or its driver has no
 *     virtual memory: no other source takes its place
 */
CTXRT_API ctxrt_status ctxrt_allocator_create(const ctxrt_allocator_options *options,
                                              ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

/**
 * Destroys an allocator. NULL is harmless.
 *
 * @retval CTXRT_ERROR_IN_USE            memory of it is live, in a recording or a graph as well: a
 *     graph keeps what its operators allocated and freed; or a frame of some thread has it
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is the default allocator of a context
 */
CTXRT_API ctxrt_status ctxrt_allocator_destroy(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/**
 * The current context's allocator of pinned memory (ctxrt_memory_alloc_pinned), made on first use;
 * for the calls below. Borrowed; it lives as long as the context, and can be neither destroyed nor
 * put into a frame. It is in debug mode if CTXRT_DEBUG_MEMORY in the environment or
 * ctxrt_allocator_set_debug says so. A trim gives back segments that nothing uses, copies included,
 * and the staging memory of copies between two drivers.
 *
 * @retval CTXRT_ERROR_NO_DEVICE  nothing is current
 */
CTXRT_API ctxrt_status ctxrt_allocator_pinned(ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

/**
 * The current context's own allocator with the source DIRECT, made on first use. ctxrt_alloc_direct
 * uses it, and any frame of the context may. Borrowed; it lives as long as the context, and cannot
 * be destroyed.
 *
 * @retval CTXRT_ERROR_NO_DEVICE  nothing is current
 */
CTXRT_API ctxrt_status ctxrt_allocator_direct(ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

/**
 * Changes the debug mode of an allocator of pinned memory, while none of its memory is live; its
 * figures, limit and trace stay. Memory in quarantine is checked and freed. Requests of other
 * threads wait until this is done. An allocator of device memory has the mode it was created with.
 *
 * @param debug  copied; all 0: none; NULL: as the environment's CTXRT_DEBUG_MEMORY says
 * @retval CTXRT_ERROR_IN_USE            memory of it is live, in a recording or a graph as well;
 *     nothing changed
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is of device memory, struct_size or the flags are not
 *     right, or CTXRT_DEBUG_MEMORY is not
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the host has no memory for the mode; nothing changed
 */
CTXRT_API ctxrt_status ctxrt_allocator_set_debug(
    ctxrt_allocator *allocator, const ctxrt_allocator_debug *debug) CTXRT_CHECK_RESULT;

/** Reads an allocator's figures. NULL: the allocator of the top frame. */
CTXRT_API ctxrt_status ctxrt_allocator_statistics(
    ctxrt_allocator *allocator, ctxrt_allocator_figures *out_figures) CTXRT_CHECK_RESULT;

/**
 * Describes an allocator. NULL: the allocator of the top frame. The caller's structure may be
 * larger, of a later version: the rest is left alone, and struct_size becomes the size that was
 * filled in.
 *
 * @param info  filled in; its struct_size is set before the call
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  struct_size is too small
 */
CTXRT_API ctxrt_status ctxrt_allocator_describe(ctxrt_allocator *allocator,
                                                ctxrt_allocator_info *info) CTXRT_CHECK_RESULT;

/** Sets the limit of an allocator. NULL: the allocator of the top frame. Memory in use already
 * stays. */
CTXRT_API ctxrt_status ctxrt_allocator_set_limit(ctxrt_allocator *allocator,
                                                 uint64_t limit_bytes) CTXRT_CHECK_RESULT;

/**
 * Called on the thread whose request of `size_bytes` is about to be refused, for want of memory or
 * by the limit of the allocator. It may free memory, trim allocators, and use ctxrt in every other
 * way, but leaves the stack as it finds it and does not destroy the allocator. Requests that it
 * makes itself do not call it again.
 *
 * @param attempt  1, then one more for each time that the request was made again
 * @return 0: the request is refused; else it is made again
 */
typedef int (*ctxrt_out_of_memory)(ctxrt_allocator *allocator, size_t size_bytes,
                                   unsigned int attempt, void *user_data);

/**
 * Sets what is called before a request of an allocator, of device memory or pinned, is refused with
 * CTXRT_ERROR_OUT_OF_MEMORY; NULL: nothing. By then the allocator has given back what it keeps. Not
 * while other threads request memory of the allocator. NULL as `allocator`: that of the top frame.
 *
 * @param user_data  passed to the callback
 */
CTXRT_API ctxrt_status ctxrt_allocator_set_out_of_memory(ctxrt_allocator *allocator,
                                                         ctxrt_out_of_memory callback,
                                                         void *user_data) CTXRT_CHECK_RESULT;

/** Gives free segments back to the driver, after emptying the caches of threads and streams. NULL:
 * the allocator of the top frame. `out_released_bytes` may be NULL. */
CTXRT_API ctxrt_status ctxrt_allocator_trim(ctxrt_allocator *allocator,
                                            uint64_t *out_released_bytes) CTXRT_CHECK_RESULT;

/**
 * Checks all memory of an allocator in debug mode: the bytes before and behind each block, and the
 * freed blocks in quarantine. Waits for the streams of that memory. NULL: the allocator of the top
 * frame. The log has a line for each newly found damaged block; the error names the first.
 *
 * @retval CTXRT_ERROR_CORRUPTED         something wrote outside its own memory
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  the allocator is not in debug mode
 */
CTXRT_API ctxrt_status ctxrt_allocator_check(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/**
 * Writes an allocator's figures, its segments and all their blocks as text or JSON; `ctxrt draw`
 * makes a picture of the latter. NULL: the allocator of the top frame. docs/snapshots.md describes
 * them. The place where a block was allocated is known in debug mode, if a trace of the allocator
 * ran then, or if its caller said so (CTXRT_ORIGINS in memory.h). Other threads may go on: blocks
 * and figures may be of different moments.
 *
 * @retval CTXRT_ERROR_SYSTEM            the file could not be written
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such format
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the host has no memory for the snapshot
 */
CTXRT_API ctxrt_status ctxrt_allocator_snapshot_write(
    ctxrt_allocator *allocator, FILE *file, ctxrt_snapshot_format format) CTXRT_CHECK_RESULT;

/**
 * Starts to keep the last `operations` allocations and frees of an allocator (0: the last
 * 1,048,576; at most 2^28; it may keep up to twice as many), for ctxrt_allocator_trace_write. NULL:
 * the allocator of the top frame. An earlier trace is forgotten. CTXRT_ALLOCATOR_TRACE in the
 * environment starts a trace of every allocator.
 *
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the host has no memory for the trace, 32 bytes for each
 *     operation; nothing changed
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  too many
 */
CTXRT_API ctxrt_status ctxrt_allocator_trace_start(ctxrt_allocator *allocator,
                                                   size_t operations) CTXRT_CHECK_RESULT;

/**
 * Stops the trace. Its operations stay until the next start, or until the allocator goes. Without a
 * trace it does nothing.
 */
CTXRT_API ctxrt_status ctxrt_allocator_trace_stop(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/**
 * Writes the trace, a line for each operation: `a,SLOT,BYTES` allocates into a slot, `f,SLOT` frees
 * it. Memory allocated before the trace and freed during it is allocated first; memory that is
 * still live is left out. Other threads may go on: an operation overwritten at that moment is left
 * out. ctxrt-replay(1) reads it.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no trace was started
 * @retval CTXRT_ERROR_SYSTEM            the file could not be written
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the host has no memory to write them
 */
CTXRT_API ctxrt_status ctxrt_allocator_trace_write(ctxrt_allocator *allocator,
                                                   FILE *file) CTXRT_CHECK_RESULT;

/**
 * A user's own allocator. Its functions are called from any thread, several at once, with the
 * allocator's context current. They must leave the stack as they find it, and must not ask ctxrt
 * for memory of a frame that has this allocator. ctxrt keeps figures and a limit for it as for any
 * other.
 */
typedef struct ctxrt_allocator_vtable {
    size_t struct_size; /**< sizeof(ctxrt_allocator_vtable) */
    /** Sets *out_pointer; CTXRT_ERROR_OUT_OF_MEMORY if there is none. `stream` is the calling
     * thread's current one, never NULL. Another status is passed on. */
    ctxrt_status (*alloc)(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                          void **out_pointer);
    /** Not called for memory allocated before a reset of the device: the driver has freed all of
     * it. */
    ctxrt_status (*free)(void *user_data, void *pointer, size_t size_bytes);
    void (*destroy)(void *user_data); /**< may be NULL */
} ctxrt_allocator_vtable;

/**
 * Creates an allocator of the calling thread's current context that calls `vtable`'s functions. The
 * table is copied; `user_data` lives until `destroy` was called.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  struct_size is not right
 * @retval CTXRT_ERROR_NULL_POINTER      alloc or free is NULL
 */
CTXRT_API ctxrt_status
ctxrt_allocator_create_custom(const ctxrt_allocator_vtable *vtable, void *user_data,
                              ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

struct CUmemPoolHandle_st; /* the driver's CUmemoryPool is a pointer to it */

/**
 * Creates an allocator of the calling thread's current context over a pool of the driver's, such as
 * one that other libraries use, too: each request is a cuMemAllocFromPoolAsync in the stream that
 * the memory belongs to, and each free a cuMemFreeAsync there. A free after that stream was
 * destroyed waits for the work of the context. The memory outlives a reset of the device: release
 * it after one, too. ctxrt does not own the pool: keep it until the allocator is destroyed.
 * ctxrt_allocator_trim gives back what the pool does not use (cuMemPoolTrimTo).
 *
 * @param pool  NULL: the pool of the device, in which cuMemAllocAsync and cudaMallocAsync allocate
 * @retval CTXRT_ERROR_NOT_SUPPORTED  the driver has no pools. Requests in a stream that captures
 *     are refused with it, too
 */
CTXRT_API ctxrt_status
ctxrt_allocator_create_from_pool(struct CUmemPoolHandle_st *pool,
                                 ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
