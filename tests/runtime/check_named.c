/* Objects made in a context that the caller names, whatever is current on the calling thread. */
#include "../emu/kernels.h"
#include "device/device.h"
#include "gate.h"

#define BYTES ((size_t)4096)

static const char code[] = PTX_HEAD PTX_COUNTER;

/* ---- what the driver sees of the thread's stack ---- */

static cx_driver_table beneath;
static _Thread_local int entries, entries_most, sets;

static cxu_result watched_push(CUcontext context)
{
    cxu_result result = beneath.ctx_push(context);
    entries += result == CXU_SUCCESS;
    entries_most = entries > entries_most ? entries : entries_most;
    return result;
}

static cxu_result watched_pop(CUcontext *out_context)
{
    cxu_result result = beneath.ctx_pop(out_context);
    entries -= result == CXU_SUCCESS;
    return result;
}

static cxu_result watched_set(CUcontext context)
{
    sets++;
    return beneath.ctx_set_current(context);
}

static CUcontext native_current(void)
{
    CUcontext current;
    ck_assert_int_eq(beneath.ctx_get_current(&current), CXU_SUCCESS);
    return current;
}

static void watch_driver(void)
{
    beneath = cx_drivers[0].table;
    cx_drivers[0].table.ctx_push = watched_push;
    cx_drivers[0].table.ctx_pop = watched_pop;
    cx_drivers[0].table.ctx_set_current = watched_set;
    entries = entries_most = sets = 0;
}

/* ---- the objects ---- */

typedef struct objects {
    ctxrt_memory *memory, *pinned;
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_module *module;
    void *raw;
} objects;

static void make_all(ctxrt_context *context, objects *self)
{
    cx_assert_ok(ctxrt_memory_alloc_on(context, BYTES, &self->memory));
    cx_assert_ok(ctxrt_memory_alloc_pinned_on(context, BYTES, &self->pinned));
    cx_assert_ok(ctxrt_alloc_on(context, BYTES, &self->raw));
    cx_assert_ok(ctxrt_stream_create_on(context, CTXRT_STREAM_NON_BLOCKING, 0, &self->stream));
    cx_assert_ok(ctxrt_event_create_on(context, CTXRT_EVENT_DEFAULT, &self->event));
    cx_assert_ok(ctxrt_module_load_on(context, code, 0, &self->module));
}

static void end_all(const objects *self)
{
    cx_assert_ok(ctxrt_module_unload(self->module));
    cx_assert_ok(ctxrt_event_destroy(self->event));
    cx_assert_ok(ctxrt_stream_destroy(self->stream));
    cx_assert_ok(ctxrt_free(self->raw));
    cx_assert_ok(ctxrt_memory_release(self->pinned));
    cx_assert_ok(ctxrt_memory_release(self->memory));
}

/* Work in the named context by its stream, which needs no frame. */
static void use_all(const objects *self, ctxrt_context *context)
{
    ctxrt_memory_info info;
    ctxrt_context *of_stream;
    unsigned char *bytes = ctxrt_memory_pointer(self->pinned);
    cx_assert_ok(ctxrt_memory_describe(self->memory, &info));
    ck_assert_ptr_eq(info.context, context);
    cx_assert_ok(ctxrt_memory_describe(self->pinned, &info));
    ck_assert_ptr_eq(info.context, context);
    cx_assert_ok(ctxrt_stream_context(self->stream, &of_stream));
    ck_assert_ptr_eq(of_stream, context);
    cx_assert_ok(ctxrt_fill_async(self->raw, 7, BYTES, self->stream));
    cx_assert_ok(ctxrt_copy_async(ctxrt_memory_pointer(self->memory), self->raw, BYTES,
                                  CTXRT_COPY_DEVICE_TO_DEVICE, self->stream));
    cx_assert_ok(ctxrt_copy_async(bytes, ctxrt_memory_pointer(self->memory), BYTES,
                                  CTXRT_COPY_DEVICE_TO_HOST, self->stream));
    cx_assert_ok(ctxrt_event_record(self->event, self->stream));
    cx_assert_ok(ctxrt_event_synchronize(self->event));
    ck_assert_uint_eq(bytes[BYTES - 1], 7);
}

static ctxrt_context *primary_of(int device)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_retain_primary(CTXRT_CUDA(device), &context));
    return context;
}

START_TEST(objects_are_made_and_used_where_nothing_is_current)
{
    ctxrt_context *context = primary_of(1);
    objects made;
    watch_driver();
    make_all(context, &made);
    ck_assert_ptr_null(native_current());
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    ck_assert_int_eq(entries, 0);
    ck_assert_int_eq(entries_most, 1);
    ck_assert_int_eq(sets, 0);
    use_all(&made, context);
    end_all(&made);
    ck_assert_ptr_null(native_current());
    ck_assert_int_eq(entries, 0);
    cx_assert_ok(ctxrt_context_release(context));
}
END_TEST

START_TEST(frames_and_the_drivers_stack_are_what_they_were)
{
    enum { FRAMES = 3 };
    ctxrt_context *context = primary_of(1);
    ctxrt_frame_info before[FRAMES], after;
    ctxrt_stream *own, *current;
    objects made;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &own));
    cx_assert_ok(ctxrt_frame_set_stream(own));
    for (int i = 0; i < FRAMES; i++)
        cx_assert_ok(ctxrt_stack_peek((size_t)i, &before[i]));
    watch_driver();
    CUcontext native = native_current();
    for (int i = 0; i < 10; i++) {
        make_all(context, &made);
        end_all(&made);
    }
    ck_assert_ptr_eq(native_current(), native);
    ck_assert_int_eq(entries, 0);
    ck_assert_int_eq(entries_most, 1);
    ck_assert_int_eq(sets, 0);
    ck_assert_uint_eq(ctxrt_stack_depth(), FRAMES);
    for (int i = 0; i < FRAMES; i++) {
        cx_assert_ok(ctxrt_stack_peek((size_t)i, &after));
        ck_assert_ptr_eq(after.context, before[i].context);
        ck_assert_ptr_eq(after.stream, before[i].stream);
        ck_assert_ptr_eq(after.allocator, before[i].allocator);
        ck_assert_int_eq(after.origin, before[i].origin);
    }
    cx_assert_ok(ctxrt_stream_current(&current));
    ck_assert_ptr_eq(current, own);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(own));
    for (int i = 0; i < FRAMES; i++)
        cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_release(context));
}
END_TEST

/* The frame's stream and allocator are its own; memory of the frame's context that is named is of
 * neither. */
START_TEST(memory_of_the_frames_context_comes_from_the_default_allocator)
{
    ctxrt_context *context = primary_of(0);
    ctxrt_allocator *own;
    ctxrt_allocator_figures figures;
    ctxrt_memory *named, *framed;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(NULL, &own));
    cx_assert_ok(ctxrt_frame_set_allocator(own));
    for (int i = 0; i < 3; i++) {
        cx_assert_ok(ctxrt_memory_alloc_on(context, BYTES, &named));
        cx_assert_ok(ctxrt_allocator_statistics(own, &figures));
        ck_assert_uint_eq(figures.current_count, 0);
        cx_assert_ok(ctxrt_memory_alloc(BYTES, &framed));
        cx_assert_ok(ctxrt_allocator_statistics(own, &figures));
        ck_assert_uint_eq(figures.current_count, 1);
        cx_assert_ok(ctxrt_memory_release(framed));
        cx_assert_ok(ctxrt_memory_release(named));
    }
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(own));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_release(context));
}
END_TEST

START_TEST(what_is_made_keeps_a_created_context)
{
    ctxrt_context *context;
    objects made;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    make_all(context, &made);
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    use_all(&made, context);
    end_all(&made);
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_assert_error(ctxrt_memory_alloc_on(context, BYTES, &made.memory),
                    CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stream_create_on(context, 0, 0, &made.stream),
                    CTXRT_ERROR_INVALID_HANDLE);
}
END_TEST

START_TEST(a_context_that_other_code_destroyed_is_told)
{
    ctxrt_context *context;
    CUcontext native;
    ctxrt_memory *memory = NULL;
    ctxrt_stream *stream = NULL;
    ctxrt_event *event = NULL;
    ctxrt_module *module = NULL;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &context));
    cx_assert_ok(ctxrt_context_native(context, &native));
    ck_assert_int_eq(cx_drivers[0].table.ctx_destroy(native), CXU_SUCCESS);
    cx_assert_error(ctxrt_memory_alloc_on(context, BYTES, &memory),
                    CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_stream_create_on(context, 0, 0, &stream),
                    CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_event_create_on(context, 0, &event), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_module_load_on(context, code, 0, &module),
                    CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(a_capture_of_the_thread_goes_on)
{
    ctxrt_context *context = primary_of(0);
    ctxrt_stream *capturing;
    ctxrt_graph *graph;
    objects made;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &capturing));
    cx_assert_ok(ctxrt_stream_capture_begin(capturing, CTXRT_CAPTURE_THREAD_LOCAL));
    make_all(context, &made);
    cx_assert_ok(ctxrt_fill_async(made.raw, 1, BYTES, capturing));
    cx_assert_ok(ctxrt_stream_capture_end(capturing, &graph));
    cx_assert_ok(ctxrt_graph_launch(graph, made.stream));
    cx_assert_ok(ctxrt_stream_synchronize(made.stream));
    cx_assert_ok(ctxrt_graph_release(graph));
    end_all(&made);
    cx_assert_ok(ctxrt_stream_destroy(capturing));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_release(context));
}
END_TEST

START_TEST(after_a_reset_older_objects_say_so_and_new_ones_are_made)
{
    ctxrt_context *context = primary_of(1);
    objects older, newer;
    make_all(context, &older);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    make_all(context, &newer);
    cx_assert_error(ctxrt_event_record(older.event, older.stream), CTXRT_ERROR_CONTEXT_DESTROYED);
    use_all(&newer, context);
    end_all(&older);
    end_all(&newer);
    cx_assert_ok(ctxrt_context_release(context));
}
END_TEST

/* A frame that goes to another thread does not take along what was made in its context by name. */
static void *attach_and_use(void *argument)
{
    objects made;
    ctxrt_context *context;
    cx_assert_ok(ctxrt_stack_attach(argument));
    cx_assert_ok(ctxrt_context_current(&context));
    make_all(context, &made);
    use_all(&made, context);
    end_all(&made);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(a_frame_is_handed_off_beside_objects_that_are_named)
{
    ctxrt_context *context = primary_of(1);
    ctxrt_detached_frame *frame;
    objects made;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    make_all(context, &made);
    cx_assert_ok(ctxrt_stack_detach(&frame));
    use_all(&made, context);
    on_a_thread(attach_and_use, frame);
    end_all(&made);
    make_all(context, &made);
    end_all(&made);
    cx_assert_ok(ctxrt_context_release(context));
}
END_TEST

/* ---- policies ---- */

START_TEST(a_context_that_other_code_made_current_is_no_matter)
{
    ctxrt_context *context = primary_of(1);
    CUcontext foreign, popped;
    objects made;
    const cx_driver_table *driver = &cx_drivers[0].table;
    ck_assert_int_eq(driver->ctx_create_v2(&foreign, 0, 0), CXU_SUCCESS); /* current */
    make_all(context, &made);
    use_all(&made, context);
    end_all(&made);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_ptr_eq(popped, foreign);
    ck_assert_int_eq(driver->ctx_destroy(foreign), CXU_SUCCESS);
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_ok(ctxrt_context_release(context));
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 60 };

typedef struct worker {
    ctxrt_context *contexts[2];
    int number;
} worker;

static void *make_for_ever(void *argument)
{
    const worker *self = argument;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(self->number % 2)));
    for (int i = 0; i < ROUNDS; i++) {
        objects made;
        ctxrt_device device;
        make_all(self->contexts[(self->number + i) % 2], &made);
        cx_assert_ok(ctxrt_device_get(&device));
        ck_assert_int_eq(device.index, self->number % 2);
        end_all(&made);
    }
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(threads_make_objects_in_contexts_that_are_reset_meanwhile)
{
    worker workers[THREADS];
    pthread_t threads[THREADS];
    ctxrt_context *contexts[] = {primary_of(0), primary_of(1)};
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){{contexts[0], contexts[1]}, i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, make_for_ever, &workers[i]), 0);
    }
    for (int i = 0; i < 20; i++)
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(i % 2)));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_context_release(contexts[i]));
}
END_TEST

static void start_strictly(void)
{
    cx_fixture_start_with(2, CTXRT_FOREIGN_ERROR);
}

static Suite *named_suite(void)
{
    Suite *suite = suite_create("named");
    TCase *tcase = tcase_create("named");
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, objects_are_made_and_used_where_nothing_is_current);
    tcase_add_test(tcase, frames_and_the_drivers_stack_are_what_they_were);
    tcase_add_test(tcase, memory_of_the_frames_context_comes_from_the_default_allocator);
    tcase_add_test(tcase, what_is_made_keeps_a_created_context);
    tcase_add_test(tcase, a_context_that_other_code_destroyed_is_told);
    tcase_add_test(tcase, a_capture_of_the_thread_goes_on);
    tcase_add_test(tcase, after_a_reset_older_objects_say_so_and_new_ones_are_made);
    tcase_add_test(tcase, a_frame_is_handed_off_beside_objects_that_are_named);
    tcase_add_test(tcase, threads_make_objects_in_contexts_that_are_reset_meanwhile);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("named, policy error");
    tcase_add_checked_fixture(tcase, start_strictly, cx_fixture_end);
    tcase_add_test(tcase, a_context_that_other_code_made_current_is_no_matter);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(named_suite);
