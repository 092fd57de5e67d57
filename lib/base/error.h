/*
 * The calling thread's last error: recorded by the function that first detects it, passed up as a
 * status by its callers.
 */
#ifndef CX_BASE_ERROR_H
#define CX_BASE_ERROR_H

#include "base/thread_texts.h"
#include <ctxrt/status.h>

/* Records the status with a sentence, and returns the status. */
__attribute__((cold, format(printf, 2, 3))) ctxrt_status cx_error(ctxrt_status status,
                                                                  const char *format, ...);

/* Records a failed driver call: `call` and `result_name` must live for ever. */
__attribute__((cold, format(printf, 5, 6))) ctxrt_status
cx_error_driver_call(ctxrt_status status, const char *call, int result, const char *result_name,
                     const char *format, ...);

/* The number of errors that the calling thread has recorded: tells whether a called function
 * recorded one. */
unsigned long cx_error_count(void);

/* Saves the last error before clean-up that may fail as well, and puts it back. */
typedef struct cx_error_saved {
    ctxrt_error error;
    char message[CX_THREAD_MESSAGE];
} cx_error_saved;
void cx_error_save(cx_error_saved *out_saved);
void cx_error_restore(const cx_error_saved *saved);

#endif
