/*
 * Public functions with an allocation of host memory that fails, at each that they make: the call
 * says so, or has no need of it; the stack, what is current, the frames and the memory in use are
 * as they were; the same call then succeeds; and nothing that was allocated meanwhile is left.
 * Whether it says so or not, an allocator that is destroyed has given all memory back.
 */
#include "host_memory.h"
#include "operations.h"
#include "stage.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HOST_MEMORY_IS_OURS

enum { ALLOCATIONS_MAX = 400, ROUNDS_MAX = 16, STARTS = 40, REGISTRATIONS = 5 };

/* ---- what makes no driver call, or another way ---- */

static ctxrt_status alloc_host(stage *self)
{
    return ctxrt_memory_alloc_host(BYTES, &self->out.memory);
}

static ctxrt_status wrap(stage *self)
{
    return ctxrt_memory_wrap(self->more, BYTES, CTXRT_CPU(0), NULL, NULL, &self->out.memory);
}

static ctxrt_status grow_plan(stage *self)
{
    size_t tensor;
    return ctxrt_plan_alloc(self->objects[HERE].plan, BYTES, &tensor);
}

static ctxrt_status write_to_nowhere(ctxrt_status (*write)(FILE *file))
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a file");
    setvbuf(nowhere, NULL, _IONBF, 0);
    ctxrt_status status = write(nowhere);
    fclose(nowhere);
    return status;
}

static ctxrt_status report(stage *self)
{
    (void)self;
    return write_to_nowhere(ctxrt_memory_report_write);
}

static ctxrt_status write_text(FILE *file)
{
    return ctxrt_allocator_snapshot_write(NULL, file, CTXRT_SNAPSHOT_TEXT);
}

static ctxrt_status write_json(FILE *file)
{
    return ctxrt_allocator_snapshot_write(NULL, file, CTXRT_SNAPSHOT_JSON);
}

static ctxrt_status snapshot(stage *self)
{
    (void)self;
    ctxrt_status status = write_to_nowhere(write_text);
    return status == CTXRT_SUCCESS ? write_to_nowhere(write_json) : status;
}

static ctxrt_status write_stacks_as_text(FILE *file)
{
    return ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT);
}

static ctxrt_status write_stacks_as_json(FILE *file)
{
    return ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_JSON);
}

static ctxrt_status snapshot_of_stacks(stage *self)
{
    (void)self;
    ctxrt_status status = write_to_nowhere(write_stacks_as_text);
    return status == CTXRT_SUCCESS ? write_to_nowhere(write_stacks_as_json) : status;
}

static ctxrt_graph *described;

static ctxrt_status write_graph_as_text(FILE *file)
{
    return ctxrt_graph_describe(described, file, CTXRT_GRAPH_TEXT);
}

static ctxrt_status write_graph_as_dot(FILE *file)
{
    return ctxrt_graph_describe(described, file, CTXRT_GRAPH_DOT);
}

static ctxrt_status describe_graph(stage *self)
{
    described = self->objects[HERE].graph;
    ctxrt_status status = write_to_nowhere(write_graph_as_text);
    return status == CTXRT_SUCCESS ? write_to_nowhere(write_graph_as_dot) : status;
}

static ctxrt_status optimise_plan(stage *self)
{
    return ctxrt_plan_optimise(self->objects[HERE].plan, 0, 100);
}

static ctxrt_status write_trace(FILE *file)
{
    return ctxrt_allocator_trace_write(NULL, file);
}

/* What was live before it is freed, so that it writes of that too. */
static ctxrt_status trace_one(stage *self)
{
    ctxrt_status status = ctxrt_alloc(BYTES, &self->out.raw);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_allocator_trace_start(NULL, 16);
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status freed = ctxrt_free(self->out.raw);
    cx_error_restore(&saved);
    self->out.raw = NULL;
    if (status == CTXRT_SUCCESS)
        status = freed;
    return status == CTXRT_SUCCESS ? write_to_nowhere(write_trace) : status;
}

static ctxrt_status trace_some(stage *self)
{
    ctxrt_status status = trace_one(self);
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status stopped = ctxrt_allocator_trace_stop(NULL);
    ctxrt_status trimmed = ctxrt_allocator_trim(NULL, NULL);
    cx_error_restore(&saved);
    return status != CTXRT_SUCCESS ? status : stopped != CTXRT_SUCCESS ? stopped : trimmed;
}

/* Memory of another allocator than the frame's, for the length of the operation. */
static ctxrt_status use_and_destroy(ctxrt_allocator *allocator)
{
    void *raw;
    ctxrt_memory *memory;
    ctxrt_allocator *before;
    ctxrt_status status = ctxrt_allocator_current(&before);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_frame_set_allocator(allocator);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_alloc(BYTES, &raw);
    ctxrt_status freed = status == CTXRT_SUCCESS ? ctxrt_free(raw) : CTXRT_SUCCESS;
    if (status == CTXRT_SUCCESS)
        status = ctxrt_memory_alloc(BYTES, &memory);
    if (status == CTXRT_SUCCESS && freed == CTXRT_SUCCESS)
        freed = ctxrt_memory_release(memory);
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status restored = ctxrt_frame_set_allocator(before);
    ctxrt_status destroyed = ctxrt_allocator_destroy(allocator);
    cx_error_restore(&saved);
    if (status == CTXRT_SUCCESS)
        status = freed;
    if (status == CTXRT_SUCCESS)
        status = restored;
    return status == CTXRT_SUCCESS ? destroyed : status;
}

static ctxrt_status custom_alloc(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                                 void **out_pointer)
{
    (void)user_data, (void)stream;
    *out_pointer = malloc(size_bytes);
    return *out_pointer != NULL ? CTXRT_SUCCESS : CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status custom_free(void *user_data, void *pointer, size_t size_bytes)
{
    (void)user_data, (void)size_bytes;
    free(pointer);
    return CTXRT_SUCCESS;
}

static ctxrt_status use_custom(stage *self)
{
    static const ctxrt_allocator_vtable vtable = {sizeof vtable, custom_alloc, custom_free, NULL};
    ctxrt_allocator *allocator;
    (void)self;
    ctxrt_status status = ctxrt_allocator_create_custom(&vtable, NULL, &allocator);
    return status == CTXRT_SUCCESS ? use_and_destroy(allocator) : status;
}

static ctxrt_status create_use_and_destroy(const ctxrt_allocator_options *options)
{
    ctxrt_allocator *allocator;
    ctxrt_status status = ctxrt_allocator_create(options, &allocator);
    return status == CTXRT_SUCCESS ? use_and_destroy(allocator) : status;
}

static ctxrt_status use_caching(stage *self)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    (void)self;
    options.source = CTXRT_ALLOCATOR_SOURCE_ALLOC;
    return create_use_and_destroy(&options);
}

static ctxrt_status use_guarded(stage *self)
{
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    (void)self;
    debug.flags = CTXRT_DEBUG_CANARY;
    options.debug = &debug;
    return create_use_and_destroy(&options);
}

static ctxrt_status use_mapped(stage *self)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    (void)self;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    return create_use_and_destroy(&options);
}

static const operation others[] = {
    {"ctxrt_memory_alloc_host", ON_FRAMES, alloc_host, NULL, false, false},
    {"ctxrt_memory_wrap", ON_FRAMES, wrap, NULL, false, false},
    {"ctxrt_plan_alloc", ON_FRAMES, grow_plan, NULL, false, false},
    {"ctxrt_memory_report_write", ON_FRAMES, report, NULL, false, false},
    {"ctxrt_allocator_snapshot_write", ON_FRAMES, snapshot, NULL, false, false},
    {"ctxrt_snapshot_write", ON_FRAMES, snapshot_of_stacks, NULL, false, false},
    {"ctxrt_graph_describe", ON_FRAMES, describe_graph, NULL, false, false},
    {"ctxrt_plan_optimise", ON_FRAMES, optimise_plan, NULL, false, false},
    {"ctxrt_allocator_trace_write", ON_FRAMES, trace_some, NULL, false, false},
    {"a custom allocator", ON_FRAMES, use_custom, NULL, false, false},
    {"an allocator with segments", ON_FRAMES, use_caching, NULL, false, false},
    {"an allocator in debug mode", ON_FRAMES, use_guarded, NULL, false, false},
    {"an allocator that maps its memory", ON_FRAMES, use_mapped, NULL, false, false},
};
/* The last ones are of allocators, which they destroy. */
enum { OTHERS = sizeof others / sizeof others[0], OF_ALLOCATORS = 4 };

/* ---- all ---- */

static void check_picture(const operation *tried, const picture *before, long number)
{
    picture after;
    picture_take(&after);
    const char *difference = picture_difference(before, &after, false);
    ck_assert_msg(difference == NULL, "%s: without memory for allocation %ld, %s is not as it was",
                  tried->name, number, difference);
}

static void check_failure(const operation *tried, stage *self, const picture *before, long number,
                          bool again)
{
    static const char nothing[sizeof self->out];
    ck_assert_msg(ctxrt_last_error()->message[0] != '\0', "%s left no message", tried->name);
    if (tried->takes_effect)
        return;
    check_picture(tried, before, number);
    ck_assert_msg(memcmp(&self->out, nothing, sizeof self->out) == 0, "%s wrote though it failed",
                  tried->name);
    if (again)
        cx_assert_ok(tried->run(self));
}

/* False: the operation was done before it came to that. */
static bool fail_once(const operation *tried, stage_top top, long number, bool again)
{
    static stage self;
    picture before;
    stage_enter(&self, top);
    picture_take(&before);
    host_memory_arm(number);
    ctxrt_status status = tried->run(&self);
    bool met = host_memory_disarm() >= number, failed = status != CTXRT_SUCCESS;
    ck_assert_msg(!failed || (met && status == CTXRT_ERROR_OUT_OF_MEMORY), "%s, %ld: %s",
                  tried->name, number, ctxrt_last_error()->message);
    if (failed)
        check_failure(tried, &self, &before, number, again);
    if (tried->used_up != NULL && (!failed || again || tried->takes_effect))
        tried->used_up(&self);
    stage_leave(&self);
    return met;
}

/* Tables that are made once stay; what is left each time is lost. */
static void check_leaves_nothing(const operation *tried, stage_top top, long number, bool again)
{
    long left = 1;
    for (int i = 0; left != 0 && i < ROUNDS_MAX; i++) {
        long live = host_memory_live();
        fail_once(tried, top, number, again);
        left = host_memory_live() - live;
    }
    ck_assert_msg(left == 0, "%s: allocation %ld failed, and %ld are left", tried->name, number,
                  left);
}

static void fail_everywhere(const operation *tried, stage_top top, bool again)
{
    long number = 1;
    while (number < ALLOCATIONS_MAX && fail_once(tried, top, number, again))
        check_leaves_nothing(tried, top, number++, again);
    ck_assert_int_lt(number, ALLOCATIONS_MAX);
    printf("# %s: up to %ld\n", tried->name, number - 1);
}

static void try_without_memory(const operation *tried)
{
    stage_top top = 0;
    while ((tried->tops >> top & 1) == 0)
        top++;
    setenv("CTXRT_EMU_SCHEDULE", "lazy", 1); /* no thread of the driver's allocates meanwhile */
    fail_everywhere(tried, top, true);
    fail_everywhere(tried, top, false);
}

START_TEST(a_call_without_host_memory_changes_nothing_and_leaves_nothing)
{
    try_without_memory(operation_at(_i));
}
END_TEST

START_TEST(what_makes_no_driver_call_without_host_memory_changes_nothing_and_leaves_nothing)
{
    try_without_memory(&others[_i]);
}
END_TEST

/* One that met it may have got its memory at a second attempt. */
START_TEST(an_allocator_that_is_destroyed_has_given_all_memory_back)
{
    static stage self;
    picture before;
    bool met = true;
    for (long number = 1; met; number++) {
        ck_assert_int_lt(number, ALLOCATIONS_MAX);
        stage_enter(&self, STAGE_PUSH);
        picture_take(&before);
        host_memory_arm(number);
        (void)others[_i].run(&self);
        met = host_memory_disarm() >= number;
        check_picture(&others[_i], &before, number);
        stage_leave(&self);
    }
}
END_TEST

/* A process starts the runtime for the first time only once. */
START_TEST(a_start_without_host_memory_says_so_and_can_be_tried_again)
{
    setenv("CTXRT_DRIVER", "emulated", 1);
    host_memory_arm(_i);
    ctxrt_status status = ctxrt_init(NULL);
    host_memory_disarm();
    if (status != CTXRT_SUCCESS) {
        cx_assert_status(status, CTXRT_ERROR_OUT_OF_MEMORY);
        cx_assert_ok(ctxrt_init(NULL));
    }
    int count;
    cx_assert_ok(ctxrt_device_count(CTXRT_DEVICE_CUDA, &count));
    ck_assert_int_gt(count, 0);
    cx_assert_ok(ctxrt_shutdown());
}
END_TEST

static ctxrt_status run_nothing(void *user_data)
{
    (void)user_data;
    return CTXRT_SUCCESS;
}

static ctxrt_status make_nothing(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device, (void)user_data;
    *out_handle = NULL;
    return CTXRT_SUCCESS;
}

static void end_nothing(void *handle, void *user_data)
{
    (void)handle, (void)user_data;
}

/* What is registered stays: a second try is the first one with memory. */
START_TEST(what_found_no_host_memory_to_be_registered_can_be_registered_again)
{
    const ctxrt_operator_implementation nothing = {sizeof nothing, run_nothing, 0};
    ctxrt_operator_implementation found;
    setenv("CTXRT_DRIVER", "emulated", 1);
    cx_assert_ok(ctxrt_init(NULL));
    host_memory_arm(_i);
    ctxrt_status status = ctxrt_operator_register(CTXRT_DEVICE_CUDA, "nothing", &nothing);
    host_memory_disarm();
    if (status != CTXRT_SUCCESS) {
        cx_assert_status(status, CTXRT_ERROR_OUT_OF_MEMORY);
        cx_assert_ok(ctxrt_operator_register(CTXRT_DEVICE_CUDA, "nothing", &nothing));
    }
    cx_assert_ok(ctxrt_operator_find(CTXRT_DEVICE_CUDA, "nothing", &found));
    host_memory_arm(_i);
    status = ctxrt_handle_register("nothing", make_nothing, end_nothing, NULL);
    host_memory_disarm();
    if (status != CTXRT_SUCCESS) {
        cx_assert_status(status, CTXRT_ERROR_OUT_OF_MEMORY);
        cx_assert_ok(ctxrt_handle_register("nothing", make_nothing, end_nothing, NULL));
    }
    cx_assert_ok(ctxrt_shutdown());
}
END_TEST

static Suite *no_memory_suite(void)
{
    Suite *suite = suite_create("no_memory");
    TCase *tests = tcase_create("no memory");
    tcase_add_loop_test(tests, a_call_without_host_memory_changes_nothing_and_leaves_nothing, 0,
                        operation_count());
    tcase_add_loop_test(
        tests, what_makes_no_driver_call_without_host_memory_changes_nothing_and_leaves_nothing, 0,
        OTHERS);
    tcase_add_loop_test(tests, an_allocator_that_is_destroyed_has_given_all_memory_back,
                        OTHERS - OF_ALLOCATORS, OTHERS);
    tcase_add_loop_test(tests, a_start_without_host_memory_says_so_and_can_be_tried_again, 1,
                        STARTS);
    tcase_add_loop_test(tests, what_found_no_host_memory_to_be_registered_can_be_registered_again,
                        1, REGISTRATIONS);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return cx_test_run((Suite *(*const[])(void)){no_memory_suite, NULL});
}

#else

int main(void)
{
    return cx_test_skip("the sanitizer stands in the place of malloc itself");
}

#endif
