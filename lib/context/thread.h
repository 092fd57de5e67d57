/*
 * Threads and their stacks of frames.
 *
 * Only its own thread writes a stack, and it writes new references to a context or stream in a
 * section (base/section.h). So a thread that ends a context or a stream closes the sections, looks
 * through all threads' frames below their depths, and sees every reference. Every field that
 * another thread may read is atomic. For snapshots a sequence number brackets the writing of a
 * frame (view.h).
 */
#ifndef CX_CONTEXT_THREAD_H
#define CX_CONTEXT_THREAD_H

#include "base/section.h"
#include "context/context.h"
#include "layer/names.h"
#include <ctxrt/stack.h>
#include <sys/types.h>

typedef struct cx_frame {
    _Atomic(cx_context *) context;
    _Atomic(ctxrt_stream *) stream;       /* the frame's own; NULL: the thread's default stream */
    _Atomic(ctxrt_allocator *) allocator; /* the frame's own; NULL: the context's default one */
    /* for readers on other threads, for whom the record of the context may be gone */
    _Atomic(cx_device *) device;
    _Atomic uint64_t context_id;
    _Atomic(const char *) file;
    _Atomic uint64_t tag;                 /* line, kind of context, origin: cx_frame_tag */
    CUcontext beneath; /* the driver's current context when the entry was pushed */
    uint64_t serial;   /* of the scope that made the frame; else 0 */
    /* set by a room above to recognise this very frame; 0 in a new one, never the same twice */
    uint64_t token;
    /* The current stream, resolved once for the thread's calls by lib/work: its handle (NULL: not
     * resolved yet), its native handle, and the context's epoch that both were read with. */
    ctxrt_stream *current_stream;
    CUstream native_stream;
    uint32_t stream_epoch;
    bool stream_came_along; /* `stream` is a default stream that a hand-off brought: lib/work */
} cx_frame;

/* A frame as other threads see it. */
typedef struct cx_frame_view {
    ctxrt_device device; /* cuda:-1: a device that ctxrt does not list */
    uint64_t context_id; /* when the frame was made */
    cx_context_kind kind;
    ctxrt_frame_origin origin;
    ctxrt_stream *stream;
    ctxrt_allocator *allocator;
    const char *file;
    int line;
} cx_frame_view;

/* A thread's default stream in one context. Made and used by lib/work. */
typedef struct cx_default_stream {
    cx_context *context;
    ctxrt_context *context_handle; /* tells a context from a later one in the same record */
    uint32_t epoch;
    ctxrt_stream *stream;
} cx_default_stream;

typedef struct cx_thread {
    _Atomic uint32_t sequence; /* odd while a frame is written */
    /* another thread waits for a view of the stack; view.h */
    _Atomic(struct cx_stack_view *) wanted;
    _Atomic uint32_t depth;
    _Atomic int number;        /* system thread id; 0: the record is free */
    _Atomic uint64_t name[2];  /* 16 bytes of the thread's name */
    pthread_mutex_t owned_lock; /* robust; held by the thread while the record is its own */
    cx_frame *frames;          /* CTXRT_STACK_DEPTH_MAX */
    uint64_t serial;           /* cx_thread_next_serial */
    cx_default_stream *default_streams;
    size_t default_stream_count, default_stream_capacity;
    void *recordings;          /* open ones, the innermost first; lib/graph */
    uint8_t layer_hint; /* cx_layer_hint, of its present call */
    cx_section section;
    void *memory_stream;    /* of its last request of memory; lib/memory */
    const void *origin;     /* of its present allocation, if its caller named it; lib/memory */
    struct cx_thread *next; /* in the registry; records are never freed, only reused */
} cx_thread;

/* initial-exec, because every call looks at the stack; one pointer fits the static TLS of any
 * program. */
extern _Thread_local cx_thread *cx_thread_current __attribute__((tls_model("initial-exec")));

/* Makes the calling thread's record. CTXRT_ERROR_OUT_OF_MEMORY. */
__attribute__((cold)) ctxrt_status cx_thread_register(cx_thread **out_thread);

static inline ctxrt_status cx_thread_self(cx_thread **out_thread)
{
    cx_thread *registered = NULL; /* keeps the caller's in a register */
    *out_thread = cx_thread_current;
    if (__builtin_expect(*out_thread != NULL, 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_thread_register(&registered);
    *out_thread = registered;
    return status;
}

/* A thread that resets or ends a context enters sections, and must be registered for that. */
static inline ctxrt_status cx_thread_register_once(void)
{
    cx_thread *thread;
    return cx_thread_self(&thread);
}

/* Makes room for one more default stream of the thread. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_thread_reserve_default_stream(cx_thread *thread);

/* A number that tells a scope from every other one, on any thread; never 0. Each record has its own
 * range of numbers. */
#define CX_THREAD_SERIAL_BITS 40
static inline uint64_t cx_thread_next_serial(cx_thread *thread)
{
    return ++thread->serial;
}

static inline uint32_t cx_thread_depth(const cx_thread *thread)
{
    return atomic_load_explicit(&thread->depth, memory_order_relaxed);
}

/* The top frame, or NULL. */
static inline cx_frame *cx_thread_top(const cx_thread *thread)
{
    uint32_t depth = cx_thread_depth(thread);
    return depth != 0 ? &thread->frames[depth - 1] : NULL;
}

static inline cx_context *cx_frame_context(const cx_frame *frame)
{
    return atomic_load_explicit(&frame->context, memory_order_relaxed);
}

static inline ctxrt_frame_origin cx_frame_origin(const cx_frame *frame)
{
    return (ctxrt_frame_origin)(atomic_load_explicit(&frame->tag, memory_order_relaxed) & 0xff);
}

static inline uint64_t cx_frame_tag(ctxrt_frame_origin origin, cx_context_kind kind, int line)
{
    return (uint64_t)(uint32_t)line << 16 | (uint64_t)kind << 8 | (uint64_t)origin;
}

/* Fills in the view that another thread waits for; called by the thread itself. */
void cx_thread_show(cx_thread *thread);

/* Brackets the writing of a frame for readers on other threads. */
static inline void cx_thread_begin(cx_thread *thread)
{
    if (__builtin_expect(atomic_load_explicit(&thread->wanted, memory_order_relaxed) != NULL, 0))
        cx_thread_show(thread);
    uint32_t sequence = atomic_load_explicit(&thread->sequence, memory_order_relaxed);
    atomic_store_explicit(&thread->sequence, sequence + 1, memory_order_relaxed);
}

static inline void cx_thread_end(cx_thread *thread)
{
    uint32_t sequence = atomic_load_explicit(&thread->sequence, memory_order_relaxed);
    atomic_store_explicit(&thread->sequence, sequence + 1, memory_order_release);
}


/* Calls visit for each thread that has a record, with the registry's lock "threads" held. */
void cx_threads_each(bool (*visit)(cx_thread *thread, void *argument), void *argument);

/* The references of a frame on its way from one thread to another. It is kept before it leaves the
 * frames of the first thread, and let go into a frame of the second, so that a search for
 * references always finds it. */
typedef struct cx_kept {
    cx_frame_view frame;
    int number; /* of the thread that it left */
    struct cx_kept *next;
} cx_kept;

void cx_threads_keep(cx_kept *kept);
/* Puts the kept frame's references into the top frame of `thread`, with `stream` as its stream;
 * NULL: none. */
void cx_threads_let_go(cx_kept *kept, cx_thread *thread, ctxrt_stream *stream);

/* cx_threads_each, and then the kept frames, all under the one lock: a frame that moves between
 * threads meanwhile is found at least once. */
void cx_threads_each_and_kept(bool (*visit)(cx_thread *thread, void *argument),
                              bool (*visit_kept)(const cx_kept *kept, void *argument),
                              void *argument);

/* True if some thread has the context, stream or allocator in a frame; *out_number is then that
 * thread's system id, 0 for a kept frame, and *out_level the frame's level from its bottom. Closes
 * the sections meanwhile; the answer stays true only if the caller has closed them itself. */
bool cx_threads_use_context(const cx_context *context, int *out_number, int *out_level);
bool cx_threads_use_stream(const ctxrt_stream *stream, int *out_number, int *out_level);
bool cx_threads_use_allocator(const ctxrt_allocator *allocator, int *out_number, int *out_level);

/* The number of frames of all threads. */
size_t cx_threads_frame_count(void);

/* Sets the hint to layers for the next calls of the calling thread; returns the one before, to be
 * set again behind them. Threads without a record give none. */
cx_layer_hint cx_thread_hint(cx_layer_hint hint);

#endif
