#include "base/error.h"

#include "base/utf8.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Recording an error cannot fail: without memory for its sentence the status's own one stands. */
static _Thread_local struct {
    ctxrt_error error;
    unsigned long count;
} last;

static ctxrt_status record_error(ctxrt_status status, const char *call, int result,
                                 const char *result_name, const char *format, va_list arguments)
{
    char message[CX_THREAD_MESSAGE]; /* an argument may point into the last message */
    if (vsnprintf(message, sizeof message, format, arguments) >= (int)sizeof message)
        cx_utf8_trim(message);
    char *kept = cx_thread_message();
    if (kept != NULL)
        memcpy(kept, message, sizeof message);
    last.error = (ctxrt_error){
        .status = status,
        .driver_result = result,
        .driver_result_name = result_name,
        .driver_call = call,
        .message = kept != NULL ? kept : ctxrt_status_text(status),
    };
    last.count++;
    return status;
}

unsigned long cx_error_count(void)
{
    return last.count;
}

ctxrt_status cx_error(ctxrt_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record_error(status, "", 0, "", format, arguments);
    va_end(arguments);
    return status;
}

ctxrt_status cx_error_driver_call(ctxrt_status status, const char *call, int result,
                                  const char *result_name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    record_error(status, call, result, result_name != NULL ? result_name : "", format, arguments);
    va_end(arguments);
    return status;
}

const ctxrt_error *ctxrt_last_error(void)
{
    if (last.error.message == NULL)
        last.error = (ctxrt_error){.driver_result_name = "", .driver_call = "", .message = ""};
    return &last.error;
}

/* Copies no more than the sentence, which is empty on most paths: those without errors save too. */
void cx_error_save(cx_error_saved *out_saved)
{
    out_saved->error = *ctxrt_last_error();
    strcpy(out_saved->message, out_saved->error.message);
}

/* Of another thread, perhaps: the sentence becomes the calling thread's own. */
void cx_error_restore(const cx_error_saved *saved)
{
    char *kept = saved->message[0] != '\0' ? cx_thread_message() : NULL;
    last.error = saved->error;
    last.error.message = saved->message[0] == '\0' ? ""
                         : kept != NULL            ? strcpy(kept, saved->message)
                                                   : ctxrt_status_text(saved->error.status);
}
