/**
 * Status codes, the calling thread's last error, and the log.
 *
 * Every function that can fail returns a ctxrt_status. On failure nothing has changed and no
 * out-parameter has been written, unless the function's comment says what. No function of ctxrt
 * aborts, exits, or prints other than through the log.
 *
 * Comments do not repeat the errors of every call: CTXRT_ERROR_NULL_POINTER for an out-parameter
 * that is NULL, CTXRT_ERROR_OUT_OF_MEMORY if the host has no memory left, CTXRT_ERROR_DRIVER with
 * the driver's result, maybe of earlier work, CTXRT_ERROR_SHUTDOWN once the process is ending, and
 * CTXRT_ERROR_FORKED in the child of a process that had started the runtime.
 */
#ifndef CTXRT_STATUS_H
#define CTXRT_STATUS_H

#include <ctxrt/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The list of statuses: X(name, value, text). */
#define CTXRT_STATUS_LIST(X)                                                                      \
    X(SUCCESS, 0, "success")                                                                      \
    X(ERROR_INVALID_ARGUMENT, 1, "an argument has a value that the call does not accept")         \
    X(ERROR_NULL_POINTER, 2, "a pointer that must not be NULL is NULL")                           \
    X(ERROR_INVALID_DEVICE, 3, "there is no device of that type and index")                       \
    X(ERROR_INVALID_HANDLE, 4, "the object was destroyed, or never was one of this kind")         \
    X(ERROR_NO_DEVICE, 5, "the calling thread has set no device and no context is current")       \
    X(ERROR_OUT_OF_MEMORY, 6, "not enough memory")                                                \
    X(ERROR_NOT_SUPPORTED, 7, "the driver or the device does not have this")                      \
    X(ERROR_NOT_READY, 8, "the work has not finished")                                            \
    X(ERROR_DRIVER, 9, "the driver refused a call")                                               \
    X(ERROR_STACK_MISMATCH, 10, "the driver's current context is not the one of the top frame")   \
    X(ERROR_STACK_EMPTY, 11, "the calling thread's stack has no such frame")                      \
    X(ERROR_STACK_FULL, 12, "the calling thread's stack has too many frames")                     \
    X(ERROR_STACK_LEFTOVER, 13, "frames were left on the stack; it has been restored")            \
    X(ERROR_IN_USE, 14, "something still refers to the object")                                   \
    X(ERROR_WRONG_CONTEXT, 15, "the object belongs to another context")                           \
    X(ERROR_WRONG_THREAD, 16, "the call must come from the thread that began this")               \
    X(ERROR_CONTEXT_DESTROYED, 17, "the context was destroyed or reset")                          \
    X(ERROR_NOT_PERMITTED, 18, "the call is not permitted here")                                  \
    X(ERROR_SHUTDOWN, 19, "the runtime was shut down or the process is ending")                   \
    X(ERROR_FORKED, 20, "the process was forked after the runtime was initialised")               \
    X(ERROR_SYSTEM, 21, "the operating system refused a request")                                 \
    X(ERROR_ALREADY, 22, "it is so already")                                                      \
    X(ERROR_CORRUPTED, 23, "something wrote to memory that it did not have")

typedef enum ctxrt_status {
#define CTXRT_STATUS_ENUM(name, value, text) CTXRT_##name = value,
    CTXRT_STATUS_LIST(CTXRT_STATUS_ENUM)
#undef CTXRT_STATUS_ENUM
} ctxrt_status;

/** "CTXRT_ERROR_IN_USE" and so on; "CTXRT_ERROR_UNKNOWN" for a value that is none. Never NULL. */
CTXRT_API const char *ctxrt_status_name(ctxrt_status status);

/** The meaning of a status in one clause. Never NULL. */
CTXRT_API const char *ctxrt_status_text(ctxrt_status status);

/** The calling thread's last failed call. */
typedef struct ctxrt_error {
    ctxrt_status status;
    int driver_result;              /**< the driver's CUresult; 0 if no driver call failed */
    const char *driver_result_name; /**< "CUDA_ERROR_..."; "" if no driver call failed */
    const char *driver_call;        /**< "cuCtxPushCurrent_v2"; "" if no driver call failed */
    const char *message;            /**< a sentence: what was wrong with which object */
} ctxrt_error;

/**
 * The calling thread's last error. Successful calls leave it alone. Never NULL; status is
 * CTXRT_SUCCESS before the first failure. The strings are valid until the thread's next failed
 * call. CTXRT_ERROR_NOT_READY of a query sets it as well.
 */
CTXRT_API const ctxrt_error *ctxrt_last_error(void);

typedef enum ctxrt_log_level {
    CTXRT_LOG_OFF = 0,
    CTXRT_LOG_ERROR = 1,
    CTXRT_LOG_WARNING = 2,
    CTXRT_LOG_INFO = 3,
    CTXRT_LOG_DEBUG = 4
} ctxrt_log_level;

/**
 * Called with one line of log, without its newline: at most 1023 bytes, a longer one is cut. May be
 * called from any thread, several at once. It may call ctxrt_last_error, ctxrt_status_name,
 * ctxrt_status_text, ctxrt_log_set and ctxrt_snapshot_write of ctxrt and no other function, since
 * locks may be held. For that reason it does not fork (system, popen) either, once the runtime has
 * started. These calls do not change the last error of the call that logs. `line` is valid until
 * the callback returns.
 */
typedef void (*ctxrt_log_callback)(ctxrt_log_level level, const char *line, void *user_data);

/**
 * Sends log lines up to `level` to `callback`; NULL restores the default: one line on stderr.
 * The level is CTXRT_LOG_WARNING at first, or what the environment's CTXRT_LOG says (off, error,
 * warning, info, debug; anything else is as if it were not set). Does not start the runtime.
 * Thread-safe. A callback gets no line above its own level, and its own `user_data`. A line that
 * began earlier may still reach the previous callback: keep its `user_data` until the calls of
 * ctxrt in progress have returned.
 *
 * @retval CTXRT_ERROR_INVALID_ARGUMENT  no such level
 */
CTXRT_API ctxrt_status ctxrt_log_set(ctxrt_log_callback callback, void *user_data,
                                     ctxrt_log_level level) CTXRT_CHECK_RESULT;

#ifdef __cplusplus
}
#endif

#endif
