/* A program for `ctxrt check`: allocations of the Runtime API fail, and it uses their output, which
 * is the value that the variable had before. */
#include "declared.h"

#include <stdint.h>

#define NAMED __attribute__((noinline, noclone)) static

static const size_t too_many = (size_t)1 << 50;
static volatile int results; /* behind each call, so that none is a jump */

/* As an uninitialised variable may have it. */
static void *garbage(void)
{
    return (void *)(uintptr_t)0x1234567;
}

NAMED void use(void *memory)
{
    results += (int)cudaFree(memory);
}

NAMED void plain(void)
{
    void *memory = garbage();
    results += (int)cudaMalloc(&memory, too_many);
    use(memory);
}

NAMED void pitched(void)
{
    void *memory = garbage();
    size_t pitch;
    results += (int)cudaMallocPitch(&memory, &pitch, 1 << 20, (size_t)1 << 30);
    use(memory);
}

NAMED void managed(void)
{
    void *memory = garbage();
    results += (int)cudaMallocManaged(&memory, too_many, CXU_MEM_ATTACH_GLOBAL);
    use(memory);
}

NAMED void in_stream_order(void)
{
    void *memory = garbage();
    results += (int)cudaMallocAsync(&memory, too_many, NULL);
    use(memory);
}

NAMED void from_a_pool(void)
{
    void *memory = garbage();
    CUmemoryPool pool;
    results += (int)cudaDeviceGetDefaultMemPool(&pool, 0);
    results += (int)cudaMallocFromPoolAsync(&memory, too_many, pool, NULL);
    use(memory);
}

NAMED void pinned(void)
{
    void *memory = garbage();
    results += (int)cudaMallocHost(&memory, too_many);
    results += (int)cudaFreeHost(memory);
}

int main(void)
{
    results += (int)cudaFree(NULL);
    plain();
    pitched();
    managed();
    in_stream_order();
    from_a_pool();
    pinned();
    return 0;
}
