/* The hook of the diagnosis. */
#include "diagnose/watch.h"

#include "base/error.h"
#include "diagnose/allocator_snapshot.h"
#include "memory/diagnosis.h"
#include "diagnose/origin.h"
#include "diagnose/report.h"

#include <stdlib.h>

static ctxrt_status begin_watch(cx_allocator *allocator)
{
    if (allocator->watch == NULL)
        allocator->watch = calloc(1, sizeof *allocator->watch);
    if (allocator->watch == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for an allocator of %s",
                        cx_context_text(allocator->context));
    ctxrt_status status = cx_guard_begin(allocator);
    if (status == CTXRT_SUCCESS)
        cx_trace_begin(allocator);
    return status;
}

static void end_watch(cx_allocator *allocator, bool native)
{
    cx_guard_end(allocator, native);
    cx_trace_end(allocator);
}

static void see_alloc(cx_allocator *allocator, const cx_block *block)
{
    cx_trace_record(&allocator->watch->trace, block->pointer, block->size_bytes, false);
}

static void see_free(cx_allocator *allocator, const cx_block *block)
{
    cx_trace_record(&allocator->watch->trace, block->pointer, block->size_bytes, true);
}

static void describe_origin(uint32_t cached, char *text, size_t size)
{
    cx_place_text(cx_origin_of(cached), text, size);
}

const cx_diagnosis cx_diagnosis_hook = {
    .begins = begin_watch,
    .ends = end_watch,
    .allocated = see_alloc,
    .freeing = see_free,
    .narrow = cx_guards_narrow,
    .origin_text = describe_origin,
    .shutdown_is_refused = cx_report_log_left,
};
