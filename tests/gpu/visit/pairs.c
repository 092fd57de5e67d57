/* Times pairs of an allocation and its release: ctxrt's, and those of two functions of the same
 * shape, which allocator_torch.py finds in PyTorch. */
#include <ctxrt/ctxrt.h>

#include <stddef.h>
#include <time.h>

typedef int pairs_allocate(size_t bytes, void **out_memory);
typedef int pairs_release(void *memory);

int pairs_begin(void);
double pairs_of(pairs_allocate *allocate, pairs_release *release, size_t bytes, int count);
double pairs_of_ctxrt(size_t bytes, int count);
const char *pairs_error(void);

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* 0: good. */
int pairs_begin(void)
{
    return ctxrt_device_set(CTXRT_CUDA(0)) == CTXRT_SUCCESS ? 0 : -1;
}

const char *pairs_error(void)
{
    return ctxrt_last_error()->message;
}

/* The nanoseconds of a pair; negative: one failed. */
double pairs_of(pairs_allocate *allocate, pairs_release *release, size_t bytes, int count)
{
    double from = now_ns();
    for (int i = 0; i < count; i++) {
        void *memory = NULL;
        if (allocate(bytes, &memory) != 0 || release(memory) != 0)
            return -1;
    }
    return (now_ns() - from) / count;
}

static int allocate_from_ctxrt(size_t bytes, void **out_memory)
{
    ctxrt_memory *memory = NULL;
    ctxrt_status status = ctxrt_memory_alloc(bytes, &memory);
    *out_memory = memory;
    return status == CTXRT_SUCCESS ? 0 : -1;
}

static int release_to_ctxrt(void *memory)
{
    return ctxrt_memory_release(memory) == CTXRT_SUCCESS ? 0 : -1;
}

double pairs_of_ctxrt(size_t bytes, int count)
{
    return pairs_of(allocate_from_ctxrt, release_to_ctxrt, bytes, count);
}
