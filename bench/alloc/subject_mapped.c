/* The fit over one mapped range, behind a lock: chunks are mapped where a block needs them, and where memory is short those
 * that lie in free ranges move. */
#include "subject.h"

#include "device/device.h"
#include "memory/fit.h"
#include "memory/mapped_range.h"

#include <pthread.h>

#define ADDRESSES 4 /* as many times the device's memory */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cx_fit_store store = {.stride = sizeof(cx_fit_node)};
static cx_fit fit;
static cx_mapped_range range;

static size_t offset_of(const cx_fit_node *node)
{
    return (size_t)node->offset_units << CX_FIT_UNIT_BITS;
}

static size_t bytes_of(const cx_fit_node *node)
{
    return (size_t)node->units << CX_FIT_UNIT_BITS;
}

/* Whether so much memory was given back. */
static bool unmap_free(size_t wanted)
{
    size_t found = 0;
    for (uint32_t index = 0; found < wanted && (index = cx_fit_next_free(&fit, 0, index)) != 0;) {
        const cx_fit_node *node = cx_fit_at(&store, index);
        found += cx_mapped_range_unmap(&range, offset_of(node), bytes_of(node), wanted - found);
    }
    return found > 0;
}

static bool back(const cx_fit_node *node)
{
    cxu_result result;
    do
        result = cx_mapped_range_map(&range, offset_of(node), bytes_of(node));
    while (result == CXU_OUT_OF_MEMORY &&
           unmap_free(cx_mapped_range_lacks(&range, offset_of(node), bytes_of(node))));
    return result == CXU_SUCCESS;
}

static void *take(size_t bytes)
{
    pthread_mutex_lock(&lock);
    uint32_t index = cx_fit_take(&fit, 0, cx_fit_units(bytes));
    if (index != 0 && !back(cx_fit_at(&store, index))) {
        (void)cx_fit_give(&fit, index);
        index = 0;
    }
    pthread_mutex_unlock(&lock);
    return (void *)(uintptr_t)index;
}

static void give(void *memory)
{
    pthread_mutex_lock(&lock);
    (void)cx_fit_give(&fit, (uint32_t)(uintptr_t)memory);
    pthread_mutex_unlock(&lock);
}

void bench_add_mapped(bench_field *field)
{
    bench_subject subject = {.name = "fit, mapped", .of_device = true, .alloc = take, .free = give};
    ctxrt_device_info info;
    cx_device *device = NULL;
    bench_check(ctxrt_device_properties(CTXRT_CUDA(0), &info));
    bench_check(cx_device_find(CTXRT_CUDA(0), &device));
    cx_fit_open(&fit, &store, NULL);
    if (cx_mapped_range_open(&range, device->driver, device->native, ADDRESSES * info.total_bytes) != CXU_SUCCESS)
        subject.missing = "the driver has no virtual memory";
    else if (cx_fit_add(&fit, 0, (uint32_t)(range.bytes >> CX_FIT_UNIT_BITS), 0) == 0)
        subject.missing = "there is no memory for its nodes";
    field->subject[field->count++] = subject;
}
