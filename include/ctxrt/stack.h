/**
 * The per-thread stack of frames: the current context, and those that become current again.
 *
 * A frame is a context with its current stream and its allocator. The top frame is the one that
 * work goes to. Frames mirror the driver's own stack of contexts, entry for entry; the driver's
 * current context is the truth, and every call that does work compares it with the top frame first
 * (see ctxrt_foreign_policy). Each thread has its own stack; no function here touches another
 * thread's. Thread-safe.
 *
 * Besides the errors named at each function: CTXRT_ERROR_INVALID_HANDLE if an object was destroyed
 * or never was one; CTXRT_ERROR_NO_DEVICE if the function needs a top frame or a current context
 * and there is none; CTXRT_ERROR_STACK_MISMATCH if other code changed the driver's stack and the
 * policy, or the change itself, forbids to go on.
 */
#ifndef CTXRT_STACK_H
#define CTXRT_STACK_H

#include <ctxrt/context.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ctxrt_stream ctxrt_stream;
typedef struct ctxrt_allocator ctxrt_allocator;

/** Frames that one thread's stack can hold. */
#define CTXRT_STACK_DEPTH_MAX 512

/**
 * Makes `context` current on the calling thread, above what was current.
 * Balance with ctxrt_stack_pop on the same thread. Borrows `context`: it cannot be destroyed until
 * that pop. Pushing the context that is already current is legal and adds a frame.
 *
 * @retval CTXRT_ERROR_NULL_POINTER    the context is NULL
 * @retval CTXRT_ERROR_STACK_FULL      too many open frames; nothing changed
 * @retval CTXRT_ERROR_STACK_MISMATCH  other code changed the stack and the policy is `error`
 * @retval CTXRT_ERROR_DRIVER          the driver refused; nothing changed
 */
CTXRT_API ctxrt_status ctxrt_stack_push(ctxrt_context *context) CTXRT_CHECK_RESULT;

/**
 * Removes the top level: the frame that ctxrt_stack_push or ctxrt_device_push made, together with
 * the override that ctxrt_device_set put above it. If no such frame is left, removes the override
 * of the bottom. The context that was current before is current again. A level that a scope made is
 * closed by ctxrt_scope_leave only.
 * The driver's stack is checked before and after. If something else is found there, the entries are
 * put back, nothing changes, and CTXRT_ERROR_STACK_MISMATCH says what was found
 * (ctxrt_stack_resync).
 *
 * @retval CTXRT_ERROR_STACK_EMPTY     there is no frame
 * @retval CTXRT_ERROR_NOT_PERMITTED   the top level belongs to a scope
 * @retval CTXRT_ERROR_STACK_MISMATCH  other code left the driver's stack changed
 */
CTXRT_API ctxrt_status ctxrt_stack_pop(void) CTXRT_CHECK_RESULT;

/**
 * The number of frames of the calling thread, overrides included. 0 if it has none; never fails.
 */
CTXRT_API size_t ctxrt_stack_depth(void);

/** The way a frame came onto the stack. */
typedef enum ctxrt_frame_origin {
    CTXRT_FRAME_SET = 0,     /**< ctxrt_device_set: the override of its level */
    CTXRT_FRAME_PUSH = 1,    /**< ctxrt_stack_push, ctxrt_device_push */
    CTXRT_FRAME_SCOPE = 2,   /**< ctxrt_scope_enter */
    CTXRT_FRAME_ATTACH = 3,  /**< ctxrt_stack_attach */
    CTXRT_FRAME_FOREIGN = 4  /**< made current by other code, taken in by the policy `follow` */
} ctxrt_frame_origin;

typedef struct ctxrt_frame_info {
    ctxrt_context *context;
    ctxrt_device device;
    ctxrt_stream *stream;       /**< the frame's own stream; NULL: the thread's default stream */
    ctxrt_allocator *allocator; /**< the frame's own allocator; NULL: the context's default one */
    ctxrt_frame_origin origin;
    const char *file;           /**< the place of the call, if a macro that notes it was used; else
                                 * "" */
    int line;
} ctxrt_frame_info;

/**
 * Describes a frame of the calling thread; level 0 is the top.
 *
 * @param out_info  its context, device, stream, allocator and origin
 * @retval CTXRT_ERROR_STACK_EMPTY  there are not that many frames
 */
CTXRT_API ctxrt_status ctxrt_stack_peek(size_t level,
                                        ctxrt_frame_info *out_info) CTXRT_CHECK_RESULT;

/** The finding of ctxrt_stack_resync on the driver's stack. */
typedef enum ctxrt_resync_finding {
    CTXRT_RESYNC_IN_STEP = 0,   /**< nothing was wrong */
    /** other code had left `count` entries above ours; they were popped */
    CTXRT_RESYNC_PUSHED = 1,
    CTXRT_RESYNC_SET = 2,       /**< other code had replaced our top entry; it was set back */
    /** other code had popped our top `count` frames; they were dropped */
    CTXRT_RESYNC_POPPED = 3,
    CTXRT_RESYNC_AMBIGUOUS = 4  /**< our entries were not found; nothing was changed */
} ctxrt_resync_finding;

typedef struct ctxrt_resync_report {
    ctxrt_resync_finding finding;
    int count;
} ctxrt_resync_report;

/**
 * Brings the driver's stack and the calling thread's frames back in step after other code changed
 * the former. Looks at most 16 entries down, never through a destroyed context, and puts every
 * entry back if it finds nothing. Two equal contexts at adjacent levels cannot be told apart.
 *
 * @retval CTXRT_ERROR_STACK_MISMATCH  ambiguous; the report says so; nothing changed
 */
CTXRT_API ctxrt_status ctxrt_stack_resync(ctxrt_resync_report *out_report) CTXRT_CHECK_RESULT;

/** A frame on its way from one thread to another. */
typedef struct ctxrt_detached_frame ctxrt_detached_frame;

/**
 * Takes the top frame off the calling thread's stack, with its stream and allocator, so that
 * another thread can go on with it: ctxrt_stack_attach. Work in flight goes on. A frame that was
 * using the thread's default stream takes that stream along. The caller owns *out_frame, and
 * balances with ctxrt_stack_attach or ctxrt_stack_discard; until then its context, stream and
 * allocator are in use.
 *
 * @retval CTXRT_ERROR_STACK_EMPTY    there is no frame
 * @retval CTXRT_ERROR_NOT_PERMITTED  the top frame is an override, a scope's or a foreign one
 */
CTXRT_API ctxrt_status ctxrt_stack_detach(ctxrt_detached_frame **out_frame) CTXRT_CHECK_RESULT;

/**
 * Pushes a detached frame on the calling thread's stack. Balance with ctxrt_stack_pop, or detach
 * again. On success `frame` is used up; on failure the caller still owns it. A default stream that
 * came along is the calling thread's from now on. If the thread already has a default stream of the
 * context, the frame gets the other one as its own stream. That stream goes to other threads once
 * the frame is gone and the next one is attached or discarded, or once the thread ends.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  attached or discarded before, or another thread is doing that
 *     now: of several threads that attach one frame, one gets it
 * Other errors as ctxrt_stack_push.
 */
CTXRT_API ctxrt_status ctxrt_stack_attach(ctxrt_detached_frame *frame) CTXRT_CHECK_RESULT;

/**
 * Gives up a detached frame that will not be attached, including one whose context other code has
 * destroyed. Makes no driver call; its own stream and allocator are the caller's as before, a
 * default stream that came along is the calling thread's. NULL is harmless.
 *
 * @retval CTXRT_ERROR_INVALID_HANDLE  attached or discarded before
 */
CTXRT_API ctxrt_status ctxrt_stack_discard(ctxrt_detached_frame *frame) CTXRT_CHECK_RESULT;

/** A scope. Lives on the caller's stack; its fields are ctxrt's. Zero-initialise it. */
typedef struct ctxrt_scope {
    uint64_t serial; /* 0: not entered */
    size_t depth;
} ctxrt_scope;

/** A scope that is not entered. */
#ifdef __cplusplus
#define CTXRT_SCOPE_INIT {0, 0}
#else
#define CTXRT_SCOPE_INIT {.serial = 0}
#endif

/**
 * Pushes the primary context of `device` until ctxrt_scope_leave(scope). Scopes nest.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  `scope` is open already
 * Other errors as ctxrt_device_push; the scope then is not open, and leaving it does nothing.
 */
CTXRT_API ctxrt_status ctxrt_scope_enter(ctxrt_device device,
                                         ctxrt_scope *scope) CTXRT_CHECK_RESULT;

/** Pushes `context` until ctxrt_scope_leave(scope). Otherwise as ctxrt_scope_enter. */
CTXRT_API ctxrt_status ctxrt_scope_enter_context(ctxrt_context *context,
                                                 ctxrt_scope *scope) CTXRT_CHECK_RESULT;

/**
 * Ends a scope: the context that was current when it was entered is current again, whatever was
 * pushed, set or left open in between. A scope that is not open is harmless, so it may be left on
 * every path.
 *
 * @retval CTXRT_ERROR_STACK_LEFTOVER  restored, but frames had been left above the scope's, or
 *     other code had changed the driver's stack; or the scope has ended, but other code has
 *     destroyed the earlier context, or the driver refuses to restore it; the message says what
 * @retval CTXRT_ERROR_WRONG_THREAD    another thread entered it, or an outer scope was left before;
 *                                     nothing changed
 */
CTXRT_API_UNCHECKED ctxrt_status ctxrt_scope_leave(ctxrt_scope *scope);

/** For CTXRT_SCOPE only. */
static inline void ctxrt_scope_cleanup(ctxrt_scope *scope)
{
    (void)ctxrt_scope_leave(scope);
}

#ifdef CTXRT_CLEANUP
/**
 * Declares a scope that is left at the end of the block, on every path: CTXRT_SCOPE ctxrt_scope s =
 * CTXRT_SCOPE_INIT;
 */
#define CTXRT_SCOPE CTXRT_CLEANUP(ctxrt_scope_cleanup)
#endif

/**
 * The plain calls, with the place of the call kept in the frame: snapshots and messages name it.
 * `file` must live for ever, since a snapshot may still read it when the frame is gone: use the
 * macros.
 *
 * @param line  the number of the line in `file`
 */
CTXRT_API ctxrt_status ctxrt_device_set_at(ctxrt_device device, const char *file,
                                           int line) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_stack_push_at(ctxrt_context *context, const char *file,
                                           int line) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_device_push_at(ctxrt_device device, const char *file,
                                            int line) CTXRT_CHECK_RESULT;
CTXRT_API ctxrt_status ctxrt_scope_enter_at(ctxrt_device device, ctxrt_scope *scope,
                                            const char *file, int line) CTXRT_CHECK_RESULT;

#define CTXRT_DEVICE_SET(device) ctxrt_device_set_at((device), __FILE__, __LINE__)
#define CTXRT_STACK_PUSH(context) ctxrt_stack_push_at((context), __FILE__, __LINE__)
#define CTXRT_DEVICE_PUSH(device) ctxrt_device_push_at((device), __FILE__, __LINE__)
#define CTXRT_SCOPE_ENTER(device, scope) ctxrt_scope_enter_at((device), (scope), __FILE__, __LINE__)

/* In a program that defines CTXRT_ORIGINS before it includes this header, the plain names note the
 * place, too; so do those of memory.h. */
#ifdef CTXRT_ORIGINS
#define ctxrt_device_set(device) ctxrt_device_set_at((device), __FILE__, __LINE__)
#define ctxrt_stack_push(context) ctxrt_stack_push_at((context), __FILE__, __LINE__)
#define ctxrt_device_push(device) ctxrt_device_push_at((device), __FILE__, __LINE__)
#define ctxrt_scope_enter(device, scope) ctxrt_scope_enter_at((device), (scope), __FILE__, __LINE__)
#endif

/**
 * Makes `stream` the current stream of the top frame: what a NULL stream argument means from now
 * on. NULL goes back to the thread's default stream. Borrowed: keep it alive while it is current.
 *
 * @retval CTXRT_ERROR_WRONG_CONTEXT  the stream is of another context
 */
CTXRT_API ctxrt_status ctxrt_frame_set_stream(ctxrt_stream *stream) CTXRT_CHECK_RESULT;

/**
 * Makes `allocator` the allocator of the top frame; NULL goes back to the context's default one.
 * Borrowed: it cannot be destroyed while a frame has it.
 *
 * @retval CTXRT_ERROR_WRONG_CONTEXT  the allocator is of another context
 */
CTXRT_API ctxrt_status ctxrt_frame_set_allocator(ctxrt_allocator *allocator) CTXRT_CHECK_RESULT;

/**
 * The current stream of the top frame: its own, or the calling thread's default stream of that
 * context, which is made on first use. Borrowed; a default stream must not be destroyed.
 */
CTXRT_API ctxrt_status ctxrt_stream_current(ctxrt_stream **out_stream) CTXRT_CHECK_RESULT;

/** The allocator of the top frame, or its context's default one. Borrowed. */
CTXRT_API ctxrt_status ctxrt_allocator_current(ctxrt_allocator **out_allocator) CTXRT_CHECK_RESULT;

typedef enum ctxrt_snapshot_format {
    CTXRT_SNAPSHOT_TEXT = 0,
    CTXRT_SNAPSHOT_JSON = 1 /* `ctxrt draw` makes a picture of it */
} ctxrt_snapshot_format;

/**
 * Writes every thread's stack as it is now: frames from the top, with device, context, stream,
 * allocator, origin and place; detached frames; the memory and objects of each context.
 * docs/snapshots.md describes the formats. Threads that never used ctxrt are not shown.
 *
 * Threads go on running. Each stack is as its thread had it at some moment of the call, and these
 * moments differ: a frame handed from one thread to another during the call is shown once or twice.
 * Makes no driver call, waits for no work, and does not start the runtime. It may be called in a
 * host function and in a log callback.
 *
 * The text is written in one piece and flushed, so one file may be used by several threads. A
 * broken pipe raises SIGPIPE unless that is ignored.
 *
 * @retval CTXRT_ERROR_SYSTEM         the file could not be written, or not to its end
 * @retval CTXRT_ERROR_OUT_OF_MEMORY  nothing was written
 */
CTXRT_API ctxrt_status ctxrt_snapshot_write(FILE *file,
                                            ctxrt_snapshot_format format) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
