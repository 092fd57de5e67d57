/* Deferred errors: of work that no call waited for. */
#include "base/error.h"
#include "base/log.h"
#include "context/context.h"
#include <stdlib.h>

void cx_context_defer_error(cx_context *context)
{
    cx_error_saved *none = NULL, *deferred = malloc(sizeof *deferred);
    if (deferred == NULL) {
        cx_log(CTXRT_LOG_ERROR, "no memory to keep an error of work of %s: %s",
               cx_context_text(context), ctxrt_last_error()->message);
        return;
    }
    cx_error_save(deferred);
    if (!atomic_compare_exchange_strong(&context->deferred_error, &none, deferred))
        free(deferred);
}

void cx_context_drop_deferred_error(cx_context *context)
{
    cx_error_saved *deferred = atomic_exchange(&context->deferred_error, NULL);
    if (deferred != NULL)
        cx_log(CTXRT_LOG_ERROR, "an error of work of %s was never reported: %s",
               cx_context_text(context), deferred->message);
    free(deferred);
}

/* Keeps the deferred error if the call itself fails: the work is not done, or has its own error. */
ctxrt_status cx_context_return_deferred_error(cx_context *context, ctxrt_status status)
{
    cx_error_saved *deferred =
        status == CTXRT_SUCCESS ? atomic_exchange(&context->deferred_error, NULL) : NULL;
    if (deferred == NULL)
        return status;
    cx_error_restore(deferred);
    free(deferred);
    return ctxrt_last_error()->status;
}
