#include "memory/across.h"

_Atomic size_t cx_across_count;
static _Atomic(const cx_across_calls *) installed;

void cx_across_install(const cx_across_calls *calls)
{
    atomic_store(&installed, calls);
}

void cx_across_leave_slowly(const void *start, size_t size_bytes, const cx_stream_target *behind)
{
    atomic_load(&installed)->leave(start, size_bytes, behind);
}

cxu_result cx_across_ask(const void *handle, bool wait)
{
    return atomic_load(&installed)->ask(handle, wait);
}

bool cx_across_is_over(const void *handle)
{
    return atomic_load(&installed)->is_over(handle);
}

uint64_t cx_across_trim(const cx_context *context)
{
    const cx_across_calls *calls = atomic_load(&installed);
    return calls != NULL ? calls->trim(context) : 0;
}
