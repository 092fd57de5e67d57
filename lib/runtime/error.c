#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stddef.h>

typedef struct error_row {
    cxr_error error;
    const char *name;
    const char *text;
} error_row;

static const error_row rows[] = {
#define CX_ERROR(name, spelling, value, text) {CXR_##name, "cuda" #spelling, text},
#include "driver/runtime_errors.def"
};

static const error_row *find_row(cxr_error error)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].error == error)
            return &rows[i];
    return NULL;
}

const char *cxr_cudaGetErrorName(cxr_error error)
{
    const error_row *row = find_row(error);
    return row != NULL ? row->name : "unrecognized error code";
}

const char *cxr_cudaGetErrorString(cxr_error error)
{
    const error_row *row = find_row(error);
    return row != NULL ? row->text : "unrecognized error code";
}

/* These two are no calls that could fail themselves, so neither has a call of its own. */

cxr_error cxr_cudaPeekAtLastError(void)
{
    return cx_cudart_thread_get()->last_error;
}

/* An error that sticks to its context stays the last error: only a reset of the device ends it. */
cxr_error cxr_cudaGetLastError(void)
{
    cx_cudart_thread *thread = cx_cudart_thread_get();
    cxr_error error = thread->last_error;
    if (!cx_result_sticks((cxu_result)error))
        thread->last_error = CXR_SUCCESS;
    return error;
}
