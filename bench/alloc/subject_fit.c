/* The fit alone, behind a lock, in one segment of the device's size that is made of nothing. */
#include "subject.h"

#include "alloc/fit.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cx_fit_store store = {.stride = sizeof(cx_fit_node)};
static cx_fit fit;

static void *take(size_t bytes)
{
    pthread_mutex_lock(&lock);
    uint32_t index = cx_fit_take(&fit, 0, cx_fit_units(bytes));
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)index;
}

static void give(void *memory)
{
    pthread_mutex_lock(&lock);
    (void)cx_fit_give(&fit, (uint32_t)(uintptr_t)memory);
    pthread_mutex_unlock(&lock);
}

void bench_add_fit(bench_field *field)
{
    bench_subject subject = {.name = "fit, locked", .of_device = true, .alloc = take, .free = give};
    ctxrt_device_info info;
    bench_check(ctxrt_device_properties(CTXRT_CUDA(0), &info));
    uint64_t units = info.total_bytes >> CX_FIT_UNIT_BITS;
    cx_fit_open(&fit, &store, NULL);
    if (cx_fit_add(&fit, 0, units < UINT32_MAX ? (uint32_t)units : UINT32_MAX, 0) == 0)
        subject.missing = "there is no memory for its nodes";
    field->subject[field->count++] = subject;
}
