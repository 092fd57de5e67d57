/* CTXRT_EMU_LOADING: whether the first use of a kernel waits. */
#include "kernels.h"
#include "work_fixture.h"

#include <stdlib.h>

static CUfunction load(const char *name)
{
    CUmodule module;
    CUfunction function;

    ck_success(cx_emu_call_module_load_data(&module, PTX_ALL));
    ck_success(cx_emu_call_module_get_function(&function, module, name));
    return function;
}

static void setup(const char *loading, const char *eager)
{
    if (loading)
        ck_assert_int_eq(setenv("CTXRT_EMU_LOADING", loading, 1), 0);
    if (eager)
        ck_assert_int_eq(setenv("CUDA_MODULE_LOADING", eager, 1), 0);
    work_setup();
}

typedef struct use {
    CUfunction function;
    CUdeviceptr at;
    CUstream stream;
    bool only_loads;
} use;

static void *use_on_thread(void *argument)
{
    use *self = argument;
    uint32_t count = 1;
    void *parameters[] = {&self->at, &count};

    ck_success(cx_emu_call_ctx_push(work_context));
    if (self->only_loads)
        ck_success(cx_emu_call_func_load(self->function));
    else
        ck_success(cx_emu_call_launch_kernel(self->function, 1, 1, 1, 1, 1, 1, 0, self->stream,
                                             parameters, NULL));
    ck_success(cx_emu_call_ctx_pop(NULL));
    return NULL;
}

static bool is_loaded(CUfunction function)
{
    cxu_function_loading_state state;

    ck_success(cx_emu_call_func_is_loaded(&state, function));
    return state == CXU_FUNCTION_LOADING_STATE_LOADED;
}

/* Uses a kernel while another stream is held: that comes back before the stream goes on, or not. */
static void ck_waits(bool only_loads, bool waits)
{
    stream_gate gate = GATE_CLOSED;
    CUstream held = make_stream(CXU_STREAM_NON_BLOCKING);
    use one = {load("add_one"), make_memory(4), make_stream(CXU_STREAM_NON_BLOCKING), only_loads};
    pthread_t thread;

    gate_put(&gate, held);
    gate_wait_entered(&gate);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_on_thread, &one), 0);
    if (!waits)
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    gate_open(&gate);
    if (waits) {
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_success(cx_emu_call_stream_query(held)); /* it was waited for */
    }
    ck_assert(is_loaded(one.function));
    ck_success(cx_emu_call_ctx_synchronize());
}

START_TEST(a_first_launch_waits_for_no_other_stream)
{
    setup(NULL, NULL);
    ck_waits(false, false);
    work_teardown();
}
END_TEST

START_TEST(with_waits_a_first_use_waits_for_the_context)
{
    setup("waits", NULL);
    ck_waits(_i == 1, true);
    work_teardown();
}
END_TEST

START_TEST(with_waits_a_second_launch_does_not_wait)
{
    stream_gate gate = GATE_CLOSED;
    CUstream held, other;
    use one = {.only_loads = false};

    setup("waits", NULL);
    held = make_stream(CXU_STREAM_NON_BLOCKING);
    other = make_stream(CXU_STREAM_NON_BLOCKING);
    one = (use){load("add_one"), make_memory(4), other, false};
    use_on_thread(&one);
    gate_put(&gate, held);
    gate_wait_entered(&gate);
    use_on_thread(&one);
    ck_success(cx_emu_call_stream_synchronize(other));
    gate_open(&gate);
    ck_success(cx_emu_call_ctx_synchronize());
    work_teardown();
}
END_TEST

START_TEST(eager_loading_leaves_nothing_to_wait_for)
{
    setup("waits", "EAGER");
    ck_waits(false, false);
    work_teardown();
}
END_TEST

START_TEST(another_word_is_refused)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_LOADING", "sometimes", 1), 0);
    cx_emu_config config;
    const char *reason = NULL;

    ck_assert(!cx_emu_config_from_environment(&config, &reason));
    ck_assert_str_eq(reason, "CTXRT_EMU_LOADING is neither free nor waits");
}
END_TEST

static Suite *loading_suite(void)
{
    Suite *suite = suite_create("loading");
    TCase *tcase = tcase_create("loading");

    tcase_add_test(tcase, a_first_launch_waits_for_no_other_stream);
    tcase_add_loop_test(tcase, with_waits_a_first_use_waits_for_the_context, 0, 2);
    tcase_add_test(tcase, with_waits_a_second_launch_does_not_wait);
    tcase_add_test(tcase, eager_loading_leaves_nothing_to_wait_for);
    tcase_add_test(tcase, another_word_is_refused);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(loading_suite);
