#include "host_memory.h"

#if HOST_MEMORY_IS_OURS

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

/* glibc's own, beneath the names that a program may define. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *before, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

static _Thread_local long seen, fatal = LONG_MAX;
static atomic_long live;

static bool strikes(void)
{
    if (++seen != fatal)
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory)
{
    if (memory != NULL)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return memory;
}

/* Hidden they would not be the C library's too, which allocates in strdup and others. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return strikes() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return strikes() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *before, size_t size)
{
    if (before == NULL)
        return malloc(size);
    return strikes() ? NULL : __libc_realloc(before, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return strikes() ? NULL : counted(__libc_memalign(alignment, size));
}

int posix_memalign(void **out_memory, size_t alignment, size_t size)
{
    void *memory = aligned_alloc(alignment, size);
    if (memory == NULL)
        return ENOMEM;
    *out_memory = memory;
    return 0;
}

void free(void *memory)
{
    if (memory != NULL)
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    __libc_free(memory);
}

#pragma GCC visibility pop

void host_memory_arm(long number)
{
    seen = 0;
    fatal = number;
}

long host_memory_disarm(void)
{
    fatal = LONG_MAX;
    return seen;
}

long host_memory_live(void)
{
    return atomic_load(&live);
}

#endif
