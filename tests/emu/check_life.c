#include "gpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ZERO(arity, list) ZERO_(arity, list)
#define ZERO_(arity, list) ZERO_##arity list
#define ZERO_0() ()
#define ZERO_1(t1, n1) ((t1){0})
#define ZERO_2(t1, n1, t2, n2) ((t1){0}, (t2){0})
#define ZERO_3(t1, n1, t2, n2, t3, n3) ((t1){0}, (t2){0}, (t3){0})
#define ZERO_4(t1, n1, t2, n2, t3, n3, t4, n4) ((t1){0}, (t2){0}, (t3){0}, (t4){0})
#define ZERO_5(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5) ((t1){0}, (t2){0}, (t3){0}, (t4){0}, (t5){0})
#define ZERO_6(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6) \
    ((t1){0}, (t2){0}, (t3){0}, (t4){0}, (t5){0}, (t6){0})
#define ZERO_7(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7) \
    ((t1){0}, (t2){0}, (t3){0}, (t4){0}, (t5){0}, (t6){0}, (t7){0})
#define ZERO_8(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8) \
    ((t1){0}, (t2){0}, (t3){0}, (t4){0}, (t5){0}, (t6){0}, (t7){0}, (t8){0})
#define ZERO_9(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9) \
    ((t1){0}, (t2){0}, (t3){0}, (t4){0}, (t5){0}, (t6){0}, (t7){0}, (t8){0}, (t9){0})
#define ZERO_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, n10) \
    ((t1){0}, (t2){0}, (t3){0}, (t4){0}, (t5){0}, (t6){0}, (t7){0}, (t8){0}, (t9){0}, (t10){0})
#define ZERO_11(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, n10, \
                t11, n11)                                                                         \
    ((t1){0}, (t2){0}, (t3){0}, (t4){0}, (t5){0}, (t6){0}, (t7){0}, (t8){0}, (t9){0}, (t10){0},   \
     (t11){0})

static bool works_always(cx_slot slot)
{
    return slot == CX_SLOT_driver_get_version || slot == CX_SLOT_get_error_name ||
           slot == CX_SLOT_get_error_string;
}

/* The first call that, given zeros, does not answer `expected`; NULL if all do. */
static const char *find_other_answer(cxu_result expected, bool with_init)
{
    const char *found = NULL;
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters)             \
    if (!works_always(CX_SLOT_##slot) && (with_init || CX_SLOT_##slot != CX_SLOT_init) && \
        found == NULL && cx_emu_table.slot ZERO(arity, parameters) != expected)           \
        found = #slot;
#include "driver/symbols.def"
    return found;
}

/* I1 */
START_TEST(before_init_every_call_says_not_initialized)
{
    const char *other = find_other_answer(CXU_NOT_INITIALIZED, false);
    ck_assert_msg(other == NULL, "%s", other);
}
END_TEST

/* I1 */
START_TEST(before_init_out_parameters_stay_untouched)
{
    int count = 77;
    CUcontext context = (CUcontext)&count;
    EXPECT(NOT_INITIALIZED, device_get_count, &count);
    ck_assert_int_eq(count, 77);
    EXPECT(NOT_INITIALIZED, ctx_get_current, &context);
    ck_assert_ptr_eq(context, &count);
    EXPECT(NOT_INITIALIZED, ctx_pop, &context);
    ck_assert_ptr_eq(context, &count);
}
END_TEST

/* I1 */
START_TEST(before_init_version_and_error_names_work)
{
    int version = 0;
    const char *name = NULL;
    EXPECT(SUCCESS, driver_get_version, &version);
    ck_assert_int_eq(version, CX_EMU_DRIVER_VERSION);
    EXPECT(INVALID_VALUE, driver_get_version, NULL);
    EXPECT(SUCCESS, get_error_name, CXU_INVALID_CONTEXT, &name);
    ck_assert_str_eq(name, "CUDA_ERROR_INVALID_CONTEXT");
    EXPECT(SUCCESS, get_error_string, CXU_INVALID_CONTEXT, &name);
    ck_assert_ptr_nonnull(name);
}
END_TEST

START_TEST(an_unknown_error_code_has_no_name)
{
    const char *name = "untouched";
    EXPECT(INVALID_VALUE, get_error_name, (cxu_result)12345, &name);
    ck_assert_ptr_null(name);
    EXPECT(INVALID_VALUE, get_error_name, CXU_SUCCESS, NULL);
}
END_TEST

/* I2 */
START_TEST(init_takes_no_flags_and_may_be_repeated)
{
    EXPECT(INVALID_VALUE, init, 1);
    EXPECT(NOT_INITIALIZED, device_get_count, &(int){0});
    EXPECT(SUCCESS, init, 0);
    EXPECT(SUCCESS, init, 0);
    EXPECT(INVALID_VALUE, init, 1);
    EXPECT(SUCCESS, device_get_count, &(int){0});
}
END_TEST

static void *init_on_a_thread(void *unused)
{
    (void)unused;
    EXPECT(SUCCESS, init, 0);
    create_on(0);
    EXPECT(SUCCESS, ctx_destroy, current());
    return NULL;
}

/* I2 */
START_TEST(threads_may_race_to_init)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, init_on_a_thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

/* Runs `body` in a child process; what it passes to exit says whether all is well (0). */
static void expect_good_child(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        body();
        _exit(99);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status 0x%x", status);
}

static void all_say_deinitialized(void)
{
    _exit(find_other_answer(CXU_DEINITIALIZED, true) == NULL ? 0 : 1);
}

static void exit_with_an_earlier_handler(void)
{
    if (atexit(all_say_deinitialized) != 0 || CU(init, 0) != CXU_SUCCESS)
        _exit(2);
    CUcontext context;
    if (CU(ctx_create_v2, &context, 0, 0) != CXU_SUCCESS)
        _exit(3);
    exit(4);
}

/* I3 */
START_TEST(an_exit_handler_older_than_init_hears_deinitialized)
{
    expect_good_child(exit_with_an_earlier_handler);
}
END_TEST

static void call_once_more(void)
{
    int count;
    if (CU(device_get_count, &count) != CXU_SUCCESS || CU(ctx_destroy, current()) != CXU_SUCCESS)
        _exit(5);
}

static bool watch_destructor;

/* The program's own destructor: the last of all to call. */
__attribute__((destructor)) static void last_of_all(void)
{
    if (watch_destructor)
        all_say_deinitialized();
}

static void exit_with_a_later_handler(void)
{
    CUcontext context;
    watch_destructor = true;
    if (CU(init, 0) != CXU_SUCCESS || CU(ctx_create_v2, &context, 0, 0) != CXU_SUCCESS)
        _exit(2);
    if (atexit(call_once_more) != 0)
        _exit(3);
    exit(4);
}

/* I3 */
START_TEST(a_static_destructor_hears_deinitialized)
{
    expect_good_child(exit_with_a_later_handler);
}
END_TEST

static void *hold_many_entries(void *argument)
{
    other_thread *other = argument;
    for (int i = 0; i < 100; i++)
        if (CU(ctx_push, other->context) != CXU_SUCCESS)
            _exit(6);
    step(other);
    for (;;)
        if (CU(ctx_push, other->context) == CXU_DEINITIALIZED)
            return NULL;
        else if (CU(ctx_pop, NULL) != CXU_SUCCESS)
            return NULL;
}

static void exit_under_a_busy_thread(void)
{
    static other_thread other;
    if (CU(init, 0) != CXU_SUCCESS)
        _exit(2);
    CUcontext context;
    if (CU(ctx_create_v2, &context, 0, 0) != CXU_SUCCESS)
        _exit(3);
    start_other(&other, hold_many_entries, context);
    pthread_detach(other.thread);
    step(&other);
    exit(0);
}

/* I3 */
START_TEST(the_process_may_exit_while_threads_still_call)
{
    expect_good_child(exit_under_a_busy_thread);
}
END_TEST

/* The version is asked under the lock: it must be free here. */
static void all_say_not_initialized(void)
{
    if (CU(driver_get_version, &(int){0}) != CXU_SUCCESS)
        _exit(2);
    _exit(find_other_answer(CXU_NOT_INITIALIZED, true) == NULL ? 0 : 1);
}

/* I4 */
START_TEST(a_child_forked_after_init_hears_not_initialized)
{
    EXPECT(SUCCESS, init, 0);
    CUcontext context = create_on(0);
    expect_good_child(all_say_not_initialized);
    ck_assert_ptr_eq(current(), context);
    ck_assert_int_eq(use(), CXU_SUCCESS);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static void init_here(void)
{
    _exit(CU(init, 0) == CXU_SUCCESS ? 0 : 1);
}

/* I4 */
START_TEST(a_child_forked_before_init_may_init)
{
    expect_good_child(init_here);
    EXPECT(SUCCESS, init, 0);
}
END_TEST

static _Atomic bool stop;
static _Atomic int other_answers;

/* No Check assertion here: each takes Check's own lock, which a child would find locked. */
static void *take_the_lock(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        CUcontext context;
        other_answers += CU(primary_retain, &context, 0) != CXU_SUCCESS;
        other_answers += CU(primary_release, 0) != CXU_SUCCESS;
    }
    return NULL;
}

/* I4 */
START_TEST(a_fork_while_others_hold_the_lock_leaves_no_lock_behind)
{
    EXPECT(SUCCESS, init, 0);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, take_the_lock, NULL), 0);
    for (int i = 0; i < 20; i++)
        expect_good_child(all_say_not_initialized);
    atomic_store(&stop, true);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(atomic_load(&other_answers), 0);
}
END_TEST

/* T10: as a worker does around a host function */
START_TEST(no_call_is_permitted_inside_a_callback)
{
    EXPECT(SUCCESS, init, 0);
    cx_emu_in_callback = true;
    const char *other = find_other_answer(CXU_NOT_PERMITTED, true);
    cx_emu_in_callback = false;
    ck_assert_msg(other == NULL, "%s", other);
}
END_TEST

START_TEST(without_devices_init_says_so)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    EXPECT(NO_DEVICE, init, 0);
    EXPECT(NOT_INITIALIZED, device_get_count, &(int){0});
    unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT(SUCCESS, init, 0);
}
END_TEST

START_TEST(the_host_device_alone_is_enough)
{
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    cx_emu_config config = {.host_device = true,
                            .gpus = 2,
                            .gpu_memory_bytes = CX_EMU_MEMORY_GRANULARITY,
                            .driver_version = 12090};
    int count = 0, version = 0;
    ck_assert(cx_emu_configure(&config));
    EXPECT(SUCCESS, init, 0);
    EXPECT(SUCCESS, device_get_count, &count);
    ck_assert_int_eq(count, 1);
    EXPECT(SUCCESS, driver_get_version, &version);
    ck_assert_int_eq(version, 12090);
}
END_TEST

START_TEST(the_environment_says_how_many_gpus_and_how_much_memory)
{
    setenv("CTXRT_EMU_DEVICES", "3", 1);
    setenv("CTXRT_EMU_MEMORY", "7M", 1);
    int count = 0;
    size_t bytes = 0;
    EXPECT(SUCCESS, init, 0);
    EXPECT(SUCCESS, device_get_count, &count);
    ck_assert_int_eq(count, 3);
    EXPECT(SUCCESS, device_total_mem, &bytes, 2);
    ck_assert_uint_eq(bytes, (size_t)6 << 20);
}
END_TEST

START_TEST(without_an_environment_there_are_four_gpus_of_four_gib)
{
    cx_emu_config config;
    const char *reason;
    ck_assert(cx_emu_config_from_environment(&config, &reason));
    ck_assert(!config.host_device && config.gpus == 4 && !config.host_access);
    ck_assert_uint_eq(config.gpu_memory_bytes, (size_t)4 << 30);
}
END_TEST

static const char *const malformed[][2] = {
    {"CTXRT_EMU_DEVICES", "0"},     {"CTXRT_EMU_DEVICES", "65"},      {"CTXRT_EMU_DEVICES", "two"},
    {"CTXRT_EMU_MEMORY", "1M"},     {"CTXRT_EMU_MEMORY", "-4G"},      {"CTXRT_EMU_MEMORY", "2T"},
    {"CTXRT_EMU_HOST_ACCESS", "2"}, {"CTXRT_EMU_HOST_ACCESS", "yes"}, {"CTXRT_EMU_GPU", "h100"},
    {"CTXRT_EMU_GPU", "L4"},        {"CTXRT_EMU_CONTEXT_BYTES", "2T"},
    {"CTXRT_EMU_CONTEXT_BYTES", "-1"}, {"CTXRT_EMU_CONTEXT_BYTES", "300X"},
};

START_TEST(a_malformed_variable_is_named)
{
    const char *const *variable = malformed[_i];
    cx_emu_config config = {.gpus = 9};
    const char *reason = "";
    setenv(variable[0], variable[1], 1);
    ck_assert(!cx_emu_config_from_environment(&config, &reason));
    ck_assert_ptr_nonnull(strstr(reason, variable[0]));
    ck_assert_int_eq(config.gpus, 9);
    setenv("CTXRT_LOG", "off", 1);
    EXPECT(INVALID_VALUE, init, 0);
}
END_TEST

static cx_emu_config two_gpus(void)
{
    return (cx_emu_config){.gpus = 2,
                           .gpu_memory_bytes = CX_EMU_MEMORY_GRANULARITY,
                           .driver_version = CX_EMU_DRIVER_VERSION};
}

START_TEST(the_configuration_changes_only_while_nothing_exists)
{
    start_gpus();
    cx_emu_config two = two_gpus(), now = *cx_emu_configuration();
    create_on(0);
    ck_assert(!cx_emu_configure(&two));
    ck_assert(cx_emu_configure(&now));
    EXPECT(SUCCESS, ctx_destroy, current());

    retain_on(3);
    EXPECT(SUCCESS, primary_reset, 3);
    ck_assert(!cx_emu_configure(&two));
    EXPECT(SUCCESS, primary_release, 3);

    int count = 0;
    ck_assert(cx_emu_configure(&two));
    EXPECT(SUCCESS, device_get_count, &count);
    ck_assert_int_eq(count, 2);
    EXPECT(INVALID_DEVICE, primary_retain, &(CUcontext){NULL}, 3);
}
END_TEST

START_TEST(a_configuration_out_of_range_is_refused)
{
    cx_emu_config config = two_gpus();
    config.gpus = 65;
    ck_assert(!cx_emu_configure(&config));
    config.gpus = -1;
    ck_assert(!cx_emu_configure(&config));
    config = two_gpus();
    config.gpu_memory_bytes++;
    ck_assert(!cx_emu_configure(&config));
    config.gpu_memory_bytes = 0;
    ck_assert(!cx_emu_configure(&config));
}
END_TEST

static Suite *life_suite(void)
{
    Suite *suite = suite_create("life");
    TCase *tests = tcase_create("life");
    tcase_add_test(tests, before_init_every_call_says_not_initialized);
    tcase_add_test(tests, before_init_out_parameters_stay_untouched);
    tcase_add_test(tests, before_init_version_and_error_names_work);
    tcase_add_test(tests, an_unknown_error_code_has_no_name);
    tcase_add_test(tests, init_takes_no_flags_and_may_be_repeated);
    tcase_add_test(tests, threads_may_race_to_init);
    tcase_add_test(tests, an_exit_handler_older_than_init_hears_deinitialized);
    tcase_add_test(tests, a_static_destructor_hears_deinitialized);
    tcase_add_test(tests, the_process_may_exit_while_threads_still_call);
    tcase_add_test(tests, a_child_forked_after_init_hears_not_initialized);
    tcase_add_test(tests, a_child_forked_before_init_may_init);
    tcase_add_test(tests, a_fork_while_others_hold_the_lock_leaves_no_lock_behind);
    tcase_add_test(tests, no_call_is_permitted_inside_a_callback);
    tcase_add_test(tests, without_devices_init_says_so);
    tcase_add_test(tests, the_host_device_alone_is_enough);
    tcase_add_test(tests, the_environment_says_how_many_gpus_and_how_much_memory);
    tcase_add_test(tests, without_an_environment_there_are_four_gpus_of_four_gib);
    tcase_add_loop_test(tests, a_malformed_variable_is_named, 0,
                        sizeof malformed / sizeof malformed[0]);
    tcase_add_test(tests, the_configuration_changes_only_while_nothing_exists);
    tcase_add_test(tests, a_configuration_out_of_range_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(life_suite);
