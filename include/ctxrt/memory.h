/**
 * Memory: counted objects and raw pointers, copies, fills.
 *
 * Memory comes from the allocator of the calling thread's top frame, and belongs to that frame's
 * context. It is given back from any thread, whatever is current there, or nothing: no call here
 * changes which device or context is current.
 * Sizes are in bytes. A size of 0 is an error where memory is asked for, and does nothing where
 * memory is copied or filled.
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
    CTXRT_MEMORY_DEVICE = 0,  /**< memory of a device; on the type CPU, memory the host may touch too */
    CTXRT_MEMORY_PINNED = 1,  /**< host memory that devices reach directly */
    CTXRT_MEMORY_HOST = 2,    /**< ordinary host memory */
    CTXRT_MEMORY_MANAGED = 3, /**< memory that moves between host and device */
    CTXRT_MEMORY_WRAPPED = 4  /**< the caller's own, with a deleter */
} ctxrt_memory_kind;

typedef struct ctxrt_memory_info {
    void *pointer;
    size_t size_bytes;
    ctxrt_device device;   /**< whose memory it is; pinned memory: whose context it was pinned in */
    ctxrt_context *context; /**< NULL for host and wrapped memory */
    ctxrt_memory_kind kind;
    int pinned;            /**< 1 if asynchronous copies from and to it never wait */
} ctxrt_memory_info;

/**
 * Allocates device memory of the current context. The object starts with one count.
 *
 * @retval CTXRT_ERROR_OUT_OF_MEMORY     the device has not that much; nothing changed
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  size 0
 * @retval CTXRT_ERROR_NO_DEVICE         nothing is current
 */
CTXRT_API ctxrt_status ctxrt_memory_alloc(size_t size_bytes, ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/** Allocates pinned host memory in the current context. */
CTXRT_API ctxrt_status ctxrt_memory_alloc_pinned(size_t size_bytes,
                                                 ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/** Allocates ordinary host memory, zeroed, aligned to 64 bytes. Needs no device and touches none. */
CTXRT_API ctxrt_status ctxrt_memory_alloc_host(size_t size_bytes,
                                               ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/**
 * Makes an object of memory that the caller owns. When the last count is given back, `deleter(pointer,
 * user_data)` is called on the thread that gives it back; a NULL deleter leaves the memory alone.
 *
 * @param device  what ctxrt_memory_describe is to say of it
 */
CTXRT_API ctxrt_status ctxrt_memory_wrap(void *pointer, size_t size_bytes, ctxrt_device device,
                                         void (*deleter)(void *pointer, void *user_data), void *user_data,
                                         ctxrt_memory **out_memory) CTXRT_CHECK_RESULT;

/** Adds a count. */
CTXRT_API ctxrt_status ctxrt_memory_retain(ctxrt_memory *memory) CTXRT_CHECK_RESULT;

/**
 * Gives back a count; with the last one the memory is freed, from any thread and under any current
 * context or none. NULL is harmless. One count too many is CTXRT_ERROR_INVALID_HANDLE.
 */
CTXRT_API ctxrt_status ctxrt_memory_release(ctxrt_memory *memory) CTXRT_CHECK_RESULT;

/** The address. NULL for NULL, and for a handle that is none. */
CTXRT_API void *ctxrt_memory_pointer(ctxrt_memory *memory);

/** Describes a piece of memory. */
CTXRT_API ctxrt_status ctxrt_memory_describe(ctxrt_memory *memory,
                                             ctxrt_memory_info *out_info) CTXRT_CHECK_RESULT;

/**
 * Says that `stream` (NULL: the current one) uses the memory as well: it is not given back before the
 * work submitted to that stream so far is done, even if the last count goes earlier.
 */
CTXRT_API ctxrt_status ctxrt_memory_record_stream(ctxrt_memory *memory,
                                                  ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** Allocates device memory of the current context as a raw pointer. */
CTXRT_API ctxrt_status ctxrt_alloc(size_t size_bytes, void **out_pointer) CTXRT_CHECK_RESULT;

/**
 * Frees what ctxrt_alloc or ctxrt_alloc_managed gave, from any thread and under any current context or
 * none. NULL is harmless. May wait for work that uses the memory.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  not such a pointer, or freed before
 */
CTXRT_API ctxrt_status ctxrt_free(void *pointer) CTXRT_CHECK_RESULT;

/** Allocates in stream order: the memory may be used by work submitted to `stream` (NULL: the current
 * one) afterwards. CTXRT_ERROR_NOT_SUPPORTED if the driver has no stream-ordered memory. */
CTXRT_API ctxrt_status ctxrt_alloc_async(size_t size_bytes, ctxrt_stream *stream,
                                         void **out_pointer) CTXRT_CHECK_RESULT;

/** Frees in stream order what ctxrt_alloc_async gave. NULL is harmless. */
CTXRT_API ctxrt_status ctxrt_free_async(void *pointer, ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** Allocates managed memory, reached by the host and by every device at the same address. */
CTXRT_API ctxrt_status ctxrt_alloc_managed(size_t size_bytes, void **out_pointer) CTXRT_CHECK_RESULT;

/** Pins memory of the caller's in the current context; unregister it before it is freed. */
CTXRT_API ctxrt_status ctxrt_host_register(void *pointer, size_t size_bytes) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_host_unregister(void *pointer) CTXRT_CHECK_RESULT;

/** Which way a copy goes. CTXRT_COPY_ANY lets the addresses decide. */
typedef enum ctxrt_copy_kind {
    CTXRT_COPY_ANY = 0,
    CTXRT_COPY_HOST_TO_HOST = 1,
    CTXRT_COPY_HOST_TO_DEVICE = 2,
    CTXRT_COPY_DEVICE_TO_HOST = 3,
    CTXRT_COPY_DEVICE_TO_DEVICE = 4
} ctxrt_copy_kind;

/**
 * Copies and waits until it is done. The two ends may be on different devices of any type; a copy
 * between devices without a common driver goes through host memory. CTXRT_COPY_HOST_TO_HOST needs no
 * device; the others run in the current context.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such kind, or `kind` contradicts what the addresses are
 */
CTXRT_API ctxrt_status ctxrt_copy(void *destination, const void *source, size_t size_bytes,
                                  ctxrt_copy_kind kind) CTXRT_CHECK_RESULT;

/**
 * Copies in the order of `stream` (NULL: the current one). With pinned memory the call never waits;
 * ordinary host memory is staged, or waited for.
 */
CTXRT_API ctxrt_status ctxrt_copy_async(void *destination, const void *source, size_t size_bytes,
                                        ctxrt_copy_kind kind, ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** A copy of `depth` slices of `height` rows of `width_bytes`. Pitches are bytes from row to row,
 * slice heights rows from slice to slice; for 2D copies depth is 1 and the slice heights are not read. */
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

CTXRT_API ctxrt_status ctxrt_copy_2d(const ctxrt_copy_region *region) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_copy_2d_async(const ctxrt_copy_region *region,
                                           ctxrt_stream *stream) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_copy_3d(const ctxrt_copy_region *region) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_copy_3d_async(const ctxrt_copy_region *region,
                                           ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Copies between the primary contexts of two devices in the order of `stream` (NULL: the current
 * one), which belongs to either. Peer access makes it faster, but is not needed.
 */
CTXRT_API ctxrt_status ctxrt_copy_peer(void *destination, ctxrt_device destination_device,
                                       const void *source, ctxrt_device source_device, size_t size_bytes,
                                       ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/** Sets every byte to `value` (0 to 255) and waits until it is done. */
CTXRT_API ctxrt_status ctxrt_fill(void *destination, int value, size_t size_bytes) CTXRT_CHECK_RESULT;

/** Sets every byte to `value` in the order of `stream` (NULL: the current one). */
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

/** Figures of an allocator, in bytes unless they count. */
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

/**
 * Creates an allocator that takes memory of the calling thread's current context from the driver, with
 * figures and a limit of its own. The caller owns it. Put it into a frame with
 * ctxrt_frame_set_allocator.
 *
 * @param limit_bytes  requests beyond it are CTXRT_ERROR_OUT_OF_MEMORY; 0: no limit
 */
CTXRT_API ctxrt_status ctxrt_allocator_create(uint64_t limit_bytes,
                                              ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

/** NULL is harmless. CTXRT_ERROR_IN_USE while memory of it is live or a frame has it. */
CTXRT_API ctxrt_status ctxrt_allocator_destroy(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/** NULL: the allocator of the top frame. */
CTXRT_API ctxrt_status ctxrt_allocator_statistics(ctxrt_allocator *allocator,
                                                  ctxrt_allocator_figures *out_figures) CTXRT_CHECK_RESULT;

/** NULL: the allocator of the top frame. What is in use already stays. */
CTXRT_API ctxrt_status ctxrt_allocator_set_limit(ctxrt_allocator *allocator,
                                                 uint64_t limit_bytes) CTXRT_CHECK_RESULT;

/** Gives cached memory back to the driver: this allocator caches none, so 0 bytes. NULL: of the top
 * frame. `out_released_bytes` may be NULL. */
CTXRT_API ctxrt_status ctxrt_allocator_trim(ctxrt_allocator *allocator,
                                            uint64_t *out_released_bytes) CTXRT_CHECK_RESULT;

/** A user's own allocator. Calls come from any thread, with the context it was created in current. */
typedef struct ctxrt_allocator_vtable {
    size_t struct_size; /**< sizeof(ctxrt_allocator_vtable) */
    /** Sets *out_pointer; CTXRT_ERROR_OUT_OF_MEMORY if there is none. */
    ctxrt_status (*alloc)(void *user_data, size_t size_bytes, ctxrt_stream *stream, void **out_pointer);
    ctxrt_status (*free)(void *user_data, void *pointer, size_t size_bytes);
    void (*destroy)(void *user_data); /**< may be NULL */
} ctxrt_allocator_vtable;

/** Creates an allocator of the calling thread's current context that calls `vtable`'s functions. */
CTXRT_API ctxrt_status ctxrt_allocator_create_custom(const ctxrt_allocator_vtable *vtable,
                                                     void *user_data,
                                                     ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
