/*
 * The layer check says of an error that sticks which work failed with it, where that was launched,
 * and which memory it missed.
 */
#include "layer/checking.h"

#include <stdio.h>

static const char code[] = ".version 6.3\n.target sm_50\n.address_size 64\n"
                           ".visible .entry store(.param .u64 to)\n{\n"
                           "    .reg .b32 %r1;\n    .reg .b64 %rd1;\n"
                           "    ld.param.u64 %rd1, [to];\n    mov.u32 %r1, 1;\n"
                           "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n"
                           ".visible .entry give_up()\n{\n    trap;\n    ret;\n}\n";

enum { BYTES = 256 };

static CUcontext here;

static void begin(void)
{
    begin_checking(2);
    GOOD(table.primary_retain(&here, 0));
    GOOD(table.ctx_set_current(here));
}

static CUfunction kernel(const char *name)
{
    CUmodule module;
    CUfunction function;
    GOOD(table.module_load_data(&module, code));
    GOOD(table.module_get_function(&function, module, name));
    return function;
}

static void launch_store(CUdeviceptr to, CUstream stream)
{
    void *arguments[] = {&to};
    GOOD(table.launch_kernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
}

static CUdeviceptr allocate(void)
{
    CUdeviceptr memory;
    GOOD(table.mem_alloc(&memory, BYTES));
    return memory;
}

static void fails_with(cxu_result expected)
{
    ck_assert_int_eq((int)table.ctx_synchronize(), (int)expected);
}

/* The latest finding is of the kind and has a line with this role that begins so. */
static void assert_told(cx_check_kind kind, const char *role, const char *text)
{
    unsigned count = atomic_load(&cx_region_here->findings);
    ck_assert_uint_gt(count, 0);
    const cx_region_finding *latest_one = &cx_region_here->all_findings[count - 1];
    ck_assert_int_eq((int)latest_one->kind, (int)kind);
    for (uint32_t i = 0; i < latest_one->note_count; i++)
        if (strcmp(latest_one->notes[i].role, role) == 0 &&
            strncmp(latest_one->notes[i].text, text, strlen(text)) == 0)
            return;
    ck_abort_msg("the finding has no line \"%s: %s...\"", role, text);
}

START_TEST(the_kernel_and_its_launch_are_named)
{
    CUstream stream;
    GOOD(table.stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    launch_store(0, stream);
    fails_with(CXU_ILLEGAL_ADDRESS);
    assert_told(CX_KIND_PROCESS_STICKY, "cause",
                "kernel store, line 10 of its PTX, block (0, 0, 0), thread (0, 0, 0), address 0: a "
                "write of 4 bytes through a null pointer");
    assert_told(CX_KIND_PROCESS_STICKY, "launched", "by cuLaunchKernel in stream 1");
    ck_assert_uint_eq(atomic_load(&cx_region_here->stuck), 1);
}
END_TEST

START_TEST(the_allocation_that_it_missed_is_named)
{
    launch_store(allocate() + BYTES, NULL);
    fails_with(CXU_ILLEGAL_ADDRESS);
    assert_told(CX_KIND_PROCESS_STICKY, "made", "256 bytes of device memory belongs to ");
    assert_told(CX_KIND_PROCESS_STICKY, "launched", "by cuLaunchKernel in the legacy stream");
}
END_TEST

START_TEST(memory_that_was_freed_is_told_once_with_its_kernel)
{
    CUdeviceptr memory = allocate();
    GOOD(table.mem_free(memory));
    launch_store(memory, NULL);
    for (int i = 0; i < 3; i++)
        fails_with(CXU_ILLEGAL_ADDRESS);
    assert_told(CX_KIND_MEMORY_ENDED, "cause", "kernel store, line 10 of its PTX");
    assert_told(CX_KIND_MEMORY_ENDED, "ended", "256 bytes of device memory was ended by cuMemFree");
    ck_assert_int_eq(found(CX_KIND_PROCESS_STICKY), 0);
}
END_TEST

START_TEST(a_kernel_that_gives_up_is_named)
{
    GOOD(table.launch_kernel(kernel("give_up"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    fails_with(CXU_LAUNCH_FAILED);
    assert_told(CX_KIND_PROCESS_STICKY, "cause", "kernel give_up, line 15 of its PTX");
}
END_TEST

START_TEST(a_kernel_of_a_graph_is_named_with_the_launch_of_the_graph)
{
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    GOOD(table.stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    launch_store(0, stream);
    GOOD(table.stream_end_capture(stream, &graph));
    GOOD(table.graph_instantiate_with_flags(&exec, graph, 0));
    GOOD(table.graph_launch(exec, stream));
    fails_with(CXU_ILLEGAL_ADDRESS);
    assert_told(CX_KIND_PROCESS_STICKY, "cause", "kernel store, ");
    assert_told(CX_KIND_PROCESS_STICKY, "launched", "by cuGraphLaunch in stream 1");
}
END_TEST

static Suite *culprit_suite(void)
{
    Suite *suite = suite_create("the work behind an error that sticks");
    TCase *tcase = tcase_create("culprit");
    tcase_add_checked_fixture(tcase, begin, NULL);
    tcase_add_test(tcase, the_kernel_and_its_launch_are_named);
    tcase_add_test(tcase, the_allocation_that_it_missed_is_named);
    tcase_add_test(tcase, memory_that_was_freed_is_told_once_with_its_kernel);
    tcase_add_test(tcase, a_kernel_that_gives_up_is_named);
    tcase_add_test(tcase, a_kernel_of_a_graph_is_named_with_the_launch_of_the_graph);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(culprit_suite);
