/* Other code changes the driver's stack behind ctxrt's back: through the table only, as a library
 * would. */
#include "context/resync.h"
#include "device/device.h"
#include "fixture.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static const cx_driver_table *driver;
static CUcontext primaries[4];

static void start_with(ctxrt_foreign_policy policy)
{
    cx_fixture_start_with(4, policy);
    driver = &cx_drivers[0].table;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(driver->primary_retain(&primaries[i], i + 1), CXU_SUCCESS);
    }
}

static void start_following(void)
{
    start_with(CTXRT_FOREIGN_FOLLOW);
}

static void start_refusing(void)
{
    start_with(CTXRT_FOREIGN_ERROR);
}

static void finish(void)
{
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(driver->primary_release(i + 1), CXU_SUCCESS);
    cx_fixture_end();
}

static CUcontext native_current(void)
{
    CUcontext current;
    ck_assert_int_eq(driver->ctx_get_current(&current), CXU_SUCCESS);
    return current;
}

static void assert_current(int index)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, index);
    ck_assert_ptr_eq(native_current(), primaries[index]);
}

START_TEST(work_follows_a_foreign_set_and_the_next_set_takes_it_back)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(driver->ctx_set_current(primaries[1 + i % 3]), CXU_SUCCESS);
        assert_current(1 + i % 3);
        ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    }
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(2)));
    assert_current(2);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(a_foreign_frame_is_dropped_when_it_is_undone)
{
    CUcontext popped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ck_assert_int_eq(driver->ctx_push(primaries[1]), CXU_SUCCESS);
    assert_current(1);
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    assert_current(0);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_context_current_before_the_first_frame_is_borrowed_and_left_alone)
{
    CUcontext popped;
    ck_assert_int_eq(driver->ctx_push(primaries[3]), CXU_SUCCESS);
    assert_current(3);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_eq(native_current(), primaries[3]);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ctxrt_device device;
    cx_assert_error(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
}
END_TEST

START_TEST(a_leaked_push_makes_the_pop_refuse_and_resync_takes_it_off)
{
    ctxrt_resync_report report;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ck_assert_int_eq(driver->ctx_push(primaries[2]), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_push(primaries[3]), CXU_SUCCESS);
    cx_assert_error(ctxrt_stack_pop(), CTXRT_ERROR_STACK_MISMATCH);
    ck_assert_ptr_eq(native_current(), primaries[3]);
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, CTXRT_RESYNC_PUSHED);
    ck_assert_int_eq(report.count, 2);
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
    assert_current(0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_leaked_push_of_the_same_context_is_noticed_by_what_the_pop_uncovers)
{
    CUcontext popped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ck_assert_int_eq(driver->ctx_push(primaries[1]), CXU_SUCCESS);
    cx_assert_error(ctxrt_stack_pop(), CTXRT_ERROR_STACK_MISMATCH);
    ck_assert_uint_eq(ctxrt_stack_depth(), 2);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    assert_current(1);
    cx_assert_ok(ctxrt_stack_pop());
    assert_current(0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_scope_makes_the_right_context_current_even_where_nothing_can_be_explained)
{
    CUcontext popped;
    ctxrt_scope scope = {0};
    ctxrt_resync_report report;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_push(primaries[3]), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_push(primaries[2]), CXU_SUCCESS);
    cx_assert_error(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    assert_current(0);
    cx_assert_error(ctxrt_stack_pop(), CTXRT_ERROR_STACK_MISMATCH);
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, CTXRT_RESYNC_PUSHED);
    ck_assert_int_eq(report.count, 2);
    assert_current(0);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(a_shutdown_finds_what_is_left_in_a_foreign_context)
{
    CUcontext native, popped;
    ctxrt_device device;
    ctxrt_stream *stream;
    ck_assert_int_eq(driver->ctx_create_v4(&native, NULL, 0, 1), CXU_SUCCESS);
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    cx_assert_error(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    ck_assert_int_eq(driver->ctx_destroy(native), CXU_SUCCESS);
}
END_TEST

START_TEST(a_reset_leaves_the_count_of_retains_as_it_was)
{
    unsigned int flags;
    int active;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
    ck_assert_int_eq(driver->primary_get_state(1, &flags, &active), CXU_SUCCESS);
    ck_assert_int_eq(active, 1); /* the fixture's own retain */
    ck_assert_int_eq(driver->primary_release(1), CXU_SUCCESS);
    ck_assert_int_eq(driver->primary_get_state(1, &flags, &active), CXU_SUCCESS);
    ck_assert_int_eq(active, 0);
    ck_assert_int_eq(driver->primary_retain(&primaries[0], 1), CXU_SUCCESS);
}
END_TEST

static void assert_nothing_current(void)
{
    ctxrt_device device;
    cx_assert_error(ctxrt_device_get(&device), CTXRT_ERROR_NO_DEVICE);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
}

static void *alloc_and_fill(void)
{
    void *pointer;
    cx_assert_ok(ctxrt_alloc(4096, &pointer));
    cx_assert_ok(ctxrt_fill(pointer, 1, 4096));
    return pointer;
}

START_TEST(a_primary_context_that_other_code_made_current_first_is_the_one_that_a_set_retains)
{
    CUcontext popped;
    ctxrt_context *seen, *set;
    ck_assert_int_eq(driver->ctx_push(primaries[0]), CXU_SUCCESS);
    cx_assert_ok(ctxrt_context_current(&seen));
    void *before = alloc_and_fill();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_context_current(&set));
    ck_assert_ptr_eq(set, seen);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    void *after = alloc_and_fill();
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_fill(after, 2, 4096));
    cx_assert_ok(ctxrt_free(after));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(0)), CTXRT_ERROR_IN_USE);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    assert_nothing_current();
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(0)));
}
END_TEST

START_TEST(a_reset_of_a_device_that_only_other_code_set_ends_memory_of_ours_in_it)
{
    CUcontext popped;
    unsigned int flags;
    int active;
    ck_assert_int_eq(driver->ctx_push(primaries[0]), CXU_SUCCESS);
    void *before = alloc_and_fill();
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_fill(before, 2, 4096), CTXRT_ERROR_INVALID_ARGUMENT);
    void *after = alloc_and_fill();
    cx_assert_ok(ctxrt_free(before));
    cx_assert_ok(ctxrt_fill(after, 2, 4096));
    cx_assert_ok(ctxrt_free(after));
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    /* A context that other code made itself is no reason to retain the primary one. */
    ck_assert_int_eq(driver->primary_release(2), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_create_v4(&popped, NULL, 0, 2), CXU_SUCCESS);
    void *other = alloc_and_fill();
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_fill(other, 2, 4096));
    cx_assert_ok(ctxrt_free(other));
    ck_assert_int_eq(driver->ctx_destroy(popped), CXU_SUCCESS);
    assert_nothing_current();
    ck_assert_int_eq(driver->primary_get_state(2, &flags, &active), CXU_SUCCESS);
    ck_assert_int_eq(active, 0);
    ck_assert_int_eq(driver->primary_retain(&primaries[1], 2), CXU_SUCCESS);
}
END_TEST

START_TEST(a_pop_too_many_is_found_by_resync)
{
    CUcontext popped;
    ctxrt_resync_report report;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    cx_assert_error(ctxrt_stack_pop(), CTXRT_ERROR_STACK_MISMATCH);
    ck_assert_uint_eq(ctxrt_stack_depth(), 3);
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, CTXRT_RESYNC_POPPED);
    ck_assert_int_eq(report.count, 2);
    assert_current(0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(an_overwritten_entry_is_set_back_by_resync)
{
    ctxrt_resync_report report;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ck_assert_int_eq(driver->ctx_set_current(primaries[2]), CXU_SUCCESS);
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, CTXRT_RESYNC_SET);
    assert_current(1);
    cx_assert_ok(ctxrt_stack_resync(&report));
    ck_assert_int_eq(report.finding, CTXRT_RESYNC_IN_STEP);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_scope_restores_whatever_other_code_did_in_it)
{
    CUcontext popped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    for (int what = 0; what < 4; what++) {
        ctxrt_scope scope = {0};
        cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
        if (what == 0)
            ck_assert_int_eq(driver->ctx_push(primaries[3]), CXU_SUCCESS);
        else if (what == 1)
            ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
        else if (what == 2)
            ck_assert_int_eq(driver->ctx_set_current(primaries[3]), CXU_SUCCESS);
        else
            for (int i = 0; i < 5; i++)
                ck_assert_int_eq(driver->ctx_push(primaries[2 + i % 2]), CXU_SUCCESS);
        cx_assert_error(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
        assert_current(0);
        ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    }
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(the_policy_error_refuses_and_names_both_contexts)
{
    char text[32];
    ctxrt_device device;
    ctxrt_resync_report report;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ck_assert_int_eq(driver->ctx_set_current(primaries[1]), CXU_SUCCESS);
    cx_assert_error(ctxrt_device_get(&device), CTXRT_ERROR_STACK_MISMATCH);
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%p", (void *)primaries[i]);
        ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, text));
    }
    cx_assert_error(ctxrt_device_set(CTXRT_CUDA(2)), CTXRT_ERROR_STACK_MISMATCH);
    cx_assert_error(ctxrt_device_push(CTXRT_CUDA(2)), CTXRT_ERROR_STACK_MISMATCH);
    cx_assert_error(ctxrt_stack_pop(), CTXRT_ERROR_STACK_MISMATCH);
    ck_assert_ptr_eq(native_current(), primaries[1]);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_resync(&report));
    assert_current(0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- memory ---- */

typedef struct foreign_memory {
    ctxrt_memory_kind kind;
    CUdeviceptr address;
} foreign_memory;

/* In the context that is current. */
static void allocate_each_kind(foreign_memory memories[3], size_t size_bytes)
{
    void *pinned;
    memories[0].kind = CTXRT_MEMORY_DEVICE;
    ck_assert_int_eq(driver->mem_alloc(&memories[0].address, size_bytes), CXU_SUCCESS);
    memories[1].kind = CTXRT_MEMORY_PINNED;
    ck_assert_int_eq(driver->mem_host_alloc(&pinned, size_bytes, 0), CXU_SUCCESS);
    memories[1].address = (uintptr_t)pinned;
    memories[2].kind = CTXRT_MEMORY_MANAGED;
    ck_assert_int_eq(
        driver->mem_alloc_managed(&memories[2].address, size_bytes, CXU_MEM_ATTACH_GLOBAL),
        CXU_SUCCESS);
}

START_TEST(a_query_tells_the_kind_and_device_of_memory_that_other_code_allocated)
{
    enum { BYTES = 5000 };
    foreign_memory memories[3];
    ck_assert_int_eq(driver->ctx_push(primaries[2]), CXU_SUCCESS);
    allocate_each_kind(memories, BYTES);
    for (int i = 0; i < 3; i++) {
        ctxrt_pointer_info info;
        cx_assert_ok(ctxrt_pointer_query((char *)memories[i].address + BYTES - 1, &info));
        ck_assert_int_eq(info.known, 1);
        ck_assert_int_eq(info.kind, memories[i].kind);
        ck_assert_int_eq(info.device.type, CTXRT_DEVICE_CUDA);
        ck_assert_int_eq(info.device.index, 2);
        ck_assert_uint_eq((uintptr_t)info.base, memories[i].address);
        ck_assert_uint_eq(info.size_bytes, BYTES);
    }
    ck_assert_int_eq(driver->mem_free(memories[0].address), CXU_SUCCESS);
    ck_assert_int_eq(driver->mem_free_host((void *)memories[1].address), CXU_SUCCESS);
    ck_assert_int_eq(driver->mem_free(memories[2].address), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_pop(&(CUcontext){0}), CXU_SUCCESS);
}
END_TEST

/* ---- explaining, without a driver ---- */

static cx_entries entries(const char *letters, bool complete)
{
    cx_entries made = {.complete = complete};
    for (; *letters != '\0'; letters++)
        made.natives[made.count++] = (CUcontext)(uintptr_t)*letters;
    return made;
}

START_TEST(only_an_explanation_that_fits_alone_is_given)
{
    static const struct {
        const char *actual, *ours;
        ctxrt_resync_finding finding;
        int count;
    } cases[] = {
        {"CBA", "CBA", CTXRT_RESYNC_IN_STEP, 0},  {"XCBA", "CBA", CTXRT_RESYNC_PUSHED, 1},
        {"XYCBA", "CBA", CTXRT_RESYNC_PUSHED, 2}, {"BA", "CBA", CTXRT_RESYNC_POPPED, 1},
        {"", "CBA", CTXRT_RESYNC_POPPED, 3},      {"XBA", "CBA", CTXRT_RESYNC_SET, 1},
        {"XYZ", "CBA", CTXRT_RESYNC_AMBIGUOUS, 0}, {"AAA", "AA", CTXRT_RESYNC_PUSHED, 1},
        {"A", "AA", CTXRT_RESYNC_POPPED, 1},      {"ABAB", "AB", CTXRT_RESYNC_PUSHED, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cx_entries actual = entries(cases[i].actual, true), ours = entries(cases[i].ours, true);
        ctxrt_resync_report report = cx_explain(&actual, &ours).report;
        ck_assert_msg(report.finding == cases[i].finding && report.count == cases[i].count,
                      "%s for %s: found %d, %d", cases[i].actual, cases[i].ours, report.finding,
                      report.count);
    }
}
END_TEST

static Suite *foreign_suite(void)
{
    Suite *suite = suite_create("foreign");
    TCase *follow = tcase_create("follow"), *error = tcase_create("error"),
          *plain = tcase_create("explain");
    tcase_add_checked_fixture(follow, start_following, finish);
    tcase_add_test(follow, work_follows_a_foreign_set_and_the_next_set_takes_it_back);
    tcase_add_test(follow, a_foreign_frame_is_dropped_when_it_is_undone);
    tcase_add_test(follow, a_context_current_before_the_first_frame_is_borrowed_and_left_alone);
    tcase_add_test(follow, a_leaked_push_makes_the_pop_refuse_and_resync_takes_it_off);
    tcase_add_test(follow, a_leaked_push_of_the_same_context_is_noticed_by_what_the_pop_uncovers);
    tcase_add_test(follow,
                   a_scope_makes_the_right_context_current_even_where_nothing_can_be_explained);
    tcase_add_test(follow, a_shutdown_finds_what_is_left_in_a_foreign_context);
    tcase_add_test(follow, a_reset_leaves_the_count_of_retains_as_it_was);
    tcase_add_test(
        follow,
        a_primary_context_that_other_code_made_current_first_is_the_one_that_a_set_retains);
    tcase_add_test(
        follow, a_reset_of_a_device_that_only_other_code_set_ends_memory_of_ours_in_it);
    tcase_add_test(follow, a_pop_too_many_is_found_by_resync);
    tcase_add_test(follow, an_overwritten_entry_is_set_back_by_resync);
    tcase_add_test(follow, a_scope_restores_whatever_other_code_did_in_it);
    tcase_add_test(follow,
                   a_query_tells_the_kind_and_device_of_memory_that_other_code_allocated);
    tcase_add_checked_fixture(error, start_refusing, finish);
    tcase_add_test(error, the_policy_error_refuses_and_names_both_contexts);
    tcase_add_test(plain, only_an_explanation_that_fits_alone_is_given);
    suite_add_tcase(suite, follow);
    suite_add_tcase(suite, error);
    suite_add_tcase(suite, plain);
    return suite;
}

CX_TESTS(foreign_suite);
