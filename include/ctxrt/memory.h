/**
 * Memory: counted objects and raw pointers, copies, fills.
 *
 * Memory comes from the allocator of the calling thread's top frame, and belongs to that frame's
 * context. It is given back from any thread, whatever is current there, or nothing: no call here
 * changes which device or context is current.
 * Sizes are in bytes. A size of 0 is an error where memory is asked for, and does nothing where
 * memory is copied or filled.
 * Memory that was freed is kept for later requests: ctxrt_allocator_trim gives it back to the
 * driver. Device memory is of the stream that was current when it was allocated, and ready in that
 * stream's order: work that it was freed behind may still be using it. Whoever uses it elsewhere
 * waits for that stream first, and says so (ctxrt_memory_record_stream) before it is freed. Memory
 * of the CPU device may be used by the host at once.
 * A request that is served from what is kept does not ask the driver: that other code destroyed or
 * reset the context then shows when the memory is used.
 * Memory keeps its context from being destroyed or released (CTXRT_ERROR_IN_USE). A reset of its
 * device frees it: what was allocated before is then given back without error, and must not be
 * used.
 * Thread-safe, but for ctxrt_device_reset while other threads work with memory of that device.
 *
 * Calls that take a stream also give the errors of stream.h.
 */
#ifndef CTXRT_MEMORY_H
#define CTXRT_MEMORY_H

#include <ctxrt/stack.h>
#include <ctxrt/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A counted piece of memory. A handle, as in context.h. */
typedef struct ctxrt_memory ctxrt_memory;

typedef enum ctxrt_memory_kind {
    /** memory of a device; on the type CPU, memory the host may touch too */
    CTXRT_MEMORY_DEVICE = 0,
    CTXRT_MEMORY_PINNED = 1,  /**< host memory that devices reach directly */
    CTXRT_MEMORY_HOST = 2,    /**< ordinary host memory */
    CTXRT_MEMORY_MANAGED = 3, /**< memory that moves between host and device */
    CTXRT_MEMORY_WRAPPED = 4  /**< the caller's own, with a deleter */
} ctxrt_memory_kind;

typedef struct ctxrt_memory_info {
    void *pointer;
    size_t size_bytes;
    /** whose memory it is; pinned memory: whose context it was pinned in */
    ctxrt_device device;
    ctxrt_context *context; /**< NULL for host and wrapped memory */
    ctxrt_memory_kind kind;
    int pinned;             /**< 1 if asynchronous copies from and to it never wait */
} ctxrt_memory_info;

/**
 * Allocates device memory of the current context. The object starts with one count.
 *
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the device has not that much; nothing changed
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  size 0
 * @retval CTXRT_ERROR_NO_DEVICE         nothing is current
 */
CTXRT_API ctxrt_status ctxrt_memory_alloc(size_t size_bytes,
                                          ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Allocates pinned host memory of the current context; not zeroed. It is of that context's
 * allocator of pinned memory (ctxrt_allocator_pinned), which keeps what was freed. The host may use
 * it at once; so what is freed while asynchronous work uses it is given to nobody else before that
 * is done. ctxrt's own copies and fills, by whatever address within it, say so themselves; for
 * kernels and what other code submits, ctxrt_memory_record_stream does. A stream that captures
 * cannot be noted: the memory must live as long as the graph is launched. What is allocated or
 * freed in a recorded frame belongs to the recording, and is not used again before the graph is
 * gone.
 *
 * Where the driver of the CPU device cannot pin, that device gets ordinary host memory instead: the
 * log says so once, and ctxrt_memory_describe says CTXRT_MEMORY_HOST. Errors as ctxrt_memory_alloc.
 */
CTXRT_API ctxrt_status ctxrt_memory_alloc_pinned(size_t size_bytes,
                                                 ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Allocates ordinary host memory, zeroed, aligned to 64 bytes. Needs no device, touches none, and
 * does not start the runtime.
 *
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the host has not that much
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  size 0
 */
CTXRT_API ctxrt_status ctxrt_memory_alloc_host(size_t size_bytes,
                                               ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Makes an object of memory that the caller owns. When the last count is given back,
 * `deleter(pointer, user_data)` is called on the thread that gives it back; a NULL deleter leaves
 * the memory alone.
 *
 * @param device  what ctxrt_memory_describe is to say of it; no context is kept for it
 * @retval CTXRT_ERROR_INVALID_DEVICE    there is no such device
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  size 0, or the range wraps around
 */
CTXRT_API ctxrt_status ctxrt_memory_wrap(void *pointer, size_t size_bytes, ctxrt_device device,
                                         void (*deleter)(void *pointer, void *user_data),
                                         void *user_data,
                                         ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Adds a count. An object may have 262,143 of them, or more.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE    no memory object, or its last count was given back
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it has as many counts as it may
 */
CTXRT_API ctxrt_status ctxrt_memory_retain(ctxrt_memory *memory) CTXRT_CHECK_RESULT;

/**
 * Gives back a count; with the last one the memory is freed, from any thread and under any current
 * context or none. May wait for work that uses the memory, also of streams that were recorded:
 * ctxrt_memory_record_stream says when. NULL is harmless.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  one count too many, or no memory object
 * @retval CTXRT_ERROR_CORRUPTED       in debug mode: something wrote before or behind it; it is
 *     freed all the same
 * Another error is what the driver, or a custom allocator, reported, maybe of earlier work; the
 * memory is given back all the same.
 */
CTXRT_API ctxrt_status ctxrt_memory_release(ctxrt_memory *memory) CTXRT_CHECK_RESULT;

/** The address. NULL for NULL, and for a handle that is none. */
CTXRT_API void *ctxrt_memory_pointer(ctxrt_memory *memory);

/** Describes a piece of memory. */
CTXRT_API ctxrt_status ctxrt_memory_describe(ctxrt_memory *memory,
                                             ctxrt_memory_info *out_info) CTXRT_CHECK_RESULT;

/**
 * Says that `stream` (NULL: the current one) uses the memory as well: it is given to nobody else
 * before the work submitted to that stream so far is done, even if the last count goes earlier. The
 * release does not wait for that, but where the memory is a custom allocator's or one in debug
 * mode, belongs to a graph, is wrapped or ordinary host memory, or came from elsewhere: then it
 * does. The stream may be of any context and may be destroyed meanwhile; its context is kept until
 * the last count goes. For memory of any kind; a second call for the same stream replaces the
 * first.
 */
CTXRT_API ctxrt_status ctxrt_memory_record_stream(ctxrt_memory *memory,
                                                  ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Writes what memory is live: a line for all together, and one for each kind, device and place in
 * the caller's code that memory was allocated in, with pieces and bytes, the largest first. Places
 * are known of allocators in debug mode, while a trace of the allocator runs, and where the caller
 * said them (CTXRT_ORIGINS, below). A ctxrt_shutdown that is refused says the same in the log, at
 * the level info. Does not start the runtime. Other threads may go on, but must not end allocators
 * and contexts meanwhile.
 *
 * @retval CTXRT_ERROR_SYSTEM         the file could not be written
 * @retval CTXRT_ERROR_OUT_OF_MEMORY  the host has no memory for the report
 */
CTXRT_API ctxrt_status ctxrt_memory_report_write(FILE *file) CTXRT_CHECK_RESULT;

/** Device memory on its way to another process of this machine: plain bytes, for any channel. */
typedef struct ctxrt_exported_memory {
    size_t size_bytes;
    unsigned char token[64];
} ctxrt_exported_memory;

/**
 * Lets other processes reach a piece of device memory. Keep it alive while they do.
 *
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the driver has no such call; the embedded driver has not
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is no device memory
 */
CTXRT_API ctxrt_status ctxrt_memory_export(ctxrt_memory *memory,
                                           ctxrt_exported_memory *out_exported) CTXRT_CHECK_RESULT;

/**
 * Opens in the current context what another process exported; the device must be that of the
 * memory.
 * The last ctxrt_memory_release closes it. Errors as ctxrt_memory_export.
 */
CTXRT_API ctxrt_status ctxrt_memory_import(const ctxrt_exported_memory *exported,
                                           ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Allocates device memory of the current context as a raw pointer. Errors as ctxrt_memory_alloc.
 */
CTXRT_API ctxrt_status ctxrt_alloc(size_t size_bytes, void **out_pointer) CTXRT_CHECK_RESULT;

/**
 * Frees what ctxrt_alloc, ctxrt_alloc_managed or ctxrt_alloc_async gave, from any thread and under
 * any current context or none. NULL is harmless. May wait for work that uses the memory. Of several
 * threads that free one pointer, one succeeds.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not such a pointer, or freed before; nothing changed
 * @retval CTXRT_ERROR_CORRUPTED         in debug mode: something wrote before or behind it; it is
 *     freed all the same
 * Another error is what the driver, or a custom allocator, reported; the pointer is gone all the
 * same.
 */
CTXRT_API ctxrt_status ctxrt_free(void *pointer) CTXRT_CHECK_RESULT;

/**
 * Allocates from the driver in stream order: the memory may be used by work submitted to `stream`
 * (NULL: the current one) afterwards. Of the stream's device, and in no allocator's figures. It
 * outlives a reset of the device: free it all the same.
 *
 * @retval CTXRT_ERROR_NOT_SUPPORTED  the driver has no stream-ordered memory
 */
CTXRT_API ctxrt_status ctxrt_alloc_async(size_t size_bytes, ctxrt_stream *stream,
                                         void **out_pointer) CTXRT_CHECK_RESULT;

/**
 * Frees in stream order what ctxrt_alloc_async gave. NULL is harmless.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not such a pointer, or freed before
 * @retval CTXRT_ERROR_WRONG_CONTEXT     the stream is of another driver's device
 * Another error is what the driver reported; the pointer can be tried again, or given up with
 * ctxrt_free.
 */
CTXRT_API ctxrt_status ctxrt_free_async(void *pointer, ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** Allocates managed memory, reached by the host and by every device at the same address. It is in
 * no allocator's figures. Errors as ctxrt_memory_alloc. */
CTXRT_API ctxrt_status ctxrt_alloc_managed(size_t size_bytes,
                                           void **out_pointer) CTXRT_CHECK_RESULT;

/**
 * Pins memory of the caller's in the current context; unregister it before it is freed.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  size 0, or the range wraps around
 * @retval CTXRT_ERROR_ALREADY           some of it is pinned already
 */
CTXRT_API ctxrt_status ctxrt_host_register(void *pointer, size_t size_bytes) CTXRT_CHECK_RESULT;

/**
 * Undoes ctxrt_host_register, from any thread and under any current context or none.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not registered by ctxrt, or not the start of what was
 * Another error is what the driver reported; ctxrt has given the registration up all the same.
 */
CTXRT_API ctxrt_status ctxrt_host_unregister(void *pointer) CTXRT_CHECK_RESULT;

/**
 * Which way a copy goes. CTXRT_COPY_ANY lets the addresses decide. The drivers are asked what they
 * know of both: "host" is memory that the host may touch, which is any but a GPU's own; "device" is
 * memory that a driver knows, pinned and managed memory included. So memory of the CPU device
 * passes for either.
 */
typedef enum ctxrt_copy_kind {
    CTXRT_COPY_ANY = 0,
    CTXRT_COPY_HOST_TO_HOST = 1,
    CTXRT_COPY_HOST_TO_DEVICE = 2,
    CTXRT_COPY_DEVICE_TO_HOST = 3,
    CTXRT_COPY_DEVICE_TO_DEVICE = 4
} ctxrt_copy_kind;

/**
 * Copies and waits until it is done. The two ends may be on different devices of any type. A copy
 * from host to host is done at once by the calling thread and needs no device; any other runs in
 * the order of the current stream. Where the memory belongs to another driver than the current
 * context, it is copied after that stream's work, in the context that owns the memory.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such kind, `kind` contradicts what the addresses are, or
 *     a range wraps around
 * @retval CTXRT_ERROR_NULL_POINTER      an address is NULL
 * @retval CTXRT_ERROR_NO_DEVICE         nothing is current
 */
CTXRT_API ctxrt_status ctxrt_copy(void *destination, const void *source, size_t size_bytes,
                                  ctxrt_copy_kind kind) CTXRT_CHECK_RESULT;

/**
 * Copies in the order of `stream` (NULL: the current one), and of no other. With pinned memory and
 * between devices the call never waits; ordinary host memory is staged, or waited for (T13), and
 * waited for where the device's memory belongs to another driver than the stream. Memory of the CPU
 * that `kind` calls host memory is ordinary host memory.
 * Between devices of two drivers (the CPU, and a GPU of a libcuda) the copy goes through pinned
 * memory of the stream's context, or is what a host function of the stream does. Memory of either
 * end may be released at once: device memory of ctxrt's lasts until the copy is done; of memory
 * that is a custom allocator's or one in debug mode, belongs to a graph, is pinned, managed or
 * stream-ordered, the release waits. What fails later, in the other driver, is told once by the
 * next call that waits for work of the stream's context, or asks after it; so is a reset of the
 * other device, which ends the copy (CTXRT_ERROR_CONTEXT_DESTROYED). After an error of the call
 * itself some of the destination may have been written.
 * From host to host, with `stream` NULL and nothing current, there is no order to keep: it copies
 * at once. Errors as ctxrt_copy.
 *
 * @retval CTXRT_ERROR_NOT_SUPPORTED  between devices of two drivers: the stream captures, and is
 *                                    not of the GPU's driver; the capture goes on
 */
CTXRT_API ctxrt_status ctxrt_copy_async(void *destination, const void *source, size_t size_bytes,
                                        ctxrt_copy_kind kind,
                                        ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * A copy of `depth` slices of `height` rows of `width_bytes`. Pitches are bytes from row to row, at
 * least the width unless there is one row; slice heights are rows from slice to slice, at least the
 * height unless there is one slice. The 2D copies read neither depth nor slice heights.
 */
typedef struct ctxrt_copy_region {
    void *destination;
    size_t destination_pitch_bytes;
    size_t destination_slice_height;
    const void *source;
    size_t source_pitch_bytes;
    size_t source_slice_height;
    size_t width_bytes;
    size_t height;
    size_t depth;
    ctxrt_copy_kind kind;
} ctxrt_copy_region;

/** Copy regions, as ctxrt_copy and ctxrt_copy_async copy bytes, with their errors.
 * CTXRT_ERROR_INVALID_ARGUMENT also for a pitch or slice height that is too small, and for sizes
 * that overflow. Between two devices each row is a copy of its own. */
CTXRT_API ctxrt_status ctxrt_copy_2d(const ctxrt_copy_region *region) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_copy_2d_async(const ctxrt_copy_region *region,
                                           ctxrt_stream *stream) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_copy_3d(const ctxrt_copy_region *region) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_copy_3d_async(const ctxrt_copy_region *region,
                                           ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Copies between the primary contexts of two devices in the order of `stream` (NULL: the current
 * one), which is of either device. Peer access makes it faster, but is not needed.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  an address is not memory of the device named for it
 * @retval CTXRT_ERROR_WRONG_CONTEXT     the stream is of a third device
 * @retval CTXRT_ERROR_INVALID_DEVICE    there is no such device
 */
CTXRT_API ctxrt_status ctxrt_copy_peer(void *destination, ctxrt_device destination_device,
                                       const void *source, ctxrt_device source_device,
                                       size_t size_bytes, ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Sets every byte to `value` (0 to 255) and waits until it is done. Ordinary and pinned host memory
 * is set at once by the calling thread and needs no device; other memory in the order of the
 * current stream.
 */
CTXRT_API ctxrt_status ctxrt_fill(void *destination, int value,
                                  size_t size_bytes) CTXRT_CHECK_RESULT;

/** Sets every byte to `value` in the order of `stream` (NULL: the current one). For ordinary host
 * memory the call waits for the stream's work first; with nothing current it sets it at once. */
CTXRT_API ctxrt_status ctxrt_fill_async(void *destination, int value, size_t size_bytes,
                                        ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** What is known of an address. */
typedef struct ctxrt_pointer_info {
    int known;             /**< 0: the drivers do not know it; nothing else is set */
    ctxrt_memory_kind kind;
    ctxrt_device device;
    void *base;            /**< start of the allocation */
    size_t size_bytes;     /**< of the allocation */
} ctxrt_pointer_info;

/** Asks every loaded driver about an address. Needs no current context. */
CTXRT_API ctxrt_status ctxrt_pointer_query(const void *pointer,
                                           ctxrt_pointer_info *out_info) CTXRT_CHECK_RESULT;

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

#define CTXRT_ALLOCATOR_INFO_INIT                                                         \
    {                                                                                     \
        sizeof(ctxrt_allocator_info), NULL, {CTXRT_DEVICE_CPU, 0}, 0, {0, 0, 0, 0, 0, 0}, \
            {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}, 0, 0, 0, 0, 0     \
    }

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

#define CTXRT_ALLOCATOR_DEBUG_INIT                                                        \
    {                                                                                     \
        sizeof(ctxrt_allocator_debug), 0, 0, 0, 0                                         \
    }

/**
 * Where an allocator's segments come from: the memory that it asks the driver for at once, and
 * gives out piece by piece.
 */
typedef enum ctxrt_allocator_source {
    /**
     * As the environment's CTXRT_ALLOCATOR says, which is for devices of type CUDA; ALLOC if it
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
    CTXRT_ALLOCATOR_SOURCE_VMM = 2
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

#define CTXRT_ALLOCATOR_OPTIONS_INIT                                                      \
    {                                                                                     \
        sizeof(ctxrt_allocator_options), 0, CTXRT_ALLOCATOR_SOURCE_DEFAULT, 0, 0, NULL    \
    }

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
 * neither destroyed nor put into a frame. CTXRT_DEBUG_MEMORY in the environment says whether it is
 * in debug mode; a free then waits for the work that uses the memory. A trim gives segments of
 * which nothing is in use, and no copy either, back to the driver, and so what copies between two
 * drivers were staged through.
 *
 * @retval CTXRT_ERROR_NO_DEVICE  nothing is current
 */
CTXRT_API ctxrt_status ctxrt_allocator_pinned(ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

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
 * Writes an allocator's figures, its segments and every block of them, as text, JSON or a picture
 * (SVG); NULL: of the top frame's allocator. docs/snapshots.md describes them. Where a block was
 * allocated is known if a trace of the allocator ran then, or its caller said so (CTXRT_ORIGINS,
 * below). Other threads may go on: blocks and figures may be of different moments.
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

/**
 * The same as the calls without _at, for a place in the caller's source: reports and snapshots name
 * it with each piece that is live, without a trace or debug mode. The text of `file` is copied;
 * NULL names no place. A program that defines CTXRT_ORIGINS before it includes this calls these by
 * the names of the others, each with the place that the call stands in.
 */
CTXRT_API ctxrt_status ctxrt_memory_alloc_at(size_t size_bytes, const char *file, int line,
                                             ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_memory_alloc_pinned_at(size_t size_bytes, const char *file, int line,
                                                    ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_alloc_at(size_t size_bytes, const char *file, int line,
                                      void **out_pointer) CTXRT_CHECK_RESULT;

#ifdef CTXRT_ORIGINS
#define ctxrt_memory_alloc(size_bytes, out_memory)                                                 \
    ctxrt_memory_alloc_at(size_bytes, __FILE__, __LINE__, out_memory)
#define ctxrt_memory_alloc_pinned(size_bytes, out_memory)                                          \
    ctxrt_memory_alloc_pinned_at(size_bytes, __FILE__, __LINE__, out_memory)
#define ctxrt_alloc(size_bytes, out_pointer)                                                       \
    ctxrt_alloc_at(size_bytes, __FILE__, __LINE__, out_pointer)
#endif

#ifdef __cplusplus
}
#endif

#endif
