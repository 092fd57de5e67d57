#include "memory/cross_driver_copies.h"

_Atomic size_t cx_cross_copies_count;
static _Atomic(const cx_cross_copies_calls *) installed;

void cx_cross_copies_install(const cx_cross_copies_calls *calls)
{
    atomic_store(&installed, calls);
}

void cx_cross_copies_leave_slowly(const void *start, size_t size_bytes,
                                  const cx_stream_target *behind)
{
    atomic_load(&installed)->leave(start, size_bytes, behind);
}

cxu_result cx_cross_copies_ask(const void *handle, bool wait)
{
    return atomic_load(&installed)->ask(handle, wait);
}

bool cx_cross_copies_is_over(const void *handle)
{
    return atomic_load(&installed)->is_over(handle);
}

uint64_t cx_cross_copies_trim(const cx_context *context)
{
    const cx_cross_copies_calls *calls = atomic_load(&installed);
    return calls != NULL ? calls->trim(context) : 0;
}
