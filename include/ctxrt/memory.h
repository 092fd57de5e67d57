/**
 * Memory: counted objects and raw pointers, copies, fills.
 *
 * Memory comes from the allocator of the calling thread's top frame (allocator.h), and belongs to
 * that frame's context. Any thread may free it, with any current context or none. No call here
 * changes the current device or context.
 * Sizes are in bytes. Allocating 0 bytes is an error; copying or filling 0 bytes does nothing.
 * Freed memory is kept for later requests; ctxrt_allocator_trim gives it back to the driver. Device
 * memory belongs to the stream that was current when it was allocated, and is ready in that
 * stream's order: earlier work of the stream may still use it. To use it in another stream, let
 * that stream wait for the first one, and call ctxrt_memory_record_stream before the memory is
 * freed. The host may use memory of the CPU device at once.
 * A request served from kept memory does not ask the driver. If other code has destroyed or reset
 * the context, that shows when the memory is used.
 * Memory keeps its context from being destroyed or released (CTXRT_ERROR_IN_USE). A reset of its
 * device frees it: the caller still releases it, without error, but must not use it. The reset
 * waits for work in streams of other contexts that ctxrt knows to use the memory: its own copies
 * and fills, and the work of streams recorded with ctxrt_memory_record_stream.
 * Thread-safe, except ctxrt_device_reset while other threads work with memory of that device.
 *
 * Besides the errors named at each function: CTXRT_ERROR_INVALID_HANDLE if a memory object was
 * freed or never was one, CTXRT_ERROR_NULL_POINTER if it is NULL, CTXRT_ERROR_NO_DEVICE if the call
 * needs the current context and there is none, and, of calls that take a stream, the errors of
 * stream.h.
 */
#ifndef CTXRT_MEMORY_H
#define CTXRT_MEMORY_H

#include <ctxrt/stack.h>
#include <ctxrt/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Counted memory. A handle, as in context.h. */
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
    /** the owning device; pinned memory: the device of the context it was pinned in */
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
 * Allocates pinned host memory of the current context; not zeroed. It comes from that context's
 * allocator of pinned memory (ctxrt_allocator_pinned), which keeps freed memory. The host may use
 * it at once; so memory freed while asynchronous work uses it is not handed out again before that
 * work is done. ctxrt's own copies and fills record their use; for kernels and for work of other
 * code, call ctxrt_memory_record_stream. Uses by a capturing stream cannot be recorded: the memory
 * must live as long as the graph is launched. Memory allocated or freed in a recorded frame belongs
 * to the recording, and is not used again before the graph is gone.
 *
 * Where the driver of the CPU device cannot pin, that device gets ordinary host memory instead: the
 * log says so once, and ctxrt_memory_describe says CTXRT_MEMORY_HOST. Errors as ctxrt_memory_alloc.
 */
CTXRT_API ctxrt_status ctxrt_memory_alloc_pinned(size_t size_bytes,
                                                 ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Allocates device memory of `context`, from its default allocator; it belongs to the calling
 * thread's default stream there. The calling thread needs no current context; its frames are
 * neither asked nor changed, and its current context is what it was: for libraries that do not know
 * the frames of their callers. A recording of the calling thread does not keep the memory. The rest
 * is as of ctxrt_memory_alloc.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  the context is gone or never was one
 * @retval CTXRT_ERROR_NULL_POINTER    `context` is NULL
 */
CTXRT_API ctxrt_status ctxrt_memory_alloc_on(ctxrt_context *context, size_t size_bytes,
                                             ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/** Allocates pinned host memory of `context`: ctxrt_memory_alloc_pinned in the way of
 * ctxrt_memory_alloc_on. */
CTXRT_API ctxrt_status ctxrt_memory_alloc_pinned_on(ctxrt_context *context, size_t size_bytes,
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
 * Makes a memory object of memory that the caller owns. When the last count is given back,
 * `deleter(pointer, user_data)` is called on the thread that gives it back; a NULL deleter leaves
 * the memory alone.
 *
 * @param device  the device that ctxrt_memory_describe reports; no context is kept for it
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
 * context or none. May wait for work that uses the memory, in recorded streams too: see
 * ctxrt_memory_record_stream. NULL is harmless.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  one count too many, or no memory object
 * @retval CTXRT_ERROR_CORRUPTED       in debug mode: something wrote before or behind it; it is
 *     freed all the same
 * Another error is what the driver, or a custom allocator, reported, maybe of earlier work; the
 * memory is given back all the same.
 */
CTXRT_API ctxrt_status ctxrt_memory_release(ctxrt_memory *memory) CTXRT_CHECK_RESULT;

/** For CTXRT_SCOPE_MEMORY only. */
static inline void ctxrt_memory_cleanup(ctxrt_memory **memory)
{
    (void)ctxrt_memory_release(*memory);
}

#ifdef CTXRT_CLEANUP
/**
 * Declares memory of which one count is given back at the end of the block, on every path:
 * CTXRT_SCOPE_MEMORY ctxrt_memory *m = NULL; ctxrt_memory_retain keeps it beyond the block.
 */
#define CTXRT_SCOPE_MEMORY CTXRT_CLEANUP(ctxrt_memory_cleanup)
#endif

/** The address. NULL for NULL, and for a handle that is none. */
CTXRT_API void *ctxrt_memory_pointer(ctxrt_memory *memory);

/**
 * Describes a memory object.
 *
 * @param out_info  its address, size, device, context and kind
 */
CTXRT_API ctxrt_status ctxrt_memory_describe(ctxrt_memory *memory,
                                             ctxrt_memory_info *out_info) CTXRT_CHECK_RESULT;

/**
 * Records that `stream` (NULL: the current one) uses the memory too: it is not handed out again
 * before the work submitted to that stream so far is done, even if it is released earlier. The
 * release itself waits only if the memory comes from a custom allocator or one in debug mode,
 * belongs to a graph, is wrapped or ordinary host memory, or was imported. The stream may be of any
 * context and may be destroyed meanwhile; its context is kept until the last count goes, or until
 * the graph goes that the memory belongs to then. A reset of the memory's device waits for the
 * work, too. For memory of any kind; a second call for the same stream replaces the first.
 */
CTXRT_API ctxrt_status ctxrt_memory_record_stream(ctxrt_memory *memory,
                                                  ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Reports live memory: a line for the total, and one for each kind, device and place of allocation
 * in the caller's code, with blocks and bytes, the largest first. Places are known for allocators
 * in debug mode, while a trace of the allocator runs, and for callers that define CTXRT_ORIGINS
 * (below). A refused ctxrt_shutdown logs the same, at the level info. Does not start the runtime.
 * Other threads may go on, but must not destroy allocators or contexts during the call.
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
 * Exports device memory to other processes. Keep it alive while they use it. Memory of an allocator
 * over a pool (allocator.h) is exported as the pool's, if the pool was made to be shared.
 *
 * @param out_exported  what ctxrt_memory_import takes in the other process, or, for memory of a
 *     pool, ctxrt_memory_import_from_pool
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the driver has no such call, or memory of the CPU
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  it is no device memory, or begins inside an allocation of
 *                                        the driver, all of which would be shared
 */
CTXRT_API ctxrt_status ctxrt_memory_export(ctxrt_memory *memory,
                                           ctxrt_exported_memory *out_exported) CTXRT_CHECK_RESULT;

/**
 * Opens memory that another process exported in the current context, which must be of the memory's
 * device.
 * The last ctxrt_memory_release closes it. Errors as ctxrt_memory_export.
 */
CTXRT_API ctxrt_status ctxrt_memory_import(const ctxrt_exported_memory *exported,
                                           ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

struct CUmemPoolHandle_st; /* the driver's CUmemoryPool is a pointer to it */

/**
 * Opens memory of a pool in the current context: memory that another process exported with
 * ctxrt_memory_export, and that came from an allocator over a pool there
 * (ctxrt_allocator_create_from_pool). The pools themselves go from process to process by
 * cuMemPoolExportToShareableHandle. The last ctxrt_memory_release waits for the work of the context
 * and closes it; the other process keeps the memory until then.
 *
 * @param pool  as cuMemPoolImportFromShareableHandle gave it; it outlives the memory
 * @retval CTXRT_ERROR_DRIVER         the driver refused: the memory is not of that pool, say
 * @retval CTXRT_ERROR_NOT_SUPPORTED  the driver has no such call
 */
CTXRT_API ctxrt_status
ctxrt_memory_import_from_pool(struct CUmemPoolHandle_st *pool,
                              const ctxrt_exported_memory *exported,
                              ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/** Mapped memory that another process has as files, one for each part of it in turn. */
typedef struct ctxrt_exported_mapping {
    size_t size_bytes; /**< of the memory */
    size_t file_bytes; /**< of the part of each file; the last one is larger than what is left */
    size_t file_count;
} ctxrt_exported_mapping;

/**
 * Exports mapped memory to other processes, as file descriptors: that of an allocator with
 * CTXRT_ALLOCATOR_SOURCE_VMM, which ctxrt_memory_export cannot. Keep the memory alive while they
 * use it. They also reach what lies behind its end in the last file's part.
 *
 * @param capacity     how many files there is room for
 * @param files        gets `out_mapping->file_count` descriptors, which the caller closes; a Unix
 *                     socket carries them to another process (SCM_RIGHTS). NULL: only counts them
 * @param out_mapping  what ctxrt_memory_import_mapped takes in the other process
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  the memory is not mapped, or begins inside a mapping, all
 *                                       of which would be shared; or there is too little room
 * @retval CTXRT_ERROR_CONTEXT_DESTROYED a reset has ended the memory
 * @retval CTXRT_ERROR_DRIVER            the device has no such files, or the process no more
 */
CTXRT_API ctxrt_status ctxrt_memory_export_mapped(ctxrt_memory *memory, size_t capacity, int *files,
                                                  ctxrt_exported_mapping *out_mapping)
    CTXRT_CHECK_RESULT;

/**
 * Maps memory that another process exported with ctxrt_memory_export_mapped. The current context's
 * device reaches it, and must be the memory's or a peer of it. The files may be closed afterwards.
 * The last ctxrt_memory_release waits for the work of the context and unmaps it; the memory itself
 * is the other process's. A release by a thread that captures a stream of the context fails, since
 * it may not wait: the addresses stay mapped.
 *
 * @param files  `mapping->file_count` descriptors in the order of the export
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  such a mapping has no such number of files
 * @retval CTXRT_ERROR_DRIVER            the driver refused: a file is none of mapped memory, say
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the driver or the device has no such call
 */
CTXRT_API ctxrt_status ctxrt_memory_import_mapped(const ctxrt_exported_mapping *mapping,
                                                  const int *files,
                                                  ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Allocates device memory of the current context as a raw pointer. Errors as ctxrt_memory_alloc.
 */
CTXRT_API ctxrt_status ctxrt_alloc(size_t size_bytes, void **out_pointer) CTXRT_CHECK_RESULT;

/** Allocates device memory of `context` as a raw pointer, as ctxrt_memory_alloc_on does. */
CTXRT_API ctxrt_status ctxrt_alloc_on(ctxrt_context *context, size_t size_bytes,
                                      void **out_pointer) CTXRT_CHECK_RESULT;

/**
 * Frees memory of ctxrt_alloc, ctxrt_alloc_on, ctxrt_alloc_direct, ctxrt_alloc_pinned,
 * ctxrt_alloc_managed or ctxrt_alloc_async, from any thread and under any current context or none.
 * NULL is harmless. May wait for work that uses the memory. Of several threads that free one
 * pointer, one succeeds. If several live blocks start at one address, each needs its own free.
 * Blocks from before a reset of their device go first; within each group the youngest goes first,
 * such as the first block that a custom allocator placed in a slab. Until a pointer from before a
 * reset is freed, its address goes to no other memory, unless a custom allocator chooses it or
 * there is no other memory.
 * The driver frees memory of ctxrt_alloc_async without a wait. So the call waits for the stream
 * that the memory was allocated in, unless that is the legacy stream, captures or was destroyed.
 * Before the call, wait for other streams that use the memory; ctxrt_free_async needs no wait.
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
 * (NULL: the current one) afterwards. It belongs to the stream's device and counts in no
 * allocator's figures. It outlives a reset of the device: free it after one, too.
 *
 * @retval CTXRT_ERROR_NOT_SUPPORTED  the driver has no stream-ordered memory
 */
CTXRT_API ctxrt_status ctxrt_alloc_async(size_t size_bytes, ctxrt_stream *stream,
                                         void **out_pointer) CTXRT_CHECK_RESULT;

/**
 * Frees memory of ctxrt_alloc_async in stream order. NULL is harmless.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not such a pointer, or freed before
 * @retval CTXRT_ERROR_WRONG_CONTEXT     the stream is of another driver's device
 * Another error is what the driver reported; the pointer can be tried again, or given up with
 * ctxrt_free.
 */
CTXRT_API ctxrt_status ctxrt_free_async(void *pointer, ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Allocates as ctxrt_alloc does, but by one driver call, from the context's direct allocator
 * (ctxrt_allocator_direct) and not from the frame's.
 */
CTXRT_API ctxrt_status ctxrt_alloc_direct(size_t size_bytes,
                                          void **out_pointer) CTXRT_CHECK_RESULT;

/** Allocates pinned host memory by one driver call (cuMemHostAlloc). It counts in no allocator's
 * figures. ctxrt_free waits for work that uses it. Errors as ctxrt_memory_alloc. */
CTXRT_API ctxrt_status ctxrt_alloc_pinned(size_t size_bytes,
                                          void **out_pointer) CTXRT_CHECK_RESULT;

/** Allocates managed memory, reached by the host and by every device at the same address. It counts
 * in no allocator's figures. Errors as ctxrt_memory_alloc. */
CTXRT_API ctxrt_status ctxrt_alloc_managed(size_t size_bytes,
                                           void **out_pointer) CTXRT_CHECK_RESULT;

/**
 * Pins the caller's memory in the current context; unregister it before it is freed.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  size 0, or the range wraps around
 * @retval CTXRT_ERROR_ALREADY           some of it is pinned already
 */
CTXRT_API ctxrt_status ctxrt_host_register(void *pointer, size_t size_bytes) CTXRT_CHECK_RESULT;

/**
 * Undoes ctxrt_host_register, from any thread and under any current context or none.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not the start of memory that ctxrt registered
 * Another error is what the driver reported; ctxrt has given the registration up all the same.
 */
CTXRT_API ctxrt_status ctxrt_host_unregister(void *pointer) CTXRT_CHECK_RESULT;

/**
 * The direction of a copy. CTXRT_COPY_ANY lets the addresses decide. The drivers are asked about
 * both addresses. "Host" is memory that the host may touch: all but a GPU's own. "Device" is memory
 * that a driver knows, including pinned and managed memory. So memory of the CPU device is both.
 */
typedef enum ctxrt_copy_kind {
    CTXRT_COPY_ANY = 0,
    CTXRT_COPY_HOST_TO_HOST = 1,
    CTXRT_COPY_HOST_TO_DEVICE = 2,
    CTXRT_COPY_DEVICE_TO_HOST = 3,
    CTXRT_COPY_DEVICE_TO_DEVICE = 4
} ctxrt_copy_kind;

/**
 * Copies, and waits until the copy is done. The two ends may be on different devices of any type. A
 * copy from host to host is done at once by the calling thread and needs no device; any other runs
 * in the order of the current stream. Where the memory belongs to another driver than the current
 * context, or is mapped (CTXRT_ALLOCATOR_SOURCE_VMM) and the stream's device does not reach it, it
 * is copied after that stream's work, in the context that owns the memory.
 * A copy or fill that goes beyond a block of ctxrt's, or touches memory that ctxrt has freed, is
 * refused before anything is done. Memory of other code follows its driver's rules.
 *
 * @param destination, source  addresses of host or device memory
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
 * between devices the call never waits; ordinary host memory is staged or waited for (T13), and
 * always waited for if the device's memory belongs to another driver than the stream. Memory of the
 * CPU device counts as ordinary host memory if `kind` calls it host memory.
 * Between devices of two drivers (the CPU, and a GPU of a libcuda) the copy goes through pinned
 * memory of the stream's context, or a host function of the stream does it. Memory of either end
 * may be released at once. The release waits for the copy if the memory comes from a custom
 * allocator or one in debug mode, belongs to a graph, or is pinned, managed or stream-ordered;
 * other device memory is kept until the copy is done. An error that occurs later in the other
 * driver is returned once, by the next call that waits for or queries work of the stream's context.
 * So is a reset of the other device, which ends the copy (CTXRT_ERROR_CONTEXT_DESTROYED). After an
 * error of the call itself some of the destination may have been written.
 * From host to host, with `stream` NULL and nothing current, there is no order to keep: it copies
 * at once. Errors as ctxrt_copy.
 *
 * @param destination, source  as of ctxrt_copy
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
 * @param destination, source  addresses of memory of the two devices
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
 * @param destination  the first byte, of memory of any kind
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  a value that is no byte, or a range that ctxrt_copy refuses
 */
CTXRT_API ctxrt_status ctxrt_fill(void *destination, int value,
                                  size_t size_bytes) CTXRT_CHECK_RESULT;

/**
 * Sets every byte to `value` in the order of `stream` (NULL: the current one). For ordinary host
 * memory the call waits for the stream's work first; with nothing current it sets it at once.
 *
 * @param destination  as of ctxrt_fill
 */
CTXRT_API ctxrt_status ctxrt_fill_async(void *destination, int value, size_t size_bytes,
                                        ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Sets `count` words of 32 bits to `value`, in the host's byte order, as ctxrt_fill sets bytes.
 *
 * @param destination  the first word, at a multiple of 4
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not at a multiple of 4, or a range that ctxrt_copy refuses
 * @retval CTXRT_ERROR_NOT_SUPPORTED     the driver has no such fill
 */
CTXRT_API ctxrt_status ctxrt_fill32(void *destination, uint32_t value,
                                    size_t count) CTXRT_CHECK_RESULT;

/**
 * Sets `count` words to `value` as ctxrt_fill32 does, in the order of `stream` as ctxrt_fill_async
 * does.
 *
 * @param destination  the first word, at a multiple of 4
 */
CTXRT_API ctxrt_status ctxrt_fill32_async(void *destination, uint32_t value, size_t count,
                                          ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** The result of ctxrt_pointer_query. */
typedef struct ctxrt_pointer_info {
    int known;             /**< 0: it is in no live memory, or host memory; nothing else is set */
    ctxrt_memory_kind kind;
    ctxrt_device device;
    void *base;            /**< start of the allocation */
    size_t size_bytes;     /**< of the allocation */
} ctxrt_pointer_info;

/**
 * Asks every loaded driver about an address. Needs no current context. An address that no driver
 * knows is no error: `known` is 0 then. Another error than a NULL pointer is what a driver reported
 * when it was asked; `out_info` is as it was.
 */
CTXRT_API ctxrt_status ctxrt_pointer_query(const void *pointer,
                                           ctxrt_pointer_info *out_info) CTXRT_CHECK_RESULT;

/**
 * The calls without _at, with a place in the caller's source: reports and snapshots name it for
 * each live block, without a trace or debug mode. The text of `file` is copied; NULL names no
 * place. If a program defines CTXRT_ORIGINS before it includes this header, the plain names call
 * these, with the place of the call.
 *
 * @param line  the number of the line in `file`
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
