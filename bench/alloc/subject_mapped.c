/* ctxrt's allocator with segments that are mapped: CTXRT_ALLOCATOR_SOURCE_VMM. */
#include "subject.h"

#include <pthread.h>

static ctxrt_allocator *allocator;

static void enter(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    bench_check(ctxrt_device_push(CTXRT_CUDA(0)));
    pthread_mutex_lock(&lock);
    if (allocator == NULL)
        bench_check(ctxrt_allocator_create(&options, &allocator));
    pthread_mutex_unlock(&lock);
    bench_check(ctxrt_frame_set_allocator(allocator));
}

static void leave(void)
{
    bench_check(ctxrt_stack_pop());
}

static void *take(size_t bytes)
{
    ctxrt_memory *memory;
    return ctxrt_memory_alloc(bytes, &memory) == CTXRT_SUCCESS ? memory : NULL;
}

static void give(void *memory)
{
    bench_check(ctxrt_memory_release(memory));
}

void bench_add_mapped(bench_field *field)
{
    bench_subject subject = {.name = "ctxrt vmm",
                             .of_device = true,
                             .alloc = take,
                             .free = give,
                             .enter = enter,
                             .leave = leave};
    if (bench_driver()->table.mem_create == cx_driver_missing.mem_create)
        subject.missing = "the driver has no virtual memory";
    field->subject[field->count++] = subject;
}

void bench_drop_mapped(void)
{
    bench_check(ctxrt_allocator_destroy(allocator));
    allocator = NULL;
}
