/* Memory plans: where tensors go, what freezes a plan, its one allocation. */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

/* ---- where tensors go ---- */

START_TEST(a_tensor_of_the_same_size_gets_the_place_of_one_that_was_freed)
{
    size_t a = add(1024), b = add(2048), c = add(512);
    drop(b);
    size_t d = add(2048);
    ck_assert_uint_eq(offset_of(d), offset_of(b));
    ck_assert_uint_eq(offset_of(a), 0);
    ck_assert_uint_eq(offset_of(c), 3072);
    ck_assert_uint_eq(peak(), 3584);
}
END_TEST

START_TEST(a_larger_tensor_grows_the_end_from_the_place_of_the_last_one)
{
    add(1024);
    add(2048);
    size_t c = add(512);
    drop(c);
    size_t d = add(4096);
    ck_assert_uint_eq(offset_of(d), offset_of(c));
    ck_assert_uint_eq(peak(), 1024 + 2048 + 4096);
}
END_TEST

START_TEST(asking_for_the_pointer_twice_gives_the_same_one)
{
    size_t a = add(1024), b = add(2048);
    void *first = pointer_of(b);
    ck_assert_ptr_eq(pointer_of(b), first);
    ck_assert_ptr_eq((char *)pointer_of(a) + offset_of(b), first);
}
END_TEST

START_TEST(the_smallest_free_stretch_that_holds_it_is_taken_and_split)
{
    size_t wide = add(4096), wall = add(256), narrow = add(1024);
    add(256);
    drop(wide);
    drop(narrow);
    size_t first = add(768), second = add(256), third = add(256);
    ck_assert_uint_eq(offset_of(first), offset_of(narrow));
    ck_assert_uint_eq(offset_of(second), offset_of(narrow) + 768);
    ck_assert_uint_eq(offset_of(third), offset_of(wide));
    ck_assert_uint_eq(offset_of(wall), 4096);
    ck_assert_uint_eq(peak(), 4096 + 256 + 1024 + 256);
}
END_TEST

START_TEST(of_stretches_of_one_size_the_lowest_is_taken)
{
    size_t made[7];
    for (int i = 0; i < 7; i++)
        made[i] = add(512);
    drop(made[5]);
    drop(made[1]);
    drop(made[3]);
    ck_assert_uint_eq(offset_of(add(512)), offset_of(made[1]));
    ck_assert_uint_eq(offset_of(add(512)), offset_of(made[3]));
    ck_assert_uint_eq(offset_of(add(512)), offset_of(made[5]));
}
END_TEST

START_TEST(free_stretches_side_by_side_are_one)
{
    size_t a = add(512), b = add(512), c = add(512);
    add(256);
    drop(a);
    drop(c);
    drop(b); /* between two free ones */
    ck_assert_uint_eq(offset_of(add(1536)), 0);
    ck_assert_uint_eq(peak(), 1792);
}
END_TEST

START_TEST(sizes_are_rounded_up_to_the_alignment_of_the_device_at_hand)
{
    ck_assert_uint_eq(offset_of(add(1)), 0);
    ck_assert_uint_eq(offset_of(add(257)), 256);
    ck_assert_uint_eq(peak(), 768);
    cx_assert_ok(ctxrt_plan_destroy(plan));
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_plan_create(0, &plan));
    ck_assert_uint_eq(offset_of(add(1)), 0);
    ck_assert_uint_eq(offset_of(add(9)), 8);
    ck_assert_uint_eq(peak(), 24);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(without_a_device_a_plan_needs_its_alignment_said)
{
    ctxrt_plan *other = NULL;
    size_t tensor;
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_plan_create(0, &other), CTXRT_ERROR_NO_DEVICE);
    ck_assert_ptr_null(other);
    cx_assert_ok(ctxrt_plan_create(64, &other));
    cx_assert_ok(ctxrt_plan_alloc(other, 65, &tensor));
    cx_assert_error(ctxrt_plan_commit(other, NULL), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_plan_alloc(other, 65, &tensor));
    cx_assert_ok(ctxrt_plan_destroy(other));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
}
END_TEST

/* ---- what is refused ---- */

START_TEST(no_tensor_is_freed_twice_or_without_being_one)
{
    size_t a = add(1024), b = add(1024);
    drop(a);
    cx_assert_error(ctxrt_plan_free(plan, a), CTXRT_ERROR_ALREADY);
    cx_assert_error(ctxrt_plan_free(plan, b + 1), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_plan_free(plan, SIZE_MAX), CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_uint_eq(offset_of(add(1024)), offset_of(a));
    ck_assert_uint_eq(offset_of(add(1024)), 2048);
    cx_assert_error(ctxrt_plan_free(plan, a), CTXRT_ERROR_ALREADY);
}
END_TEST

START_TEST(a_plan_longer_than_any_memory_is_refused_and_stays_as_it_was)
{
    size_t tensor = 77;
    add(512);
    for (size_t i = 0; i < 512; i += 51)
        cx_assert_error(ctxrt_plan_alloc(plan, SIZE_MAX - i, &tensor), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_eq(tensor, 77);
    ck_assert_uint_eq(peak(), 512);
    size_t half = add(SIZE_MAX / 2 - 1023);
    cx_assert_error(ctxrt_plan_alloc(plan, SIZE_MAX / 2 + 1024, &tensor),
                    CTXRT_ERROR_OUT_OF_MEMORY);
    cx_assert_error(ctxrt_plan_commit(plan, NULL), CTXRT_ERROR_OUT_OF_MEMORY);
    drop(half);
    ck_assert_uint_eq(offset_of(add(512)), 512);
}
END_TEST

START_TEST(asking_for_a_pointer_freezes_the_plan)
{
    size_t a = add(1024), b = add(1024), tensor = 77;
    drop(a);
    void *pointer = pointer_of(b);
    cx_assert_error(ctxrt_plan_alloc(plan, 1, &tensor), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_error(ctxrt_plan_free(plan, b), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_error(ctxrt_plan_optimise(plan, 0, 0), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_plan_commit(plan, NULL));
    ck_assert_uint_eq(tensor, 77);
    ck_assert_uint_eq(peak(), 2048);
    ck_assert_ptr_eq(pointer_of(b), pointer);
    ck_assert_ptr_eq(pointer_of(a), (char *)pointer - 1024);
}
END_TEST

START_TEST(a_plan_that_was_optimised_is_complete)
{
    size_t a = add(1024), tensor = 77;
    cx_assert_ok(ctxrt_plan_optimise(plan, 0, 0));
    cx_assert_error(ctxrt_plan_alloc(plan, 1, &tensor), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_error(ctxrt_plan_free(plan, a), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_plan_optimise(plan, 0, 0));
    ck_assert_uint_eq(offset_of(a), 0);
    ck_assert_ptr_nonnull(pointer_of(a));
}
END_TEST

/* ---- memory ---- */

static ctxrt_allocator_figures figures(void)
{
    ctxrt_allocator_figures read;
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &read));
    return read;
}

START_TEST(the_memory_is_one_allocation_of_the_peak_from_the_frames_allocator)
{
    ctxrt_allocator *allocator;
    ctxrt_memory *memory;
    ctxrt_memory_info info;
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    for (int i = 0; i < 20; i++)
        drop(add(1000 + 100 * (size_t)i));
    size_t last = add(1);
    ck_assert_uint_eq(figures().total_count, 0);
    cx_assert_ok(ctxrt_plan_commit(plan, &memory));
    cx_assert_ok(ctxrt_memory_describe(memory, &info));
    ck_assert_uint_eq(figures().total_count, 1);
    ck_assert_uint_eq(figures().total_bytes, peak());
    ck_assert_uint_eq(info.size_bytes, peak());
    ck_assert_int_eq(info.device.index, 1);
    ck_assert_ptr_eq(pointer_of(last), (char *)info.pointer + offset_of(last));
    cx_assert_ok(ctxrt_plan_destroy(plan));
    ck_assert_uint_eq(figures().current_count, 0);
    cx_assert_error(ctxrt_memory_retain(memory), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_plan_create(0, &plan));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

START_TEST(memory_that_is_not_to_be_had_leaves_the_plan_open)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.limit_bytes = 1024;
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    size_t a = add(2048);
    cx_assert_error(ctxrt_plan_commit(plan, NULL), CTXRT_ERROR_OUT_OF_MEMORY);
    drop(a);
    ck_assert_uint_eq(offset_of(add(256)), 0);
    cx_assert_ok(ctxrt_allocator_set_limit(allocator, 0));
    ck_assert_ptr_nonnull(pointer_of(a));
    cx_assert_ok(ctxrt_plan_destroy(plan));
    cx_assert_ok(ctxrt_plan_create(0, &plan));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
}
END_TEST

/* Addresses that are 8 off what a plan wants. */
static ctxrt_status alloc_askew(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                                void **out_pointer)
{
    void **kept = user_data;
    (void)stream;
    *kept = aligned_alloc(4096, (size_bytes + 8 + 4095) / 4096 * 4096);
    *out_pointer = (char *)*kept + 8;
    return *kept != NULL ? CTXRT_SUCCESS : CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status free_askew(void *user_data, void *pointer, size_t size_bytes)
{
    (void)user_data, (void)size_bytes;
    free((char *)pointer - 8);
    return CTXRT_SUCCESS;
}

START_TEST(tensors_are_aligned_even_where_the_allocator_aligns_less)
{
    const ctxrt_allocator_vtable vtable = {
        .struct_size = sizeof vtable, .alloc = alloc_askew, .free = free_askew};
    ctxrt_allocator *allocator;
    ctxrt_memory *memory;
    ctxrt_memory_info info;
    void *kept;
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_allocator_create_custom(&vtable, &kept, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    add(1);
    size_t b = add(1000);
    cx_assert_ok(ctxrt_plan_commit(plan, &memory));
    cx_assert_ok(ctxrt_memory_describe(memory, &info));
    char *last = pointer_of(b);
    ck_assert_uint_eq((uintptr_t)last % 256, 0);
    ck_assert_uint_eq((uintptr_t)pointer_of(0) % 256, 0);
    ck_assert((char *)pointer_of(0) >= (char *)info.pointer);
    ck_assert(last + 1024 <= (char *)info.pointer + info.size_bytes);
    memset(last, 1, 1024);
    cx_assert_ok(ctxrt_plan_destroy(plan));
    cx_assert_ok(ctxrt_plan_create(256, &plan));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_plan_is_destroyed_whatever_is_current)
{
    unsigned char bytes[64];
    size_t a = add(64), free_before, free_after;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), &free_before, NULL));
    cx_assert_ok(ctxrt_fill(pointer_of(a), 0x5a, 64));
    cx_assert_ok(ctxrt_copy(bytes, pointer_of(a), 64, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(bytes[63], 0x5a);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_plan_destroy(plan));
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(1), &free_after, NULL));
    ck_assert_uint_ge(free_after, free_before);
    cx_assert_ok(ctxrt_plan_create(0, &plan));
}
END_TEST

START_TEST(a_plan_with_memory_keeps_its_device)
{
    add(64);
    cx_assert_ok(ctxrt_plan_commit(plan, NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(1)), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
}
END_TEST

/* ---- against a plain model: lists that are searched from one end to the other ---- */

enum { MODEL_TENSORS = 300, MODEL_STEPS = 700 };

typedef struct model_tensor {
    size_t offset, size;
    bool live;
} model_tensor;

static model_tensor model[MODEL_STEPS];
static size_t model_count, model_end;

static bool is_taken(size_t at, size_t *out_until)
{
    for (size_t i = 0; i < model_count; i++)
        if (model[i].live && at >= model[i].offset && at < model[i].offset + model[i].size) {
            *out_until = model[i].offset + model[i].size;
            return true;
        }
    return false;
}

static size_t next_taken(size_t at)
{
    size_t next = model_end;
    for (size_t i = 0; i < model_count; i++)
        if (model[i].live && model[i].offset >= at && model[i].offset < next)
            next = model[i].offset;
    return next;
}

static size_t model_place(size_t size)
{
    size_t best = SIZE_MAX, best_size = SIZE_MAX, at = 0, tail = model_end;
    while (at < model_end) {
        if (is_taken(at, &at))
            continue;
        size_t end = next_taken(at);
        if (end - at >= size && end - at < best_size) {
            best = at;
            best_size = end - at;
        }
        if (end == model_end)
            tail = at;
        at = end;
    }
    return best != SIZE_MAX ? best : tail;
}

static void model_add(size_t size)
{
    size_t at = model_place(size);
    model[model_count++] = (model_tensor){at, size, true};
    if (at + size > model_end)
        model_end = at + size;
}

START_TEST(places_are_those_of_a_plain_search)
{
    uint32_t random = 12345u + (uint32_t)_i;
    size_t live = 0;
    model_count = model_end = 0;
    for (int step = 0; step < MODEL_STEPS; step++) {
        random = random * 1664525u + 1013904223u;
        size_t pick = random >> 8;
        if (live < MODEL_TENSORS / 2 && (live < 4 || pick % 5 < 3)) {
            size_t size = 256 * (1 + pick % 97 % (_i + 3));
            model_add(size);
            ck_assert_uint_eq(add(size - pick % 256), model_count - 1);
            ck_assert_uint_eq(offset_of(model_count - 1), model[model_count - 1].offset);
            live++;
        } else {
            size_t tensor = pick % model_count;
            while (!model[tensor].live)
                tensor = (tensor + 1) % model_count;
            model[tensor].live = false;
            drop(tensor);
            live--;
        }
        ck_assert_uint_eq(peak(), model_end);
    }
}
END_TEST
static Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *tcase = tcase_create("places");
    tcase_add_checked_fixture(tcase, start, finish);
    tcase_add_test(tcase, a_tensor_of_the_same_size_gets_the_place_of_one_that_was_freed);
    tcase_add_test(tcase, a_larger_tensor_grows_the_end_from_the_place_of_the_last_one);
    tcase_add_test(tcase, asking_for_the_pointer_twice_gives_the_same_one);
    tcase_add_test(tcase, the_smallest_free_stretch_that_holds_it_is_taken_and_split);
    tcase_add_test(tcase, of_stretches_of_one_size_the_lowest_is_taken);
    tcase_add_test(tcase, free_stretches_side_by_side_are_one);
    tcase_add_test(tcase, sizes_are_rounded_up_to_the_alignment_of_the_device_at_hand);
    tcase_add_test(tcase, without_a_device_a_plan_needs_its_alignment_said);
    tcase_add_loop_test(tcase, places_are_those_of_a_plain_search, 0, 5);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("refusals");
    tcase_add_checked_fixture(tcase, start, finish);
    tcase_add_test(tcase, no_tensor_is_freed_twice_or_without_being_one);
    tcase_add_test(tcase, a_plan_longer_than_any_memory_is_refused_and_stays_as_it_was);
    tcase_add_test(tcase, asking_for_a_pointer_freezes_the_plan);
    tcase_add_test(tcase, a_plan_that_was_optimised_is_complete);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("memory");
    tcase_add_checked_fixture(tcase, start, finish);
    tcase_add_test(tcase, the_memory_is_one_allocation_of_the_peak_from_the_frames_allocator);
    tcase_add_test(tcase, memory_that_is_not_to_be_had_leaves_the_plan_open);
    tcase_add_test(tcase, tensors_are_aligned_even_where_the_allocator_aligns_less);
    tcase_add_test(tcase, a_plan_is_destroyed_whatever_is_current);
    tcase_add_test(tcase, a_plan_with_memory_keeps_its_device);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(plan_suite);
