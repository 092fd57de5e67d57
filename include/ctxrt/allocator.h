/**
 * Allocators: what the memory of a frame comes from.
 *
 * Each context has a default one; a frame may have another (ctxrt_frame_set_allocator). An
 * allocator asks its driver for much at once and keeps what was freed: docs/allocator.md.
 * Sizes are in bytes. An allocator is used from any thread, whatever is current there.
 * Thread-safe, but for ctxrt_device_reset while other threads work with memory of that device.
 */
#ifndef CTXRT_ALLOCATOR_H
#define CTXRT_ALLOCATOR_H

#include <ctxrt/stack.h>
#include <ctxrt/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Figures of an allocator, in bytes unless they count: what was asked for, without rounding. Read
 * while other threads allocate, they may be of different moments. Each is exact, but for the peaks
 * where several threads allocate without a limit: then each thread may move a peak by a 128th of
 * it, or by 1 MiB, or 256 pieces, if that is more. */
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

/** So much: bytes, in so many pieces, ranges or segments; now, at most, and ever. */
typedef struct ctxrt_allocator_amount {
    uint64_t current_bytes, peak_bytes, total_bytes;
    uint64_t current_count, peak_count, total_count;
} ctxrt_allocator_amount;

/**
 * All that an allocator counts; start from CTXRT_ALLOCATOR_INFO_INIT. Of a custom allocator only
 * what was requested is known.
 * While other threads allocate the figures may be of different moments, and the peaks of
 * `requested` are as exact as those of ctxrt_allocator_figures.
 */
typedef struct ctxrt_allocator_info {
    size_t struct_size;               /**< sizeof(ctxrt_allocator_info) */
    ctxrt_context *context;           /**< borrowed */
    ctxrt_device device;
    uint64_t limit_bytes;             /**< 0: none */
    ctxrt_allocator_amount requested; /**< in use, as it was asked for */
    /** in pieces, rounded up: those in use, and those that threads keep for themselves */
    ctxrt_allocator_amount allocated;
    ctxrt_allocator_amount reserved;  /**< segments of the driver's; what is mapped is one */
    /**
     * free ranges of the segments: whoever asks next has them; the totals are what was given back
     * to them
     */
    ctxrt_allocator_amount inactive;
    uint64_t hits;          /**< requests that were served without the driver */
    uint64_t misses;        /**< requests for which it was asked */
    /** how often it had no memory, and was asked again after what is kept had been collected */
    uint64_t retries;
    uint64_t failures;      /**< requests refused, for whatever reason */
    uint64_t out_of_memory; /**< of these, those that the device had no memory for */
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

/** What debug mode looks for. */
enum {
    /** 256 bytes before and behind each piece of memory, looked at when it is freed */
    CTXRT_DEBUG_CANARY = 1,
    /**
     * memory is filled when it is allocated (0xA7) and when it is freed (0xDB), and in quarantine
     * looked at again before it is used again
     */
    CTXRT_DEBUG_POISON = 2
};

/**
 * The debug mode of an allocator. Start from CTXRT_ALLOCATOR_DEBUG_INIT; all 0 is none. It fills
 * and looks in the order of the memory's stream, so that a free waits for that stream. In a stream
 * that captures it does neither. Pinned memory the host fills and looks at: a free waits for what
 * was recorded with it.
 */
typedef struct ctxrt_allocator_debug {
    size_t struct_size;            /**< sizeof(ctxrt_allocator_debug) */
    unsigned int flags;            /**< CTXRT_DEBUG_* */
    uint64_t quarantine_bytes;     /**< so much of what was freed last is not used again yet */
    uint64_t context_limit_bytes;  /**< requests beyond it, of all allocators of the context, are
                                    * CTXRT_ERROR_OUT_OF_MEMORY; 0: no limit */
    /** the allocator's Nth call for memory of the driver's is refused; 0: none */
    uint64_t fail_call;
} ctxrt_allocator_debug;

#ifdef __cplusplus
#define CTXRT_ALLOCATOR_DEBUG_INIT \
    {sizeof(ctxrt_allocator_debug), 0, 0, 0, 0}
#else
#define CTXRT_ALLOCATOR_DEBUG_INIT {.struct_size = sizeof(ctxrt_allocator_debug)}
#endif

/**
 * Where an allocator's segments come from: the memory that it asks the driver for at once, and
 * gives out piece by piece.
 */
typedef enum ctxrt_allocator_source {
    /**
     * As the environment's CTXRT_ALLOCATOR says, whose vmm is for devices of type CUDA; ALLOC if it
     * says nothing.
     */
    CTXRT_ALLOCATOR_SOURCE_DEFAULT = 0,
    CTXRT_ALLOCATOR_SOURCE_ALLOC = 1, /**< CTXRT_ALLOCATOR=alloc: cuMemAlloc */
    /**
     * CTXRT_ALLOCATOR=vmm: one range of addresses, of which chunks are mapped where memory is
     * needed (cuMemCreate, cuMemMap).
     * Chunks that are free move when memory is short, so that hardly any is lost between blocks in
     * use. Devices with peer access enabled by ctxrt_device_enable_peer reach it too.
     * cuIpcGetMemHandle does not know such memory; the chunks are made to be exported as file
     * descriptors where the device can do that.
     */
    CTXRT_ALLOCATOR_SOURCE_VMM = 2,
    /**
     * CTXRT_ALLOCATOR=direct, of the CPU device too: each request is one call of the driver's
     * (cuMemAlloc), and what is freed goes back to the driver at once (cuMemFree, which waits for
     * work that uses the memory). Nothing is kept: for programs that keep memory themselves, and to
     * let the driver see every overrun. The options of segments mean nothing then.
     */
    CTXRT_ALLOCATOR_SOURCE_DIRECT = 3
} ctxrt_allocator_source;

/**
 * Options of ctxrt_allocator_create. Start from CTXRT_ALLOCATOR_OPTIONS_INIT; 0 is each one's
 * default.
 */
typedef struct ctxrt_allocator_options {
    size_t struct_size;      /**< sizeof(ctxrt_allocator_options) */
    uint64_t limit_bytes;    /**< requests beyond it are CTXRT_ERROR_OUT_OF_MEMORY; 0: no limit */
    ctxrt_allocator_source source;
    /**
     * a segment is at least so large, in steps of 2 MiB; 0: 2 MiB. A device that has less left
     * gives what the request needs.
     */
    uint64_t segment_bytes;
    /**
     * while more than this is held, segments that are free altogether go back to the driver as soon
     * as they are; 0: they are kept
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
 * Creates an allocator of the calling thread's current context that keeps memory of its own, with
 * figures and a limit of its own. The caller owns it. Put it into a frame with
 * ctxrt_frame_set_allocator.
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
 * @retval CTXRT_ERROR_IN_USE            memory of it is live, or a frame of some thread has it
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is the default allocator of a context
 */
CTXRT_API ctxrt_status ctxrt_allocator_destroy(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/**
 * The allocator that pinned memory of the current context comes from (ctxrt_memory_alloc_pinned),
 * made on first use: for the calls below. Borrowed; it lives as long as the context, and can be
 * neither destroyed nor put into a frame. It is in debug mode where CTXRT_DEBUG_MEMORY in the
 * environment or ctxrt_allocator_set_debug says so. A trim gives segments of
 * which nothing is in use, and no copy either, back to the driver, and so what copies between two
 * drivers were staged through.
 *
 * @retval CTXRT_ERROR_NO_DEVICE  nothing is current
 */
CTXRT_API ctxrt_status ctxrt_allocator_pinned(ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

/**
 * The current context's own allocator with the source DIRECT, made on first use: that of
 * ctxrt_alloc_direct, and for any frame of the context. Borrowed; it lives as long as the context,
 * and cannot be destroyed.
 *
 * @retval CTXRT_ERROR_NO_DEVICE  nothing is current
 */
CTXRT_API ctxrt_status ctxrt_allocator_direct(ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

/**
 * Changes the debug mode of an allocator of pinned memory, while none of its memory is live; its
 * figures, limit and trace stay. What was in quarantine is looked at, and free. Requests of other
 * threads wait meanwhile. An allocator of device memory has the mode it was created with.
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

/** NULL: the allocator of the top frame. */
CTXRT_API ctxrt_status ctxrt_allocator_statistics(
    ctxrt_allocator *allocator, ctxrt_allocator_figures *out_figures) CTXRT_CHECK_RESULT;

/**
 * Describes an allocator. NULL: that of the top frame. A caller's structure may be larger than the
 * library's, of a later version: the rest of it is left alone, and struct_size becomes what was
 * filled in.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  struct_size is too small
 */
CTXRT_API ctxrt_status ctxrt_allocator_describe(ctxrt_allocator *allocator,
                                                ctxrt_allocator_info *info) CTXRT_CHECK_RESULT;

/** NULL: the allocator of the top frame. What is in use already stays. */
CTXRT_API ctxrt_status ctxrt_allocator_set_limit(ctxrt_allocator *allocator,
                                                 uint64_t limit_bytes) CTXRT_CHECK_RESULT;

/** Gives what is free back to the driver: whole segments, of which nothing is in use; the memory
 * that threads and streams keep is joined first. NULL: of the top frame. `out_released_bytes` may
 * be NULL. */
CTXRT_API ctxrt_status ctxrt_allocator_trim(ctxrt_allocator *allocator,
                                            uint64_t *out_released_bytes) CTXRT_CHECK_RESULT;

/**
 * Looks at all memory of an allocator in debug mode: at what is before and behind each piece, and
 * at what was freed and is in quarantine. Waits for the streams that the memory is of. NULL: of the
 * top frame. The log has a line for each piece that was written to and had not been found before;
 * the error says which was the first.
 *
 * @retval CTXRT_ERROR_CORRUPTED         something wrote to memory that it did not have
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  the allocator is not in debug mode
 */
CTXRT_API ctxrt_status ctxrt_allocator_check(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/**
 * Writes an allocator's figures, its segments and every block of them, as text or JSON, of which
 * `ctxrt draw` makes a picture; NULL: of the top frame's allocator. docs/snapshots.md describes
 * them. The place where a block was allocated is known if a trace of the allocator ran then, or if
 * its caller said so (CTXRT_ORIGINS in memory.h). Other threads may go on: blocks and figures may
 * be of different moments.
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
 * of the top frame's allocator. What was kept before is forgotten. CTXRT_ALLOCATOR_TRACE in the
 * environment starts a trace of every allocator.
 *
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the host has not the 32 bytes for each; nothing changed
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  too many
 */
CTXRT_API ctxrt_status ctxrt_allocator_trace_start(ctxrt_allocator *allocator,
                                                   size_t operations) CTXRT_CHECK_RESULT;

/**
 * Stops. What is kept stays until the next start, or as long as the allocator. Without a trace it
 * does nothing.
 */
CTXRT_API ctxrt_status ctxrt_allocator_trace_stop(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/**
 * Writes what is kept, a line for each operation: `a,SLOT,BYTES` allocates into a slot, `f,SLOT`
 * frees it. Memory that was allocated before and freed meanwhile is allocated first; such memory
 * that is still live is not there. Other threads may go on: an operation that is overwritten just
 * then is left out. ctxrt-replay(1) reads it.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no trace was started
 * @retval CTXRT_ERROR_SYSTEM            the file could not be written
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the host has no memory to write them
 */
CTXRT_API ctxrt_status ctxrt_allocator_trace_write(ctxrt_allocator *allocator,
                                                   FILE *file) CTXRT_CHECK_RESULT;

/**
 * A user's own allocator. Calls come from any thread, several at once, with the context it was
 * created in current; they must leave the stack as they find it, and must not ask ctxrt for memory
 * of a frame that has this allocator. Figures and a limit are kept for it as for any other.
 */
typedef struct ctxrt_allocator_vtable {
    size_t struct_size; /**< sizeof(ctxrt_allocator_vtable) */
    /** Sets *out_pointer; CTXRT_ERROR_OUT_OF_MEMORY if there is none. `stream` is the current one
     * of the thread that asks, never NULL. Another status is passed on. */
    ctxrt_status (*alloc)(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                          void **out_pointer);
    /** Not called for memory of before a reset of the device: the driver has freed all of that. */
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

#ifdef __cplusplus
}
#endif

#endif
