/*
 * Contexts: records of the driver's contexts that ctxrt created, retained or found current.
 *
 * Records live in a pool and are never freed, only reused. In a section, a thread checks that a
 * context is live and refers to it: by a frame, an object or a pin. A thread that ends a context
 * closes the sections, looks for references, and makes the handle stale only if there are none. So
 * a context whose end is refused was live all the time.
 */
#ifndef CX_CONTEXT_CONTEXT_H
#define CX_CONTEXT_CONTEXT_H

#include "base/lock.h"
#include "base/pool.h"
#include "device/device.h"
#include <ctxrt/context.h>

struct cx_error_saved;

typedef enum cx_context_kind {
    CX_CONTEXT_PRIMARY,
    CX_CONTEXT_CREATED, /* ctxrt_context_create; ours to destroy */
    CX_CONTEXT_FOREIGN  /* made by other code */
} cx_context_kind;

/* Objects that can refer to a context besides frames; counted for CTXRT_ERROR_IN_USE. */
typedef enum cx_object_kind {
    CX_OBJECT_STREAM,
    CX_OBJECT_EVENT,
    CX_OBJECT_MEMORY,
    CX_OBJECT_ALLOCATOR,
    CX_OBJECT_DETACHED_FRAME,
    CX_OBJECT_MODULE,
    CX_OBJECT_GRAPH,
    CX_OBJECT_RECORDING,
    CX_OBJECT_KINDS
} cx_object_kind;

#define CX_CONTEXT_PEERS 64

typedef struct cx_context {
    CUcontext native;
    CUgreenCtx green; /* of a created one that is a part of its device; else NULL */
    cx_driver *driver;
    cx_device *device;
    /* FOREIGN becomes PRIMARY when ctxrt retains it as its device's */
    _Atomic(cx_context_kind) kind;
    _Atomic uint64_t id; /* the driver's, or our own if it has none */
    /* 2 more after each reset: objects of older epochs are gone; odd during a reset */
    _Atomic uint32_t epoch;
    _Atomic uint32_t pins; /* calls that a reset and the end wait for; context/use.h */
    _Atomic int holds;     /* ctxrt_context_retain_primary, ctxrt_context_from_native */
    /* the user's, except memory that an allocator counts */
    _Atomic int objects[CX_OBJECT_KINDS];
    _Atomic uint64_t memory_bytes; /* of the CX_OBJECT_MEMORY among them */
    struct made_handle *handles;   /* of operator libraries; handle.c, under its own lock */
    /* idle default streams; lib/work, under its own lock */
    void *idle_streams;
    cx_lock lock; /* "context": held while the fields below are made */
    /* the number of contexts of each of the driver's devices that reach its memory */
    _Atomic uint16_t reached_by[CX_CONTEXT_PEERS];
    /* the devices that have access to all of its mapped memory, and the calls that rely on that;
     * peer_mapping_access.h */
    _Atomic bool open_to[CX_CONTEXT_PEERS];
    _Atomic uint32_t reaches;
    _Atomic(void *) allocator;        /* the default allocator, made on first use; lib/memory */
    _Atomic(void *) pinned_allocator; /* likewise, of pinned host memory */
    _Atomic(void *) direct_allocator; /* likewise, with the source DIRECT */
    /* An error of work that no call has waited for yet; NULL: none. Any thread stores one by a
     * compare-and-swap from NULL, and any thread takes it by an exchange; so one thread at a time
     * has the record, and their release and acquire hand over its contents. */
    _Atomic(struct cx_error_saved *) deferred_error;
} cx_context;

#define CX_CONTEXT_POOL_KIND 1
extern cx_pool cx_contexts;

/* CTXRT_ERROR_INVALID_HANDLE. */
__attribute__((cold)) ctxrt_status cx_context_missing(const ctxrt_context *handle);

/* Maps the status of a driver call with flags: unknown flags are the caller's error. */
ctxrt_status cx_context_map_flags_error(const char *call, unsigned int flags, ctxrt_status status);

/* Finds the live context of a handle, or returns cx_context_missing's error. */
static inline ctxrt_status cx_context_find(const ctxrt_context *handle, cx_context **out_context)
{
    *out_context =
        cx_pool_find_known(&cx_contexts, CX_CONTEXT_POOL_KIND, CX_POOL_STRIDE(cx_context), handle);
    return __builtin_expect(*out_context != NULL, 1) ? CTXRT_SUCCESS : cx_context_missing(handle);
}

static inline ctxrt_context *cx_context_handle(const cx_context *context)
{
    return cx_pool_handle(&cx_contexts, context);
}

/* Gets the primary context of a device. Takes the process's one retain on first use; if other code
 * had made the context and ctxrt has its record already, it stays the one record of it. Not in a
 * section, nor with "contexts" or a later lock held. */
__attribute__((cold)) ctxrt_status cx_context_first_primary(cx_device *device,
                                                            cx_context **out_context);

static inline ctxrt_status cx_context_primary(cx_device *device, cx_context **out_context)
{
    cx_context *first = NULL; /* keeps the caller's in a register */
    *out_context = atomic_load_explicit(&device->primary, memory_order_acquire);
    if (__builtin_expect(*out_context != NULL, 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_context_first_primary(device, &first);
    *out_context = first;
    return status;
}

/* Gives the process's one retain back, if there is one. CTXRT_ERROR_IN_USE. */
ctxrt_status cx_context_release_primary(cx_device *device);

/* Finds or makes the record of a native context that other code made, and its handle. Not in a
 * section. */
ctxrt_status cx_context_adopt(cx_driver *driver, CUcontext native, cx_context **out_context,
                              ctxrt_context **out_handle);

/* The driver's id of a context, or 0 if the driver has none. */
uint64_t cx_context_native_id(const cx_driver *driver, CUcontext native);

/* True if the driver still knows this context: it was not destroyed (a reset primary is known). */
bool cx_context_native_known(const cx_driver *driver, CUcontext native);

/* True if other code destroyed the context, or reset it if it is a primary one. Asks the driver. */
bool cx_context_lost(const cx_context *context);

/* True if a foreign context's native handle now names another context. */
bool cx_context_replaced(const cx_context *context);

/* True if objects made in this epoch of the context can still exist: neither a reset nor other code
 * has ended them. Objects that are gone must not be given to the driver: their handles or addresses
 * may be reused. */
bool cx_context_holds_what_is_of(const cx_context *context, uint32_t epoch);

/* Chooses the status after the driver refused an object of the context:
 * CTXRT_ERROR_CONTEXT_DESTROYED if other code ended the context. `noun`: "stream". */
__attribute__((cold)) ctxrt_status cx_context_map_failure(const cx_context *context,
                                                          const char *noun, ctxrt_status status);

static inline ctxrt_status cx_context_map_error(const cx_context *context, const char *noun,
                                                ctxrt_status status)
{
    return __builtin_expect(status == CTXRT_SUCCESS, 1)
               ? status
               : cx_context_map_failure(context, noun, status);
}

/*
 * Deferred errors: of work that the runtime itself does in the order of a stream, while no call
 * waits for it. The calling thread's last error is kept, and returned by the next call that waits
 * for work of the context, or queries it. The first one stays.
 */
void cx_context_defer_error(cx_context *context);

/* Drops the deferred error and logs it. */
void cx_context_drop_deferred_error(cx_context *context);

__attribute__((cold)) ctxrt_status cx_context_return_deferred_error(cx_context *context,
                                                                    ctxrt_status status);

/* cx_context_map_error after a call that waits for work or queries it. */
static inline ctxrt_status cx_context_waited(cx_context *context, const char *noun,
                                             ctxrt_status status)
{
    if (__builtin_expect(
            atomic_load_explicit(&context->deferred_error, memory_order_acquire) != NULL, 0))
        status = cx_context_return_deferred_error(context, status);
    return cx_context_map_error(context, noun, status);
}

/* Counts one of the user's objects; drop the count when the object goes. */
static inline void cx_context_object_add(cx_context *context, cx_object_kind kind)
{
    atomic_fetch_add(&context->objects[kind], 1);
}
static inline void cx_context_object_drop(cx_context *context, cx_object_kind kind)
{
    atomic_fetch_sub(&context->objects[kind], 1);
}

/* Counts memory, with its size. */
static inline void cx_context_memory_add(cx_context *context, size_t size_bytes)
{
    atomic_fetch_add_explicit(&context->memory_bytes, size_bytes, memory_order_relaxed);
    cx_context_object_add(context, CX_OBJECT_MEMORY);
}
static inline void cx_context_memory_drop(cx_context *context, size_t size_bytes)
{
    atomic_fetch_sub_explicit(&context->memory_bytes, size_bytes, memory_order_relaxed);
    cx_context_object_drop(context, CX_OBJECT_MEMORY);
}

/* Memory of one kind in the context, including that which allocators count themselves. */
typedef struct cx_context_memory {
    uint64_t count;
    uint64_t bytes;
} cx_context_memory;
cx_context_memory cx_context_memory_of(const cx_context *context);
int cx_context_objects(const cx_context *context, cx_object_kind kind);

/* "primary", "created" or "foreign". */
const char *cx_context_kind_name(cx_context_kind kind);

/* "context 7 of cuda:1": in one of a few thread-local buffers, for messages. */
const char *cx_context_text(const cx_context *context);

/* Refuses with CTXRT_ERROR_IN_USE if the context is referred to, by a frame of some thread,
 * objects, or more holds than `holds_allowed`; the message names the referrer. */
ctxrt_status cx_context_check_unused(cx_context *context, int holds_allowed);

#endif
