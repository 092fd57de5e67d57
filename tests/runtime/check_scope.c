#include "fixture.h"
#include "test.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void assert_current(int index)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, index);
}

START_TEST(a_scope_restores_what_was_there)
{
    ctxrt_scope outer = {0}, inner = {0};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &outer));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(2), &inner));
    assert_current(2);
    cx_assert_ok(ctxrt_scope_leave(&inner));
    assert_current(3);
    cx_assert_ok(ctxrt_scope_leave(&outer));
    assert_current(0);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_scope_with_frames_left_in_it_restores_and_says_how_many)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_device_set(CTXRT_CPU(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(3)));
    cx_assert_error(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "2 frames"));
    assert_current(0);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_scope_leave(&scope));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(leaving_the_outer_scope_ends_the_inner_one)
{
    ctxrt_scope outer = {0}, inner = {0};
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &outer));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(2), &inner));
    cx_assert_error(ctxrt_scope_leave(&outer), CTXRT_ERROR_STACK_LEFTOVER);
    cx_assert_error(ctxrt_scope_leave(&inner), CTXRT_ERROR_WRONG_THREAD);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
}
END_TEST

static void *leave_elsewhere(void *argument)
{
    cx_assert_error(ctxrt_scope_leave(argument), CTXRT_ERROR_WRONG_THREAD);
    return NULL;
}

START_TEST(another_thread_cannot_leave_a_scope)
{
    ctxrt_scope scope = {0};
    pthread_t thread;
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    pthread_create(&thread, NULL, leave_elsewhere, &scope);
    pthread_join(thread, NULL);
    assert_current(1);
    cx_assert_ok(ctxrt_scope_leave(&scope));
}
END_TEST

static int early_return(int when)
{
    CTXRT_SCOPE ctxrt_scope scope = {0};
    if (when == 0)
        return 0;
    cx_assert_ok(CTXRT_SCOPE_ENTER(CTXRT_CUDA(2), &scope));
    assert_current(2);
    if (when == 1)
        return 1;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(3)));
    return 2;
}

START_TEST(the_attribute_leaves_a_scope_on_every_path)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(early_return(i), i);
        assert_current(0);
        ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    }
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static int leave_early(int when)
{
    CTXRT_SCOPE_MEMORY ctxrt_memory *memory = NULL;
    CTXRT_SCOPE_STREAM ctxrt_stream *stream = NULL;
    CTXRT_SCOPE_EVENT ctxrt_event *event = NULL;
    if (when == 0)
        return 0;
    cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    if (when == 1)
        return 1;
    cx_assert_ok(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event));
    cx_assert_ok(ctxrt_event_record(event, stream));
    return 2;
}

/* A created context does not end while an object of it is left. */
START_TEST(the_attributes_end_memory_streams_and_events_on_every_path)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(leave_early(i), i);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(memory_that_is_retained_outlives_its_scope)
{
    ctxrt_memory *kept = NULL;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    {
        CTXRT_SCOPE_MEMORY ctxrt_memory *memory = NULL;
        cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
        cx_assert_ok(ctxrt_memory_retain(memory));
        kept = memory;
    }
    ck_assert_ptr_nonnull(ctxrt_memory_pointer(kept));
    cx_assert_ok(ctxrt_memory_release(kept));
    ck_assert_ptr_null(ctxrt_memory_pointer(kept));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static char *snapshot(ctxrt_snapshot_format format)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    cx_assert_ok(ctxrt_snapshot_write(file, format));
    fclose(file);
    return text;
}

START_TEST(a_snapshot_shows_frames_from_the_top_with_their_places)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(CTXRT_DEVICE_SET(CTXRT_CUDA(0)));
    cx_assert_ok(CTXRT_SCOPE_ENTER(CTXRT_CPU(0), &scope));
    char *text = snapshot(CTXRT_SNAPSHOT_TEXT);
    const char *top = strstr(text, "cpu:0"), *bottom = strstr(text, "cuda:0");
    ck_assert_ptr_nonnull(top);
    ck_assert_ptr_nonnull(bottom);
    ck_assert(top < bottom);
    ck_assert_ptr_nonnull(strstr(text, "check_scope.c:"));
    free(text);

    json_error_t error;
    text = snapshot(CTXRT_SNAPSHOT_JSON);
    json_t *root = json_loads(text, 0, &error);
    ck_assert_msg(root != NULL, "%s", error.text);
    json_t *frames = json_object_get(json_array_get(json_object_get(root, "threads"), 0), "frames");
    ck_assert_uint_eq(json_array_size(frames), 2);
    json_t *frame = json_array_get(frames, 0);
    ck_assert_str_eq(json_string_value(json_object_get(frame, "device")), "cpu:0");
    ck_assert_str_eq(json_string_value(json_object_get(frame, "origin")), "scope");
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(frames, 1), "origin")),
                     "set");
    json_decref(root);
    free(text);

    cx_assert_ok(ctxrt_scope_leave(&scope));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static Suite *scope_suite(void)
{
    Suite *suite = suite_create("scope");
    TCase *tcase = tcase_create("scope");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, a_scope_restores_what_was_there);
    tcase_add_test(tcase, a_scope_with_frames_left_in_it_restores_and_says_how_many);
    tcase_add_test(tcase, leaving_the_outer_scope_ends_the_inner_one);
    tcase_add_test(tcase, another_thread_cannot_leave_a_scope);
    tcase_add_test(tcase, the_attribute_leaves_a_scope_on_every_path);
    tcase_add_test(tcase, the_attributes_end_memory_streams_and_events_on_every_path);
    tcase_add_test(tcase, memory_that_is_retained_outlives_its_scope);
    tcase_add_test(tcase, a_snapshot_shows_frames_from_the_top_with_their_places);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(scope_suite);
