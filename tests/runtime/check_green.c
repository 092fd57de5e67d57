/* Green contexts, of other code and of ctxrt: several handles stand for one primary context. */
#include "device/device.h"
#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

#define BYTES 4096

static const cx_driver_table *driver;
static CUcontext primary, green_context;
static CUgreenCtx green;

static void ck_native(cxu_result result)
{
    ck_assert_int_eq(result, CXU_SUCCESS);
}

static void make_green(void)
{
    cxu_dev_resource all, group;
    CUdevResourceDesc desc;
    unsigned int count = 1;
    ck_native(driver->device_get_dev_resource(1, &all, CXU_DEV_RESOURCE_TYPE_SM));
    ck_native(driver->dev_sm_resource_split_by_count(&group, &count, &all, NULL, 0, 8));
    ck_native(driver->dev_resource_generate_desc(&desc, &group, 1));
    ck_native(driver->green_ctx_create(&green, desc, 1, CXU_GREEN_CTX_DEFAULT_STREAM));
    ck_native(driver->ctx_from_green_ctx(&green_context, green));
}

static void start_following(void)
{
    cx_fixture_start_with(2, CTXRT_FOREIGN_FOLLOW);
    driver = &cx_drivers[0].table;
    ck_native(driver->primary_retain(&primary, 1));
    make_green();
}

static void finish(void)
{
    if (green != NULL)
        ck_native(driver->green_ctx_destroy(green));
    ck_native(driver->primary_release(1));
    cx_fixture_end();
}

static CUcontext native_current(void)
{
    CUcontext current;
    ck_native(driver->ctx_get_current(&current));
    return current;
}

static void use_memory(void)
{
    unsigned char bytes[BYTES] = {0};
    void *pointer = NULL;
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    cx_assert_ok(ctxrt_fill(pointer, 7, BYTES));
    cx_assert_ok(ctxrt_copy(bytes, pointer, BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(bytes[BYTES - 1], 7);
    cx_assert_ok(ctxrt_free(pointer));
}

static void ck_on_top(CUcontext native, size_t depth)
{
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 0);
    ck_assert_ptr_eq(native_current(), native);
    ck_assert_uint_eq(ctxrt_stack_depth(), depth);
}

START_TEST(a_pushed_green_context_is_a_frame_of_its_own_above_the_primary)
{
    uint64_t id = 0, frame_id = 0;
    unsigned long long green_id = 0;
    CUcontext popped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ck_on_top(primary, 1);
    cx_assert_ok(ctxrt_context_id(NULL, &id));
    ck_native(driver->ctx_push(green_context));
    ck_on_top(green_context, 2);
    cx_assert_ok(ctxrt_context_id(NULL, &frame_id));
    ck_native(driver->green_ctx_get_id(green, &green_id));
    ck_assert(frame_id == green_id && frame_id != id);
    use_memory();
    ck_native(driver->ctx_pop(&popped));
    ck_assert_ptr_eq(popped, green_context);
    ck_on_top(primary, 1);
    use_memory();
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(a_set_takes_back_the_entry_that_a_green_context_replaced)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 10; i++) {
        ck_native(driver->ctx_set_current(green_context));
        ck_on_top(green_context, 2);
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
        ck_on_top(primary, 1);
    }
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(a_scope_restores_the_primary_beneath_a_leaked_green_context)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    ck_native(driver->ctx_push(green_context));
    ck_assert_int_eq(ctxrt_scope_leave(&scope), CTXRT_ERROR_STACK_LEFTOVER);
    ck_on_top(primary, 1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(a_stream_of_a_green_context_can_be_a_frames_stream)
{
    unsigned char bytes[BYTES] = {0};
    ctxrt_stream *stream, *current;
    CUgreenCtx owner;
    CUstream native, used;
    void *pointer;
    ck_native(driver->green_ctx_stream_create(&native, green, CXU_STREAM_NON_BLOCKING, 0));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_from_native(native, &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_stream_current(&current));
    cx_assert_ok(ctxrt_stream_native(current, &used));
    ck_native(driver->stream_get_green_ctx(used, &owner));
    ck_assert_ptr_eq(owner, green);
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    cx_assert_ok(ctxrt_fill_async(pointer, 5, BYTES, NULL));
    cx_assert_ok(
        ctxrt_copy_async(bytes, pointer, BYTES, CTXRT_COPY_DEVICE_TO_HOST, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(bytes[BYTES - 1], 5);
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
    ck_native(driver->stream_destroy(native));
}
END_TEST

START_TEST(a_green_context_that_ended_is_dropped)
{
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    ck_native(driver->ctx_push(green_context));
    ck_on_top(green_context, 2);
    ck_native(driver->ctx_pop(NULL));
    ck_native(driver->green_ctx_destroy(green));
    green = NULL;
    ck_on_top(primary, 1);
    use_memory();
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- green contexts of ctxrt's own ---- */

enum { PARTS = 2, PART = 8 };

static ctxrt_context *parts[PARTS];

static void make_parts(void)
{
    cx_fixture_start();
    driver = &cx_drivers[0].table;
    cx_assert_ok(ctxrt_context_create_green(CTXRT_CUDA(0), PARTS, PART, parts));
}

static void end_parts(void)
{
    for (int i = 0; i < PARTS; i++)
        cx_assert_ok(ctxrt_context_destroy(parts[i]));
    cx_fixture_end();
}

START_TEST(green_contexts_are_parts_of_their_device_and_none_is_current)
{
    unsigned int all, part;
    ctxrt_device device;
    ck_assert_ptr_null(native_current());
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    for (int i = 0; i < PARTS; i++) {
        cx_assert_ok(ctxrt_context_multiprocessors(parts[i], &part));
        ck_assert_uint_ge(part, PART);
        cx_assert_ok(ctxrt_context_device(parts[i], &device));
        ck_assert(device.type == CTXRT_DEVICE_CUDA && device.index == 0);
    }
    ctxrt_device_info info;
    cx_assert_ok(ctxrt_device_properties(CTXRT_CUDA(0), &info));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_context_multiprocessors(NULL, &all));
    ck_assert_uint_eq(all, (unsigned int)info.multiprocessors);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(frames_hold_green_contexts_and_work_goes_to_their_streams)
{
    CUcontext native;
    CUstream stream;
    ctxrt_stream *current;
    CUgreenCtx owners[PARTS];
    for (int i = 0; i < PARTS; i++) {
        cx_assert_ok(ctxrt_stack_push(parts[i]));
        cx_assert_ok(ctxrt_context_native(parts[i], &native));
        ck_on_top(native, (size_t)i + 1);
        use_memory();
        cx_assert_ok(ctxrt_stream_current(&current));
        cx_assert_ok(ctxrt_stream_native(current, &stream));
        ck_native(driver->stream_get_green_ctx(stream, &owners[i]));
        ck_assert_ptr_nonnull(owners[i]);
        cx_assert_error(ctxrt_context_destroy(parts[i]), CTXRT_ERROR_IN_USE);
    }
    ck_assert_ptr_ne(owners[0], owners[1]);
    for (int i = 0; i < PARTS; i++)
        cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_null(native_current());
}
END_TEST

START_TEST(a_green_context_takes_objects_by_its_name)
{
    CTXRT_SCOPE_MEMORY ctxrt_memory *memory = NULL;
    CTXRT_SCOPE_STREAM ctxrt_stream *stream = NULL;
    CTXRT_SCOPE_EVENT ctxrt_event *event = NULL;
    cx_assert_ok(ctxrt_memory_alloc_on(parts[1], BYTES, &memory));
    cx_assert_ok(ctxrt_stream_create_on(parts[1], CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_event_create_on(parts[1], 0, &event));
    cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, BYTES, stream));
    cx_assert_ok(ctxrt_event_record(event, stream));
    cx_assert_ok(ctxrt_event_synchronize_for(event, 600000));
    ck_assert_ptr_null(native_current());
}
END_TEST

/* Its memory is the primary context's to the driver, and does not go with it by itself. */
START_TEST(the_end_of_a_green_context_gives_its_memory_back)
{
    size_t before, after;
    ctxrt_context *part;
    void *pointer;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &before, NULL));
    for (int i = 0; i < 3; i++) {
        cx_assert_ok(ctxrt_context_create_green(CTXRT_CUDA(0), 1, PART, &part));
        cx_assert_ok(ctxrt_alloc_on(part, (size_t)16 << 20, &pointer));
        cx_assert_error(ctxrt_context_destroy(part), CTXRT_ERROR_IN_USE);
        cx_assert_ok(ctxrt_free(pointer));
        cx_assert_ok(ctxrt_context_destroy(part));
    }
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &after, NULL));
    ck_assert_uint_eq(after, before);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(parts_that_the_device_has_not_are_refused_and_none_is_left)
{
    ctxrt_context *none[64] = {NULL};
    ctxrt_device_info info;
    cx_assert_ok(ctxrt_device_properties(CTXRT_CUDA(0), &info));
    unsigned int all = (unsigned int)info.multiprocessors;
    cx_assert_error(ctxrt_context_create_green(CTXRT_CUDA(0), 1, all + 1, none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_context_create_green(CTXRT_CUDA(0), 2, all, none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_context_create_green(CTXRT_CUDA(0), 64, all / 2, none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_context_create_green(CTXRT_CUDA(0), 0, 1, none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_context_create_green(CTXRT_CUDA(0), 1, 0, none),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_context_create_green(CTXRT_CUDA(99), 1, 1, none),
                    CTXRT_ERROR_INVALID_DEVICE);
    ck_assert_ptr_null(none[0]);
}
END_TEST

START_TEST(a_capture_in_a_green_context_is_launched_there)
{
    CTXRT_SCOPE_STREAM ctxrt_stream *stream = NULL;
    unsigned char bytes[BYTES] = {0};
    ctxrt_graph *graph;
    void *pointer;
    cx_assert_ok(ctxrt_stack_push(parts[0]));
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_fill_async(pointer, 9, BYTES, stream));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_copy(bytes, pointer, BYTES, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(bytes[BYTES - 1], 9);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void *attach_and_use(void *frame)
{
    cx_assert_ok(ctxrt_stack_attach(frame));
    use_memory();
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(a_frame_of_a_green_context_is_handed_to_another_thread)
{
    ctxrt_detached_frame *frame;
    pthread_t thread;
    cx_assert_ok(ctxrt_stack_push(parts[0]));
    use_memory();
    cx_assert_ok(ctxrt_stack_detach(&frame));
    ck_assert_ptr_null(native_current());
    ck_assert_int_eq(pthread_create(&thread, NULL, attach_and_use, frame), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(a_reset_of_the_device_ends_its_green_contexts)
{
    ctxrt_stream *stream, *none = NULL;
    ctxrt_event *event;
    ctxrt_memory *memory = NULL;
    cx_assert_ok(ctxrt_stream_create_on(parts[0], CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_event_create_on(parts[0], 0, &event));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    use_memory(); /* of the primary context */
    cx_assert_error(ctxrt_event_record(event, stream), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_stream_synchronize(stream), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_stream_create_on(parts[0], 0, 0, &none), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_memory_alloc_on(parts[0], BYTES, &memory), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void *work_in_part(void *part)
{
    for (int i = 0; i < 50; i++) {
        cx_assert_ok(ctxrt_stack_push(part));
        use_memory();
        cx_assert_ok(ctxrt_stack_pop());
    }
    return NULL;
}

START_TEST(threads_work_in_their_parts_at_once)
{
    pthread_t threads[PARTS];
    for (int i = 0; i < PARTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work_in_part, parts[i]), 0);
    for (int i = 0; i < PARTS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

static Suite *green_suite(void)
{
    Suite *suite = suite_create("green");
    TCase *tcase = tcase_create("green");
    tcase_add_checked_fixture(tcase, start_following, finish);
    tcase_add_test(tcase, a_pushed_green_context_is_a_frame_of_its_own_above_the_primary);
    tcase_add_test(tcase, a_set_takes_back_the_entry_that_a_green_context_replaced);
    tcase_add_test(tcase, a_scope_restores_the_primary_beneath_a_leaked_green_context);
    tcase_add_test(tcase, a_stream_of_a_green_context_can_be_a_frames_stream);
    tcase_add_test(tcase, a_green_context_that_ended_is_dropped);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("green contexts of ctxrt's own");
    tcase_add_checked_fixture(tcase, make_parts, end_parts);
    tcase_add_test(tcase, green_contexts_are_parts_of_their_device_and_none_is_current);
    tcase_add_test(tcase, frames_hold_green_contexts_and_work_goes_to_their_streams);
    tcase_add_test(tcase, a_green_context_takes_objects_by_its_name);
    tcase_add_test(tcase, the_end_of_a_green_context_gives_its_memory_back);
    tcase_add_test(tcase, parts_that_the_device_has_not_are_refused_and_none_is_left);
    tcase_add_test(tcase, a_capture_in_a_green_context_is_launched_there);
    tcase_add_test(tcase, a_frame_of_a_green_context_is_handed_to_another_thread);
    tcase_add_test(tcase, a_reset_of_the_device_ends_its_green_contexts);
    tcase_add_test(tcase, threads_work_in_their_parts_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(green_suite);
