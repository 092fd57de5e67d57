/*
 * Threads and their stacks of frames.
 *
 * A stack is written by its own thread only, and frames that refer to a context or stream that they
 * did not refer to before are written in a section (base/section.h): a thread that ends a context
 * or a stream closes the sections, looks through all threads' frames below their depths, and sees
 * every reference. Every field that another thread may read is atomic, and for snapshots a sequence
 * number brackets the writing of a frame.
 */
#ifndef CX_CONTEXT_THREAD_H
#define CX_CONTEXT_THREAD_H

#include "base/section.h"
#include "context/context.h"
#include <ctxrt/stack.h>
#include <sys/types.h>

typedef struct cx_frame {
    _Atomic(cx_context *) context;
    _Atomic(ctxrt_stream *) stream;       /* the frame's own; NULL: the thread's default stream */
    _Atomic(ctxrt_allocator *) allocator; /* the frame's own; NULL: the context's default one */
    /* this and the next are for readers on other threads, for whom */
    _Atomic(cx_device *) device;
    _Atomic uint64_t context_id;          /* the record of the context may have gone */
    _Atomic(const char *) file;
    _Atomic uint64_t tag;                 /* line, kind of context, origin: cx_frame_tag */
    CUcontext beneath;  /* what this driver had current when the entry was pushed */
    uint64_t serial;    /* of the scope that made it; else 0 */
    /* what a room above tied to this very frame; 0 in a new one, never the same twice */
    uint64_t mark;
    /* The current stream, resolved once for the calls of the thread: lib/work. Its handle (NULL:
     * not resolved yet), its native handle, and the context's epoch that both were read with. */
    ctxrt_stream *current_stream;
    CUstream native_stream;
    uint32_t stream_epoch;
    bool stream_came_along; /* `stream` is a default one, which a hand-off brought: lib/work */
} cx_frame;

/* What others see of a frame. */
typedef struct cx_frame_view {
    ctxrt_device device; /* cuda:-1: one that ctxrt does not list */
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
    pthread_mutex_t life;      /* robust; the thread holds it while the record is its own */
    cx_frame *frames;          /* CTXRT_STACK_DEPTH_MAX */
    uint64_t serial;           /* cx_thread_next_serial */
    cx_default_stream *default_streams;
    size_t default_stream_count, default_stream_capacity;
    void *recordings;          /* open ones, the innermost first; lib/graph */
    cx_section section;
    void *thread_caches;       /* what the thread keeps of allocators; lib/memory */
    const void *origin;        /* of what it is allocating, if its caller said so; lib/memory */
    struct cx_thread *next;    /* in the registry; records are never freed, only used again */
} cx_thread;

/* initial-exec: a stack is looked at in every call; the one pointer fits any program's static
 * TLS. */
extern _Thread_local cx_thread *cx_thread_current __attribute__((tls_model("initial-exec")));

/* Makes the calling thread's record. CTXRT_ERROR_OUT_OF_MEMORY. */
__attribute__((cold)) ctxrt_status cx_thread_register(cx_thread **out_thread);

static inline ctxrt_status cx_thread_self(cx_thread **out_thread)
{
    cx_thread *registered = NULL; /* so that the caller's stays in a register */
    *out_thread = cx_thread_current;
    if (__builtin_expect(*out_thread != NULL, 1))
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_thread_register(&registered);
    *out_thread = registered;
    return status;
}

/* Whoever resets or ends a context enters sections, for which a thread must be registered. */
static inline ctxrt_status cx_thread_register_once(void)
{
    cx_thread *thread;
    return cx_thread_self(&thread);
}

/* Room for one more default stream of the thread. CTXRT_ERROR_OUT_OF_MEMORY. */
ctxrt_status cx_thread_reserve_default_stream(cx_thread *thread);

/* Tells a scope from every other that ever was, on any thread; never 0. Each record has numbers of
 * its own. */
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

/* Fills in the view that another thread waits for; from the thread itself. */
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

/* What a frame on its way from one thread to another refers to. It is kept before it leaves the one
 * thread's frames, and let go into a frame of the other, so that whoever looks for a reference
 * always finds it. */
typedef struct cx_kept {
    cx_frame_view frame;
    int number; /* of the thread that it left */
    struct cx_kept *next;
} cx_kept;

void cx_threads_keep(cx_kept *kept);
/* The top frame of `thread`, NULL for none, gets what was kept, with `stream` for its stream. */
void cx_threads_let_go(cx_kept *kept, cx_thread *thread, ctxrt_stream *stream);

/* cx_threads_each, and then the frames that are kept, all under the one lock: a frame that goes
 * from thread to thread meanwhile is found at least once. */
void cx_threads_each_and_kept(bool (*visit)(cx_thread *thread, void *argument),
                              bool (*visit_kept)(const cx_kept *kept, void *argument),
                              void *argument);

/* Whether some thread has the context, stream or allocator in a frame; then *out_number is that
 * thread's system id and *out_level the frame's level from its bottom; *out_number is 0 for a frame
 * that is kept. Closes the sections meanwhile; what is found stays true while the caller has closed
 * them itself. */
bool cx_threads_use_context(const cx_context *context, int *out_number, int *out_level);
bool cx_threads_use_stream(const ctxrt_stream *stream, int *out_number, int *out_level);
bool cx_threads_use_allocator(const ctxrt_allocator *allocator, int *out_number, int *out_level);

/* Frames of all threads together. */
size_t cx_threads_frame_count(void);

#endif
