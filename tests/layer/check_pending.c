/*
 * Host memory that is freed under the layer check: which copies are pending then.
 */
#include "layer/ordering.h"

enum { USES = 128 }; /* that are kept */

static void *make_pinned(void)
{
    void *made;
    GOOD(table.mem_alloc_host(&made, BYTES));
    return made;
}

static void upload(void *from, CUstream stream)
{
    GOOD(table.memcpy_htod_async(memory, from, BYTES, stream));
}

/* Frees the memory, and returns whether a copy was found pending. */
static int free_finds(void *freed)
{
    int before = found(CX_KIND_MEMORY_PINNED_FREED);
    GOOD(table.mem_free_host(freed));
    return found(CX_KIND_MEMORY_PINNED_FREED) - before;
}

START_TEST(a_copy_that_fails_uses_nothing)
{
    upload(pinned, first); /* so that work of the stream is pending */
    void *other = make_pinned();
    ck_assert_int_ne((int)table.memcpy_htod_async(memory, other, BYTES + 1, first), CXU_SUCCESS);
    ck_assert_int_eq(free_finds(other), 0);
}
END_TEST

START_TEST(a_copy_that_waits_is_not_pending)
{
    upload(pinned, first);
    void *other = make_pinned();
    GOOD(table.memcpy_htod(memory, other, BYTES));
    ck_assert_int_eq(free_finds(other), 0);
}
END_TEST

START_TEST(a_free_of_an_inner_address_frees_nothing)
{
    upload(pinned, first);
    ck_assert_int_ne((int)table.mem_free_host((char *)pinned + 8), CXU_SUCCESS);
    ck_assert_int_ne((int)table.mem_free_host(&memory), CXU_SUCCESS);
    ck_assert_int_eq(found(CX_KIND_MEMORY_PINNED_FREED), 0);
    ck_assert_int_eq(found(CX_KIND_MEMORY_INSIDE), 1);
}
END_TEST

START_TEST(memory_that_is_unregistered_has_a_kind_of_its_own)
{
    static char bytes[BYTES];
    GOOD(table.mem_host_register(bytes, BYTES, 0));
    upload(bytes, first);
    ck_assert_int_ne((int)table.mem_free_host(bytes), CXU_SUCCESS);
    ck_assert_int_eq(found(CX_KIND_MEMORY_PINNED_FREED), 0);
    GOOD(table.mem_host_unregister(bytes));
    ck_assert_int_eq(found(CX_KIND_MEMORY_UNREGISTERED), 1);
}
END_TEST

START_TEST(memory_at_the_place_of_one_that_was_freed_is_new)
{
    upload(pinned, first);
    ck_assert_int_eq(free_finds(pinned), 1);
    void *again = make_pinned();
    ck_assert_int_eq(free_finds(again), 0);
}
END_TEST

START_TEST(the_oldest_of_many_uses_is_forgotten)
{
    void *all[USES + 1];
    for (int i = 0; i <= USES; i++) {
        all[i] = make_pinned();
        upload(all[i], first);
    }
    ck_assert_int_eq(free_finds(all[0]), 0); /* it waits for the others */
    ck_assert_int_eq(free_finds(all[1]), 0);
    for (int i = 2; i <= USES; i++)
        upload(all[i], first);
    ck_assert_int_eq(free_finds(all[2]), 1);
}
END_TEST

START_TEST(the_first_use_that_is_kept_is_found)
{
    void *all[USES + 1];
    for (int i = 0; i <= USES; i++) {
        all[i] = make_pinned();
        upload(all[i], first);
    }
    ck_assert_int_eq(free_finds(all[1]), 1);
}
END_TEST

START_TEST(a_use_again_is_the_latest)
{
    void *all[USES];
    for (int i = 0; i < USES; i++) {
        all[i] = make_pinned();
        upload(all[i], first);
    }
    upload(all[0], first);
    upload(pinned, first); /* the one more */
    ck_assert_int_eq(free_finds(all[0]), 1);
}
END_TEST

START_TEST(uses_that_were_waited_for_make_room)
{
    void *all[USES - 1];
    upload(pinned, second);
    for (int i = 0; i < USES - 1; i++) {
        all[i] = make_pinned();
        upload(all[i], first);
    }
    GOOD(table.stream_synchronize(first));
    upload(make_pinned(), first);
    upload(make_pinned(), first);
    ck_assert_int_eq(free_finds(pinned), 1);
}
END_TEST

/* Uses memory, and makes a graph whose first launch fails. */
static CUgraphExec use_and_fail_to_launch(void)
{
    CUgraph graph;
    CUgraphExec exec;
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.graph_instantiate_with_flags(&exec, graph, 0));
    upload(pinned, first);
    ck_assert_int_ne((int)table.graph_launch(exec, (CUstream)&exec), CXU_SUCCESS);
    return exec;
}

START_TEST(a_graph_may_tell_of_any_work)
{
    CUgraphExec exec = use_and_fail_to_launch();
    void *other = make_pinned();
    upload(other, second);
    GOOD(table.graph_launch(exec, first));
    ck_assert_int_eq(free_finds(other), 0);
}
END_TEST

START_TEST(a_graph_that_was_not_launched_tells_nothing)
{
    (void)use_and_fail_to_launch();
    ck_assert_int_eq(free_finds(pinned), 1);
}
END_TEST

START_TEST(the_use_is_named)
{
    upload(pinned, second);
    ck_assert_int_eq(free_finds(pinned), 1);
    ck_assert(latest_says("cuMemcpyHtoDAsync_v2 in stream 3 of GPU 0 is pending"));
    ck_assert(latest_says("256 bytes of pinned memory belongs to context 2 of GPU 0") ||
              latest_says("256 bytes of pinned memory belongs to context 1 of GPU 0"));
}
END_TEST

START_TEST(a_stream_that_ended_meanwhile_is_named_by_its_number)
{
    upload(pinned, second);
    GOOD(table.stream_destroy(second));
    ck_assert_int_eq(free_finds(pinned), 1);
    ck_assert(latest_says("cuMemcpyHtoDAsync_v2 in stream 3 is pending"));
}
END_TEST

static Suite *pending_suite(void)
{
    Suite *suite = suite_create("pending copies under the layer check");
    TCase *tcase = tcase_create("pending");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_copy_that_fails_uses_nothing);
    tcase_add_test(tcase, a_copy_that_waits_is_not_pending);
    tcase_add_test(tcase, a_free_of_an_inner_address_frees_nothing);
    tcase_add_test(tcase, memory_that_is_unregistered_has_a_kind_of_its_own);
    tcase_add_test(tcase, memory_at_the_place_of_one_that_was_freed_is_new);
    tcase_add_test(tcase, the_oldest_of_many_uses_is_forgotten);
    tcase_add_test(tcase, the_first_use_that_is_kept_is_found);
    tcase_add_test(tcase, a_use_again_is_the_latest);
    tcase_add_test(tcase, uses_that_were_waited_for_make_room);
    tcase_add_test(tcase, a_graph_may_tell_of_any_work);
    tcase_add_test(tcase, a_graph_that_was_not_launched_tells_nothing);
    tcase_add_test(tcase, the_use_is_named);
    tcase_add_test(tcase, a_stream_that_ended_meanwhile_is_named_by_its_number);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(pending_suite);
