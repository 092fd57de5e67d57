#include "counter.h"

#include <stdlib.h>

enum { THREADS = 256, BLOCKS = 64, HISTOGRAM_BYTES = 256 * sizeof(uint64_t) };

/*
 * count_bytes(bytes, count, histogram): each block of 256 threads counts into its own shared
 * memory, and adds that to the histogram at its end.
 */
static const char count_ptx[] =
    ".version 6.3\n"
    ".target sm_50\n"
    ".address_size 64\n"
    ".visible .entry count_bytes(.param .u64 bytes, .param .u64 count, .param .u64 histogram)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %r<9>;\n"
    "    .reg .b64 %rd<10>;\n"
    "    .shared .align 4 .b8 own[1024];\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    mov.u32 %r2, own;\n"
    "    shl.b32 %r3, %r1, 2;\n"
    "    add.u32 %r3, %r3, %r2;\n"
    "    st.shared.u32 [%r3], 0;\n"
    "    bar.sync 0;\n"
    "    mov.u32 %r4, %ctaid.x;\n"
    "    mov.u32 %r5, %ntid.x;\n"
    "    mov.u32 %r6, %nctaid.x;\n"
    "    cvt.u64.u32 %rd2, %r1;\n"
    "    mad.wide.u32 %rd1, %r4, %r5, %rd2;\n" /* the index of the thread's first byte */
    "    mul.wide.u32 %rd3, %r5, %r6;\n"
    "    ld.param.u64 %rd4, [bytes];\n"
    "    ld.param.u64 %rd5, [count];\n"
    "NEXT:\n"
    "    setp.ge.u64 %p, %rd1, %rd5;\n"
    "    @%p bra DONE;\n"
    "    add.u64 %rd6, %rd4, %rd1;\n"
    "    ld.global.u8 %r7, [%rd6];\n"
    "    shl.b32 %r7, %r7, 2;\n"
    "    add.u32 %r7, %r7, %r2;\n"
    "    red.shared.add.u32 [%r7], 1;\n"
    "    add.u64 %rd1, %rd1, %rd3;\n"
    "    bra NEXT;\n"
    "DONE:\n"
    "    bar.sync 0;\n"
    "    ld.shared.u32 %r8, [%r3];\n"
    "    cvt.u64.u32 %rd7, %r8;\n"
    "    ld.param.u64 %rd8, [histogram];\n"
    "    mul.wide.u32 %rd9, %r1, 8;\n"
    "    add.u64 %rd8, %rd8, %rd9;\n"
    "    red.global.add.u64 [%rd8], %rd7;\n"
    "    ret;\n"
    "}\n";

void counter_open(mpi_counter *self, const mpi_block *block)
{
    *self = (mpi_counter){0};
    OK(ctxrt_module_load(count_ptx, 0, &self->module));
    OK(ctxrt_module_get_kernel(self->module, "count_bytes", &self->kernel));
    OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self->stream));
    OK(ctxrt_memory_alloc(HISTOGRAM_BYTES, &self->histogram));
    OK(ctxrt_fill(ctxrt_memory_pointer(self->histogram), 0, HISTOGRAM_BYTES));
    self->counted = calloc(block->chunks + 1, sizeof(ctxrt_event *));
    if (self->counted == NULL)
        job_fail("no memory for %zu events", block->chunks);
    if (block->bytes > 0)
        OK(ctxrt_memory_alloc(block->bytes, &self->on_device));
    for (size_t i = 0; i < block->chunks; i++)
        OK(ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING, &self->counted[i]));
}

static void count_chunk(mpi_counter *self, void *chunk, size_t chunk_bytes)
{
    void *histogram = ctxrt_memory_pointer(self->histogram);
    uint64_t count = chunk_bytes;
    void *arguments[] = {&chunk, &count, &histogram};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.grid[0] = BLOCKS;
    config.block[0] = THREADS;
    config.stream = self->stream;
    OK(ctxrt_launch(&config, self->kernel, arguments, 3));
}

void counter_start(mpi_counter *self, const mpi_block *block)
{
    for (size_t i = 0; i < block->chunks; i++) {
        size_t bytes = block_chunk_bytes(block->bytes, block->chunk_bytes, i);
        unsigned char *on_device = ctxrt_memory_pointer(self->on_device);
        on_device += i * block->chunk_bytes;
        OK(ctxrt_copy_async(on_device, block_chunk(block, i), bytes, CTXRT_COPY_HOST_TO_DEVICE,
                            self->stream));
        count_chunk(self, on_device, bytes);
        OK(ctxrt_event_record(self->counted[i], self->stream));
    }
}

void counter_finish(mpi_counter *self, const mpi_block *block, uint64_t histogram[256])
{
    OK(ctxrt_stream_synchronize(self->stream));
    /* In the order of the current stream: here a change by other code would show. */
    OK(ctxrt_copy(histogram, ctxrt_memory_pointer(self->histogram), HISTOGRAM_BYTES,
                  CTXRT_COPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < block->chunks; i++)
        OK(ctxrt_event_destroy(self->counted[i]));
    free(self->counted);
    OK(ctxrt_memory_release(self->histogram));
    OK(ctxrt_memory_release(self->on_device));
    OK(ctxrt_stream_destroy(self->stream));
    OK(ctxrt_module_unload(self->module));
}
