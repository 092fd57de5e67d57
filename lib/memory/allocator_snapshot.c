/* An allocator's figures as JSON. */
#include "base/cancel.h"
#include "base/error.h"
#include "memory/allocator.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

ctxrt_status ctxrt_allocator_snapshot_write(ctxrt_allocator *handle, FILE *file)
{
    ctxrt_allocator_figures figures;
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_allocator_snapshot_write: file is NULL");
    ctxrt_status status = ctxrt_allocator_statistics(handle, &figures);
    if (status != CTXRT_SUCCESS)
        return status;
    int cancel = cx_cancel_hold(); /* the first object of all reads a seed from a file */
    json_t *root = json_pack("{s:{s:I,s:I,s:I}, s:{s:I,s:I,s:I}, s:I, s:I}", "bytes", "current",
                             (json_int_t)figures.current_bytes, "peak", (json_int_t)figures.peak_bytes, "total",
                             (json_int_t)figures.total_bytes, "count", "current", (json_int_t)figures.current_count,
                             "peak", (json_int_t)figures.peak_count, "total", (json_int_t)figures.total_count,
                             "failures", (json_int_t)figures.failures, "limit_bytes",
                             (json_int_t)figures.limit_bytes);
    errno = 0;
    bool written = root != NULL && json_dumpf(root, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF &&
                   fflush(file) == 0;
    int reason = errno;
    json_decref(root);
    cx_cancel_restore(cancel);
    return written ? CTXRT_SUCCESS
                   : cx_error(CTXRT_ERROR_SYSTEM, "ctxrt_allocator_snapshot_write: the file could not be written: %s",
                              reason != 0 ? strerror(reason) : "it took only a part");
}
