/* Batches of ranges of managed memory that are discarded and prefetched (T19). */
#include "work_fixture.h"

#include <string.h>

#define BYTES ((size_t)1 << 20)
#define RANGES 3
#define OLD 7 /* in all of the memory, before a test */

static unsigned char *bytes;
static CUdeviceptr managed;
static CUstream stream;

/* The first and the last quarter, and some bytes between, which are no whole pages. */
static CUdeviceptr at[RANGES];
static size_t sizes[RANGES], first[RANGES];
static cxu_mem_location to[RANGES];

static void make_ranges(void)
{
    ck_success(cx_emu_call_mem_alloc_managed(&managed, BYTES, CXU_MEM_ATTACH_GLOBAL));
    stream = make_stream(CXU_STREAM_NON_BLOCKING);
    bytes = (unsigned char *)(uintptr_t)managed;
    memset(bytes, OLD, BYTES);
    at[0] = managed, sizes[0] = BYTES / 4;
    at[1] = managed + BYTES / 2 + 5, sizes[1] = 10001;
    at[2] = managed + BYTES - BYTES / 4, sizes[2] = BYTES / 4;
    for (size_t i = 0; i < RANGES; i++) {
        first[i] = i;
        to[i] = (cxu_mem_location){CXU_MEM_LOCATION_TYPE_DEVICE, (int)i % 2};
    }
}

static void setup(void)
{
    work_setup();
    make_ranges();
}

static cxu_result discard(size_t count)
{
    return cx_emu_call_mem_discard_batch_async(at, sizes, count, 0, stream);
}

static cxu_result prefetch(size_t count, size_t locations)
{
    return cx_emu_call_mem_prefetch_batch_async(at, sizes, count, to, first, locations, 0, stream);
}

static cxu_result discard_and_prefetch(size_t count, size_t locations)
{
    return cx_emu_call_mem_discard_and_prefetch_batch_async(at, sizes, count, to, first, locations,
                                                            0, stream);
}

/* Expects that all arguments so far are refused by each call that has them. */
#define ck_refused(count, locations, result)                       \
    do {                                                           \
        ck_result(prefetch(count, locations), result);             \
        ck_result(discard_and_prefetch(count, locations), result); \
    } while (0)
#define ck_refused_by_all(count, result)   \
    do {                                   \
        ck_result(discard(count), result); \
        ck_refused(count, 1, result);      \
    } while (0)

static int prefetched(CUdeviceptr pointer, size_t size)
{
    int value = 77;

    ck_success(cx_emu_call_mem_range_get_attribute(
        &value, sizeof value, CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, pointer, size));
    return value;
}

static bool all_are(size_t begin, size_t end, unsigned char value)
{
    for (size_t i = begin; i < end; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static void ck_discarded(void)
{
    size_t middle = at[1] - managed;

    ck_assert(all_are(0, sizes[0], 0));
    ck_assert(all_are(sizes[0], middle, OLD));
    ck_assert(all_are(middle, middle + sizes[1], 0));
    ck_assert(all_are(middle + sizes[1], BYTES - sizes[2], OLD));
    ck_assert(all_are(BYTES - sizes[2], BYTES, 0));
}

START_TEST(a_discard_empties_exactly_its_ranges_when_the_stream_gets_there)
{
    stream_gate gate = GATE_CLOSED;

    gate_put(&gate, stream);
    ck_success(discard(RANGES));
    gate_wait_entered(&gate);
    ck_assert(all_are(0, BYTES, OLD));
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_discarded();
    ck_assert_int_eq(prefetched(managed, BYTES), -2);
}
END_TEST

START_TEST(work_behind_a_discard_writes_to_the_range_and_work_before_reads_it)
{
    stream_gate gate = GATE_CLOSED;
    CUdeviceptr copy = make_memory(64);
    unsigned char before[64];

    gate_put(&gate, stream);
    ck_success(cx_emu_call_memcpy_dtod_async(copy, managed, 64, stream));
    ck_success(discard(1));
    ck_success(cx_emu_call_memset_d8_async(managed + 64, 9, 64, stream));
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    read_device(before, copy, sizeof before);
    ck_assert(before[0] == OLD && before[63] == OLD);
    ck_assert(all_are(0, 64, 0));
    ck_assert(all_are(64, 128, 9));
    ck_assert(all_are(128, sizes[0], 0));
}
END_TEST

START_TEST(each_location_is_for_the_ranges_from_its_first_to_the_next_one)
{
    first[1] = 2;
    to[1] = (cxu_mem_location){CXU_MEM_LOCATION_TYPE_HOST, 0};
    ck_success(prefetch(RANGES, 2));
    ck_assert_int_eq(prefetched(at[0], sizes[0]), 0);
    ck_assert_int_eq(prefetched(at[1], sizes[1]), 0);
    ck_assert_int_eq(prefetched(at[2], sizes[2]), -1);
    ck_assert_int_eq(prefetched(managed, BYTES), -2);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert(all_are(0, BYTES, OLD));
}
END_TEST

START_TEST(a_batch_of_prefetches_has_a_place_in_its_stream)
{
    stream_gate gate = GATE_CLOSED;

    gate_put(&gate, stream);
    ck_success(prefetch(RANGES, RANGES));
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_stream_query(stream));
}
END_TEST

START_TEST(discarding_and_prefetching_does_both)
{
    ck_success(discard_and_prefetch(RANGES, RANGES));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_discarded();
    ck_assert_int_eq(prefetched(at[0], sizes[0]), 0);
    ck_assert_int_eq(prefetched(at[1], sizes[1]), 1);
    ck_assert_int_eq(prefetched(at[2], sizes[2]), 0);
}
END_TEST

START_TEST(ranges_of_a_batch_may_overlap)
{
    at[1] = managed + BYTES / 8;
    ck_success(discard_and_prefetch(2, 1));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert(all_are(0, sizes[0], 0));
    ck_assert(all_are(sizes[0], BYTES, OLD));
    ck_assert_int_eq(prefetched(managed, sizes[0]), 0);
}
END_TEST

START_TEST(a_wrong_range_is_refused_and_nothing_is_done_to_the_others)
{
    CUdeviceptr plain = make_memory(64);

    sizes[2]++; /* over the end */
    ck_refused_by_all(RANGES, INVALID_VALUE);
    sizes[2] = 0;
    ck_refused_by_all(RANGES, INVALID_VALUE);
    at[2] = plain, sizes[2] = 64;
    ck_refused_by_all(RANGES, INVALID_VALUE);
    at[2] = 0;
    ck_refused_by_all(RANGES, INVALID_VALUE);
    to[1].id = 64;
    ck_refused(2, 2, INVALID_DEVICE);
    to[1] = (cxu_mem_location){CXU_MEM_LOCATION_TYPE_INVALID, 0};
    ck_refused(2, 2, INVALID_VALUE);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert(all_are(0, BYTES, OLD));
    ck_assert_int_eq(prefetched(at[0], sizes[0]), -2);
}
END_TEST

START_TEST(locations_begin_at_rising_ranges_from_the_first)
{
    first[1] = 0;
    ck_refused(RANGES, 2, INVALID_VALUE);
    first[1] = RANGES;
    ck_refused(RANGES, 2, INVALID_VALUE);
    first[0] = 1;
    ck_refused(RANGES, 1, INVALID_VALUE);
    first[0] = 0;
    ck_refused(RANGES, RANGES + 1, INVALID_VALUE);
    ck_refused(RANGES, 0, INVALID_VALUE);
}
END_TEST

START_TEST(a_batch_has_ranges_lists_and_no_flags)
{
    ck_refused_by_all(0, INVALID_VALUE);
    ck_result(cx_emu_call_mem_discard_batch_async(NULL, sizes, 1, 0, stream), INVALID_VALUE);
    ck_result(cx_emu_call_mem_discard_batch_async(at, NULL, 1, 0, stream), INVALID_VALUE);
    ck_result(cx_emu_call_mem_discard_batch_async(at, sizes, 1, 1, stream), INVALID_VALUE);
    ck_result(cx_emu_call_mem_prefetch_batch_async(at, sizes, 1, NULL, first, 1, 0, stream),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_prefetch_batch_async(at, sizes, 1, to, NULL, 1, 0, stream),
              INVALID_VALUE);
    ck_result(cx_emu_call_mem_prefetch_batch_async(at, sizes, 1, to, first, 1, 1, stream),
              INVALID_VALUE);
    ck_result(
        cx_emu_call_mem_discard_and_prefetch_batch_async(at, sizes, 1, to, first, 1, 1, stream),
        INVALID_VALUE);
}
END_TEST

START_TEST(the_legacy_stream_takes_no_such_batch_and_the_stream_of_a_thread_does)
{
    stream = NULL;
    ck_refused_by_all(1, INVALID_VALUE);
    stream = CXU_STREAM_LEGACY;
    ck_refused_by_all(1, INVALID_VALUE);
    ck_assert(all_are(0, BYTES, OLD));
    stream = CXU_STREAM_PER_THREAD;
    ck_success(discard_and_prefetch(RANGES, 1));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_discarded();
    stream = (CUstream)(void *)sizes;
    ck_refused_by_all(1, INVALID_HANDLE);
}
END_TEST

static cxu_result capture_one(cxu_result (*submit)(size_t count))
{
    CUgraph graph;
    cxu_result result;

    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    result = submit(1);
    ck_result(cx_emu_call_stream_end_capture(stream, &graph), STREAM_CAPTURE_INVALIDATED);
    return result;
}

static cxu_result prefetch_to_one(size_t count)
{
    return prefetch(count, 1);
}

static cxu_result discard_and_prefetch_to_one(size_t count)
{
    return discard_and_prefetch(count, 1);
}

START_TEST(a_capture_neither_discards_nor_prefetches)
{
    ck_result(capture_one(discard), STREAM_CAPTURE_UNSUPPORTED);
    ck_result(capture_one(prefetch_to_one), STREAM_CAPTURE_UNSUPPORTED);
    ck_result(capture_one(discard_and_prefetch_to_one), STREAM_CAPTURE_UNSUPPORTED);
    ck_assert(all_are(0, BYTES, OLD));
}
END_TEST

static void setup_without_concurrent_access(void)
{
    const cx_emu_config config = {.gpus = 1,
                                  .gpu = CX_EMU_GPU_RTX3060,
                                  .gpu_memory_bytes = (size_t)256 << 20,
                                  .driver_version = CX_EMU_DRIVER_VERSION};

    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_success(cx_emu_call_ctx_create_v4(&work_context, NULL, 0, 0));
    make_ranges();
}

START_TEST(gpus_without_concurrent_managed_access_take_no_batch)
{
    ck_refused_by_all(1, INVALID_VALUE);
}
END_TEST

static Suite *discard_suite(void)
{
    Suite *suite = suite_create("discard");
    TCase *tests = tcase_create("discard"), *without = tcase_create("without concurrent access");

    tcase_add_checked_fixture(tests, setup, work_teardown);
    tcase_add_test(tests, a_discard_empties_exactly_its_ranges_when_the_stream_gets_there);
    tcase_add_test(tests, work_behind_a_discard_writes_to_the_range_and_work_before_reads_it);
    tcase_add_test(tests, each_location_is_for_the_ranges_from_its_first_to_the_next_one);
    tcase_add_test(tests, a_batch_of_prefetches_has_a_place_in_its_stream);
    tcase_add_test(tests, discarding_and_prefetching_does_both);
    tcase_add_test(tests, ranges_of_a_batch_may_overlap);
    tcase_add_test(tests, a_wrong_range_is_refused_and_nothing_is_done_to_the_others);
    tcase_add_test(tests, locations_begin_at_rising_ranges_from_the_first);
    tcase_add_test(tests, a_batch_has_ranges_lists_and_no_flags);
    tcase_add_test(tests, the_legacy_stream_takes_no_such_batch_and_the_stream_of_a_thread_does);
    tcase_add_test(tests, a_capture_neither_discards_nor_prefetches);
    suite_add_tcase(suite, tests);
    tcase_add_checked_fixture(without, setup_without_concurrent_access, work_teardown);
    tcase_add_test(without, gpus_without_concurrent_managed_access_take_no_batch);
    suite_add_tcase(suite, without);
    return suite;
}

CX_TESTS(discard_suite);
