/* Modules, functions and launches (K1, K2, K3, K4, K5, K6, K7, K8, T9). */
#include "kernels.h"
#include "work_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS 1000
#define BYTES (WORDS * sizeof(uint32_t))

static CUmodule load(const char *text)
{
    CUmodule module = NULL;

    ck_success(cx_emu_call_module_load_data(&module, text));
    return module;
}

static CUfunction find(CUmodule module, const char *name)
{
    CUfunction function = NULL;

    ck_success(cx_emu_call_module_get_function(&function, module, name));
    return function;
}

static cxu_result launch(CUfunction function, unsigned int blocks, unsigned int threads,
                         CUstream stream, void **parameters)
{
    return cx_emu_call_launch_kernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, parameters,
                                     NULL);
}

static cxu_result add_one(CUfunction function, CUdeviceptr at, uint32_t count, CUstream stream)
{
    void *parameters[] = {&at, &count};

    return launch(function, (count + 63) / 64, 64, stream, parameters);
}

static void ck_words(CUdeviceptr at, uint32_t value, size_t count)
{
    uint32_t found[WORDS];

    read_device(found, at, count * sizeof found[0]);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(found[i], value);
}

static CUdeviceptr make_words(uint32_t value)
{
    CUdeviceptr at = make_memory(BYTES);

    ck_success(cx_emu_call_memset_d32(at, value, WORDS));
    ck_success(cx_emu_call_ctx_synchronize());
    return at;
}

/* ---- loading ---- */

START_TEST(a_kernel_does_its_work_for_each_thread)
{
    CUdeviceptr at = make_words(5);

    ck_success(add_one(find(load(PTX_ALL), "add_one"), at, WORDS - 1, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_words(at, 6, WORDS - 1);
    ck_words(at + (WORDS - 1) * sizeof(uint32_t), 5, 1);
}
END_TEST

START_TEST(loading_needs_a_context_and_code)
{
    static const unsigned char machine[] = "\177ELF";
    CUcontext context;
    CUmodule module = (CUmodule)(void *)&module;

    ck_result(cx_emu_call_module_load_data(NULL, PTX_ALL), INVALID_VALUE);
    ck_result(cx_emu_call_module_load_data(&module, NULL), INVALID_VALUE);
    ck_result(cx_emu_call_module_load_data(&module, ""), INVALID_IMAGE);
    ck_result(cx_emu_call_module_load_data(&module, "\1\2\3"), INVALID_IMAGE);
    ck_result(cx_emu_call_module_load_data(&module, "no code at all"), INVALID_IMAGE);
    ck_result(cx_emu_call_module_load_data(&module, machine), NO_BINARY_FOR_GPU);
    ck_result(cx_emu_call_module_load_data(&module, ".version 99.0\n.target sm_75\n"),
              UNSUPPORTED_PTX_VERSION);
    ck_result(cx_emu_call_module_load(&module, "/no/such/file.ptx"), FILE_NOT_FOUND);
    ck_success(cx_emu_call_ctx_pop(&context));
    ck_result(cx_emu_call_module_load_data(&module, PTX_ALL), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_push(context));
    ck_assert_ptr_eq(module, (CUmodule)(void *)&module);
}
END_TEST

START_TEST(what_is_wrong_with_code_stands_in_the_log)
{
    static const char broken[] = PTX_HEAD ".visible .entry k()\n{\n    .reg .b32 %r;\n"
                                          "    tex.2dms.v4.s32.s32 %r, 1;\n}\n";
    char text[200] = "";
    uintptr_t bytes = sizeof text;
    cxu_jit_option options[] = {CXU_JIT_ERROR_LOG_BUFFER, CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {text, (void *)bytes};
    CUmodule module;

    ck_result(cx_emu_call_module_load_data_ex(&module, broken, 2, options, values), NOT_SUPPORTED);
    ck_assert_ptr_nonnull(strstr(text, "tex.2dms.v4.s32.s32"));
    ck_assert_ptr_nonnull(strstr(text, "line 7"));
    ck_result(cx_emu_call_module_load_data_ex(&module, PTX_HEAD ".entry k() { bra X; }", 2, options,
                                              values),
              INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(text, "no label 'X'"));
}
END_TEST

START_TEST(a_file_with_less_than_it_says_is_no_image)
{
    static const unsigned char files[][24] = {
        {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 0, 0, 1},      /* 16 MiB of entries */
        {0x50, 0xed, 0x55, 0xba, 1, 0, 64, 0},                  /* a header longer than the file */
        {0xb1, 0x43, 0x62, 0x46, 1, 0, 0, 0, 0xf0, 0xf0, 0xf0}, /* an address of some program */
    };
    CUmodule module = NULL;

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[] = "/tmp/ctxrt-kernel-XXXXXX";
        int file = mkstemp(path);

        ck_assert_int_ge(file, 0);
        ck_assert_int_eq(write(file, files[i], sizeof files[i]), sizeof files[i]);
        ck_assert_int_eq(close(file), 0);
        ck_result(cx_emu_call_module_load(&module, path), INVALID_IMAGE);
        ck_assert_int_eq(unlink(path), 0);
    }
    ck_assert_ptr_null(module);
}
END_TEST

START_TEST(what_is_in_a_module_is_found_by_name)
{
    CUmodule module = load(PTX_ALL), owner = NULL;
    CUfunction function = find(module, "next");
    CUdeviceptr counter = 0, out = make_memory(4);
    size_t bytes = 0;
    const char *name = NULL;
    void *parameters[] = {&out};
    uint32_t value = 0;

    ck_result(cx_emu_call_module_get_function(&function, module, "no_such_kernel"), NOT_FOUND);
    ck_result(cx_emu_call_module_get_global(&counter, &bytes, module, "no_such"), NOT_FOUND);
    ck_result(cx_emu_call_module_get_global(NULL, NULL, module, "counter"), INVALID_VALUE);
    ck_success(cx_emu_call_module_get_global(&counter, &bytes, module, "step"));
    ck_assert_uint_eq(bytes, 8);
    ck_success(cx_emu_call_module_get_global(&counter, &bytes, module, "counter"));
    ck_assert_uint_eq(bytes, 4);
    ck_success(cx_emu_call_func_get_name(&name, function));
    ck_assert_str_eq(name, "next");
    ck_success(cx_emu_call_func_get_module(&owner, function));
    ck_assert_ptr_eq(owner, module);

    ck_success(launch(function, 1, 1, NULL, parameters));
    ck_success(launch(function, 2, 2, NULL, parameters));
    ck_success(cx_emu_call_memcpy_dtoh(&value, counter, sizeof value));
    ck_assert_uint_eq(value, 46);
    ck_success(cx_emu_call_memcpy_dtoh(&value, out, sizeof value));
    ck_assert_uint_eq(value, 45);
}
END_TEST

START_TEST(each_module_has_variables_of_its_own)
{
    CUmodule one = load(PTX_ALL), other = load(PTX_ALL);
    CUdeviceptr first, second;

    ck_success(cx_emu_call_module_get_global(&first, NULL, one, "counter"));
    ck_success(cx_emu_call_module_get_global(&second, NULL, other, "counter"));
    ck_assert(first != second);
    ck_success(cx_emu_call_module_unload(one));
    ck_result(cx_emu_call_module_unload(one), INVALID_HANDLE);
    ck_success(cx_emu_call_module_get_global(&first, NULL, other, "counter"));
    ck_assert(first == second);
}
END_TEST

START_TEST(a_module_goes_with_its_context)
{
    CUcontext other;
    CUfunction function;
    CUmodule module;

    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    module = load(PTX_ALL);
    function = find(module, "traps");
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_result(cx_emu_call_module_unload(module), INVALID_HANDLE);
    ck_result(launch(function, 1, 1, NULL, NULL), INVALID_HANDLE);
}
END_TEST

/* ---- launching ---- */

START_TEST(a_launch_that_cannot_be_is_refused)
{
    CUmodule module = load(PTX_ALL);
    CUfunction function = find(module, "add_one"), reverse = find(module, "reverse");
    CUdeviceptr at = make_words(5);
    uint32_t count = 1;
    void *parameters[] = {&at, &count}, *missing[] = {&at, NULL};
    void *end[] = {(void *)CXU_LAUNCH_PARAM_END};

    ck_result(launch(NULL, 1, 1, NULL, parameters), INVALID_HANDLE);
    ck_result(launch((CUfunction)(void *)module, 1, 1, NULL, parameters), INVALID_HANDLE);
    ck_result(launch(function, 0, 1, NULL, parameters), INVALID_VALUE);
    ck_result(launch(function, 1, 0, NULL, parameters), INVALID_VALUE);
    ck_result(launch(function, 1, 1025, NULL, parameters), INVALID_VALUE);
    ck_result(cx_emu_call_launch_kernel(function, 1, 1, 1, 64, 32, 1, 0, NULL, parameters, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 65, 0, NULL, parameters, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_launch_kernel(function, 1, 65536, 1, 1, 1, 1, 0, NULL, parameters, NULL),
              INVALID_VALUE);
    ck_result(cx_emu_call_launch_kernel(reverse, 1, 1, 1, 1, 1, 1, 49153, NULL, parameters, NULL),
              INVALID_VALUE);
    ck_result(launch(function, 1, 1, NULL, NULL), INVALID_VALUE);
    ck_result(launch(function, 1, 1, NULL, missing), INVALID_VALUE);
    ck_result(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, end),
              INVALID_VALUE);
    ck_result(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, end),
              INVALID_VALUE);
    ck_result(launch(find(module, "at_most_32"), 1, 33, NULL, NULL), INVALID_VALUE);
    ck_success(launch(find(module, "at_most_32"), 1, 32, NULL, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_words(at, 5, WORDS);
}
END_TEST

START_TEST(arguments_may_come_in_a_buffer)
{
    CUfunction function = find(load(PTX_ALL), "add_one");
    CUdeviceptr at = make_words(5);
    struct {
        CUdeviceptr at;
        uint32_t count;
    } buffer = {at, WORDS};
    size_t bytes = 12, short_by_one = 11;
    void *extra[] = {(void *)CXU_LAUNCH_PARAM_BUFFER_POINTER, &buffer,
                     (void *)CXU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, (void *)CXU_LAUNCH_PARAM_END};

    ck_success(cx_emu_call_launch_kernel(function, WORDS, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    memset(&buffer, 0, sizeof buffer);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_words(at, 6, WORDS);
    extra[3] = &short_by_one;
    ck_result(cx_emu_call_launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra),
              INVALID_VALUE);
}
END_TEST

START_TEST(a_kernel_is_for_streams_of_its_context)
{
    CUfunction function = find(load(PTX_ALL), "add_one");
    CUstream own = make_stream(CXU_STREAM_NON_BLOCKING), foreign;
    CUdeviceptr at = make_words(5);
    CUcontext other, popped;

    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    ck_success(cx_emu_call_stream_create(&foreign, 0));
    ck_success(add_one(function, at, 1, own));
    ck_result(add_one(function, at, 1, NULL), INVALID_HANDLE);
    ck_result(add_one(function, at, 1, foreign), INVALID_HANDLE);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(add_one(function, at, 1, own));
    ck_result(add_one(function, at, 1, NULL), INVALID_CONTEXT);
    ck_success(cx_emu_call_ctx_push(popped));
    ck_success(cx_emu_call_stream_synchronize(own));
    ck_words(at, 7, 1);
}
END_TEST

START_TEST(a_launch_is_work_of_its_stream)
{
    CUmodule module = load(PTX_ALL);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr at = make_words(5);
    uint32_t *flag;
    void *parameters[1];

    ck_success(cx_emu_call_mem_alloc_host((void **)&flag, sizeof *flag));
    *flag = 0;
    parameters[0] = &flag;
    ck_success(launch(find(module, "spin"), 1, 1, stream, parameters));
    ck_success(add_one(find(module, "add_one"), at, WORDS, stream));
    ck_success(cx_emu_call_module_unload(module));
    ck_result(cx_emu_call_stream_query(stream), NOT_READY);
    ck_words(at, 5, WORDS);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_words(at, 6, WORDS);
    ck_success(cx_emu_call_mem_free_host(flag));
}
END_TEST

START_TEST(a_block_shares_memory_and_waits_for_all_its_threads)
{
    CUfunction reverse = find(load(PTX_ALL), "reverse");
    CUdeviceptr at = make_memory(BYTES);
    uint32_t words[WORDS];
    void *parameters[] = {&at};

    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i;
    ck_success(cx_emu_call_memcpy_htod(at, words, BYTES));
    ck_success(cx_emu_call_launch_kernel(reverse, 1, 1, 1, WORDS, 1, 1, BYTES, NULL, parameters,
                                         NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, at, BYTES);
    for (uint32_t i = 0; i < WORDS; i++)
        ck_assert_uint_eq(words[i], WORDS - 1 - i);
}
END_TEST

#define BLOCKS 6

START_TEST(the_blocks_of_a_cooperative_launch_run_together)
{
    CUfunction meet = find(load(PTX_ALL), "meet");
    CUdeviceptr at = make_memory(BYTES);
    void *parameters[] = {&at};
    uint32_t words[BLOCKS + 1];

    ck_success(cx_emu_call_memset_d32(at, 0, WORDS));
    ck_success(
        cx_emu_call_launch_cooperative_kernel(meet, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, parameters));
    ck_success(cx_emu_call_ctx_synchronize());
    read_device(words, at, sizeof words);
    for (int i = 0; i <= BLOCKS; i++)
        ck_assert_uint_eq(words[i], BLOCKS);
    ck_result(
        cx_emu_call_launch_cooperative_kernel(meet, 1000000, 1, 1, 1, 1, 1, 0, NULL, parameters),
        COOPERATIVE_LAUNCH_TOO_LARGE);
}
END_TEST

START_TEST(what_a_function_needs_and_how_many_blocks_fit)
{
    CUmodule module = load(PTX_ALL);
    CUfunction reverse = find(module, "reverse");
    size_t offset = 0, bytes = 0;
    int value = -1;

    ck_success(cx_emu_call_func_get_attribute(&value, CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
                                              find(module, "at_most_32")));
    ck_assert_int_eq(value, 32);
    ck_success(cx_emu_call_func_get_attribute(&value, CXU_FUNC_ATTRIBUTE_BINARY_VERSION, reverse));
    ck_assert_int_eq(value, 75);
    ck_result(cx_emu_call_func_get_attribute(&value, (cxu_func_attribute)99, reverse),
              INVALID_VALUE);
    ck_success(cx_emu_call_occupancy_max_active_blocks(&value, reverse, 256, 0));
    ck_assert_int_eq(value, 4);
    ck_success(cx_emu_call_occupancy_max_active_blocks(&value, reverse, 32, 20000));
    ck_assert_int_eq(value, 3);
    ck_success(cx_emu_call_occupancy_max_active_blocks(&value, reverse, 32, 60000));
    ck_assert_int_eq(value, 0);
    ck_success(cx_emu_call_func_set_attribute(
        reverse, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
    ck_success(cx_emu_call_occupancy_max_active_blocks(&value, reverse, 32, 60000));
    ck_assert_int_eq(value, 1);
    ck_result(cx_emu_call_func_set_attribute(
                  reverse, CXU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65537),
              INVALID_VALUE);
    ck_result(cx_emu_call_occupancy_max_active_blocks(&value, reverse, 0, 0), INVALID_VALUE);
    ck_success(cx_emu_call_func_get_param_info(find(module, "store"), 1, &offset, &bytes));
    ck_assert_uint_eq(offset, 8);
    ck_assert_uint_eq(bytes, 8);
    ck_result(cx_emu_call_func_get_param_info(reverse, 1, &offset, &bytes), INVALID_VALUE);
}
END_TEST

/* ---- libraries ---- */

START_TEST(a_kernel_of_a_library_runs_where_its_stream_is)
{
    CUlibrary library;
    CUkernel kernel;
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr at = make_words(5);
    CUcontext context;

    ck_success(cx_emu_call_ctx_pop(&context));
    ck_success(
        cx_emu_call_library_load_data(&library, PTX_ALL, NULL, NULL, 0, NULL, NULL, 0));
    ck_result(cx_emu_call_library_get_kernel(&kernel, library, "no_such"), NOT_FOUND);
    ck_success(cx_emu_call_library_get_kernel(&kernel, library, "add_one"));
    ck_success(add_one((CUfunction)(void *)kernel, at, WORDS, stream));
    ck_result(add_one((CUfunction)(void *)kernel, at, WORDS, NULL), INVALID_CONTEXT);
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_ctx_push(context));
    ck_success(add_one((CUfunction)(void *)kernel, at, WORDS, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_words(at, 7, WORDS);
    ck_success(cx_emu_call_library_unload(library));
    ck_result(cx_emu_call_library_unload(library), INVALID_HANDLE);
    ck_result(add_one((CUfunction)(void *)kernel, at, WORDS, NULL), INVALID_HANDLE);
}
END_TEST

START_TEST(a_library_has_a_module_in_each_context)
{
    CUlibrary library;
    CUmodule here, there, again;
    CUcontext other;
    CUdeviceptr counter;

    ck_success(
        cx_emu_call_library_load_data(&library, PTX_ALL, NULL, NULL, 0, NULL, NULL, 0));
    ck_success(cx_emu_call_library_get_module(&here, library));
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    ck_success(cx_emu_call_library_get_module(&there, library));
    ck_success(cx_emu_call_library_get_global(&counter, NULL, library, "counter"));
    ck_assert_ptr_ne(here, there);
    ck_result(cx_emu_call_module_unload(there), NOT_PERMITTED);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(cx_emu_call_library_get_module(&again, library));
    ck_assert_ptr_eq(here, again);
    ck_success(cx_emu_call_library_unload(library));
    ck_result(cx_emu_call_module_unload(here), INVALID_HANDLE);
}
END_TEST

/* ---- graphs ---- */

static uint32_t word_at(CUdeviceptr at)
{
    uint32_t word;

    read_device(&word, at, sizeof word);
    return word;
}

START_TEST(a_captured_launch_is_a_node_that_runs_at_each_launch)
{
    CUmodule module = load(PTX_ALL);
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUdeviceptr at = make_words(5);
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    cxu_graph_node_type type = CXU_GRAPH_NODE_TYPE_EMPTY;
    size_t count = 1;

    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(add_one(find(module, "add_one"), at, WORDS, stream));
    ck_result(add_one(find(module, "at_most_32"), at, 0, stream), INVALID_VALUE);
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    ck_success(cx_emu_call_graph_get_nodes(graph, &node, &count));
    ck_assert_uint_eq(count, 1);
    ck_success(cx_emu_call_graph_node_get_type(node, &type));
    ck_assert_int_eq(type, CXU_GRAPH_NODE_TYPE_KERNEL);
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_destroy(graph));
    for (int i = 0; i < 3; i++)
        ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_words(at, 8, WORDS);
    ck_success(cx_emu_call_module_unload(module));
    ck_result(cx_emu_call_graph_launch(exec, stream), INVALID_HANDLE);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
}
END_TEST

START_TEST(a_node_takes_other_arguments)
{
    CUmodule module = load(PTX_ALL);
    CUdeviceptr at = make_words(5), other = make_words(50);
    uint32_t count = 1;
    void *parameters[] = {&at, &count};
    cxu_kernel_node_params params = {.function = find(module, "add_one"),
                                     .grid_x = 1, .grid_y = 1, .grid_z = 1,
                                     .block_x = 1, .block_y = 1, .block_z = 1,
                                     .parameters = parameters}, found;
    cxu_graph_exec_update_result_info info;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_result(cx_emu_call_graph_add_kernel_node(&node, graph, NULL, 0, NULL), INVALID_VALUE);
    params.block_x = 2000;
    ck_result(cx_emu_call_graph_add_kernel_node(&node, graph, NULL, 0, &params), INVALID_VALUE);
    params.block_x = 1;
    ck_success(cx_emu_call_graph_add_kernel_node(&node, graph, NULL, 0, &params));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, NULL));
    parameters[0] = &other;
    ck_success(cx_emu_call_graph_exec_kernel_node_set_params(exec, node, &params));
    ck_success(cx_emu_call_graph_launch(exec, NULL));
    ck_success(cx_emu_call_graph_kernel_node_get_params(node, &found));
    ck_assert_ptr_eq(found.function, params.function);
    ck_assert(*(CUdeviceptr *)found.parameters[0] == at);
    ck_success(cx_emu_call_graph_exec_update(exec, graph, &info));
    ck_success(cx_emu_call_graph_launch(exec, NULL));
    ck_success(cx_emu_call_graph_kernel_node_set_params(node, &params));
    ck_success(cx_emu_call_graph_kernel_node_get_params(node, &found));
    ck_assert(*(CUdeviceptr *)found.parameters[0] == other);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(word_at(at), 7);
    ck_assert_uint_eq(word_at(other), 51);
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

START_TEST(a_node_keeps_to_the_context_of_its_kernel)
{
    CUfunction here = find(load(PTX_ALL), "at_most_32");
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_KERNEL,
                                    .of.kernel = {.function = here,
                                                  .grid_x = 1, .grid_y = 1, .grid_z = 1,
                                                  .block_x = 1, .block_y = 1, .block_z = 1}};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUcontext other;

    ck_success(cx_emu_call_graph_create(&graph, 0));
    ck_success(cx_emu_call_graph_add_node(&node, graph, NULL, NULL, 0, &params));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    params.of.kernel.function = find(load(PTX_ALL), "at_most_32");
    ck_result(cx_emu_call_graph_exec_node_set_params(exec, node, &params), INVALID_VALUE);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_success(cx_emu_call_graph_launch(exec, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
}
END_TEST

/* ---- what fails; each test has a process of its own, which the error has spoilt ---- */

static void start_alone(const char *schedule)
{
    const cx_emu_config config = {.gpus = 1,
                                  .gpu_memory_bytes = (size_t)64 << 20,
                                  .driver_version = CX_EMU_DRIVER_VERSION};

    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedule, 1), 0);
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_success(cx_emu_call_ctx_create_v2(&work_context, 0, 0));
}

/* Launches `store` with an offset to the 1000 bytes that there are. */
static cxu_result store_at(uint64_t offset)
{
    CUdeviceptr at;
    void *parameters[] = {&at, &offset};

    start_alone("threads");
    ck_success(cx_emu_call_mem_alloc(&at, 1000));
    ck_success(launch(find(load(PTX_ALL), "store"), 1, 1, NULL, parameters));
    return cx_emu_call_ctx_synchronize();
}

START_TEST(the_last_bytes_can_be_written)
{
    ck_success(store_at(996));
}
END_TEST

START_TEST(what_lies_behind_the_last_byte_is_an_illegal_address)
{
    CUdeviceptr at;

    ck_result(store_at(1000), ILLEGAL_ADDRESS);
    ck_result(cx_emu_call_mem_alloc(&at, 4), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(what_lies_before_the_first_byte_is_an_illegal_address)
{
    ck_result(store_at((uint64_t)-4), ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(four_bytes_at_an_odd_address_are_misaligned)
{
    ck_result(store_at(2), MISALIGNED_ADDRESS);
}
END_TEST

static cxu_result run_alone(const char *name, unsigned int threads)
{
    start_alone("threads");
    ck_success(launch(find(load(PTX_ALL), name), 1, threads, NULL, NULL));
    return cx_emu_call_ctx_synchronize();
}

START_TEST(a_trap_is_a_failed_launch)
{
    ck_result(run_alone("traps", 1), LAUNCH_FAILED);
}
END_TEST

START_TEST(an_assertion_that_does_not_hold_spoils_its_context_only)
{
    CUcontext other;
    CUdeviceptr at;

    ck_result(run_alone("asserts", 1), ASSERT);
    ck_result(cx_emu_call_mem_alloc(&at, 4), ASSERT);
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 0));
    ck_success(cx_emu_call_mem_alloc(&at, 4));
}
END_TEST

START_TEST(threads_that_wait_at_different_barriers_time_out)
{
    ck_result(run_alone("waits_for_nobody", 2), LAUNCH_TIMEOUT);
}
END_TEST

START_TEST(memory_is_freed_when_the_kernels_are_done_that_may_use_it)
{
    CUdeviceptr at;

    start_alone("lazy");
    ck_success(cx_emu_call_mem_alloc(&at, BYTES));
    ck_success(add_one(find(load(PTX_ALL), "add_one"), at, WORDS, NULL));
    ck_success(cx_emu_call_mem_free(at));
    ck_success(cx_emu_call_ctx_synchronize());
}
END_TEST

START_TEST(a_kernel_that_never_ends_lets_the_process_end)
{
    CUdeviceptr at;
    void *parameters[] = {&at};

    start_alone("threads");
    ck_success(cx_emu_call_mem_alloc(&at, BYTES));
    ck_success(cx_emu_call_memset_d32(at, 0, WORDS));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(launch(find(load(PTX_ALL), "spin"), 1, 1, NULL, parameters));
    ck_result(cx_emu_call_stream_query(NULL), NOT_READY);
}
END_TEST

static Suite *kernel_suite(void)
{
    Suite *suite = suite_create("kernel");
    TCase *tcase = tcase_create("kernel"), *alone = tcase_create("alone");

    tcase_add_checked_fixture(tcase, work_setup, work_teardown);
    tcase_add_test(tcase, a_kernel_does_its_work_for_each_thread);
    tcase_add_test(tcase, loading_needs_a_context_and_code);
    tcase_add_test(tcase, what_is_wrong_with_code_stands_in_the_log);
    tcase_add_test(tcase, a_file_with_less_than_it_says_is_no_image);
    tcase_add_test(tcase, what_is_in_a_module_is_found_by_name);
    tcase_add_test(tcase, each_module_has_variables_of_its_own);
    tcase_add_test(tcase, a_module_goes_with_its_context);
    tcase_add_test(tcase, a_launch_that_cannot_be_is_refused);
    tcase_add_test(tcase, arguments_may_come_in_a_buffer);
    tcase_add_test(tcase, a_kernel_is_for_streams_of_its_context);
    tcase_add_test(tcase, a_launch_is_work_of_its_stream);
    tcase_add_test(tcase, a_block_shares_memory_and_waits_for_all_its_threads);
    tcase_add_test(tcase, the_blocks_of_a_cooperative_launch_run_together);
    tcase_add_test(tcase, what_a_function_needs_and_how_many_blocks_fit);
    tcase_add_test(tcase, a_kernel_of_a_library_runs_where_its_stream_is);
    tcase_add_test(tcase, a_library_has_a_module_in_each_context);
    tcase_add_test(tcase, a_captured_launch_is_a_node_that_runs_at_each_launch);
    tcase_add_test(tcase, a_node_takes_other_arguments);
    tcase_add_test(tcase, a_node_keeps_to_the_context_of_its_kernel);
    suite_add_tcase(suite, tcase);
    tcase_add_test(alone, the_last_bytes_can_be_written);
    tcase_add_test(alone, what_lies_behind_the_last_byte_is_an_illegal_address);
    tcase_add_test(alone, what_lies_before_the_first_byte_is_an_illegal_address);
    tcase_add_test(alone, four_bytes_at_an_odd_address_are_misaligned);
    tcase_add_test(alone, a_trap_is_a_failed_launch);
    tcase_add_test(alone, an_assertion_that_does_not_hold_spoils_its_context_only);
    tcase_add_test(alone, threads_that_wait_at_different_barriers_time_out);
    tcase_add_test(alone, memory_is_freed_when_the_kernels_are_done_that_may_use_it);
    tcase_add_test(alone, a_kernel_that_never_ends_lets_the_process_end);
    suite_add_tcase(suite, alone);
    return suite;
}

CX_TESTS(kernel_suite);
