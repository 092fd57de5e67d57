/* What an allocator says of itself, to the byte. */
#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static ctxrt_allocator *allocator;

static void set_up(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
}

static void tear_down(void)
{
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static ctxrt_memory *alloc(size_t size)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(size, &memory));
    return memory;
}

static ctxrt_allocator_info look(void)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.struct_size, sizeof info);
    return info;
}

static void assert_amount(const char *what, const ctxrt_allocator_amount *found,
                          ctxrt_allocator_amount expected)
{
    ck_assert_msg(
        memcmp(found, &expected, sizeof expected) == 0,
        "%s: bytes %llu, %llu, %llu and counts %llu, %llu, %llu are not %llu, %llu, %llu and %llu, "
        "%llu, %llu",
        what, (unsigned long long)found->current_bytes, (unsigned long long)found->peak_bytes,
        (unsigned long long)found->total_bytes, (unsigned long long)found->current_count,
        (unsigned long long)found->peak_count, (unsigned long long)found->total_count,
        (unsigned long long)expected.current_bytes, (unsigned long long)expected.peak_bytes,
        (unsigned long long)expected.total_bytes, (unsigned long long)expected.current_count,
        (unsigned long long)expected.peak_count, (unsigned long long)expected.total_count);
}

#define AMOUNT(...) ((ctxrt_allocator_amount){__VA_ARGS__})

/* A segment is 4 MiB for 3 MiB, and 10 MiB for 9. */
START_TEST(every_amount_is_exact)
{
    ctxrt_memory *first = alloc(3 * MIB - 1), *second = alloc(9 * MIB - 300);
    ctxrt_allocator_info info = look();
    assert_amount("requested", &info.requested,
                  AMOUNT(12 * MIB - 301, 12 * MIB - 301, 12 * MIB - 301, 2, 2, 2));
    assert_amount("allocated", &info.allocated,
                  AMOUNT(12 * MIB - 256, 12 * MIB - 256, 12 * MIB - 256, 2, 2, 2));
    assert_amount("reserved", &info.reserved, AMOUNT(14 * MIB, 14 * MIB, 14 * MIB, 2, 2, 2));
    ck_assert_uint_eq(info.inactive.current_bytes, 2 * MIB + 256);
    ck_assert_uint_eq(info.inactive.current_count, 2);
    ck_assert_uint_eq(info.inactive.total_bytes, 0);
    cx_assert_ok(ctxrt_memory_release(second));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    info = look();
    assert_amount("requested", &info.requested,
                  AMOUNT(3 * MIB - 1, 12 * MIB - 301, 12 * MIB - 301, 1, 2, 2));
    assert_amount("allocated", &info.allocated,
                  AMOUNT(3 * MIB, 12 * MIB - 256, 12 * MIB - 256, 1, 2, 2));
    assert_amount("reserved", &info.reserved, AMOUNT(4 * MIB, 14 * MIB, 14 * MIB, 1, 2, 2));
    ck_assert_uint_eq(info.inactive.current_bytes, MIB);
    ck_assert_uint_eq(info.inactive.peak_bytes, 11 * MIB);
    ck_assert_uint_eq(info.inactive.total_bytes, 9 * MIB - 256);
    ck_assert_uint_eq(info.inactive.total_count, 1);
    cx_assert_ok(ctxrt_memory_release(first));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    info = look();
    ck_assert_uint_eq(info.allocated.current_bytes + info.reserved.current_bytes +
                          info.inactive.current_bytes,
                      0);
    ck_assert_uint_eq(info.allocated.current_count + info.reserved.current_count +
                          info.inactive.current_count,
                      0);
}
END_TEST

START_TEST(what_threads_keep_is_allocated_and_not_requested)
{
    ctxrt_memory *memory = alloc(1000);
    cx_assert_ok(ctxrt_memory_release(memory));
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 0);
    ck_assert_uint_eq(info.allocated.current_bytes, 1024);
    ck_assert_uint_eq(info.allocated.current_count, 1);
}
END_TEST

static uint64_t kept_of(size_t size)
{
    uint64_t before = look().allocated.current_bytes;
    cx_assert_ok(ctxrt_memory_release(alloc(size)));
    return look().allocated.current_bytes - before;
}

/* So that large memory is joined again with its neighbours. */
START_TEST(threads_keep_smaller_pieces_the_more_of_the_device_is_taken)
{
    size_t total;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), NULL, &total));
    ck_assert_uint_eq(kept_of(512 * KIB), 512 * KIB);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ctxrt_memory *half = alloc(total / 8 * 5);
    ck_assert_uint_eq(kept_of(512 * KIB), 0);
    ck_assert_uint_eq(kept_of(256 * KIB), 256 * KIB);
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ctxrt_memory *quarter = alloc(total / 4);
    ck_assert_uint_eq(kept_of(256 * KIB), 0);
    ck_assert_uint_eq(kept_of(16 * KIB), 16 * KIB);
    cx_assert_ok(ctxrt_memory_release(quarter));
    cx_assert_ok(ctxrt_memory_release(half));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(kept_of(512 * KIB), 512 * KIB);
}
END_TEST

START_TEST(threads_keep_nothing_from_a_refusal_on_until_a_quarter_is_free)
{
    size_t total;
    ctxrt_memory *none;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), NULL, &total));
    ctxrt_memory *most = alloc(total / 8 * 7);
    cx_assert_status(ctxrt_memory_alloc(total / 4, &none), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_eq(kept_of(256), 0);
    ctxrt_memory *little = alloc(4 * MIB);
    ck_assert_uint_eq(kept_of(256), 0);
    cx_assert_ok(ctxrt_memory_release(little));
    cx_assert_ok(ctxrt_memory_release(most));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    ck_assert_uint_eq(kept_of(512 * KIB), 512 * KIB);
}
END_TEST

START_TEST(hits_misses_retries_and_refusals_are_counted)
{
    ctxrt_memory *memory = alloc(1000);
    for (int i = 0; i < 10; i++) {
        cx_assert_ok(ctxrt_memory_release(memory));
        memory = alloc(1000);
    }
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.hits, 10);
    ck_assert_uint_eq(info.misses, 1);
    ck_assert_uint_eq(info.retries, 0);
    ctxrt_memory *never;
    cx_assert_error(ctxrt_memory_alloc(300 * MIB, &never), CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 2000));
    cx_assert_error(ctxrt_memory_alloc(1001, &never), CTXRT_ERROR_OUT_OF_MEMORY);
    info = look();
    ck_assert_uint_eq(info.hits, 10);
    ck_assert_uint_eq(info.misses, 2);
    ck_assert_uint_gt(info.retries, 0);
    ck_assert_uint_eq(info.failures, 2);
    ck_assert_uint_eq(info.out_of_memory, 1);
    ck_assert_uint_eq(info.limit_bytes, 2000);
    cx_assert_ok(ctxrt_memory_release(memory));
}
END_TEST

static void *allocate_there(void *memories)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    for (int i = 0; i < 4; i++)
        ((ctxrt_memory **)memories)[i] = alloc(100 * KIB);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(threads_that_are_gone_count)
{
    pthread_t thread;
    ctxrt_memory *memories[4];
    ck_assert_int_eq(pthread_create(&thread, NULL, allocate_there, memories), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ctxrt_allocator_info info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 400 * KIB);
    ck_assert_uint_eq(info.allocated.current_bytes, 400 * KIB);
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_memory_release(memories[i]));
    info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 0);
    ck_assert_uint_eq(info.requested.total_count, 4);
}
END_TEST

/* A later version's structure is larger: what this one does not know is left alone. */
#define HANDED 64

/* What a thread that frees another's pieces sees after each: what threads keep. */
typedef struct freeing {
    ctxrt_memory *memories[HANDED];
    ctxrt_allocator *from;
    uint64_t kept_bytes[HANDED];
    ctxrt_status status;
} freeing;

static void *free_there(void *argument)
{
    freeing *self = argument;
    self->status = ctxrt_device_push(CTXRT_CUDA(1));
    for (int i = 0; i < HANDED && self->status == CTXRT_SUCCESS; i++) {
        ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
        self->status = ctxrt_memory_release(self->memories[i]);
        if (self->status == CTXRT_SUCCESS)
            self->status = ctxrt_allocator_describe(self->from, &info);
        self->kept_bytes[i] = info.allocated.current_bytes - info.requested.current_bytes;
    }
    if (self->status == CTXRT_SUCCESS)
        self->status = ctxrt_stack_pop();
    return NULL;
}

static void free_elsewhere(size_t size_bytes, freeing *out_freeing)
{
    pthread_t thread;
    *out_freeing = (freeing){.from = allocator, .status = CTXRT_SUCCESS};
    for (int i = 0; i < HANDED; i++)
        out_freeing->memories[i] = alloc(size_bytes);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_there, out_freeing), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_ok(out_freeing->status);
}

START_TEST(what_a_thread_frees_for_others_goes_back_many_at_once)
{
    freeing seen;
    free_elsewhere(256, &seen);
    for (uint64_t i = 0; i + 1 < HANDED; i++)
        ck_assert_uint_eq(seen.kept_bytes[i], 256 * (i + 1));
    ck_assert_uint_eq(seen.kept_bytes[HANDED - 1], 0);
}
END_TEST

START_TEST(what_a_thread_frees_for_others_goes_back_before_it_is_much)
{
    freeing seen;
    free_elsewhere(MIB / 2, &seen);
    ck_assert_uint_eq(seen.kept_bytes[31], 16 * MIB);
    ck_assert_uint_eq(seen.kept_bytes[32], 0);
}
END_TEST

START_TEST(structures_of_other_versions_are_kept_apart)
{
    struct {
        ctxrt_allocator_info info;
        uint64_t later;
    } larger = {CTXRT_ALLOCATOR_INFO_INIT, 7};
    larger.info.struct_size = sizeof larger;
    cx_assert_ok(ctxrt_allocator_describe(NULL, &larger.info));
    ck_assert_uint_eq(larger.info.struct_size, sizeof(ctxrt_allocator_info));
    ck_assert_uint_eq(larger.later, 7);
    ck_assert_int_eq(larger.info.device.index, 1);
    larger.info.struct_size = sizeof(ctxrt_allocator_info) - 1;
    cx_assert_error(ctxrt_allocator_describe(NULL, &larger.info), CTXRT_ERROR_INVALID_ARGUMENT);
}
END_TEST

START_TEST(a_reset_takes_everything_but_what_was_counted_for_good)
{
    ctxrt_memory *memory = alloc(3 * MIB);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    ctxrt_allocator_info info = look();
    assert_amount("allocated", &info.allocated, AMOUNT(0, 3 * MIB, 3 * MIB, 0, 1, 1));
    assert_amount("reserved", &info.reserved, AMOUNT(0, 4 * MIB, 4 * MIB, 0, 1, 1));
    cx_assert_ok(ctxrt_memory_release(memory));
    info = look();
    ck_assert_uint_eq(info.requested.current_bytes, 0);
    ck_assert_uint_eq(info.allocated.current_bytes, 0);
}
END_TEST

static Suite *info_suite(void)
{
    Suite *suite = suite_create("allocator info");
    TCase *tcase = tcase_create("info");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_amount_is_exact);
    tcase_add_test(tcase, what_threads_keep_is_allocated_and_not_requested);
    tcase_add_test(tcase, threads_keep_smaller_pieces_the_more_of_the_device_is_taken);
    tcase_add_test(tcase, threads_keep_nothing_from_a_refusal_on_until_a_quarter_is_free);
    tcase_add_test(tcase, hits_misses_retries_and_refusals_are_counted);
    tcase_add_test(tcase, threads_that_are_gone_count);
    tcase_add_test(tcase, what_a_thread_frees_for_others_goes_back_many_at_once);
    tcase_add_test(tcase, what_a_thread_frees_for_others_goes_back_before_it_is_much);
    tcase_add_test(tcase, structures_of_other_versions_are_kept_apart);
    tcase_add_test(tcase, a_reset_takes_everything_but_what_was_counted_for_good);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    static Suite *(*const suites[])(void) = {info_suite, NULL};
    return cx_test_run(suites);
}
