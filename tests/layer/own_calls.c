/* A program of libctxrt without misuse, for own_calls.sh: memory and streams in other orders than
 * most programs use them in. */
#include <ctxrt/ctxrt.h>
#include <stdio.h>
#include <stdlib.h>

static void must(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    printf("%s: %s\n", ctxrt_status_name(status), ctxrt_last_error()->message);
    exit(3);
}

/* Pinned memory comes before the first stream. */
static void use_pinned_memory_first(void)
{
    void *pinned, *memory;
    must(ctxrt_alloc_pinned(4096, &pinned));
    must(ctxrt_free(pinned));
    must(ctxrt_alloc(4096, &memory));
    must(ctxrt_fill_async(memory, 1, 4096, NULL));
    must(ctxrt_free(memory));
}

/* The free gives segments back to the driver, and looks at the device's memory then. */
static void free_where_nothing_is_current(void)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    void *memory;
    options.release_threshold_bytes = 1;
    must(ctxrt_device_push(CTXRT_CUDA(1)));
    must(ctxrt_allocator_create(&options, &allocator));
    must(ctxrt_frame_set_allocator(allocator));
    must(ctxrt_alloc(1 << 20, &memory));
    must(ctxrt_stack_pop());
    must(ctxrt_free(memory));
    must(ctxrt_allocator_destroy(allocator));
}

/* Without access between the devices the fill is done on the memory's own. */
static void fill_memory_of_another_device(void)
{
    void *memory;
    must(ctxrt_device_push(CTXRT_CUDA(1)));
    must(ctxrt_alloc(4096, &memory));
    must(ctxrt_stack_pop());
    must(ctxrt_device_push(CTXRT_CUDA(0)));
    must(ctxrt_fill_async(memory, 1, 4096, NULL));
    must(ctxrt_stack_pop());
    must(ctxrt_free(memory));
}

/* Memory that the host may touch waits for its streams, which go with a reset. */
static void reset_with_deferred_frees(ctxrt_device device)
{
    ctxrt_memory *memory;
    ctxrt_stream *stream;
    must(ctxrt_device_push(device));
    must(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    must(ctxrt_memory_alloc(4096, &memory));
    must(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, 4096, stream));
    must(ctxrt_memory_record_stream(memory, stream));
    must(ctxrt_memory_release(memory));
    must(ctxrt_device_reset(device));
    must(ctxrt_stream_destroy(stream));
    must(ctxrt_stack_pop());
}

int main(void)
{
    must(ctxrt_device_push(CTXRT_CUDA(0)));
    use_pinned_memory_first();
    must(ctxrt_stack_pop());
    must(ctxrt_device_release(CTXRT_CUDA(0)));
    free_where_nothing_is_current();
    fill_memory_of_another_device();
    reset_with_deferred_frees(CTXRT_CUDA(0));
    reset_with_deferred_frees(CTXRT_CPU(0));
    must(ctxrt_shutdown());
    puts("done");
    return 0;
}
