#include "base/log.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/lock.h"
#include "base/option.h"
#include "base/utf8.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 1024

static const char *const level_names[] = {
    [CTXRT_LOG_OFF] = "off",   [CTXRT_LOG_ERROR] = "error", [CTXRT_LOG_WARNING] = "warning",
    [CTXRT_LOG_INFO] = "info", [CTXRT_LOG_DEBUG] = "debug",
};

static cx_lock log_lock = CX_LOCK_INIT(LOG);
static ctxrt_log_callback log_callback;
static void *log_user_data;
static _Atomic int log_level = CTXRT_LOG_WARNING;
static pthread_once_t log_once = PTHREAD_ONCE_INIT;

/* The log works in a forked child too. */
CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_LOG, .lock = &log_lock};
    cx_fork_watch(&hook);
}

bool cx_log_parse(const char *text, ctxrt_log_level *out_level)
{
    for (int level = CTXRT_LOG_OFF; level <= CTXRT_LOG_DEBUG; level++)
        if (strcmp(text, level_names[level]) == 0) {
            *out_level = (ctxrt_log_level)level;
            return true;
        }
    return false;
}

/* ctxrt_init reports bad values. */
static void read_environment(void)
{
    const char *text = cx_option("CTXRT_LOG");
    ctxrt_log_level level;
    if (text != NULL && cx_log_parse(text, &level))
        atomic_store(&log_level, (int)level);
}

static bool is_within(ctxrt_log_level level)
{
    return level != CTXRT_LOG_OFF &&
           (int)level <= atomic_load_explicit(&log_level, memory_order_relaxed);
}

bool cx_log_enabled(ctxrt_log_level level)
{
    pthread_once(&log_once, read_environment);
    return is_within(level);
}

/* The log has one line, whatever names are in it. */
static void join_lines(char *text)
{
    for (; *text != '\0'; text++)
        if (*text == '\n' || *text == '\r')
            *text = ' ';
}

/* The callback does not change the last error of the call that logs. */
static void call_callback(ctxrt_log_callback callback, ctxrt_log_level level, const char *line,
                          void *user_data)
{
    cx_error_saved saved;
    cx_error_save(&saved);
    callback(level, line, user_data);
    cx_error_restore(&saved);
}

void cx_log(ctxrt_log_level level, const char *format, ...)
{
    if (!cx_log_enabled(level))
        return;

    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(line, sizeof line, format, arguments) >= (int)sizeof line)
        cx_utf8_trim(line);
    va_end(arguments);
    join_lines(line);

    /* Callers may hold locks. */
    int cancel = cx_cancel_hold();
    cx_lock_enter(&log_lock);
    ctxrt_log_callback callback = log_callback;
    void *user_data = log_user_data;
    bool wanted = is_within(level); /* by this callback: the level may have changed with it */
    cx_lock_leave(&log_lock);

    if (wanted && callback != NULL)
        call_callback(callback, level, line, user_data);
    else if (wanted)
        fprintf(stderr, "ctxrt: %s: %s\n", level_names[level], line);
    cx_cancel_restore(cancel);
}

ctxrt_status ctxrt_log_set(ctxrt_log_callback callback, void *user_data, ctxrt_log_level level)
{
    if ((int)level < CTXRT_LOG_OFF || level > CTXRT_LOG_DEBUG)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "ctxrt_log_set: there is no level %d",
                        (int)level);

    pthread_once(&log_once, read_environment);
    cx_lock_enter(&log_lock);
    log_callback = callback;
    log_user_data = user_data;
    atomic_store(&log_level, (int)level);
    cx_lock_leave(&log_lock);
    return CTXRT_SUCCESS;
}
