#include "host_memory.h"

#if HOST_MEMORY_IS_OURS

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer's own, beneath the names that a program may define. */
void *__interceptor_malloc(size_t size);
void *__interceptor_calloc(size_t count, size_t size);
void *__interceptor_realloc(void *before, size_t size);
void *__interceptor_aligned_alloc(size_t alignment, size_t size);
void __interceptor_free(void *memory);
#define BENEATH(name) __interceptor_##name
enum { COUNTED = 0 };
#else
/* glibc's own. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *before, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);
#define __libc_aligned_alloc __libc_memalign
#define BENEATH(name) __libc_##name
enum { COUNTED = 1 };
#endif

static _Thread_local long seen, fatal = LONG_MAX;
static _Thread_local int paused;
static atomic_long live;

static bool strikes(void)
{
    if (paused > 0 || ++seen != fatal)
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory)
{
    if (COUNTED && memory != NULL)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return memory;
}

/* Hidden they would not be the C library's too, which allocates in strdup and others. */
#pragma GCC visibility push(default)

void *malloc(size_t size)
{
    return strikes() ? NULL : counted(BENEATH(malloc)(size));
}

void *calloc(size_t count, size_t size)
{
    return strikes() ? NULL : counted(BENEATH(calloc)(count, size));
}

void *realloc(void *before, size_t size)
{
    if (before == NULL)
        return malloc(size);
    return strikes() ? NULL : BENEATH(realloc)(before, size);
}

void *reallocarray(void *before, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(before, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return strikes() ? NULL : counted(BENEATH(aligned_alloc)(alignment, size));
}

int posix_memalign(void **out_memory, size_t alignment, size_t size)
{
    void *memory = aligned_alloc(alignment, size);
    if (memory == NULL)
        return ENOMEM;
    *out_memory = memory;
    return 0;
}

/* A sanitizer's strdup and strndup would allocate beneath these functions. */
static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *strndup(const char *text, size_t most)
{
    return copy_text(text, strnlen(text, most));
}

char *strdup(const char *text)
{
    return copy_text(text, strlen(text));
}

void free(void *memory)
{
    if (COUNTED && memory != NULL)
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    BENEATH(free)(memory);
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    if (strikes())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, length, protection, flags, file, offset);
}

int memfd_create(const char *name, unsigned int flags)
{
    return strikes() ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int pthread_create(pthread_t *out_thread, const pthread_attr_t *attributes,
                   void *(*run)(void *argument), void *argument)
{
    static int (*beneath)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (strikes())
        return EAGAIN;
    paused++; /* its own allocations are no others */
    if (beneath == NULL)
        *(void **)&beneath = dlsym(RTLD_NEXT, "pthread_create");
    int failed = beneath(out_thread, attributes, run, argument);
    paused--;
    return failed;
}

#ifdef __SANITIZE_ADDRESS__
/* The search for leaks knows the loader's memory by its caller, which is here now. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:ld-linux\n";
}
#endif

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

bool host_memory_struck(void)
{
    return seen >= fatal;
}

void host_memory_pause(void)
{
    paused++;
}

void host_memory_resume(void)
{
    paused--;
}

long host_memory_live(void)
{
    return atomic_load(&live);
}

#endif
