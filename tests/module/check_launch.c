/* Launches: what is refused, where kernels run, and kernels in graphs and recordings. */
#include "code.h"

static ctxrt_module *module;
static ctxrt_kernel *add_one;

static void begin(void)
{
    module = load(PTX_ALL);
    add_one = kernel_of(module, "add_one");
}

static void end(void)
{
    cx_assert_ok(ctxrt_module_unload(module));
}

/* ---- what is refused ---- */

START_TEST(a_launch_that_makes_no_sense_is_refused)
{
    begin();
    void *words = make_words(1), *null = NULL;
    uint32_t count = WORDS;
    void *arguments[] = {&words, &count, &count}, *gap[] = {&words, NULL};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    for (int i = 0; i < 3; i++) {
        config.grid[i] = 0;
        cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_INVALID_ARGUMENT);
        assert_says("a dimension of the grid is 0");
        config.grid[i] = 1;
        config.block[i] = 0;
        cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_INVALID_ARGUMENT);
        assert_says("a dimension of the block is 0");
        config.block[i] = 1;
    }
    config.struct_size = 8;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_INVALID_ARGUMENT);
    config.struct_size = sizeof config;
    config.cooperative = 2;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_INVALID_ARGUMENT);
    config.cooperative = 0;
    config.shared_bytes = (size_t)1 << 32;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_INVALID_ARGUMENT);
    config.shared_bytes = 0;
    cx_assert_error(ctxrt_launch(&config, add_one, NULL, 2), CTXRT_ERROR_NULL_POINTER);
    cx_assert_error(ctxrt_launch(&config, add_one, gap, 2), CTXRT_ERROR_NULL_POINTER);
    assert_says("argument 2 of 2 of the kernel 'add_one'");
    for (size_t wrong = 0; wrong < 4; wrong++)
        if (wrong != 2) {
            cx_assert_error(ctxrt_launch(&config, add_one, arguments, wrong),
                            CTXRT_ERROR_INVALID_ARGUMENT);
            assert_says("'add_one' has 2 parameters");
        }
    cx_assert_error(ctxrt_launch(&config, add_one, &null, 0), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_device_synchronize());
    assert_words(words, 1);
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

START_TEST(what_the_driver_refuses_is_told_with_the_launch)
{
    begin();
    void *words = make_words(1);
    uint32_t count = WORDS;
    void *arguments[] = {&words, &count};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.block[1] = 4096;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_DRIVER);
    assert_says("the kernel 'add_one' was not launched, grid 1 x 1 x 1, block 1 x 4096 x 1");
    assert_says("CUDA_ERROR_INVALID_VALUE");
    assert_says("; the block has 4096 threads, and the device's limit is 1024");
    config.block[1] = 1;
    config.block[2] = 65;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_DRIVER);
    assert_says("; the device's limit is a block of 1024 x 1024 x 64");
    config.block[2] = 1;
    config.grid[1] = 70000;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_DRIVER);
    assert_says("; the device's limit is a grid of 2147483647 x 65535 x 65535");
    config.grid[1] = 1;
    config.shared_bytes = (size_t)1 << 30;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_DRIVER);
    assert_says("1073741824 bytes of shared memory");
    assert_says("; the kernel's limit of dynamic shared memory is ");
    config.shared_bytes = 0;
    config.block[0] = 64;
    cx_assert_error(ctxrt_launch(&config, kernel_of(module, "at_most_32"), NULL, 0),
                    CTXRT_ERROR_DRIVER);
    assert_says("; the block has 64 threads, and the kernel's limit is 32");
    config.grid[0] = 1u << 20;
    config.cooperative = 1;
    cx_assert_error(ctxrt_launch(&config, add_one, arguments, 2), CTXRT_ERROR_DRIVER);
    assert_says("COOPERATIVE_LAUNCH_TOO_LARGE");
    cx_assert_ok(ctxrt_device_synchronize());
    assert_words(words, 1);
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

START_TEST(a_kernel_is_for_streams_of_its_context)
{
    begin();
    void *words = make_words(1);
    ctxrt_scope scope = {0};
    ctxrt_context *context;
    cx_assert_ok(ctxrt_scope_enter(there, &scope));
    ctxrt_stream *elsewhere = create_stream(0);
    cx_assert_error(launch_add_one(add_one, words, elsewhere), CTXRT_ERROR_WRONG_CONTEXT);
    assert_says("and the stream is of");
    cx_assert_error(launch_add_one(add_one, words, NULL), CTXRT_ERROR_WRONG_CONTEXT);
    assert_says("and the top frame is of");
    cx_assert_error(launch_add_one(add_one, words, CTXRT_STREAM_LEGACY), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_stream_destroy(elsewhere));
    cx_assert_error(launch_add_one(add_one, words, elsewhere), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_scope_leave(&scope));
    cx_assert_ok(ctxrt_context_create(here, 0, &context));
    cx_assert_ok(ctxrt_stack_push(context)); /* another context of the same device */
    cx_assert_error(launch_add_one(add_one, words, NULL), CTXRT_ERROR_WRONG_CONTEXT);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(context));
    cx_assert_ok(launch_add_one(add_one, words, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_words(words, 2);
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

typedef struct attempt {
    ctxrt_stream *stream;
    void *words;
    atomic_int status;
} attempt;

static void launch_from_host_function(void *argument)
{
    attempt *self = argument;
    atomic_store(&self->status, launch_add_one(add_one, self->words, self->stream));
}

START_TEST(a_host_function_launches_nothing)
{
    begin();
    attempt self = {create_stream(0), make_words(1), -1};
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, launch_from_host_function, &self));
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_int_eq(atomic_load(&self.status), CTXRT_ERROR_NOT_PERMITTED);
    assert_words(self.words, 1);
    cx_assert_ok(ctxrt_stream_destroy(self.stream));
    cx_assert_ok(ctxrt_free(self.words));
    end();
}
END_TEST

/* ---- where kernels run ---- */

START_TEST(a_launch_is_work_of_its_stream)
{
    gate closed;
    begin();
    void *words = make_words(1);
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_event *event = create_event(0);
    gate_close(&closed, stream);
    cx_assert_ok(launch_add_one(add_one, words, stream));
    cx_assert_ok(ctxrt_event_record(event, stream));
    cx_assert_error(ctxrt_event_query(event), CTXRT_ERROR_NOT_READY);
    gate_open(&closed);
    cx_assert_ok(ctxrt_event_synchronize(event));
    assert_words(words, 2);
    cx_assert_ok(ctxrt_event_destroy(event));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

START_TEST(a_null_stream_is_that_of_the_frame)
{
    gate closed;
    begin();
    void *words = make_words(1);
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    gate_close(&closed, stream);
    cx_assert_ok(launch_add_one(add_one, words, NULL));
    cx_assert_error(ctxrt_stream_query(stream), CTXRT_ERROR_NOT_READY);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_words(words, 2);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(launch_add_one(add_one, words, CTXRT_STREAM_LEGACY));
    cx_assert_ok(ctxrt_stream_synchronize(CTXRT_STREAM_LEGACY));
    assert_words(words, 3);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

START_TEST(arguments_are_read_before_the_launch_returns)
{
    gate closed;
    begin();
    void *words = make_words(1), *at = words, *arguments[2];
    uint32_t count = WORDS;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.block[0] = 128;
    config.stream = stream;
    arguments[0] = &at;
    arguments[1] = &count;
    gate_close(&closed, stream);
    cx_assert_ok(ctxrt_launch(&config, add_one, arguments, 2));
    at = NULL;
    count = 0;
    memset(&config, 0, sizeof config);
    memset(arguments, 0, sizeof arguments);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_words(words, 2);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

START_TEST(a_block_gets_the_shared_memory_that_the_launch_asks_for)
{
    begin();
    uint32_t values[64], found[64];
    void *words, *arguments[] = {&words};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    for (uint32_t i = 0; i < 64; i++)
        values[i] = i;
    cx_assert_ok(ctxrt_alloc(sizeof values, &words));
    cx_assert_ok(ctxrt_copy(words, values, sizeof values, CTXRT_COPY_HOST_TO_DEVICE));
    config.block[0] = 64;
    config.shared_bytes = sizeof values;
    cx_assert_ok(ctxrt_launch(&config, kernel_of(module, "reverse"), arguments, 1));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_copy(found, words, sizeof found, CTXRT_COPY_DEVICE_TO_HOST));
    for (uint32_t i = 0; i < 64; i++)
        ck_assert_uint_eq(found[i], 63 - i);
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

START_TEST(the_blocks_of_a_cooperative_launch_wait_for_each_other)
{
    begin();
    enum { BLOCKS = 6 };
    uint32_t found[1 + BLOCKS];
    void *words = make_words(0), *arguments[] = {&words};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.grid[0] = BLOCKS;
    config.cooperative = 1;
    cx_assert_ok(ctxrt_launch(&config, kernel_of(module, "meet"), arguments, 1));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_copy(found, words, sizeof found, CTXRT_COPY_DEVICE_TO_HOST));
    for (int i = 0; i <= BLOCKS; i++)
        ck_assert_uint_eq(found[i], BLOCKS);
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

/* Each block writes how many blocks its cluster has. */
static const char clustered[] =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry ranks(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [out];\nmov.u32 %r1, %cluster_nctarank;\nmov.u32 %r2, %ctaid.x;\n"
    "mad.wide.u32 %d2, %r2, 4, %d1;\nst.global.u32 [%d2], %r1;\nret;\n}\n";

START_TEST(the_blocks_of_a_launch_form_the_clusters_that_it_asks_for)
{
    enum { BLOCKS = 8 };
    ctxrt_device_info info;
    cx_assert_ok(ctxrt_device_properties(CTXRT_CUDA(0), &info));
    if (info.cluster_launch == 0)
        cx_fixture_skip("the GPU has no clusters");
    module = load(clustered);
    ctxrt_kernel *ranks = kernel_of(module, "ranks");
    uint32_t found[BLOCKS];
    void *words, *arguments[] = {&words};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    cx_assert_ok(ctxrt_alloc(sizeof found, &words));
    config.grid[0] = BLOCKS;
    for (unsigned int size = 1; size <= BLOCKS; size *= 2)
        for (int cooperative = 0; cooperative < 2; cooperative++) {
            for (int i = 0; i < 3; i++)
                config.cluster[i] = i == 0 ? size : 1;
            config.cooperative = cooperative;
            cx_assert_ok(ctxrt_fill(words, 0xff, sizeof found));
            cx_assert_ok(ctxrt_launch(&config, ranks, arguments, 1));
            cx_assert_ok(ctxrt_stream_synchronize(NULL));
            cx_assert_ok(ctxrt_copy(found, words, sizeof found, CTXRT_COPY_DEVICE_TO_HOST));
            for (int i = 0; i < BLOCKS; i++)
                ck_assert_uint_eq(found[i], size);
        }
    config.cooperative = 0;
    config.cluster[0] = 3;
    cx_assert_error(ctxrt_launch(&config, ranks, arguments, 1), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("does not divide a grid of 8 x 1 x 1");
    config.cluster[0] = 2;
    config.cluster[2] = 0;
    cx_assert_error(ctxrt_launch(&config, ranks, arguments, 1), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("a dimension of the cluster is 0");
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

START_TEST(memory_released_behind_a_launch_in_its_stream_is_not_taken_from_it)
{
    gate closed;
    begin();
    ctxrt_memory *memory;
    uint32_t value = 7, found = 0;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    void *kept = make_words(0);
    cx_assert_ok(ctxrt_memory_alloc(WORD_BYTES, &memory));
    void *words = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_fill_async(words, 0, WORD_BYTES, NULL));
    gate_close(&closed, stream);
    cx_assert_ok(launch_add_one(add_one, words, NULL));
    cx_assert_ok(ctxrt_copy_async(kept, words, WORD_BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, NULL));
    if (here.type == CTXRT_DEVICE_CPU) /* its memory is given back at once, which waits */
        gate_open(&closed);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_alloc(WORD_BYTES, &memory));
    cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), (unsigned char)value, 4, NULL));
    if (here.type != CTXRT_DEVICE_CPU)
        gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_words(kept, 1);
    cx_assert_ok(ctxrt_copy(&found, ctxrt_memory_pointer(memory), 4, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_uint_eq(found, 0x07070707);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_free(kept));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    end();
}
END_TEST

/* On two devices, each with code, memory and streams of its own. */
START_TEST(devices_run_kernels_side_by_side)
{
    ctxrt_scope scope = {0};
    begin();
    void *words = make_words(1);
    cx_assert_ok(ctxrt_scope_enter(there, &scope));
    ctxrt_module *other = load(PTX_ALL);
    void *other_words = make_words(10);
    cx_assert_ok(launch_add_one(kernel_of(other, "add_one"), other_words, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_words(other_words, 11);
    cx_assert_ok(ctxrt_free(other_words));
    cx_assert_ok(ctxrt_module_unload(other));
    cx_assert_ok(ctxrt_scope_leave(&scope));
    cx_assert_ok(launch_add_one(add_one, words, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_words(words, 2);
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

/* ---- occupancy ---- */

START_TEST(occupancy_tells_how_many_blocks_run_at_once)
{
    begin();
    ctxrt_occupancy found = {0}, suggested = {0};
    ctxrt_device_info device;
    cx_assert_ok(ctxrt_device_properties(here, &device));
    cx_assert_ok(ctxrt_kernel_occupancy(add_one, 64, 0, &found));
    ck_assert_int_eq(found.block_threads, 64);
    ck_assert_int_ge(found.blocks_per_multiprocessor, 1);
    ck_assert_int_eq(found.blocks_on_device,
                     found.blocks_per_multiprocessor * device.multiprocessors);
    cx_assert_ok(ctxrt_kernel_occupancy(add_one, 0, 0, &suggested));
    ck_assert_int_eq(suggested.block_threads % device.warp_size, 0);
    ck_assert_int_le(suggested.block_threads, device.max_threads_per_block);
    ck_assert_int_ge(suggested.block_threads * suggested.blocks_per_multiprocessor,
                     found.block_threads * found.blocks_per_multiprocessor);
    for (int threads = device.max_threads_per_block; threads > suggested.block_threads;
         threads -= device.warp_size) {
        cx_assert_ok(ctxrt_kernel_occupancy(add_one, (unsigned int)threads, 0, &found));
        ck_assert_int_lt(found.block_threads * found.blocks_per_multiprocessor,
                         suggested.block_threads * suggested.blocks_per_multiprocessor);
    }
    cx_assert_ok(ctxrt_kernel_occupancy(kernel_of(module, "at_most_32"), 0, 0, &suggested));
    ck_assert_int_eq(suggested.block_threads, 32);
    end();
}
END_TEST

START_TEST(occupancy_says_where_nothing_fits)
{
    begin();
    ctxrt_occupancy found = {.block_threads = 77};
    cx_assert_error(ctxrt_kernel_occupancy(add_one, 0, (size_t)1 << 30, &found),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("1073741824 bytes");
    cx_assert_error(ctxrt_kernel_occupancy(add_one, 1u << 31, 0, &found),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(found.block_threads, 77);
    cx_assert_ok(ctxrt_kernel_occupancy(kernel_of(module, "at_most_32"), 64, 0, &found));
    ck_assert_int_eq(found.blocks_per_multiprocessor, 0);
    ck_assert_int_eq(found.blocks_on_device, 0);
    end();
}
END_TEST

/* ---- graphs ---- */

static ctxrt_graph *capture_add_one(void *words, ctxrt_capture_mode mode)
{
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, mode));
    cx_assert_ok(launch_add_one(add_one, words, NULL));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &graph));
    return graph;
}

static void launch_and_wait(ctxrt_graph *graph)
{
    cx_assert_ok(ctxrt_graph_launch(graph, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
}

START_TEST(a_captured_launch_runs_with_each_launch_of_the_graph)
{
    begin();
    void *words = make_words(1);
    ctxrt_graph *graph = capture_add_one(words, CTXRT_CAPTURE_THREAD_LOCAL);
    assert_words(words, 1);
    for (uint32_t i = 2; i < 5; i++) {
        launch_and_wait(graph);
        assert_words(words, i);
    }
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(words));
    end();
}
END_TEST

static void assert_modules_are_left(bool left)
{
    cx_assert_error(ctxrt_device_release(here), CTXRT_ERROR_IN_USE); /* the frame */
    cx_assert_ok(ctxrt_stack_pop());
    if (left) {
        cx_assert_error(ctxrt_device_release(here), CTXRT_ERROR_IN_USE);
        assert_says("1 module");
    } else {
        cx_assert_ok(ctxrt_device_release(here));
    }
    cx_assert_ok(ctxrt_device_set(here));
}

/* Clones, graphs in graphs and all: who is last releases it. */
START_TEST(a_graph_keeps_the_code_of_an_unloaded_module)
{
    ctxrt_graph *clone, *around;
    begin();
    void *words = make_words(1);
    ctxrt_graph *graph = capture_add_one(words, CTXRT_CAPTURE_RELAXED);
    cx_assert_ok(ctxrt_graph_clone(graph, &clone));
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_RELAXED));
    cx_assert_ok(ctxrt_graph_launch(clone, NULL));
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &around));
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_error(launch_add_one(add_one, words, NULL), CTXRT_ERROR_INVALID_HANDLE);
    launch_and_wait(graph);
    assert_words(words, 2);
    cx_assert_ok(ctxrt_graph_release(graph));
    launch_and_wait(clone);
    assert_words(words, 3);
    cx_assert_ok(ctxrt_graph_release(clone));
    launch_and_wait(around);
    assert_words(words, 4);
    cx_assert_ok(ctxrt_free(words));
    assert_modules_are_left(true);
    cx_assert_ok(ctxrt_graph_release(around));
    assert_modules_are_left(false);
}
END_TEST

START_TEST(a_graph_of_several_kernels_keeps_each_module_once)
{
    ctxrt_graph *graph;
    begin();
    void *words = make_words(1), *out = words, *arguments[] = {&out};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    ctxrt_module *other = load(PTX_ALL);
    cx_assert_ok(ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_THREAD_LOCAL));
    for (int i = 0; i < 3; i++) {
        cx_assert_ok(launch_add_one(add_one, words, NULL));
        cx_assert_ok(launch_add_one(kernel_of(other, "add_one"), words, NULL));
    }
    cx_assert_ok(ctxrt_stream_capture_end(NULL, &graph));
    cx_assert_ok(ctxrt_module_unload(other));
    cx_assert_ok(ctxrt_module_unload(module));
    launch_and_wait(graph);
    assert_words(words, 7);
    cx_assert_ok(ctxrt_graph_release(graph));
    begin();
    cx_assert_ok(ctxrt_launch(&config, kernel_of(module, "next"), arguments, 1));
    end();
    cx_assert_ok(ctxrt_free(words));
    assert_modules_are_left(false);
}
END_TEST

typedef struct adding {
    void *words;
    int calls;
} adding;

static ctxrt_status add_in_frame(void *argument)
{
    adding *self = argument;
    self->calls++;
    return launch_add_one(add_one, self->words, NULL);
}

/* Loads what it needs when it is called: loading is no part of the capture. */
static ctxrt_status load_and_add(void *argument)
{
    adding *self = argument;
    ctxrt_status status = ctxrt_module_load(PTX_ALL, 0, &module);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_module_get_kernel(module, "add_one", &add_one);
    return status == CTXRT_SUCCESS ? add_in_frame(self) : status;
}

static void submit(ctxrt_status (*run)(void *), adding *self, int capturable)
{
    const ctxrt_operator operation = {sizeof operation, "add", run, NULL, self, capturable};
    cx_assert_ok(ctxrt_operator_submit(&operation));
}

START_TEST(an_operator_that_launches_is_captured_once_and_replayed)
{
    ctxrt_graph *graph;
    begin();
    adding captured = {make_words(1), 0}, called = {make_words(1), 0};
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit(add_in_frame, &captured, 1);
    submit(add_in_frame, &called, 0);
    submit(add_in_frame, &captured, 1);
    cx_assert_ok(ctxrt_recording_stop(&graph));
    ck_assert_int_eq(captured.calls, 2);
    for (uint32_t launch = 1; launch <= 3; launch++) {
        launch_and_wait(graph);
        ck_assert_int_eq(captured.calls, 2);
        ck_assert_int_eq(called.calls, (int)launch);
        assert_words(captured.words, 1 + 2 * launch);
        assert_words(called.words, 1 + launch);
    }
    cx_assert_ok(ctxrt_module_unload(module));
    /* The operator that is called finds that out. */
    cx_assert_error(ctxrt_graph_launch(graph, NULL), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(captured.words));
    cx_assert_ok(ctxrt_free(called.words));
}
END_TEST

START_TEST(an_operator_may_load_its_module_while_it_is_captured)
{
    ctxrt_graph *graph;
    adding self = {make_words(1), 0};
    cx_assert_ok(ctxrt_recording_start(NULL));
    submit(load_and_add, &self, 1);
    cx_assert_ok(ctxrt_recording_stop(&graph));
    ck_assert_int_eq(self.calls, 1);
    cx_assert_ok(ctxrt_module_unload(module));
    launch_and_wait(graph);
    launch_and_wait(graph);
    assert_words(self.words, 3);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_free(self.words));
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, a_launch_that_makes_no_sense_is_refused);
    tcase_add_test(tests, what_the_driver_refuses_is_told_with_the_launch);
    tcase_add_test(tests, a_kernel_is_for_streams_of_its_context);
    tcase_add_test(tests, a_host_function_launches_nothing);
    tcase_add_test(tests, a_launch_is_work_of_its_stream);
    tcase_add_test(tests, a_null_stream_is_that_of_the_frame);
    tcase_add_test(tests, arguments_are_read_before_the_launch_returns);
    tcase_add_test(tests, a_block_gets_the_shared_memory_that_the_launch_asks_for);
    tcase_add_test(tests, the_blocks_of_a_cooperative_launch_wait_for_each_other);
    tcase_add_test(tests, the_blocks_of_a_launch_form_the_clusters_that_it_asks_for);
    tcase_add_test(tests, memory_released_behind_a_launch_in_its_stream_is_not_taken_from_it);
    tcase_add_test(tests, devices_run_kernels_side_by_side);
    tcase_add_test(tests, occupancy_tells_how_many_blocks_run_at_once);
    tcase_add_test(tests, occupancy_says_where_nothing_fits);
    tcase_add_test(tests, a_captured_launch_runs_with_each_launch_of_the_graph);
    tcase_add_test(tests, a_graph_keeps_the_code_of_an_unloaded_module);
    tcase_add_test(tests, a_graph_of_several_kernels_keeps_each_module_once);
    tcase_add_test(tests, an_operator_that_launches_is_captured_once_and_replayed);
    tcase_add_test(tests, an_operator_may_load_its_module_while_it_is_captured);
}

static Suite *launch_suite(void)
{
    Suite *suite = suite_create("launch");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS_TOGETHER(launch_suite);
