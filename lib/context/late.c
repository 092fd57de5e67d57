/* Errors of work that nobody waited for. */
#include "base/error.h"
#include "base/log.h"
#include "context/context.h"
#include <stdlib.h>

void cx_context_fail_later(cx_context *context)
{
    cx_error_saved *none = NULL, *late = malloc(sizeof *late);
    if (late == NULL) {
        cx_log(CTXRT_LOG_ERROR, "no memory to tell later that work of %s failed: %s",
               cx_context_text(context), ctxrt_last_error()->message);
        return;
    }
    cx_error_save(late);
    if (!atomic_compare_exchange_strong(&context->late, &none, late))
        free(late);
}

void cx_context_drop_late(cx_context *context)
{
    cx_error_saved *late = atomic_exchange(&context->late, NULL);
    if (late != NULL)
        cx_log(CTXRT_LOG_ERROR, "nobody was told that work of %s failed: %s",
               cx_context_text(context), late->message);
    free(late);
}

/* Work that is not done, or has failed with an error of its own, says so first. */
ctxrt_status cx_context_tell_late(cx_context *context, ctxrt_status status)
{
    cx_error_saved *late = status == CTXRT_SUCCESS ? atomic_exchange(&context->late, NULL) : NULL;
    if (late == NULL)
        return status;
    cx_error_restore(late);
    free(late);
    return ctxrt_last_error()->status;
}
