/* The driver's own calls: cuMemAlloc and cuMemAllocAsync, the latter with a pool that keeps what is
 * freed. */
#include "subject.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define ATTRIBUTE_RELEASE_THRESHOLD 4

static const cx_driver_table *table;
static _Thread_local CUstream stream;

static void check_driver(const char *call, int result)
{
    if (result == 0)
        return;
    fprintf(stderr, "bench_alloc: %s returned %d\n", call, result);
    exit(1);
}

static void enter_device(void)
{
    bench_check(ctxrt_device_push(CTXRT_CUDA(0)));
}

static void leave_device(void)
{
    bench_check(ctxrt_stack_pop());
}

static void *alloc_plain(size_t bytes)
{
    CUdeviceptr address;
    return table->mem_alloc(&address, bytes) == CXU_SUCCESS ? (void *)(uintptr_t)address : NULL;
}

static void free_plain(void *pointer)
{
    check_driver("cuMemFree", table->mem_free((uintptr_t)pointer));
}

#define NON_BLOCKING 1

static void enter_stream(void)
{
    enter_device();
    check_driver("cuStreamCreate", table->stream_create(&stream, NON_BLOCKING));
}

static void leave_stream(void)
{
    check_driver("cuStreamSynchronize", table->stream_synchronize(stream));
    check_driver("cuStreamDestroy", table->stream_destroy(stream));
    leave_device();
}

static void *alloc_async(size_t bytes)
{
    CUdeviceptr address;
    return table->mem_alloc_async(&address, bytes, stream) == CXU_SUCCESS
               ? (void *)(uintptr_t)address
               : NULL;
}

static void free_async(void *pointer)
{
    check_driver("cuMemFreeAsync", table->mem_free_async((uintptr_t)pointer, stream));
}

/* What stands in the way of a release threshold, or NULL. The embedded driver has no pools. */
static const char *keep_freed(const cx_driver *driver)
{
    int (*get_pool)(void **out_pool, int device), (*set)(void *pool, int attribute, void *value);
    uint64_t threshold = UINT64_MAX;
    void *pool;
    if (driver->library == NULL)
        return "the driver is the embedded one";
    *(void **)&get_pool = dlsym(driver->library, "cuDeviceGetDefaultMemPool");
    *(void **)&set = dlsym(driver->library, "cuMemPoolSetAttribute");
    if (get_pool == NULL || set == NULL)
        return "the driver has no memory pools";
    return get_pool(&pool, 0) == 0 && set(pool, ATTRIBUTE_RELEASE_THRESHOLD, &threshold) == 0
               ? NULL
               : "the driver refused the threshold";
}

void bench_add_driver(bench_field *field)
{
    const cx_driver *driver = bench_driver();
    bench_subject plain = {.name = "cuMemAlloc",
                           .of_device = true,
                           .slow = true,
                           .alloc = alloc_plain,
                           .free = free_plain,
                           .enter = enter_device,
                           .leave = leave_device};
    bench_subject async = {.name = "cuMemAllocAsync",
                           .of_device = true,
                           .slow = true,
                           .alloc = alloc_async,
                           .free = free_async,
                           .enter = enter_stream,
                           .leave = leave_stream};
    table = &driver->table;
    if (driver->missing[CX_SLOT_mem_alloc_async])
        async.missing = "the driver has no such call";
    else if (driver->library != NULL && keep_freed(driver) != NULL)
        async.missing = keep_freed(driver);
    field->subject[field->count++] = plain;
    field->subject[field->count++] = async;
}
