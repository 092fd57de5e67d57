/*
 * What is kept of an allocator to diagnose it: behind the hook of memory/diagnosis.h. It stays with
 * the allocator's slot in the pool, so that late readers find it.
 */
#ifndef CX_DIAGNOSE_WATCH_H
#define CX_DIAGNOSE_WATCH_H

#include "diagnose/guard.h"
#include "diagnose/trace.h"

typedef struct cx_watch {
    _Atomic(cx_guard *) guard; /* kept when the debug mode of pinned memory ends */
    cx_trace trace;
} cx_watch;

/* The guard of an allocator in debug mode, or of the one beneath it; NULL: none. */
static inline cx_guard *cx_guard_of(const cx_allocator *allocator)
{
    return atomic_load(&allocator->front) != NULL ? atomic_load(&allocator->watch->guard) : NULL;
}

#endif
