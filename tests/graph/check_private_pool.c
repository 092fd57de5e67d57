/*
 * Private pools: memory that is allocated and freed while one is open stays apart from all other
 * memory until the last owner of the pool goes.
 */
#include "memory/private_pool.h"
#include "place.h"

#include <malloc.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

static cx_private_pool *pool;
static cx_private_pool_use use;
static uint64_t last_mark;

static void set_mark(uint64_t mark)
{
    cx_thread_top(cx_thread_current)->token = mark;
}

static void open_in_frame(cx_private_pool_use *out_use, cx_private_pool *opened)
{
    set_mark(++last_mark);
    cx_private_pool_open(out_use, opened, last_mark);
}

static void open_pool(void)
{
    pool = cx_private_pool_make();
    ck_assert_ptr_nonnull(pool);
    open_in_frame(&use, pool);
}

static void close_and_release(void)
{
    cx_private_pool_close(&use);
    cx_assert_ok(cx_private_pool_release(pool));
}

static void *alloc(size_t size_bytes)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(size_bytes, &pointer));
    return pointer;
}

static size_t bytes_in_use(void)
{
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    return figures.current_bytes;
}

static void assert_kept(size_t live_count, size_t kept_count)
{
    cx_private_pool_figures figures;
    cx_private_pool_look(pool, &figures);
    ck_assert_uint_eq(figures.live_count, live_count);
    ck_assert_uint_eq(figures.kept_count, kept_count);
}

START_TEST(a_freed_block_serves_the_next_allocation_of_the_same_size)
{
    open_pool();
    void *first = alloc(MIB);
    cx_assert_ok(ctxrt_free(first));
    assert_kept(0, 1);
    void *second = alloc(MIB);
    ck_assert_ptr_eq(first, second);
    assert_kept(1, 0);
    cx_assert_ok(ctxrt_free(second));
    ck_assert_uint_eq(bytes_in_use(), MIB);
    close_and_release();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

/* Defect 6 of the system that went before: a graph's scratch was handed to later eager allocations.
 */
START_TEST(what_a_pool_keeps_never_serves_an_eager_allocation)
{
    open_pool();
    void *scratch = alloc(MIB);
    cx_assert_ok(ctxrt_free(scratch));
    cx_private_pool_close(&use);
    void *eager[8];
    for (int i = 0; i < 8; i++) {
        eager[i] = alloc(MIB);
        ck_assert_ptr_ne(eager[i], scratch);
    }
    for (int i = 0; i < 8; i++)
        cx_assert_ok(ctxrt_free(eager[i]));
    assert_kept(0, 1);
    cx_assert_ok(cx_private_pool_release(pool));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

/* Defect 5: a block from before the recording was used in it without being pinned, and freed under
 * a live graph. */
START_TEST(an_eager_block_that_is_freed_while_the_pool_is_open_is_kept)
{
    void *before = alloc(MIB);
    ctxrt_memory *counted;
    cx_assert_ok(ctxrt_memory_alloc(2 * MIB, &counted));
    open_pool();
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_memory_release(counted));
    assert_kept(0, 2);
    ck_assert_uint_eq(bytes_in_use(), 3 * MIB);
    void *again = alloc(MIB);
    ck_assert_ptr_eq(again, before);
    cx_assert_ok(ctxrt_free(again));
    close_and_release();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

static void *free_it(void *pointer)
{
    return (void *)(intptr_t)ctxrt_free(pointer);
}

START_TEST(a_block_freed_later_and_by_any_thread_is_kept_too)
{
    pthread_t thread;
    void *status;
    open_pool();
    void *block = alloc(MIB);
    cx_private_pool_close(&use);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_it, block), 0);
    ck_assert_int_eq(pthread_join(thread, &status), 0);
    ck_assert_ptr_null(status);
    assert_kept(0, 1);
    cx_assert_ok(cx_private_pool_release(pool));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

/* Defect 7: pins were never cleared, so the memory was lost after the graph was gone. */
START_TEST(blocks_in_users_hands_outlive_the_pool_and_are_then_freed_as_any_other)
{
    ctxrt_memory *counted;
    open_pool();
    void *block = alloc(MIB);
    cx_assert_ok(ctxrt_memory_alloc(MIB, &counted));
    close_and_release();
    ck_assert_uint_eq(bytes_in_use(), 2 * MIB);
    cx_assert_ok(ctxrt_fill(block, 1, MIB));
    cx_assert_ok(ctxrt_free(block));
    ck_assert_uint_eq(bytes_in_use(), MIB);
    cx_assert_ok(ctxrt_memory_release(counted));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

static void outlive_pools(int times)
{
    for (int i = 0; i < times; i++) {
        open_pool();
        void *block = alloc(KIB);
        close_and_release();
        cx_assert_ok(ctxrt_free(block));
    }
}

/* Under sanitizers mallinfo2 counts nothing; they look for leaks themselves. */
START_TEST(a_pool_goes_with_the_last_block_that_outlives_its_owners)
{
    enum { TIMES = 1000, LEAST_BYTES = 64 };
    outlive_pools(TIMES / 10);
    size_t before = mallinfo2().uordblks;
    outlive_pools(TIMES);
    ck_assert_uint_lt(mallinfo2().uordblks, before + TIMES * LEAST_BYTES);
}
END_TEST

START_TEST(the_best_fit_is_taken_and_nothing_more_than_twice_as_large)
{
    static const size_t sizes[] = {8 * MIB, MIB, 4 * MIB, 2 * MIB};
    void *blocks[4];
    open_pool();
    for (int i = 0; i < 4; i++)
        blocks[i] = alloc(sizes[i]);
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_free(blocks[i]));
    void *fit = alloc(MIB + 1);
    ck_assert_ptr_eq(fit, blocks[3]);
    void *next = alloc(MIB + 1);
    for (int i = 0; i < 4; i++)
        ck_assert_ptr_ne(next, blocks[i]);
    void *large = alloc(4 * MIB);
    ck_assert_ptr_eq(large, blocks[2]);
    void *twice = alloc(4 * MIB);
    ck_assert_ptr_eq(twice, blocks[0]);
    assert_kept(4, 1);
    cx_assert_ok(ctxrt_free(twice));
    cx_assert_ok(ctxrt_free(fit));
    cx_assert_ok(ctxrt_free(next));
    cx_assert_ok(ctxrt_free(large));
    assert_kept(0, 5);
    close_and_release();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

START_TEST(reuse_keeps_to_the_stream_and_the_allocator)
{
    ctxrt_allocator *allocator;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    open_pool();
    void *block = alloc(MIB);
    cx_assert_ok(ctxrt_free(block));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    void *of_stream = alloc(MIB);
    ck_assert_ptr_ne(of_stream, block);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    void *of_allocator = alloc(MIB);
    ck_assert_ptr_ne(of_allocator, block);
    cx_assert_ok(ctxrt_free(of_allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_free(of_stream));
    ck_assert_ptr_eq(alloc(MIB), block);
    cx_assert_ok(ctxrt_free(block));
    assert_kept(0, 3);
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    close_and_release();
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* The other stream may still be using it, and no launch waits for that. */
START_TEST(memory_of_another_stream_is_kept_and_serves_nothing)
{
    ctxrt_stream *streams[2];
    void *blocks[2];
    for (int i = 0; i < 2; i++) {
        streams[i] = create_stream(CTXRT_STREAM_NON_BLOCKING);
        cx_assert_ok(ctxrt_frame_set_stream(streams[i]));
        blocks[i] = alloc(MIB + i);
    }
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(streams[1]));
    open_pool();
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_free(blocks[i]));
    assert_kept(0, 2);
    void *own = alloc(MIB);
    ck_assert_ptr_ne(own, blocks[0]);
    ck_assert_ptr_ne(own, blocks[1]);
    cx_assert_ok(ctxrt_free(own));
    ck_assert_ptr_eq(alloc(MIB), own);
    cx_assert_ok(ctxrt_free(own));
    close_and_release();
    ck_assert_uint_eq(bytes_in_use(), 0);
    cx_assert_ok(ctxrt_stream_destroy(streams[0]));
}
END_TEST

START_TEST(a_frame_above_the_one_of_the_pool_is_eager)
{
    open_pool();
    cx_assert_ok(ctxrt_device_push(here));
    void *eager = alloc(MIB);
    assert_kept(0, 0);
    cx_assert_ok(ctxrt_free(eager));
    assert_kept(0, 0);
    ck_assert_uint_eq(bytes_in_use(), 0);
    cx_assert_ok(ctxrt_stack_pop());
    void *held = alloc(MIB);
    assert_kept(1, 0);
    cx_assert_ok(ctxrt_free(held));
    close_and_release();
}
END_TEST

START_TEST(owners_share_what_is_kept_and_only_what_is_not_in_use)
{
    cx_private_pool_use second;
    open_pool();
    void *scratch = alloc(MIB), *output = alloc(MIB);
    cx_assert_ok(ctxrt_free(scratch));
    cx_private_pool_close(&use);
    cx_private_pool_retain(pool);
    open_in_frame(&second, pool);
    void *shared = alloc(MIB), *own = alloc(MIB);
    ck_assert_ptr_eq(shared, scratch);
    ck_assert_ptr_ne(own, output);
    cx_assert_ok(ctxrt_free(shared));
    cx_assert_ok(ctxrt_free(own));
    cx_private_pool_close(&second);
    cx_assert_ok(cx_private_pool_release(pool));
    assert_kept(1, 2);
    cx_assert_ok(ctxrt_free(output));
    cx_assert_ok(cx_private_pool_release(pool));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

START_TEST(what_is_freed_after_the_pool_was_closed_is_for_whoever_opens_it_next)
{
    cx_private_pool_use second;
    open_pool();
    void *block = alloc(MIB);
    cx_private_pool_close(&use);
    cx_assert_ok(ctxrt_free(block));
    open_in_frame(&second, pool);
    ck_assert_ptr_eq(alloc(MIB), block);
    cx_assert_ok(ctxrt_free(block));
    cx_private_pool_close(&second);
    cx_private_pool_close(&second);
    cx_assert_ok(cx_private_pool_release(pool));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

/* Work of the first stream may still use it; a stream of a later opening is not behind that. */
START_TEST(memory_serves_its_own_stream_also_where_the_pool_is_opened_again)
{
    cx_private_pool_use second;
    ctxrt_stream *first = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(first));
    open_pool();
    void *block = alloc(MIB);
    cx_assert_ok(ctxrt_free(block));
    cx_private_pool_close(&use);
    cx_assert_ok(ctxrt_frame_set_stream(other));
    open_in_frame(&second, pool);
    void *apart = alloc(MIB);
    ck_assert_ptr_ne(apart, block);
    cx_assert_ok(ctxrt_frame_set_stream(first));
    ck_assert_ptr_eq(alloc(MIB), block);
    cx_assert_ok(ctxrt_free(block));
    cx_assert_ok(ctxrt_free(apart));
    cx_private_pool_close(&second);
    cx_assert_ok(cx_private_pool_release(pool));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    ck_assert_uint_eq(bytes_in_use(), 0);
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stream_destroy(other));
}
END_TEST

START_TEST(memory_of_captures_serves_captures_in_any_stream_and_nothing_else)
{
    cx_private_pool_use second;
    ctxrt_stream *streams[2];
    for (int i = 0; i < 2; i++)
        streams[i] = create_stream(CTXRT_STREAM_NON_BLOCKING);
    open_pool();
    use.capture = streams[0];
    cx_assert_ok(ctxrt_frame_set_stream(streams[0]));
    void *block = alloc(MIB);
    cx_assert_ok(ctxrt_free(block));
    ck_assert_uint_eq(use.stream_count, 0);
    use.capture = NULL;
    void *eager = alloc(MIB);
    ck_assert_ptr_ne(eager, block);
    cx_private_pool_close(&use);
    open_in_frame(&second, pool);
    second.capture = streams[1];
    cx_assert_ok(ctxrt_frame_set_stream(streams[1]));
    ck_assert_ptr_eq(alloc(MIB), block);
    cx_assert_ok(ctxrt_free(block));
    cx_assert_ok(ctxrt_free(eager));
    cx_private_pool_close(&second);
    cx_assert_ok(cx_private_pool_release(pool));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    ck_assert_uint_eq(bytes_in_use(), 0);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_stream_destroy(streams[i]));
}
END_TEST

/* Beyond the most it says only that there are others. */
START_TEST(a_pool_notes_each_stream_once_that_had_its_memory)
{
    enum { STREAMS = CX_PRIVATE_POOL_STREAMS_MAX + 2 };
    ctxrt_stream *streams[STREAMS];
    void *before = alloc(MIB);
    open_pool();
    for (uint32_t i = 0; i < STREAMS; i++) {
        streams[i] = create_stream(CTXRT_STREAM_NON_BLOCKING);
        cx_assert_ok(ctxrt_frame_set_stream(streams[i]));
        if (i == 0)
            cx_assert_ok(ctxrt_free(before));
        else
            cx_assert_ok(ctxrt_free(alloc(MIB)));
        cx_assert_ok(ctxrt_free(alloc(MIB)));
        ck_assert_uint_eq(use.stream_count, i < CX_PRIVATE_POOL_STREAMS_MAX
                                                ? i + 1
                                                : CX_PRIVATE_POOL_STREAMS_MAX + 1);
    }
    for (uint32_t i = 0; i < CX_PRIVATE_POOL_STREAMS_MAX; i++)
        ck_assert_ptr_eq(use.streams[i], streams[i]);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    close_and_release();
    for (uint32_t i = 0; i < STREAMS; i++)
        cx_assert_ok(ctxrt_stream_destroy(streams[i]));
}
END_TEST

START_TEST(allocating_in_a_pool_does_not_disturb_a_capture)
{
    ctxrt_graph *graph;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    unsigned char bytes[16];
    open_pool();
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL));
    void *scratch = alloc(KIB);
    cx_assert_ok(ctxrt_fill_async(scratch, 7, KIB, NULL));
    cx_assert_ok(ctxrt_free(scratch));
    ck_assert_ptr_eq(alloc(KIB), scratch);
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_copy(bytes, scratch, sizeof bytes, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_uint_eq(bytes[15], 7);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(scratch));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    close_and_release();
}
END_TEST

START_TEST(after_a_reset_nothing_of_before_is_used_again)
{
    open_pool();
    void *kept = alloc(MIB), *live = alloc(2 * MIB);
    cx_assert_ok(ctxrt_free(kept));
    cx_assert_ok(ctxrt_device_reset(here));
    set_mark(last_mark);
    void *block = alloc(MIB);
    assert_kept(2, 1);
    cx_assert_ok(ctxrt_fill(block, 1, MIB));
    cx_assert_ok(ctxrt_free(live));
    cx_assert_ok(ctxrt_free(block));
    close_and_release();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

START_TEST(a_block_that_cannot_be_had_leaves_the_pool_as_it_was)
{
    void *pointer = NULL;
    open_pool();
    cx_assert_error(ctxrt_alloc(SIZE_MAX / 2, &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_null(pointer);
    assert_kept(0, 0);
    close_and_release();
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

enum { THREADS = 4, ROUNDS = 300, BLOCKS = 8 };

static _Atomic(void *) passed[THREADS];

/* Each thread records with the one pool, and frees what its neighbour allocated. */
static void *allocate_and_pass_on(void *argument)
{
    cx_private_pool_use own;
    intptr_t number = (intptr_t)argument, failed = 0;
    failed += ctxrt_device_set(here) != CTXRT_SUCCESS;
    cx_private_pool_retain(pool);
    set_mark(1000 + (uint64_t)number);
    cx_private_pool_open(&own, pool, 1000 + (uint64_t)number);
    for (int i = 0; i < ROUNDS; i++) {
        void *pointer = NULL, *mine = NULL;
        failed += ctxrt_alloc((size_t)(i % BLOCKS + 1) * KIB, &mine) != CTXRT_SUCCESS;
        failed += ctxrt_alloc(KIB, &pointer) != CTXRT_SUCCESS || pointer == mine;
        void *before = atomic_exchange(&passed[(number + 1) % THREADS], mine);
        failed += before != NULL && ctxrt_free(before) != CTXRT_SUCCESS;
        failed += ctxrt_free(pointer) != CTXRT_SUCCESS;
    }
    cx_private_pool_close(&own);
    failed += cx_private_pool_release(pool) != CTXRT_SUCCESS;
    failed += ctxrt_stack_pop() != CTXRT_SUCCESS;
    return (void *)failed;
}

START_TEST(threads_that_free_each_others_blocks_lose_none)
{
    pthread_t threads[THREADS];
    pool = cx_private_pool_make();
    for (intptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_and_pass_on, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    cx_private_pool_figures figures;
    cx_private_pool_look(pool, &figures);
    ck_assert_uint_eq(bytes_in_use(), figures.live_bytes + figures.kept_bytes);
    cx_assert_ok(cx_private_pool_release(pool));
    for (int i = 0; i < THREADS; i++)
        cx_assert_ok(ctxrt_free(atomic_exchange(&passed[i], NULL)));
    ck_assert_uint_eq(bytes_in_use(), 0);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, a_freed_block_serves_the_next_allocation_of_the_same_size);
    tcase_add_test(tests, what_a_pool_keeps_never_serves_an_eager_allocation);
    tcase_add_test(tests, an_eager_block_that_is_freed_while_the_pool_is_open_is_kept);
    tcase_add_test(tests, a_block_freed_later_and_by_any_thread_is_kept_too);
    tcase_add_test(tests, blocks_in_users_hands_outlive_the_pool_and_are_then_freed_as_any_other);
    tcase_add_test(tests, a_pool_goes_with_the_last_block_that_outlives_its_owners);
    tcase_add_test(tests, the_best_fit_is_taken_and_nothing_more_than_twice_as_large);
    tcase_add_test(tests, reuse_keeps_to_the_stream_and_the_allocator);
    tcase_add_test(tests, memory_of_another_stream_is_kept_and_serves_nothing);
    tcase_add_test(tests, a_frame_above_the_one_of_the_pool_is_eager);
    tcase_add_test(tests, owners_share_what_is_kept_and_only_what_is_not_in_use);
    tcase_add_test(tests, memory_serves_its_own_stream_also_where_the_pool_is_opened_again);
    tcase_add_test(tests, memory_of_captures_serves_captures_in_any_stream_and_nothing_else);
    tcase_add_test(tests, what_is_freed_after_the_pool_was_closed_is_for_whoever_opens_it_next);
    tcase_add_test(tests, a_pool_notes_each_stream_once_that_had_its_memory);
    tcase_add_test(tests, allocating_in_a_pool_does_not_disturb_a_capture);
    tcase_add_test(tests, after_a_reset_nothing_of_before_is_used_again);
    tcase_add_test(tests, a_block_that_cannot_be_had_leaves_the_pool_as_it_was);
    tcase_add_test(tests, threads_that_free_each_others_blocks_lose_none);
}

static Suite *pool_suite(void)
{
    Suite *suite = suite_create("private pool");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS_TOGETHER(pool_suite);
