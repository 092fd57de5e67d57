/* What the magazines of streams cost besides the memory in them, and lists of free memory. How
 * exact the figures of several threads are. */
#include "context/thread.h"
#include "driver/driver.h"
#include "fixture.h"
#include "memory/allocator.h"
#include "memory/cache.h"
#include "test.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

enum { STREAMS = 300, SIZES = 12 };

/* A heap keeps the nodes of all blocks that there were at one time. */
enum { NODE_BYTES = 4 * (int)(CX_FIT_CHUNK_NODES * sizeof(cx_cache_block)) };

static ctxrt_stream *streams[STREAMS];

static void open_streams(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < STREAMS; i++)
        cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &streams[i]));
}

static void close_streams(void)
{
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    for (int i = 0; i < STREAMS; i++)
        cx_assert_ok(ctxrt_stream_destroy(streams[i]));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

/* Blocks of some sizes, each of which is kept when it is freed. */
static void use_memory(void)
{
    void *pointers[SIZES];
    for (int i = 0; i < SIZES; i++)
        cx_assert_ok(ctxrt_alloc((size_t)100 << i, &pointers[i]));
    for (int i = 0; i < SIZES; i++)
        cx_assert_ok(ctxrt_free(pointers[i]));
}

static void use_stream(int number)
{
    cx_assert_ok(ctxrt_frame_set_stream(streams[number]));
    use_memory();
}

static cx_cache *cache_now(void)
{
    ctxrt_allocator *handle;
    cx_assert_ok(ctxrt_allocator_current(&handle));
    return ((const cx_allocator *)cx_pool_find(&cx_allocators, handle))->cache;
}

static void add_magazines(cx_cache *cache, void *sum)
{
    *(uint32_t *)sum += atomic_load(&cache->magazines);
}

static uint32_t all_magazines(void)
{
    uint32_t sum = 0;
    cx_caches_each(add_magazines, &sum);
    return sum;
}

static int lists_of_streams(const cx_cache *cache)
{
    int count = 0;
    const cx_heap *heap = &cache->heap;
    for (uint32_t id = CX_CACHE_STREAM_FIRST; id < heap->large.owner_limit; id++)
        count += heap->large.bins[id] != NULL;
    for (uint32_t id = CX_CACHE_STREAM_FIRST; id < heap->small.owner_limit; id++)
        count += heap->small.bins[id] != NULL;
    return count;
}

static size_t bytes_in_use(void)
{
    struct mallinfo2 figures = mallinfo2();
    return figures.uordblks + figures.hblkhd;
}

static void *free_pointer(void *pointer)
{
    cx_assert_ok(ctxrt_free(pointer));
    return NULL;
}

START_TEST(a_trim_frees_the_magazines_of_all_streams)
{
    size_t before = 0;
    open_streams();
    for (int round = 0; round < 2; round++) {
        before = round == 1 ? bytes_in_use() : 0;
        for (int i = 0; i < STREAMS; i++)
            use_stream(i);
        cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
        ck_assert_uint_eq(all_magazines(), 0);
        ck_assert_int_eq(lists_of_streams(cache_now()), 0);
    }
    ck_assert_uint_lt(bytes_in_use(), before + NODE_BYTES);
    use_stream(1);
    ck_assert_uint_eq(all_magazines(), 1);
    close_streams();
}
END_TEST

START_TEST(a_cache_has_no_more_magazines_than_it_may)
{
    open_streams();
    for (int i = 0; i < STREAMS; i++) {
        use_stream(i);
        ck_assert_uint_le(all_magazines(), CX_CACHE_MAGAZINES_MAX);
    }
    use_stream(STREAMS - 1);
    ck_assert_uint_gt(all_magazines(), 0);
    close_streams();
}
END_TEST

START_TEST(a_block_that_another_thread_freed_serves_its_stream)
{
    void *before, *again;
    pthread_t thread;
    open_streams();
    cx_assert_ok(ctxrt_frame_set_stream(streams[0]));
    cx_assert_ok(ctxrt_alloc(1000, &before));
    ck_assert_int_eq(pthread_create(&thread, NULL, free_pointer, before), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(all_magazines(), 1);
    cx_assert_ok(ctxrt_alloc(1000, &again));
    ck_assert_ptr_eq(again, before);
    cx_assert_ok(ctxrt_free(again));
    close_streams();
}
END_TEST

START_TEST(an_ended_stream_keeps_nothing_in_its_magazine)
{
    void *pointer;
    open_streams();
    use_stream(0);
    cx_assert_ok(ctxrt_alloc(1000, &pointer));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(streams[0]));
    ck_assert_uint_eq(all_magazines(), 0);
    cx_assert_ok(ctxrt_free(pointer));
    ck_assert_uint_eq(all_magazines(), 0);
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &streams[0]));
    close_streams();
}
END_TEST

START_TEST(a_reset_ends_what_magazines_keep_and_what_users_have)
{
    void *pointer, *other;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    use_memory();
    cx_assert_ok(ctxrt_alloc(1000, &pointer));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    ck_assert_uint_eq(all_magazines(), 0);
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.requested.current_count, 1);
    ck_assert_uint_eq(info.allocated.current_count, 0);
    ck_assert_uint_eq(info.reserved.current_bytes, 0);
    cx_assert_ok(ctxrt_alloc(1000, &other));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_free(other));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.requested.current_count, 0);
    ck_assert_uint_eq(cache_now()->heap.large.units * CX_FIT_UNIT_BYTES,
                      info.reserved.current_bytes);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

/* ---- memory that is being mapped ---- */

static cx_cache *mapping;
static cx_driver_table beneath;
static int flushes;

static void *flush(void *unused)
{
    cx_cache_flush(mapping);
    return unused;
}

/* The thread that maps holds "range": it is another one that flushes. */
static cxu_result flush_and_create(CUmemGenericAllocationHandle *out_handle, size_t bytes,
                                   const cxu_mem_properties *properties,
                                   unsigned long long flags)
{
    pthread_t thread;
    flushes++;
    ck_assert_int_eq(pthread_create(&thread, NULL, flush, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    return beneath.mem_create(out_handle, bytes, properties, flags);
}

/* The place that is being mapped comes back as the stream's, which has no other memory. */
START_TEST(a_flush_leaves_the_lists_of_a_stream_whose_memory_is_being_mapped)
{
    void *pointer;
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    open_streams();
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    cx_assert_ok(ctxrt_frame_set_stream(streams[0]));
    mapping = ((const cx_allocator *)cx_pool_find(&cx_allocators, allocator))->cache;
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.mem_create = flush_and_create;
    cx_assert_ok(ctxrt_alloc(100 << 10, &pointer));
    cx_drivers[0].table = beneath;
    ck_assert_int_gt(flushes, 0);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    close_streams();
}
END_TEST

/* ---- peaks of several threads ---- */

enum { CROWD = 3, BLOCKS_MAX = 15000 };

/* Many small blocks, and a few large ones. */
static const struct {
    size_t size_bytes;
    int count;
} loads[] = {{60, BLOCKS_MAX}, {1 << 20, 45}};

static pthread_barrier_t all_allocated;
static int load;

static void *use_blocks(void *argument)
{
    void **blocks = argument;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < loads[load].count; i++)
        cx_assert_ok(ctxrt_alloc(loads[load].size_bytes, &blocks[i]));
    pthread_barrier_wait(&all_allocated);
    for (int i = 0; i < loads[load].count; i++)
        cx_assert_ok(ctxrt_free(blocks[i]));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(peaks_of_several_threads_are_exact)
{
    static void *blocks[CROWD][BLOCKS_MAX];
    pthread_t threads[CROWD];
    ctxrt_allocator_figures figures;
    load = _i;
    ck_assert_int_eq(pthread_barrier_init(&all_allocated, NULL, CROWD), 0);
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_blocks, blocks[i]), 0);
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_count, 0);
    const uint64_t count = CROWD * (uint64_t)loads[_i].count;
    ck_assert_uint_eq(figures.peak_count, count);
    ck_assert_uint_eq(figures.peak_bytes, count * loads[_i].size_bytes);
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
END_TEST

static Suite *stream_magazines_suite(void)
{
    Suite *suite = suite_create("stream_magazines");
    TCase *tcase = tcase_create("stream_magazines");
    tcase_add_test(tcase, a_trim_frees_the_magazines_of_all_streams);
    tcase_add_test(tcase, a_cache_has_no_more_magazines_than_it_may);
    tcase_add_test(tcase, a_block_that_another_thread_freed_serves_its_stream);
    tcase_add_test(tcase, an_ended_stream_keeps_nothing_in_its_magazine);
    tcase_add_test(tcase, a_reset_ends_what_magazines_keep_and_what_users_have);
    tcase_add_test(tcase, a_flush_leaves_the_lists_of_a_stream_whose_memory_is_being_mapped);
    tcase_add_loop_test(tcase, peaks_of_several_threads_are_exact, 0,
                        sizeof loads / sizeof *loads);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(stream_magazines_suite);
