/* A layer sees every call of a driver's table, with its arguments, and changes nothing. */
#include "layer/arguments.h"
#include "layer/layer.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

/* ---- a driver that notes which call came, and a layer that notes what it saw ---- */

static int came = -1;
static cx_layer_call begun, ended;
static int begins, ends, came_between;

/* Of the latest call, whose own arguments are gone once it is over. */
static cx_layer_handle handles[CX_LAYER_HANDLES_MAX];
static int handle_count;
static void (*look)(const void *arguments);

/* Each call returns a result of its own, so that a mixed-up row shows. */
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result note_##slot CX_DECLARE(arity, parameters)               \
    {                                                                         \
        CX_EACH(arity, parameters, IGNORE, slot)                              \
        came = CX_SLOT_##slot;                                                \
        return (cxu_result)(1000 + CX_SLOT_##slot);                           \
    }
#define IGNORE(slot, type, name) (void)name;
#include "driver/symbols.def"

static const cx_driver_table noting = {
#define CX_SYMBOL(slot_, name, suffix, since, stream, need, arity, parameters) \
    .slot_ = note_##slot_,
#include "driver/symbols.def"
};

static void call_begins(const cx_layer_call *call)
{
    begun = *call;
    begins++;
    handle_count = cx_layer_handles(call, handles);
    came = -1;
}

static void call_ended(const cx_layer_call *call)
{
    ended = *call;
    ends++;
    if (look != NULL)
        look(call->arguments);
    came_between = came;
}

static const cx_layer layer = {call_begins, call_ended};
static cx_driver_table table;

/* A second layer, and the order in which the two were told. */
static char order[8];

static void first_begins(const cx_layer_call *call)
{
    (void)call;
    strcat(order, "1");
}

static void first_ended(const cx_layer_call *call)
{
    (void)call;
    strcat(order, "4");
}

static void second_begins(const cx_layer_call *call)
{
    strcat(order, "2");
    begun = *call;
    came = -1;
}

static void second_ended(const cx_layer_call *call)
{
    strcat(order, "3");
    ended = *call;
    came_between = came;
}

static const cx_layer first = {first_begins, first_ended}, second = {second_begins, second_ended};

static void put_layer(void)
{
    begins = ends = 0;
    look = NULL;
    cx_layer_put(&layer, &noting, &table);
}

/* ---- tests ---- */

static void assert_seen(cxu_result result, int slot)
{
    ck_assert_int_eq((int)result, 1000 + slot);
    ck_assert_int_eq(begins, 1);
    ck_assert_int_eq(ends, 1);
    ck_assert_int_eq((int)begun.slot, slot);
    ck_assert_int_eq((int)ended.slot, slot);
    ck_assert_int_eq(came_between, slot);
    ck_assert_int_eq((int)ended.result, 1000 + slot);
    begins = ends = 0;
}

#define ZERO(type) \
    (__extension__({ \
        type zero_; \
        memset((void *)&zero_, 0, sizeof zero_); \
        zero_; \
    }))
#define ZEROES(arity, list) ZEROES_(arity, list)
#define ZEROES_(arity, list) ZEROES_##arity list
#define ZEROES_0() ()
#define ZEROES_1(t1, n1) (ZERO(t1))
#define ZEROES_2(t1, n1, t2, n2) (ZERO(t1), ZERO(t2))
#define ZEROES_3(t1, n1, t2, n2, t3, n3) (ZERO(t1), ZERO(t2), ZERO(t3))
#define ZEROES_4(t1, n1, t2, n2, t3, n3, t4, n4) (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4))
#define ZEROES_5(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5) \
    (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4), ZERO(t5))
#define ZEROES_6(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6) \
    (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4), ZERO(t5), ZERO(t6))
#define ZEROES_7(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7) \
    (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4), ZERO(t5), ZERO(t6), ZERO(t7))
#define ZEROES_8(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8) \
    (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4), ZERO(t5), ZERO(t6), ZERO(t7), ZERO(t8))
#define ZEROES_9(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9) \
    (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4), ZERO(t5), ZERO(t6), ZERO(t7), ZERO(t8), ZERO(t9))
#define ZEROES_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                  n10)                                                                         \
    (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4), ZERO(t5), ZERO(t6), ZERO(t7), ZERO(t8), ZERO(t9), \
     ZERO(t10))
#define ZEROES_11(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                  n10, t11, n11)                                                               \
    (ZERO(t1), ZERO(t2), ZERO(t3), ZERO(t4), ZERO(t5), ZERO(t6), ZERO(t7), ZERO(t8), ZERO(t9), \
     ZERO(t10), ZERO(t11))

START_TEST(every_call_passes_the_layer_and_reaches_its_own_row_below)
{
#define CX_SYMBOL(slot_, name, suffix, since, stream, need, arity, parameters) \
    assert_seen(table.slot_ ZEROES(arity, parameters), CX_SLOT_##slot_);
#include "driver/symbols.def"
}
END_TEST

static CUstream created;

static void look_at_stream_create(const void *arguments)
{
    const cx_arguments_stream_create_with_priority *made = arguments;
    ck_assert_ptr_eq(made->out_stream, &created);
    ck_assert_uint_eq(made->flags, 3);
    ck_assert_int_eq(made->priority, -1);
}

static void look_at_copy(const void *arguments)
{
    const cx_arguments_memcpy_dtoh *copied = arguments;
    ck_assert_uint_eq(copied->source, 0x123456789abc);
    ck_assert_uint_eq(copied->bytes, 77);
}

START_TEST(the_layer_sees_the_arguments_and_the_pointers_for_what_comes_back)
{
    look = look_at_stream_create;
    (void)table.stream_create_with_priority(&created, 3, -1);
    look = look_at_copy;
    (void)table.memcpy_dtoh(&created, 0x123456789abc, 77);
    ck_assert_int_eq(ends, 2);
}
END_TEST

static void assert_handles(const cx_layer_handle *wanted, int count)
{
    ck_assert_int_eq(handle_count, count);
    for (int i = 0; i < count; i++) {
        ck_assert_int_eq((int)handles[i].kind, (int)wanted[i].kind);
        ck_assert_uint_eq(handles[i].value, wanted[i].value);
        ck_assert_str_eq(handles[i].parameter, wanted[i].parameter);
    }
}

START_TEST(the_handles_among_the_arguments_are_found_and_nothing_else)
{
    const cx_layer_handle of_wait[] = {{CX_HANDLE_STREAM, 16, "stream"},
                                       {CX_HANDLE_EVENT, 32, "event"}};
    const cx_layer_handle of_copy[] = {{CX_HANDLE_CONTEXT, 48, "destination_context"},
                                       {CX_HANDLE_CONTEXT, 64, "source_context"},
                                       {CX_HANDLE_STREAM, 80, "stream"}};
    const cx_layer_handle of_launch[] = {{CX_HANDLE_FUNCTION, 96, "function"},
                                         {CX_HANDLE_STREAM, 0, "stream"}};
    (void)table.stream_wait_event((CUstream)16, (CUevent)32, 0);
    assert_handles(of_wait, 2);
    (void)table.memcpy_peer_async(1, (CUcontext)48, 2, (CUcontext)64, 3, (CUstream)80);
    assert_handles(of_copy, 3);
    (void)table.launch_kernel((CUfunction)96, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    assert_handles(of_launch, 2);
    (void)table.mem_free(4096);
    assert_handles(NULL, 0);
    (void)table.ctx_synchronize();
    assert_handles(NULL, 0);
}
END_TEST

START_TEST(the_first_layer_of_a_chain_is_told_first_before_a_call_and_last_after_it)
{
    order[0] = '\0';
    cx_layer_put(&first, &noting, &table);
    (void)table.ctx_synchronize();
    ck_assert_str_eq(order, "14");
    order[0] = '\0';
    cx_layer_put(&second, &noting, &table);
    ck_assert_int_eq((int)table.mem_free(4096), 1000 + CX_SLOT_mem_free);
    ck_assert_str_eq(order, "1234");
    ck_assert_int_eq((int)begun.slot, CX_SLOT_mem_free);
    ck_assert_int_eq((int)ended.result, 1000 + CX_SLOT_mem_free);
    ck_assert_int_eq(came_between, CX_SLOT_mem_free);
}
END_TEST

START_TEST(a_layer_that_is_put_again_keeps_its_place_in_the_chain)
{
    order[0] = '\0';
    cx_layer_put(&first, &noting, &table);
    cx_layer_put(&second, &noting, &table);
    cx_layer_put(&first, &noting, &table);
    (void)table.ctx_synchronize();
    ck_assert_str_eq(order, "1234");
}
END_TEST

static Suite *layer_suite(void)
{
    Suite *suite = suite_create("layer");
    TCase *tcase = tcase_create("layer");
    tcase_add_checked_fixture(tcase, put_layer, NULL);
    tcase_add_test(tcase, every_call_passes_the_layer_and_reaches_its_own_row_below);
    tcase_add_test(tcase, the_layer_sees_the_arguments_and_the_pointers_for_what_comes_back);
    tcase_add_test(tcase, the_handles_among_the_arguments_are_found_and_nothing_else);
    suite_add_tcase(suite, tcase);
    TCase *chain = tcase_create("chain");
    tcase_add_test(chain, the_first_layer_of_a_chain_is_told_first_before_a_call_and_last_after_it);
    tcase_add_test(chain, a_layer_that_is_put_again_keeps_its_place_in_the_chain);
    suite_add_tcase(suite, chain);
    return suite;
}

CX_TESTS(layer_suite);
