/*
 * Every public function with NULL, bad types, bad indices, destroyed and made-up handles, and sizes
 * that no memory has: an error with a message, and nothing changed.
 * tests/runtime/arguments_complete.sh sees to it that no function is left out.
 */
#include "../emu/kernels.h"
#include "fixture.h"
#include "test.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

static ctxrt_context *dead_context;
static ctxrt_stream *dead_stream;
static ctxrt_event *dead_event;
static ctxrt_memory *dead_memory;
static ctxrt_allocator *dead_allocator;
static ctxrt_graph *dead_graph;
static ctxrt_plan *dead_plan;
static ctxrt_module *dead_module;
static ctxrt_kernel *dead_kernel;
static const char code[] = PTX_HEAD PTX_COUNTER;
static ctxrt_stream *stream;
static ctxrt_event *event;
static ctxrt_context *context;

/* A handle that never was one: an address, as from other code. */
static void *made_up(void)
{
    static int anything;
    return &anything;
}

static void make_dead_objects(void)
{
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &dead_context));
    cx_assert_ok(ctxrt_context_destroy(dead_context));
    cx_assert_ok(ctxrt_stream_create(0, 0, &dead_stream));
    cx_assert_ok(ctxrt_stream_destroy(dead_stream));
    cx_assert_ok(ctxrt_event_create(0, &dead_event));
    cx_assert_ok(ctxrt_event_destroy(dead_event));
    cx_assert_ok(ctxrt_memory_alloc(256, &dead_memory));
    cx_assert_ok(ctxrt_memory_release(dead_memory));
    cx_assert_ok(ctxrt_allocator_create(NULL, &dead_allocator));
    cx_assert_ok(ctxrt_allocator_destroy(dead_allocator));
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_RELAXED));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &dead_graph));
    cx_assert_ok(ctxrt_graph_release(dead_graph));
    cx_assert_ok(ctxrt_module_load(code, 0, &dead_module));
    cx_assert_ok(ctxrt_module_get_kernel(dead_module, "next", &dead_kernel));
    cx_assert_ok(ctxrt_module_unload(dead_module));
    cx_assert_ok(ctxrt_plan_create(0, &dead_plan));
    cx_assert_ok(ctxrt_plan_destroy(dead_plan));
}

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(1)));
    make_dead_objects();
    cx_assert_ok(ctxrt_stream_create(0, 0, &stream));
    cx_assert_ok(ctxrt_event_create(0, &event));
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
}

/* After every refusal the thread's device, depth and figures are what they were. */
static void finish(void)
{
    ctxrt_device device;
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.type, CTXRT_DEVICE_CUDA);
    ck_assert_int_eq(device.index, 1);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    cx_assert_ok(ctxrt_allocator_statistics(NULL, &figures));
    ck_assert_uint_eq(figures.current_bytes, 0);
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

#define REFUSE(call, status) cx_assert_error(call, CTXRT_ERROR_##status)

static const ctxrt_device bad_devices[] = {
    {CTXRT_DEVICE_CUDA, 4},     {CTXRT_DEVICE_CUDA, -1},           {CTXRT_DEVICE_CUDA, INT32_MAX},
    {CTXRT_DEVICE_CPU, 1},      {CTXRT_DEVICE_METAX, 0},           {CTXRT_DEVICE_TYPE_COUNT, 0},
    {(ctxrt_device_type)-1, 0}, {(ctxrt_device_type)INT32_MAX, 0},
};
enum { BAD_DEVICES = sizeof bad_devices / sizeof bad_devices[0] };

START_TEST(names_of_what_does_not_exist_are_no_crash)
{
    ck_assert_str_eq(ctxrt_status_name((ctxrt_status)-1), "CTXRT_ERROR_UNKNOWN");
    ck_assert_str_eq(ctxrt_status_name((ctxrt_status)9999), "CTXRT_ERROR_UNKNOWN");
    ck_assert_ptr_nonnull(ctxrt_status_text((ctxrt_status)9999));
    ck_assert_str_eq(ctxrt_device_type_name((ctxrt_device_type)99), "unknown");
    ck_assert_ptr_nonnull(ctxrt_last_error());
    ck_assert_int_eq(ctxrt_version(),
                     CTXRT_VERSION_MAJOR * 10000 + CTXRT_VERSION_MINOR * 100 + CTXRT_VERSION_PATCH);
}
END_TEST

START_TEST(the_runtime_refuses_bad_options_and_second_thoughts)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    size_t count;
    REFUSE(ctxrt_log_set(NULL, NULL, (ctxrt_log_level)-1), INVALID_ARGUMENT);
    REFUSE(ctxrt_log_set(NULL, NULL, (ctxrt_log_level)5), INVALID_ARGUMENT);
    REFUSE(ctxrt_drivers(0, NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_drivers(1, NULL, &count), NULL_POINTER);
    cx_assert_ok(ctxrt_drivers(0, NULL, &count));
    ck_assert_uint_eq(count, 1);
    options.struct_size = 3;
    REFUSE(ctxrt_init(&options), INVALID_ARGUMENT);
    options = (ctxrt_options)CTXRT_OPTIONS_INIT;
    options.emulated_devices = 65;
    REFUSE(ctxrt_init(&options), INVALID_ARGUMENT);
    options.emulated_devices = -1;
    REFUSE(ctxrt_init(&options), INVALID_ARGUMENT);
    options.emulated_devices = 2; /* 4 are running */
    REFUSE(ctxrt_init(&options), INVALID_ARGUMENT);
    options = (ctxrt_options)CTXRT_OPTIONS_INIT;
    options.emulated_memory_bytes = SIZE_MAX;
    REFUSE(ctxrt_init(&options), INVALID_ARGUMENT);
    options = (ctxrt_options)CTXRT_OPTIONS_INIT;
    options.cuda_driver = (ctxrt_cuda_driver)9;
    REFUSE(ctxrt_init(&options), INVALID_ARGUMENT);
    options = (ctxrt_options)CTXRT_OPTIONS_INIT;
    options.foreign = (ctxrt_foreign_policy)9;
    REFUSE(ctxrt_init(&options), INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_init(NULL));
    REFUSE(ctxrt_shutdown(), IN_USE);
}
END_TEST

START_TEST(devices_refuse)
{
    int number;
    ctxrt_device device;
    ctxrt_device_info info;
    size_t bytes;
    ctxrt_context *primary = NULL;
    ctxrt_scope scope = {0};
    static const unsigned char no_uuid[16];
    for (int i = 0; i < BAD_DEVICES; i++) {
        ctxrt_device bad = bad_devices[i];
        REFUSE(ctxrt_device_properties(bad, &info), INVALID_DEVICE);
        REFUSE(ctxrt_device_memory_info(bad, &bytes, &bytes), INVALID_DEVICE);
        REFUSE(ctxrt_device_set(bad), INVALID_DEVICE);
        REFUSE(ctxrt_device_set_at(bad, NULL, 1), INVALID_DEVICE);
        REFUSE(ctxrt_device_push(bad), INVALID_DEVICE);
        REFUSE(ctxrt_device_push_at(bad, NULL, 1), INVALID_DEVICE);
        REFUSE(ctxrt_device_release(bad), INVALID_DEVICE);
        REFUSE(ctxrt_device_reset(bad), INVALID_DEVICE);
        REFUSE(ctxrt_device_set_primary_flags(bad, 0), INVALID_DEVICE);
        REFUSE(ctxrt_device_can_access_peer(bad, CTXRT_CUDA(0), &number), INVALID_DEVICE);
        REFUSE(ctxrt_device_can_access_peer(CTXRT_CUDA(0), bad, &number), INVALID_DEVICE);
        REFUSE(ctxrt_device_enable_peer(bad), INVALID_DEVICE);
        REFUSE(ctxrt_device_disable_peer(bad), INVALID_DEVICE);
        REFUSE(ctxrt_context_create(bad, 0, &primary), INVALID_DEVICE);
        REFUSE(ctxrt_context_retain_primary(bad, &primary), INVALID_DEVICE);
        REFUSE(ctxrt_scope_enter(bad, &scope), INVALID_DEVICE);
        REFUSE(ctxrt_scope_enter_at(bad, &scope, NULL, 1), INVALID_DEVICE);
        ck_assert_uint_eq(scope.serial, 0);
        ck_assert_ptr_null(primary);
    }
    REFUSE(ctxrt_device_count((ctxrt_device_type)-1, &number), INVALID_ARGUMENT);
    REFUSE(ctxrt_device_count(CTXRT_DEVICE_TYPE_COUNT, &number), INVALID_ARGUMENT);
    REFUSE(ctxrt_device_count(CTXRT_DEVICE_CPU, NULL), NULL_POINTER);
    REFUSE(ctxrt_device_count_all(NULL), NULL_POINTER);
    REFUSE(ctxrt_device_properties(CTXRT_CUDA(0), NULL), NULL_POINTER);
    REFUSE(ctxrt_device_memory_info(CTXRT_CUDA(0), NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_device_get(NULL), NULL_POINTER);
    REFUSE(ctxrt_device_by_uuid(NULL, &device), NULL_POINTER);
    REFUSE(ctxrt_device_by_uuid(no_uuid, NULL), NULL_POINTER);
    REFUSE(ctxrt_device_by_uuid(no_uuid, &device), INVALID_DEVICE);
    REFUSE(ctxrt_device_by_pci(NULL, &device), NULL_POINTER);
    REFUSE(ctxrt_device_by_pci("0000:01:00.0", NULL), NULL_POINTER);
    REFUSE(ctxrt_device_by_pci("", &device), INVALID_DEVICE);
    REFUSE(ctxrt_device_by_pci("not an address", &device), INVALID_DEVICE);
    REFUSE(ctxrt_device_set_primary_flags(CTXRT_CUDA(0), 0x7777), INVALID_ARGUMENT);
    REFUSE(ctxrt_device_can_access_peer(CTXRT_CUDA(0), CTXRT_CUDA(1), NULL), NULL_POINTER);
    REFUSE(ctxrt_device_enable_peer(CTXRT_CUDA(1)), INVALID_ARGUMENT);
    REFUSE(ctxrt_device_disable_peer(CTXRT_CUDA(0)), INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_device_enable_peer(CTXRT_CUDA(2)));
    REFUSE(ctxrt_device_enable_peer(CTXRT_CUDA(2)), ALREADY);
    cx_assert_ok(ctxrt_device_disable_peer(CTXRT_CUDA(2)));
    cx_assert_ok(ctxrt_device_synchronize());
}
END_TEST

static ctxrt_status no_create(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device, (void)user_data, (void)out_handle;
    return CTXRT_ERROR_OUT_OF_MEMORY;
}

static void no_destroy(void *handle, void *user_data)
{
    (void)handle, (void)user_data;
}

START_TEST(handles_refuse)
{
    void *out = NULL;
    REFUSE(ctxrt_handle_register(NULL, no_create, no_destroy, NULL), NULL_POINTER);
    REFUSE(ctxrt_handle_register("kind", NULL, no_destroy, NULL), NULL_POINTER);
    REFUSE(ctxrt_handle_register("kind", no_create, NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_handle_register("", no_create, no_destroy, NULL), INVALID_ARGUMENT);
    REFUSE(
        ctxrt_handle_register("a name of more than thirty-one bytes", no_create, no_destroy, NULL),
        INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_handle_register("kind", no_create, no_destroy, NULL));
    REFUSE(ctxrt_handle_register("kind", no_create, no_destroy, NULL), ALREADY);
    REFUSE(ctxrt_handle_get(CTXRT_CUDA(0), NULL, &out), NULL_POINTER);
    REFUSE(ctxrt_handle_get(CTXRT_CUDA(0), "kind", NULL), NULL_POINTER);
    REFUSE(ctxrt_handle_get(CTXRT_CUDA(0), "another", &out), INVALID_ARGUMENT);
    REFUSE(ctxrt_handle_get(CTXRT_CUDA(0), "kind", &out), OUT_OF_MEMORY);
    for (int i = 0; i < BAD_DEVICES; i++)
        REFUSE(ctxrt_handle_get(bad_devices[i], "kind", &out), INVALID_DEVICE);
    ck_assert_ptr_null(out);
}
END_TEST

START_TEST(contexts_and_the_stack_refuse)
{
    ctxrt_context *out = NULL;
    ctxrt_device device;
    ctxrt_frame_info info;
    ctxrt_scope scope = {0};
    ctxrt_detached_frame *frame;
    struct CUctx_st *native;
    uint64_t id;
    void *const bad[] = {dead_context, made_up(), stream, event};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSE(ctxrt_stack_push(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_stack_push_at(bad[i], NULL, 0), INVALID_HANDLE);
        REFUSE(ctxrt_context_destroy(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_context_release(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_context_device(bad[i], &device), INVALID_HANDLE);
        REFUSE(ctxrt_context_id(bad[i], &id), INVALID_HANDLE);
        REFUSE(ctxrt_context_native(bad[i], &native), INVALID_HANDLE);
        REFUSE(ctxrt_scope_enter_context(bad[i], &scope), INVALID_HANDLE);
    }
    REFUSE(ctxrt_context_create(CTXRT_CUDA(0), 0, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_create(CTXRT_CUDA(0), 0x7777, &out), INVALID_ARGUMENT);
    ck_assert_ptr_null(out);
    REFUSE(ctxrt_context_retain_primary(CTXRT_CUDA(0), NULL), NULL_POINTER);
    REFUSE(ctxrt_context_release(context), INVALID_ARGUMENT);
    REFUSE(ctxrt_context_current(NULL), NULL_POINTER);
    REFUSE(ctxrt_context_device(context, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_id(context, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_native(context, NULL), NULL_POINTER);
    size_t limit;
    int priority;
    REFUSE(ctxrt_context_get_limit(NULL, CTXRT_LIMIT_HEAP_BYTES, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_get_limit(NULL, (ctxrt_context_limit)-1, &limit), INVALID_ARGUMENT);
    REFUSE(ctxrt_context_get_limit(dead_context, CTXRT_LIMIT_HEAP_BYTES, &limit), INVALID_HANDLE);
    REFUSE(ctxrt_context_set_limit(NULL, (ctxrt_context_limit)-1, 1), INVALID_ARGUMENT);
    REFUSE(ctxrt_context_set_limit(made_up(), CTXRT_LIMIT_HEAP_BYTES, 1), INVALID_HANDLE);
    unsigned int number;
    REFUSE(ctxrt_context_multiprocessors(NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_multiprocessors(dead_context, &number), INVALID_HANDLE);
    REFUSE(ctxrt_context_create_green(CTXRT_CUDA(0), 1, 8, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_create_green(CTXRT_CUDA(0), 0, 8, &out), INVALID_ARGUMENT);
    REFUSE(ctxrt_context_create_green(CTXRT_CUDA(0), UINT_MAX, 8, &out), INVALID_ARGUMENT);
    REFUSE(ctxrt_context_create_green(CTXRT_CUDA(0), 1, UINT_MAX, &out), INVALID_ARGUMENT);
    REFUSE(ctxrt_context_create_green(CTXRT_CUDA(-1), 1, 8, &out), INVALID_DEVICE);
    REFUSE(ctxrt_context_priorities(NULL, NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_priorities(dead_context, &priority, NULL), INVALID_HANDLE);
    REFUSE(ctxrt_context_from_native(CTXRT_DEVICE_CUDA, NULL, &out), NULL_POINTER);
    cx_assert_ok(ctxrt_context_native(context, &native));
    REFUSE(ctxrt_context_from_native(CTXRT_DEVICE_CUDA, native, NULL), NULL_POINTER);
    REFUSE(ctxrt_context_from_native(CTXRT_DEVICE_KUNLUN, native, &out), INVALID_DEVICE);
    REFUSE(ctxrt_context_from_native(CTXRT_DEVICE_CUDA, made_up(), &out), INVALID_HANDLE);
    cx_assert_ok(ctxrt_context_destroy(NULL));
    cx_assert_ok(ctxrt_context_release(NULL));
    REFUSE(ctxrt_stack_push(NULL), NULL_POINTER);
    REFUSE(ctxrt_stack_peek(0, NULL), NULL_POINTER);
    REFUSE(ctxrt_stack_peek(SIZE_MAX, &info), STACK_EMPTY);
    REFUSE(ctxrt_stack_resync(NULL), NULL_POINTER);
    REFUSE(ctxrt_stack_detach(NULL), NULL_POINTER);
    REFUSE(ctxrt_stack_detach(&frame), NOT_PERMITTED);
    REFUSE(ctxrt_stack_attach(NULL), NULL_POINTER);
    REFUSE(ctxrt_stack_attach(made_up()), INVALID_HANDLE);
    cx_assert_ok(ctxrt_stack_discard(NULL));
    REFUSE(ctxrt_stack_discard(made_up()), INVALID_HANDLE);
    REFUSE(ctxrt_scope_enter(CTXRT_CUDA(0), NULL), NULL_POINTER);
    REFUSE(ctxrt_scope_enter_context(context, NULL), NULL_POINTER);
    REFUSE(ctxrt_scope_leave(NULL), NULL_POINTER);
    cx_assert_ok(ctxrt_scope_leave(&scope));
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(0), &scope));
    REFUSE(ctxrt_scope_enter(CTXRT_CUDA(0), &scope), INVALID_ARGUMENT);
    REFUSE(ctxrt_stack_pop(), NOT_PERMITTED);
    ctxrt_scope copy = scope;
    cx_assert_ok(ctxrt_scope_leave(&scope));
    REFUSE(ctxrt_scope_leave(&copy), WRONG_THREAD);
    REFUSE(ctxrt_snapshot_write(NULL, CTXRT_SNAPSHOT_TEXT), NULL_POINTER);
    REFUSE(ctxrt_snapshot_write(stderr, (ctxrt_snapshot_format)3), INVALID_ARGUMENT);
    REFUSE(ctxrt_snapshot_write(stderr, (ctxrt_snapshot_format)-1), INVALID_ARGUMENT);
    FILE *full = fopen("/dev/full", "w");
    if (full != NULL) {
        setvbuf(full, NULL, _IONBF, 0);
        REFUSE(ctxrt_snapshot_write(full, CTXRT_SNAPSHOT_TEXT), SYSTEM);
        REFUSE(ctxrt_snapshot_write(full, CTXRT_SNAPSHOT_JSON), SYSTEM);
        fclose(full);
    }
}
END_TEST

static void nothing(void *argument)
{
    (void)argument;
}

START_TEST(streams_and_events_refuse)
{
    ctxrt_stream *out_stream = NULL;
    ctxrt_event *out_event = NULL;
    ctxrt_context *out_context;
    struct CUstream_st *native_stream;
    struct CUevent_st *native_event;
    float ms;
    void *const bad_streams[] = {dead_stream, made_up(), context, event};
    void *const bad_events[] = {dead_event, made_up(), context, stream, NULL};
    for (size_t i = 0; i < sizeof bad_streams / sizeof bad_streams[0]; i++) {
        ctxrt_stream *bad = bad_streams[i];
        REFUSE(ctxrt_stream_destroy(bad), INVALID_HANDLE);
        REFUSE(ctxrt_stream_synchronize(bad), INVALID_HANDLE);
        REFUSE(ctxrt_stream_synchronize_for(bad, 0), INVALID_HANDLE);
        REFUSE(ctxrt_stream_query(bad), INVALID_HANDLE);
        REFUSE(ctxrt_stream_wait_event(bad, event), INVALID_HANDLE);
        REFUSE(ctxrt_stream_add_host_function(bad, nothing, NULL), INVALID_HANDLE);
        REFUSE(ctxrt_stream_context(bad, &out_context), INVALID_HANDLE);
        REFUSE(ctxrt_stream_native(bad, &native_stream), INVALID_HANDLE);
        REFUSE(ctxrt_frame_set_stream(bad), INVALID_HANDLE);
        REFUSE(ctxrt_event_record(event, bad), INVALID_HANDLE);
    }
    for (size_t i = 0; i < sizeof bad_events / sizeof bad_events[0]; i++) {
        ctxrt_event *bad = bad_events[i];
        ctxrt_status status = bad == NULL ? CTXRT_ERROR_NULL_POINTER : CTXRT_ERROR_INVALID_HANDLE;
        cx_assert_error(ctxrt_event_record(bad, stream), status);
        cx_assert_error(ctxrt_event_query(bad), status);
        cx_assert_error(ctxrt_event_synchronize(bad), status);
        cx_assert_error(ctxrt_event_synchronize_for(bad, 0), status);
        cx_assert_error(ctxrt_event_elapsed_ms(bad, event, &ms), status);
        cx_assert_error(ctxrt_event_elapsed_ms(event, bad, &ms), status);
        cx_assert_error(ctxrt_event_native(bad, &native_event), status);
        cx_assert_error(ctxrt_stream_wait_event(stream, bad), status);
        if (bad != NULL)
            cx_assert_error(ctxrt_event_destroy(bad), status);
    }
    void *const bad_contexts[] = {dead_context, made_up(), stream};
    for (size_t i = 0; i < sizeof bad_contexts / sizeof bad_contexts[0]; i++) {
        REFUSE(ctxrt_stream_create_on(bad_contexts[i], 0, 0, &out_stream), INVALID_HANDLE);
        REFUSE(ctxrt_event_create_on(bad_contexts[i], 0, &out_event), INVALID_HANDLE);
    }
    REFUSE(ctxrt_stream_create_on(NULL, 0, 0, &out_stream), NULL_POINTER);
    REFUSE(ctxrt_stream_create_on(context, 0, 0, NULL), NULL_POINTER);
    REFUSE(ctxrt_stream_create_on(context, 0x80, 0, &out_stream), INVALID_ARGUMENT);
    REFUSE(ctxrt_event_create_on(NULL, 0, &out_event), NULL_POINTER);
    REFUSE(ctxrt_event_create_on(context, 0, NULL), NULL_POINTER);
    REFUSE(ctxrt_event_create_on(context, 0x80, &out_event), INVALID_ARGUMENT);
    REFUSE(ctxrt_stream_create(0, 0, NULL), NULL_POINTER);
    REFUSE(ctxrt_stream_create(0x80, 0, &out_stream), INVALID_ARGUMENT);
    ck_assert_ptr_null(out_stream);
    cx_assert_ok(ctxrt_stream_destroy(NULL));
    REFUSE(ctxrt_stream_destroy(CTXRT_STREAM_LEGACY), INVALID_ARGUMENT);
    REFUSE(ctxrt_stream_add_host_function(stream, NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_stream_context(stream, NULL), NULL_POINTER);
    REFUSE(ctxrt_stream_native(stream, NULL), NULL_POINTER);
    REFUSE(ctxrt_stream_from_native(made_up(), NULL), NULL_POINTER);
    REFUSE(ctxrt_stream_current(NULL), NULL_POINTER);
    REFUSE(ctxrt_event_create(0, NULL), NULL_POINTER);
    REFUSE(ctxrt_event_create(0x80, &out_event), INVALID_ARGUMENT);
    ck_assert_ptr_null(out_event);
    cx_assert_ok(ctxrt_event_destroy(NULL));
    ctxrt_exported_event exported = {{0}};
    REFUSE(ctxrt_event_export(NULL, &exported), NULL_POINTER);
    REFUSE(ctxrt_event_export(dead_event, &exported), INVALID_HANDLE);
    REFUSE(ctxrt_event_export(event, NULL), NULL_POINTER);
    REFUSE(ctxrt_event_import(NULL, &out_event), NULL_POINTER);
    REFUSE(ctxrt_event_import(&exported, NULL), NULL_POINTER);
    REFUSE(ctxrt_event_import(&exported, &out_event), INVALID_HANDLE);
    REFUSE(ctxrt_event_from_native(NULL, &out_event), NULL_POINTER);
    REFUSE(ctxrt_event_from_native(made_up(), NULL), NULL_POINTER);
    REFUSE(ctxrt_event_from_native(made_up(), &out_event), INVALID_HANDLE);
    ck_assert_ptr_null(out_event);
    REFUSE(ctxrt_event_elapsed_ms(event, event, NULL), NULL_POINTER);
    REFUSE(ctxrt_event_elapsed_ms(event, event, &ms), INVALID_ARGUMENT);
    REFUSE(ctxrt_event_native(event, NULL), NULL_POINTER);
}
END_TEST

START_TEST(graphs_refuse)
{
    ctxrt_graph *out_graph = NULL;
    ctxrt_context *out_context = NULL;
    ctxrt_capture_state state;
    ctxrt_graph *const bad_graphs[] = {dead_graph, made_up(), (ctxrt_graph *)context,
                                       (ctxrt_graph *)stream, NULL};
    for (size_t i = 0; i < sizeof bad_graphs / sizeof bad_graphs[0]; i++) {
        ctxrt_graph *bad = bad_graphs[i];
        ctxrt_status status = bad == NULL ? CTXRT_ERROR_NULL_POINTER : CTXRT_ERROR_INVALID_HANDLE;
        cx_assert_error(ctxrt_graph_launch(bad, NULL), status);
        cx_assert_error(ctxrt_graph_launch(bad, stream), status);
        cx_assert_error(ctxrt_graph_clone(bad, &out_graph), status);
        cx_assert_error(ctxrt_graph_retain(bad), status);
        cx_assert_error(ctxrt_graph_context(bad, &out_context), status);
        cx_assert_error(ctxrt_graph_describe(bad, stderr, CTXRT_GRAPH_TEXT), status);
        if (bad != NULL)
            cx_assert_error(ctxrt_graph_release(bad), status);
    }
    REFUSE(ctxrt_graph_clone(dead_graph, NULL), NULL_POINTER);
    REFUSE(ctxrt_graph_context(dead_graph, NULL), NULL_POINTER);
    REFUSE(ctxrt_graph_describe(dead_graph, NULL, CTXRT_GRAPH_TEXT), NULL_POINTER);
    REFUSE(ctxrt_graph_describe(dead_graph, stderr, (ctxrt_graph_format)2), INVALID_ARGUMENT);
    REFUSE(ctxrt_stream_capture_begin(dead_stream, CTXRT_CAPTURE_RELAXED), INVALID_HANDLE);
    REFUSE(ctxrt_stream_capture_begin(stream, (ctxrt_capture_mode)3), INVALID_ARGUMENT);
    REFUSE(ctxrt_stream_capture_begin(stream, (ctxrt_capture_mode)-1), INVALID_ARGUMENT);
    REFUSE(ctxrt_stream_capture_end(dead_stream, &out_graph), INVALID_HANDLE);
    REFUSE(ctxrt_stream_capture_end(stream, NULL), NULL_POINTER);
    REFUSE(ctxrt_stream_capture_end(stream, &out_graph), DRIVER);
    REFUSE(ctxrt_stream_capture_status(dead_stream, &state), INVALID_HANDLE);
    REFUSE(ctxrt_stream_capture_status(stream, NULL), NULL_POINTER);
    ck_assert_ptr_null(out_graph);
    ck_assert_ptr_null(out_context);
    cx_assert_ok(ctxrt_graph_release(NULL));
}
END_TEST

static void refuse_module(ctxrt_module *bad)
{
    ctxrt_kernel *kernel = NULL;
    void *pointer = NULL;
    struct CUmod_st *native = NULL;
    ctxrt_status status = bad == NULL ? CTXRT_ERROR_NULL_POINTER : CTXRT_ERROR_INVALID_HANDLE;
    cx_assert_error(ctxrt_module_get_kernel(bad, "next", &kernel), status);
    cx_assert_error(ctxrt_module_get_global(bad, "counter", &pointer, NULL), status);
    cx_assert_error(ctxrt_module_native(bad, &native), status);
    if (bad != NULL)
        cx_assert_error(ctxrt_module_unload(bad), status);
    ck_assert(kernel == NULL && pointer == NULL && native == NULL);
}

static void refuse_kernel(ctxrt_kernel *bad)
{
    ctxrt_kernel_info info = {.name = NULL};
    ctxrt_occupancy occupancy = {.block_threads = 77};
    struct CUfunc_st *native = NULL;
    void *at = made_up(), *arguments[] = {&at};
    const ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    ctxrt_status status = bad == NULL ? CTXRT_ERROR_NULL_POINTER : CTXRT_ERROR_INVALID_HANDLE;
    cx_assert_error(ctxrt_kernel_describe(bad, &info), status);
    cx_assert_error(ctxrt_kernel_occupancy(bad, 0, 0, &occupancy), status);
    cx_assert_error(ctxrt_kernel_native(bad, &native), status);
    cx_assert_error(ctxrt_launch(&config, bad, arguments, 1), status);
    ck_assert(info.name == NULL && occupancy.block_threads == 77 && native == NULL);
}

START_TEST(modules_and_kernels_refuse)
{
    ctxrt_module *out_module = NULL;
    ctxrt_module *const bad_modules[] = {dead_module, made_up(), (ctxrt_module *)context,
                                         (ctxrt_module *)dead_kernel, NULL};
    ctxrt_kernel *const bad_kernels[] = {dead_kernel, made_up(), (ctxrt_kernel *)dead_module,
                                         (ctxrt_kernel *)stream, NULL};
    for (size_t i = 0; i < sizeof bad_modules / sizeof bad_modules[0]; i++)
        refuse_module(bad_modules[i]);
    for (size_t i = 0; i < sizeof bad_kernels / sizeof bad_kernels[0]; i++)
        refuse_kernel(bad_kernels[i]);
    REFUSE(ctxrt_module_load(NULL, 0, &out_module), NULL_POINTER);
    REFUSE(ctxrt_module_load(code, 0, NULL), NULL_POINTER);
    REFUSE(ctxrt_module_load_on(NULL, code, 0, &out_module), NULL_POINTER);
    REFUSE(ctxrt_module_load_on(context, NULL, 0, &out_module), NULL_POINTER);
    REFUSE(ctxrt_module_load_on(context, code, 0, NULL), NULL_POINTER);
    REFUSE(ctxrt_module_load_on(dead_context, code, 0, &out_module), INVALID_HANDLE);
    REFUSE(ctxrt_module_load_on(made_up(), code, 0, &out_module), INVALID_HANDLE);
    REFUSE(ctxrt_module_load_on(context, "", 0, &out_module), DRIVER);
    REFUSE(ctxrt_module_load("", 0, &out_module), DRIVER);
    REFUSE(ctxrt_module_load(code, SIZE_MAX, &out_module), INVALID_ARGUMENT);
    REFUSE(ctxrt_module_load_file(NULL, &out_module), NULL_POINTER);
    REFUSE(ctxrt_module_load_file("/nowhere/code.ptx", &out_module), SYSTEM);
    REFUSE(ctxrt_module_load_file("/nowhere/code.ptx", NULL), NULL_POINTER);
    ck_assert_ptr_null(out_module);
    cx_assert_ok(ctxrt_module_unload(NULL));
    REFUSE(ctxrt_module_get_kernel(dead_module, NULL, &(ctxrt_kernel *){NULL}), NULL_POINTER);
    REFUSE(ctxrt_module_get_kernel(dead_module, "next", NULL), NULL_POINTER);
    REFUSE(ctxrt_module_get_global(dead_module, NULL, &(void *){NULL}, NULL), NULL_POINTER);
    REFUSE(ctxrt_module_get_global(dead_module, "counter", NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_module_native(dead_module, NULL), NULL_POINTER);
    REFUSE(ctxrt_kernel_describe(dead_kernel, NULL), NULL_POINTER);
    REFUSE(ctxrt_kernel_occupancy(dead_kernel, 0, 0, NULL), NULL_POINTER);
    REFUSE(ctxrt_kernel_native(dead_kernel, NULL), NULL_POINTER);
    REFUSE(ctxrt_launch(NULL, dead_kernel, NULL, 0), NULL_POINTER);
}
END_TEST

START_TEST(plans_refuse)
{
    ctxrt_plan *plan = NULL;
    size_t number = 77;
    void *pointer = NULL;
    ctxrt_memory *memory = NULL;
    ctxrt_plan *const bad_plans[] = {dead_plan, made_up(), (ctxrt_plan *)context,
                                     (ctxrt_plan *)dead_memory, NULL};
    for (size_t i = 0; i < sizeof bad_plans / sizeof bad_plans[0]; i++) {
        ctxrt_plan *bad = bad_plans[i];
        ctxrt_status status = bad == NULL ? CTXRT_ERROR_NULL_POINTER : CTXRT_ERROR_INVALID_HANDLE;
        cx_assert_error(ctxrt_plan_alloc(bad, 1, &number), status);
        cx_assert_error(ctxrt_plan_free(bad, 0), status);
        cx_assert_error(ctxrt_plan_optimise(bad, 0, 0), status);
        cx_assert_error(ctxrt_plan_peak(bad, &number), status);
        cx_assert_error(ctxrt_plan_offset(bad, 0, &number), status);
        cx_assert_error(ctxrt_plan_commit(bad, &memory), status);
        cx_assert_error(ctxrt_plan_pointer(bad, 0, &pointer), status);
        if (bad != NULL)
            cx_assert_error(ctxrt_plan_destroy(bad), status);
    }
    cx_assert_ok(ctxrt_plan_destroy(NULL));
    REFUSE(ctxrt_plan_create(256, NULL), NULL_POINTER);
    REFUSE(ctxrt_plan_create(3, &plan), INVALID_ARGUMENT);
    REFUSE(ctxrt_plan_create(SIZE_MAX, &plan), INVALID_ARGUMENT);
    ck_assert_ptr_null(plan);
    cx_assert_ok(ctxrt_plan_create(0, &plan));
    REFUSE(ctxrt_plan_alloc(plan, 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_plan_alloc(plan, 0, &number), INVALID_ARGUMENT);
    REFUSE(ctxrt_plan_alloc(plan, SIZE_MAX, &number), OUT_OF_MEMORY);
    REFUSE(ctxrt_plan_free(plan, 0), INVALID_ARGUMENT);
    REFUSE(ctxrt_plan_peak(plan, NULL), NULL_POINTER);
    REFUSE(ctxrt_plan_offset(plan, 0, &number), INVALID_ARGUMENT);
    REFUSE(ctxrt_plan_pointer(plan, SIZE_MAX, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_plan_commit(plan, &memory), INVALID_ARGUMENT);
    ck_assert_uint_eq(number, 77);
    cx_assert_ok(ctxrt_plan_alloc(plan, 1, &number));
    REFUSE(ctxrt_plan_offset(plan, number, NULL), NULL_POINTER);
    REFUSE(ctxrt_plan_pointer(plan, number, NULL), NULL_POINTER);
    ck_assert_ptr_null(pointer);
    ck_assert_ptr_null(memory);
    cx_assert_ok(ctxrt_plan_free(plan, number));
    cx_assert_ok(ctxrt_plan_destroy(plan));
}
END_TEST

static ctxrt_status run_nothing(void *user_data)
{
    (void)user_data;
    return CTXRT_SUCCESS;
}

START_TEST(operators_and_recordings_refuse)
{
    static const char long_name[] =
        "a name of more than sixty-three bytes, which no operator type can have at all";
    ctxrt_operator operation = CTXRT_OPERATOR_INIT;
    ctxrt_operator_implementation made = {sizeof made, run_nothing, 0};
    ctxrt_recording_options options = CTXRT_RECORDING_OPTIONS_INIT;
    ctxrt_graph *out_graph = NULL;
    REFUSE(ctxrt_operator_submit(NULL), NULL_POINTER);
    REFUSE(ctxrt_operator_submit(&operation), NULL_POINTER);
    operation.type = "no such type";
    REFUSE(ctxrt_operator_submit(&operation), NOT_SUPPORTED);
    operation.type = long_name;
    operation.run = run_nothing;
    REFUSE(ctxrt_operator_submit(&operation), INVALID_ARGUMENT);
    operation.type = NULL;
    operation.struct_size = 8;
    REFUSE(ctxrt_operator_submit(&operation), INVALID_ARGUMENT);
    REFUSE(ctxrt_operator_register(CTXRT_DEVICE_CUDA, NULL, &made), NULL_POINTER);
    REFUSE(ctxrt_operator_register(CTXRT_DEVICE_CUDA, "", &made), INVALID_ARGUMENT);
    REFUSE(ctxrt_operator_register(CTXRT_DEVICE_CUDA, long_name, &made), INVALID_ARGUMENT);
    REFUSE(ctxrt_operator_register(CTXRT_DEVICE_TYPE_COUNT, "name", &made), INVALID_ARGUMENT);
    REFUSE(ctxrt_operator_register((ctxrt_device_type)-1, "name", &made), INVALID_ARGUMENT);
    REFUSE(ctxrt_operator_register(CTXRT_DEVICE_CUDA, "name", NULL), NULL_POINTER);
    made.run = NULL;
    REFUSE(ctxrt_operator_register(CTXRT_DEVICE_CUDA, "name", &made), NULL_POINTER);
    made.struct_size = 0;
    REFUSE(ctxrt_operator_register(CTXRT_DEVICE_CUDA, "name", &made), INVALID_ARGUMENT);
    REFUSE(ctxrt_operator_find(CTXRT_DEVICE_CUDA, NULL, &made), NULL_POINTER);
    REFUSE(ctxrt_operator_find(CTXRT_DEVICE_CUDA, "name", NULL), NULL_POINTER);
    REFUSE(ctxrt_operator_find(CTXRT_DEVICE_TYPE_COUNT, "name", &made), INVALID_ARGUMENT);
    REFUSE(ctxrt_operator_find(CTXRT_DEVICE_CUDA, "name", &made), NOT_SUPPORTED);
    REFUSE(ctxrt_recording_stop(&out_graph), NOT_PERMITTED);
    REFUSE(ctxrt_recording_stop(NULL), NULL_POINTER);
    REFUSE(ctxrt_recording_active(NULL), NULL_POINTER);
    options.struct_size = 4;
    REFUSE(ctxrt_recording_start(&options), INVALID_ARGUMENT);
    options = (ctxrt_recording_options)CTXRT_RECORDING_OPTIONS_INIT;
    options.share_memory_with = dead_graph;
    REFUSE(ctxrt_recording_start(&options), INVALID_HANDLE);
    cx_assert_ok(ctxrt_recording_cancel());
    ck_assert_ptr_null(out_graph);
}
END_TEST

START_TEST(memory_refuses)
{
    static unsigned char host[64], other[64];
    ctxrt_memory *memory = NULL;
    ctxrt_memory_info info;
    ctxrt_pointer_info pointer_info;
    void *pointer = NULL;
    void *const bad[] = {dead_memory, made_up(), context, stream};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSE(ctxrt_memory_retain(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_memory_release(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_memory_describe(bad[i], &info), INVALID_HANDLE);
        REFUSE(ctxrt_memory_record_stream(bad[i], stream), INVALID_HANDLE);
        ck_assert_ptr_null(ctxrt_memory_pointer(bad[i]));
    }
    ck_assert_ptr_null(ctxrt_memory_pointer(NULL));
    cx_assert_ok(ctxrt_memory_release(NULL));
    ctxrt_exported_memory exported = {0};
    REFUSE(ctxrt_memory_export(dead_memory, &exported), INVALID_HANDLE);
    REFUSE(ctxrt_memory_import_from_pool(NULL, &exported, &memory), NULL_POINTER);
    REFUSE(ctxrt_memory_import_from_pool(made_up(), NULL, &memory), NULL_POINTER);
    REFUSE(ctxrt_memory_import_from_pool(made_up(), &exported, NULL), NULL_POINTER);
    const int files[1] = {0};
    ctxrt_exported_mapping mapping = {1, 1, 1};
    REFUSE(ctxrt_memory_export_mapped(dead_memory, 0, NULL, &mapping), INVALID_HANDLE);
    REFUSE(ctxrt_memory_export_mapped(made_up(), 0, NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_import_mapped(NULL, files, &memory), NULL_POINTER);
    REFUSE(ctxrt_memory_import_mapped(&mapping, NULL, &memory), NULL_POINTER);
    REFUSE(ctxrt_memory_import_mapped(&mapping, files, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_import(NULL, &memory), NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "exported is NULL"));
    REFUSE(ctxrt_memory_import(&exported, NULL), NULL_POINTER);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "out_memory is NULL"));
    cx_assert_ok(ctxrt_memory_alloc_host(64, &memory));
    REFUSE(ctxrt_memory_export(memory, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_export(memory, &exported), INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_alloc(64, &memory));
    cx_assert_ok(ctxrt_memory_export(memory, &exported));
    ck_assert_uint_eq(exported.size_bytes, 64);
    cx_assert_ok(ctxrt_memory_release(memory));
    memory = NULL;
    REFUSE(ctxrt_memory_import(&exported, &memory), DRIVER); /* this process exported it */
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "cuIpcOpenMemHandle"));
    ck_assert_ptr_null(memory);
    const size_t huge[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX - 511, (size_t)1 << 62};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        REFUSE(ctxrt_memory_alloc(huge[i], &memory), OUT_OF_MEMORY);
        REFUSE(ctxrt_memory_alloc_on(context, huge[i], &memory), OUT_OF_MEMORY);
        REFUSE(ctxrt_memory_alloc_pinned_on(context, huge[i], &memory), OUT_OF_MEMORY);
        REFUSE(ctxrt_alloc_on(context, huge[i], &pointer), OUT_OF_MEMORY);
        REFUSE(ctxrt_memory_alloc_pinned(huge[i], &memory), OUT_OF_MEMORY);
        REFUSE(ctxrt_memory_alloc_host(huge[i], &memory), OUT_OF_MEMORY);
        REFUSE(ctxrt_alloc(huge[i], &pointer), OUT_OF_MEMORY);
        REFUSE(ctxrt_alloc_async(huge[i], NULL, &pointer), OUT_OF_MEMORY);
        REFUSE(ctxrt_alloc_managed(huge[i], &pointer), OUT_OF_MEMORY);
        REFUSE(ctxrt_alloc_direct(huge[i], &pointer), OUT_OF_MEMORY);
        REFUSE(ctxrt_alloc_pinned(huge[i], &pointer), OUT_OF_MEMORY);
    }
    REFUSE(ctxrt_memory_alloc_at(1, "x.c", 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_alloc_pinned_at(0, "x.c", 1, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_alloc_at(0, NULL, -1, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_alloc_on(context, 0, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_alloc_on(context, 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_alloc_on(NULL, 1, &memory), NULL_POINTER);
    REFUSE(ctxrt_memory_alloc_on(dead_context, 1, &memory), INVALID_HANDLE);
    REFUSE(ctxrt_memory_alloc_pinned_on(context, 0, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_alloc_pinned_on(context, 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_alloc_pinned_on(NULL, 1, &memory), NULL_POINTER);
    REFUSE(ctxrt_memory_alloc_pinned_on(made_up(), 1, &memory), INVALID_HANDLE);
    REFUSE(ctxrt_alloc_on(context, 0, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_alloc_on(context, 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_alloc_on(NULL, 1, &pointer), NULL_POINTER);
    REFUSE(ctxrt_alloc_on(made_up(), 1, &pointer), INVALID_HANDLE);
    REFUSE(ctxrt_memory_alloc(0, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_alloc(1, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_alloc_pinned(0, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_alloc_pinned(1, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_alloc_host(0, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_alloc_host(1, NULL), NULL_POINTER);
    REFUSE(ctxrt_memory_wrap(NULL, 1, CTXRT_CPU(0), NULL, NULL, &memory), NULL_POINTER);
    REFUSE(ctxrt_memory_wrap(host, 0, CTXRT_CPU(0), NULL, NULL, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_wrap(host, SIZE_MAX, CTXRT_CPU(0), NULL, NULL, &memory), INVALID_ARGUMENT);
    REFUSE(ctxrt_memory_wrap(host, 1, CTXRT_CUDA(9), NULL, NULL, &memory), INVALID_DEVICE);
    REFUSE(ctxrt_memory_wrap(host, 1, CTXRT_CPU(0), NULL, NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_alloc(0, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_alloc(1, NULL), NULL_POINTER);
    REFUSE(ctxrt_alloc_async(0, NULL, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_alloc_async(1, dead_stream, &pointer), INVALID_HANDLE);
    REFUSE(ctxrt_alloc_async(1, NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_alloc_managed(0, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_alloc_managed(1, NULL), NULL_POINTER);
    REFUSE(ctxrt_alloc_direct(0, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_alloc_direct(1, NULL), NULL_POINTER);
    REFUSE(ctxrt_alloc_pinned(0, &pointer), INVALID_ARGUMENT);
    REFUSE(ctxrt_alloc_pinned(1, NULL), NULL_POINTER);
    REFUSE(ctxrt_free(host), INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free(NULL));
    REFUSE(ctxrt_free_async(host, NULL), INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free_async(NULL, NULL));
    REFUSE(ctxrt_host_register(NULL, 1), NULL_POINTER);
    REFUSE(ctxrt_host_register(host, 0), INVALID_ARGUMENT);
    REFUSE(ctxrt_host_register(host, SIZE_MAX), INVALID_ARGUMENT);
    REFUSE(ctxrt_host_unregister(NULL), NULL_POINTER);
    REFUSE(ctxrt_host_unregister(host), INVALID_ARGUMENT);
    REFUSE(ctxrt_pointer_query(host, NULL), NULL_POINTER);
    cx_assert_ok(ctxrt_pointer_query(NULL, &pointer_info));
    ck_assert_int_eq(pointer_info.known, 0);
    ck_assert_ptr_null(memory);
    ck_assert_ptr_null(pointer);
    (void)other;
}
END_TEST

START_TEST(copies_and_fills_refuse)
{
    static unsigned char a[64], b[64];
    const ctxrt_copy_kind any = CTXRT_COPY_ANY;
    ctxrt_copy_region region = {.destination = a,
                                .destination_pitch_bytes = 8,
                                .destination_slice_height = 2,
                                .source = b,
                                .source_pitch_bytes = 8,
                                .source_slice_height = 2,
                                .width_bytes = 8,
                                .height = 2,
                                .depth = 2};
    memset(a, 7, sizeof a);
    REFUSE(ctxrt_copy(NULL, b, 1, any), NULL_POINTER);
    REFUSE(ctxrt_copy(a, NULL, 1, any), NULL_POINTER);
    REFUSE(ctxrt_copy(a, b, SIZE_MAX, any), INVALID_ARGUMENT);
    REFUSE(ctxrt_copy(a, b, 1, (ctxrt_copy_kind)9), INVALID_ARGUMENT);
    REFUSE(ctxrt_copy(a, b, 1, (ctxrt_copy_kind)-1), INVALID_ARGUMENT);
    REFUSE(ctxrt_copy(a, b, 1, CTXRT_COPY_HOST_TO_DEVICE), INVALID_ARGUMENT);
    REFUSE(ctxrt_copy_async(NULL, b, 1, any, NULL), NULL_POINTER);
    REFUSE(ctxrt_copy_async(a, NULL, 1, any, NULL), NULL_POINTER);
    REFUSE(ctxrt_copy_async(a, b, SIZE_MAX, any, NULL), INVALID_ARGUMENT);
    REFUSE(ctxrt_copy_async(a, b, 1, any, dead_stream), INVALID_HANDLE);
    REFUSE(ctxrt_copy_peer(a, CTXRT_CUDA(9), b, CTXRT_CUDA(0), 1, NULL), INVALID_DEVICE);
    REFUSE(ctxrt_copy_peer(a, CTXRT_CUDA(0), b, CTXRT_CUDA(9), 1, NULL), INVALID_DEVICE);
    REFUSE(ctxrt_copy_peer(NULL, CTXRT_CUDA(0), b, CTXRT_CUDA(1), 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_copy_peer(a, CTXRT_CUDA(0), b, CTXRT_CUDA(1), 1, NULL), INVALID_ARGUMENT);
    REFUSE(ctxrt_copy_2d(NULL), NULL_POINTER);
    REFUSE(ctxrt_copy_2d_async(NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_copy_3d(NULL), NULL_POINTER);
    REFUSE(ctxrt_copy_3d_async(NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_copy_3d_async(&region, dead_stream), INVALID_HANDLE);
    region.source_pitch_bytes = 7;
    REFUSE(ctxrt_copy_2d(&region), INVALID_ARGUMENT);
    REFUSE(ctxrt_copy_3d(&region), INVALID_ARGUMENT);
    region.source_pitch_bytes = SIZE_MAX;
    REFUSE(ctxrt_copy_2d(&region), INVALID_ARGUMENT);
    region.source_pitch_bytes = 8;
    region.source_slice_height = SIZE_MAX;
    REFUSE(ctxrt_copy_3d(&region), INVALID_ARGUMENT);
    region.source_slice_height = 1;
    REFUSE(ctxrt_copy_3d(&region), INVALID_ARGUMENT);
    REFUSE(ctxrt_fill(NULL, 0, 1), NULL_POINTER);
    REFUSE(ctxrt_fill(a, 256, 1), INVALID_ARGUMENT);
    REFUSE(ctxrt_fill(a, -1, 1), INVALID_ARGUMENT);
    REFUSE(ctxrt_fill(a, 0, SIZE_MAX), INVALID_ARGUMENT);
    REFUSE(ctxrt_fill32(NULL, 0, 1), NULL_POINTER);
    REFUSE(ctxrt_fill32((void *)((uintptr_t)a | 1), 0, 1), INVALID_ARGUMENT);
    REFUSE(ctxrt_fill32((void *)((uintptr_t)a & ~(uintptr_t)3), 0, SIZE_MAX / 4 + 2),
           INVALID_ARGUMENT);
    REFUSE(ctxrt_fill32_async(NULL, 0, 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_fill32_async((void *)((uintptr_t)a | 2), 0, 1, NULL), INVALID_ARGUMENT);
    REFUSE(ctxrt_fill_async(NULL, 0, 1, NULL), NULL_POINTER);
    REFUSE(ctxrt_fill_async(a, 256, 1, NULL), INVALID_ARGUMENT);
    REFUSE(ctxrt_fill_async(a, 0, 1, dead_stream), INVALID_HANDLE);
    for (size_t i = 0; i < sizeof a; i++)
        ck_assert_uint_eq(a[i], 7);
}
END_TEST

static ctxrt_status no_alloc(void *user_data, size_t size_bytes, ctxrt_stream *where,
                             void **out_pointer)
{
    (void)user_data, (void)size_bytes, (void)where, (void)out_pointer;
    return CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status no_free(void *user_data, void *pointer, size_t size_bytes)
{
    (void)user_data, (void)pointer, (void)size_bytes;
    return CTXRT_SUCCESS;
}

START_TEST(allocators_refuse)
{
    ctxrt_allocator *out = NULL;
    ctxrt_allocator_figures figures;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    uint64_t bytes;
    void *const bad[] = {dead_allocator, made_up(), context, stream};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        REFUSE(ctxrt_allocator_destroy(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_statistics(bad[i], &figures), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_set_limit(bad[i], 1), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_set_out_of_memory(bad[i], NULL, NULL), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_set_debug(bad[i], NULL), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_trim(bad[i], &bytes), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_check(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_describe(bad[i], &info), INVALID_HANDLE);
        REFUSE(ctxrt_frame_set_allocator(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_trace_start(bad[i], 0), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_trace_stop(bad[i]), INVALID_HANDLE);
        REFUSE(ctxrt_allocator_trace_write(bad[i], stderr), INVALID_HANDLE);
    }
    ctxrt_allocator_vtable vtable = {sizeof vtable, no_alloc, no_free, NULL};
    ctxrt_allocator_options options = {0};
    REFUSE(ctxrt_allocator_create(NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_allocator_create(&options, &out), INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_create_from_pool(NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_allocator_create_custom(NULL, NULL, &out), NULL_POINTER);
    REFUSE(ctxrt_allocator_create_custom(&vtable, NULL, NULL), NULL_POINTER);
    vtable.struct_size = 1;
    REFUSE(ctxrt_allocator_create_custom(&vtable, NULL, &out), INVALID_ARGUMENT);
    vtable.struct_size = sizeof vtable;
    vtable.alloc = NULL;
    REFUSE(ctxrt_allocator_create_custom(&vtable, NULL, &out), NULL_POINTER);
    ck_assert_ptr_null(out);
    cx_assert_ok(ctxrt_allocator_destroy(NULL));
    cx_assert_ok(ctxrt_allocator_current(&out));
    REFUSE(ctxrt_allocator_destroy(out), INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_current(NULL), NULL_POINTER);
    REFUSE(ctxrt_allocator_direct(NULL), NULL_POINTER);
    cx_assert_ok(ctxrt_allocator_pinned(&out));
    REFUSE(ctxrt_allocator_destroy(out), INVALID_ARGUMENT);
    REFUSE(ctxrt_frame_set_allocator(out), INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_pinned(NULL), NULL_POINTER);
    REFUSE(ctxrt_allocator_set_debug(NULL, NULL), NULL_POINTER);
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    debug.flags = 4;
    REFUSE(ctxrt_allocator_set_debug(out, &debug), INVALID_ARGUMENT);
    debug = (ctxrt_allocator_debug){.struct_size = sizeof debug - 1};
    REFUSE(ctxrt_allocator_set_debug(out, &debug), INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_allocator_current(&out));
    REFUSE(ctxrt_allocator_set_debug(out, NULL), INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_statistics(NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_allocator_snapshot_write(NULL, NULL, CTXRT_SNAPSHOT_JSON), NULL_POINTER);
    REFUSE(ctxrt_allocator_snapshot_write(NULL, stderr, (ctxrt_snapshot_format)3),
           INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_snapshot_write(dead_allocator, stderr, CTXRT_SNAPSHOT_JSON),
           INVALID_HANDLE);
    REFUSE(ctxrt_memory_report_write(NULL), NULL_POINTER);
    REFUSE(ctxrt_allocator_check(NULL), INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_describe(NULL, NULL), NULL_POINTER);
    info.struct_size = 1;
    REFUSE(ctxrt_allocator_describe(NULL, &info), INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_trace_start(NULL, SIZE_MAX), INVALID_ARGUMENT);
    REFUSE(ctxrt_allocator_trace_write(NULL, NULL), NULL_POINTER);
    REFUSE(ctxrt_allocator_trace_write(NULL, stderr), INVALID_ARGUMENT);
}
END_TEST

static Suite *arguments_suite(void)
{
    Suite *suite = suite_create("arguments");
    TCase *tcase = tcase_create("arguments");
    tcase_add_checked_fixture(tcase, start, finish);
    tcase_add_test(tcase, names_of_what_does_not_exist_are_no_crash);
    tcase_add_test(tcase, the_runtime_refuses_bad_options_and_second_thoughts);
    tcase_add_test(tcase, devices_refuse);
    tcase_add_test(tcase, handles_refuse);
    tcase_add_test(tcase, contexts_and_the_stack_refuse);
    tcase_add_test(tcase, streams_and_events_refuse);
    tcase_add_test(tcase, graphs_refuse);
    tcase_add_test(tcase, modules_and_kernels_refuse);
    tcase_add_test(tcase, plans_refuse);
    tcase_add_test(tcase, operators_and_recordings_refuse);
    tcase_add_test(tcase, memory_refuses);
    tcase_add_test(tcase, copies_and_fills_refuse);
    tcase_add_test(tcase, allocators_refuse);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(arguments_suite);
