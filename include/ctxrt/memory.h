/**
 * Memory: counted objects and raw pointers, copies, fills.
 *
 * Memory comes from the allocator of the calling thread's top frame (allocator.h), and belongs to
 * that frame's context. It is given back from any thread, whatever is current there, or nothing: no
 * call here changes which device or context is current.
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
 * Adds a count. An object may have 131,071 of them, or more.
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
 * Frees what ctxrt_alloc, ctxrt_alloc_direct, ctxrt_alloc_pinned, ctxrt_alloc_managed or
 * ctxrt_alloc_async gave, from any thread and under any current context or none. NULL is harmless.
 * May wait for work that uses the memory. Of several threads that free one pointer, one succeeds.
 * Where several live blocks start at one address, each takes a free of its own: memory of before a
 * reset of its device goes first, and of that, or else of all, the youngest, such as the first
 * block that a custom allocator placed in a slab.
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

/**
 * As ctxrt_alloc, but whatever allocator the frame has: from the context's direct one
 * (ctxrt_allocator_direct), by one call of the driver's.
 */
CTXRT_API ctxrt_status ctxrt_alloc_direct(size_t size_bytes,
                                          void **out_pointer) CTXRT_CHECK_RESULT;

/** Allocates pinned host memory by one call of the driver's (cuMemHostAlloc). It is in no
 * allocator's figures. ctxrt_free waits for work that uses it. Errors as ctxrt_memory_alloc. */
CTXRT_API ctxrt_status ctxrt_alloc_pinned(size_t size_bytes,
                                          void **out_pointer) CTXRT_CHECK_RESULT;

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
 * context, or is mapped (CTXRT_ALLOCATOR_SOURCE_VMM) and the stream's device does not reach it, it
 * is copied after that stream's work, in the context that owns the memory.
 * Copies and fills stay within memory that ctxrt gave out, and never touch memory that ctxrt gave
 * back: both are refused before anything is done. Memory of other code has its driver's own rules.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such kind, `kind` contradicts what the addresses are, or
 *     a range wraps around; it begins or ends beyond the block of ctxrt's that it is in: the
 *     message has both sizes, and where the block was allocated (CTXRT_ORIGINS); or it is in memory
 *     that was freed, trimmed, or went with a reset: the message says whose it was
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
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  a value that is no byte, or a range that ctxrt_copy refuses
 */
CTXRT_API ctxrt_status ctxrt_fill(void *destination, int value,
                                  size_t size_bytes) CTXRT_CHECK_RESULT;

/** Sets every byte to `value` in the order of `stream` (NULL: the current one). For ordinary host
 * memory the call waits for the stream's work first; with nothing current it sets it at once. */
CTXRT_API ctxrt_status ctxrt_fill_async(void *destination, int value, size_t size_bytes,
                                        ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** What is known of an address. */
typedef struct ctxrt_pointer_info {
    int known;             /**< 0: it is in no live memory, or host memory; nothing else is set */
    ctxrt_memory_kind kind;
    ctxrt_device device;
    void *base;            /**< start of the allocation */
    size_t size_bytes;     /**< of the allocation */
} ctxrt_pointer_info;

/** Asks every loaded driver about an address. Needs no current context. */
CTXRT_API ctxrt_status ctxrt_pointer_query(const void *pointer,
                                           ctxrt_pointer_info *out_info) CTXRT_CHECK_RESULT;

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
