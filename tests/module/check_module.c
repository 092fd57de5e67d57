/* Modules: loading from memory and from files, what is in them, and how long they live. */
#include "code.h"

#include "../runtime/log_lines.h"
#include <sys/stat.h>
#include <unistd.h>

static const char all[] = PTX_ALL;

/* ---- loading ---- */

START_TEST(text_may_end_with_a_zero_or_where_its_size_says)
{
    ctxrt_module *module;
    char text[sizeof all + 8];
    memcpy(text, all, sizeof all - 1);
    memset(text + sizeof all - 1, '}', sizeof text - sizeof all + 1);
    cx_assert_ok(ctxrt_module_load(all, 0, &module));
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_module_load(text, sizeof all - 1, &module));
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_module_load(all, sizeof all, &module));
    cx_assert_ok(ctxrt_module_unload(module));
    module = NULL;
    cx_assert_error(ctxrt_module_load(text, sizeof text, &module), CTXRT_ERROR_DRIVER);
    ck_assert_ptr_null(module);
}
END_TEST

START_TEST(an_image_need_not_stay)
{
    char *text = strdup(all);
    void *words = make_words(1);
    ctxrt_module *module = load(text);
    memset(text, 'x', strlen(text));
    free(text);
    cx_assert_ok(launch_add_one(kernel_of(module, "add_one"), words, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    assert_words(words, 2);
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_free(words));
}
END_TEST

START_TEST(what_the_compiler_says_stands_in_the_message_and_in_the_log)
{
    static log_lines lines = {.lock = PTHREAD_MUTEX_INITIALIZER};
    ctxrt_module *module = NULL;
    cx_assert_ok(ctxrt_log_set(log_lines_take, &lines, CTXRT_LOG_INFO));
    cx_assert_error(ctxrt_module_load(PTX_HEAD "nonsense\n", 0, &module), CTXRT_ERROR_DRIVER);
    cx_assert_ok(ctxrt_log_set(NULL, NULL, CTXRT_LOG_WARNING));
    ck_assert_ptr_null(module);
    assert_says("CUDA_ERROR_INVALID_PTX");
    assert_says("line 4: 'nonsense'");
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuModuleLoadDataEx");
    ck_assert_int_ge(log_lines_with(&lines, "compiler: PTX, line 4: 'nonsense'"), 1);
}
END_TEST

START_TEST(code_that_the_driver_does_not_know_is_not_supported)
{
    ctxrt_module *module = NULL;
    cx_fixture_needs_emulated("a GPU knows this");
    static const char text[] = PTX_HEAD ".visible .entry f()\n{\n    frobnicate.u32 1;\n}\n";
    cx_assert_error(ctxrt_module_load(text, 0, &module), CTXRT_ERROR_NOT_SUPPORTED);
    assert_says("frobnicate");
    ck_assert_ptr_null(module);
}
END_TEST

static const unsigned char fat[64] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0xff, 0, 0, 0};
static const unsigned char elf[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [40] = 0xff, 0xff};
static const unsigned char old_elf[64] = {0x7f, 'E', 'L', 'F', 1, 1, 1};

START_TEST(a_binary_that_is_not_all_there_is_refused)
{
    ctxrt_module *module = NULL;
    static const struct {
        const unsigned char *bytes;
        size_t size_bytes;
        ctxrt_status status;
    } images[] = {
        {fat, sizeof fat, CTXRT_ERROR_INVALID_ARGUMENT},
        {fat, 8, CTXRT_ERROR_INVALID_ARGUMENT},
        {elf, sizeof elf, CTXRT_ERROR_INVALID_ARGUMENT},
        {elf, 16, CTXRT_ERROR_INVALID_ARGUMENT},
        {old_elf, sizeof old_elf, CTXRT_ERROR_DRIVER},
    };
    cx_fixture_needs_emulated("a GPU's driver is given nothing that is broken");
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        cx_assert_error(ctxrt_module_load(images[i].bytes, images[i].size_bytes, &module),
                        images[i].status);
        if (images[i].status == CTXRT_ERROR_INVALID_ARGUMENT)
            assert_says("the image is truncated");
    }
    ck_assert_ptr_null(module);
}
END_TEST

static void write_file(const char *path, const void *bytes, size_t size_bytes)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size_bytes, file), size_bytes);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(a_file_is_read_and_its_errors_name_it)
{
    static const unsigned char wrapper[24] = {0xb1, 0x43, 0x62, 0x46, 1};
    ctxrt_module *module = NULL;
    char folder[] = "/tmp/ctxrt-module-XXXXXX", path[64];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/code", folder);
    cx_assert_error(ctxrt_module_load_file(path, &module), CTXRT_ERROR_SYSTEM);
    assert_says(path);
    assert_says("No such file");
    write_file(path, "", 0);
    cx_assert_error(ctxrt_module_load_file(path, &module), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("is empty");
    write_file(path, elf, sizeof elf);
    cx_assert_error(ctxrt_module_load_file(path, &module), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says(path);
    write_file(path, wrapper, sizeof wrapper);
    cx_assert_error(ctxrt_module_load_file(path, &module), CTXRT_ERROR_INVALID_ARGUMENT);
    write_file(path, "nonsense", 8);
    cx_assert_error(ctxrt_module_load_file(path, &module), CTXRT_ERROR_DRIVER);
    assert_says(path);
    cx_assert_error(ctxrt_module_load_file(folder, &module), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("no regular file");
    ck_assert_ptr_null(module);
    write_file(path, all, sizeof all - 1);
    cx_assert_ok(ctxrt_module_load_file(path, &module));
    ck_assert_ptr_nonnull(kernel_of(module, "add_one"));
    cx_assert_ok(ctxrt_module_unload(module));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

START_TEST(loading_needs_a_frame)
{
    ctxrt_module *module = NULL;
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_module_load(all, 0, &module), CTXRT_ERROR_NO_DEVICE);
    ck_assert_ptr_null(module);
    cx_assert_ok(ctxrt_device_set(here));
}
END_TEST

/* ---- what is in a module ---- */

START_TEST(the_same_name_gives_the_same_kernel)
{
    ctxrt_module *module = load(all), *other = load(all);
    ctxrt_kernel *kernel = kernel_of(module, "add_one");
    ck_assert_ptr_eq(kernel_of(module, "add_one"), kernel);
    ck_assert_ptr_ne(kernel_of(module, "store"), kernel);
    ck_assert_ptr_ne(kernel_of(other, "add_one"), kernel);
    cx_assert_ok(ctxrt_module_unload(other));
    cx_assert_ok(ctxrt_module_unload(module));
}
END_TEST

START_TEST(a_name_that_is_not_there_is_named)
{
    ctxrt_module *module = load(all);
    ctxrt_kernel *kernel = NULL;
    void *pointer = NULL;
    cx_assert_error(ctxrt_module_get_kernel(module, "multiply", &kernel),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("no kernel 'multiply'");
    ck_assert_int_eq(ctxrt_last_error()->driver_result, 500);
    cx_assert_error(ctxrt_module_get_kernel(module, "counter", &kernel),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_error(ctxrt_module_get_global(module, "add_one", &pointer, NULL),
                    CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("no variable 'add_one'");
    ck_assert(kernel == NULL && pointer == NULL);
    cx_assert_ok(ctxrt_module_unload(module));
}
END_TEST

START_TEST(a_kernel_with_a_name_of_cxx_is_offered)
{
    static const char text[] = PTX_HEAD ".visible .entry scale()\n{\n    ret;\n}\n"
                                        ".visible .entry _Z8saddlersv()\n{\n    ret;\n}\n"
                                        ".visible .entry _Z3addPf()\n{\n    ret;\n}\n";
    ctxrt_module *module = load(text);
    ctxrt_kernel *kernel = NULL;
    cx_assert_error(ctxrt_module_get_kernel(module, "add", &kernel), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("has no kernel 'add'; C++ calls it '_Z3addPf'");
    cx_assert_error(ctxrt_module_get_kernel(module, "scal", &kernel), CTXRT_ERROR_INVALID_ARGUMENT);
    assert_says("has no kernel 'scal'; the nearest of its kernels is 'scale'");
    ck_assert_ptr_null(kernel);
    cx_assert_ok(ctxrt_module_unload(module));
}
END_TEST

START_TEST(a_variable_is_memory_of_its_module)
{
    ctxrt_module *module = load(all), *other = load(all);
    void *counter, *others, *out = make_words(0), *arguments[] = {&out};
    size_t size_bytes = 0;
    uint32_t value = 0;
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    cx_assert_ok(ctxrt_module_get_global(module, "counter", &counter, &size_bytes));
    cx_assert_ok(ctxrt_module_get_global(other, "counter", &others, NULL));
    ck_assert_uint_eq(size_bytes, 4);
    ck_assert_ptr_ne(counter, others);
    cx_assert_ok(ctxrt_launch(&config, kernel_of(module, "next"), arguments, 1));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_copy(&value, counter, sizeof value, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_uint_eq(value, 42);
    cx_assert_ok(ctxrt_copy(&value, others, sizeof value, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_uint_eq(value, 41);
    cx_assert_ok(ctxrt_module_unload(other));
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_free(out));
}
END_TEST

START_TEST(a_kernel_says_what_it_is)
{
    ctxrt_module *module = load(all);
    ctxrt_kernel_info info;
    cx_assert_ok(ctxrt_kernel_describe(kernel_of(module, "add_one"), &info));
    ck_assert_str_eq(info.name, "add_one");
    ck_assert_int_eq(info.parameter_count, 2);
    ck_assert_int_ge(info.max_threads_per_block, 32);
    ck_assert_int_gt(info.registers, 0);
    ck_assert_uint_eq(info.shared_bytes, 0);
    cx_assert_ok(ctxrt_kernel_describe(kernel_of(module, "at_most_32"), &info));
    ck_assert_int_eq(info.parameter_count, 0);
    ck_assert_int_eq(info.max_threads_per_block, 32);
    cx_assert_ok(ctxrt_module_unload(module));
}
END_TEST

START_TEST(modules_and_kernels_have_handles_of_the_driver)
{
    ctxrt_module *module = load(all);
    struct CUmod_st *native = NULL;
    struct CUfunc_st *function = NULL, *other = NULL;
    cx_assert_ok(ctxrt_module_native(module, &native));
    cx_assert_ok(ctxrt_kernel_native(kernel_of(module, "add_one"), &function));
    cx_assert_ok(ctxrt_kernel_native(kernel_of(module, "store"), &other));
    ck_assert(native != NULL && function != NULL && other != NULL && function != other);
    cx_assert_ok(ctxrt_module_unload(module));
}
END_TEST

/* ---- life ---- */

START_TEST(an_unloaded_module_and_its_kernels_are_refused)
{
    ctxrt_module *module = load(all), *later;
    ctxrt_kernel *kernel = kernel_of(module, "add_one"), *found = NULL;
    void *words = make_words(1);
    cx_assert_ok(ctxrt_module_unload(module));
    later = load(all); /* takes the place of the other */
    (void)kernel_of(later, "add_one");
    cx_assert_error(ctxrt_module_unload(module), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_module_get_kernel(module, "add_one", &found),
                    CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(launch_add_one(kernel, words, NULL), CTXRT_ERROR_INVALID_HANDLE);
    assert_says("its module was unloaded");
    assert_words(words, 1);
    ck_assert_ptr_null(found);
    cx_assert_ok(ctxrt_module_unload(later));
    cx_assert_ok(ctxrt_free(words));
}
END_TEST

START_TEST(a_module_keeps_its_context)
{
    ctxrt_context *context;
    cx_assert_ok(ctxrt_context_create(here, 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_module *module = load(all);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    assert_says("1 module");
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(a_reset_takes_the_code_and_leaves_the_handles_to_give_back)
{
    ctxrt_module *module = load(all);
    ctxrt_kernel *kernel = kernel_of(module, "add_one"), *found = NULL;
    ctxrt_kernel_info info;
    ctxrt_occupancy occupancy;
    void *at = &at, *arguments[] = {&at, &at};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    cx_assert_ok(ctxrt_device_reset(here));
    cx_assert_error(ctxrt_module_get_kernel(module, "store", &found),
                    CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_kernel_describe(kernel, &info), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_kernel_occupancy(kernel, 0, 0, &occupancy),
                    CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_launch(&config, kernel, arguments, 2), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_module_unload(module));
}
END_TEST

START_TEST(modules_need_nothing_current_once_they_are_loaded)
{
    ctxrt_module *module = load(all);
    ctxrt_kernel *kernel;
    ctxrt_kernel_info info;
    ctxrt_occupancy occupancy;
    void *words = make_words(1), *pointer;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_module_get_kernel(module, "add_one", &kernel));
    cx_assert_ok(ctxrt_module_get_global(module, "counter", &pointer, NULL));
    cx_assert_ok(ctxrt_kernel_describe(kernel, &info));
    cx_assert_ok(ctxrt_kernel_occupancy(kernel, 0, 0, &occupancy));
    cx_assert_ok(launch_add_one(kernel, words, stream));
    cx_assert_error(launch_add_one(kernel, words, NULL), CTXRT_ERROR_NO_DEVICE);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    cx_assert_ok(ctxrt_module_unload(module));
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    cx_assert_ok(ctxrt_device_set(here));
    assert_words(words, 2);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_free(words));
}
END_TEST

START_TEST(what_was_launched_runs_on_after_an_unload)
{
    ctxrt_module *module = load(all);
    void *words = make_words(1);
    ctxrt_kernel *kernel = kernel_of(module, "add_one");
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_fixture_needs_emulated("it lets kernels end");
    for (int i = 0; i < 20; i++)
        cx_assert_ok(launch_add_one(kernel, words, stream));
    cx_assert_ok(ctxrt_module_unload(module));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_words(words, 21);
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_free(words));
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 30 };

typedef struct shared {
    ctxrt_module *module;
    ctxrt_stream *streams[THREADS];
    void *words;
    atomic_int wrong, launched, refused;
    _Atomic(ctxrt_kernel *) kernel;
} shared;

typedef struct part {
    shared *all;
    int number;
} part;

static void run_threads(shared *self, void *(*function)(void *))
{
    pthread_t threads[THREADS];
    part parts[THREADS];
    for (int i = 0; i < THREADS; i++) {
        parts[i] = (part){self, i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, function, &parts[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

static void *find_and_launch(void *argument)
{
    const part *self = argument;
    shared *common = self->all;
    for (int i = 0; i < ROUNDS; i++) {
        ctxrt_kernel *kernel, *none = NULL;
        if (ctxrt_module_get_kernel(common->module, "add_one", &kernel) != CTXRT_SUCCESS ||
            launch_add_one(kernel, common->words, common->streams[0]) != CTXRT_SUCCESS)
            atomic_fetch_add(&common->wrong, 1);
        else if (!atomic_compare_exchange_strong(&common->kernel, &none, kernel) && none != kernel)
            atomic_fetch_add(&common->wrong, 1);
    }
    return NULL;
}

START_TEST(threads_that_ask_at_once_get_one_kernel_and_launch_it)
{
    shared self = {.module = load(all), .words = make_words(0)};
    self.streams[0] = create_stream(CTXRT_STREAM_NON_BLOCKING);
    run_threads(&self, find_and_launch);
    ck_assert_int_eq(atomic_load(&self.wrong), 0);
    cx_assert_ok(ctxrt_stream_synchronize(self.streams[0]));
    assert_words(self.words, THREADS * ROUNDS);
    cx_assert_ok(ctxrt_module_unload(self.module));
    cx_assert_ok(ctxrt_stream_destroy(self.streams[0]));
    cx_assert_ok(ctxrt_free(self.words));
}
END_TEST

/* The first thread unloads halfway. */
static void *launch_until_refused(void *argument)
{
    const part *self = argument;
    shared *common = self->all;
    ctxrt_stream *stream = common->streams[self->number];
    for (int i = 0;; i++) {
        if (self->number == 0 && i == ROUNDS &&
            ctxrt_module_unload(common->module) != CTXRT_SUCCESS)
            atomic_fetch_add(&common->wrong, 1);
        ctxrt_status status = launch_add_one(atomic_load(&common->kernel), common->words, stream);
        if (status == CTXRT_ERROR_INVALID_HANDLE)
            break;
        atomic_fetch_add(status == CTXRT_SUCCESS ? &common->launched : &common->wrong, 1);
    }
    atomic_fetch_add(&common->refused, 1);
    return NULL;
}

START_TEST(a_launch_beside_an_unload_runs_or_is_refused)
{
    void *words = make_words(0);
    for (int round = 0; round < 5; round++) {
        shared self = {.module = load(all), .words = words};
        atomic_store(&self.kernel, kernel_of(self.module, "add_one"));
        for (int i = 0; i < THREADS; i++)
            self.streams[i] = create_stream(CTXRT_STREAM_NON_BLOCKING);
        run_threads(&self, launch_until_refused);
        ck_assert_int_eq(atomic_load(&self.wrong), 0);
        ck_assert_int_eq(atomic_load(&self.refused), THREADS);
        ck_assert_int_ge(atomic_load(&self.launched), ROUNDS);
        for (int i = 0; i < THREADS; i++) {
            cx_assert_ok(ctxrt_stream_synchronize(self.streams[i]));
            cx_assert_ok(ctxrt_stream_destroy(self.streams[i]));
        }
    }
    cx_assert_ok(ctxrt_free(words));
}
END_TEST

/* Every name is asked for: what is found comes new into the module. */
static void *ask_until_refused(void *argument)
{
    static const char *const names[] = {"add_one", "spin", "reverse", "next", "store", "meet"};
    const part *self = argument;
    shared *common = self->all;
    ctxrt_kernel *kernel;
    ctxrt_status status = CTXRT_SUCCESS;
    for (int i = 0; status == CTXRT_SUCCESS; i++) {
        if (self->number == 0 && i == 1 && ctxrt_module_unload(common->module) != CTXRT_SUCCESS)
            atomic_fetch_add(&common->wrong, 1);
        status = ctxrt_module_get_kernel(common->module, names[(i + self->number) % 6], &kernel);
    }
    atomic_fetch_add(status == CTXRT_ERROR_INVALID_HANDLE ? &common->refused : &common->wrong, 1);
    return NULL;
}

START_TEST(a_kernel_asked_for_beside_an_unload_goes_with_the_module)
{
    void *words = make_words(0);
    for (uint32_t round = 1; round <= 40; round++) {
        shared self = {.module = load(all)};
        run_threads(&self, ask_until_refused);
        ck_assert_int_eq(atomic_load(&self.wrong), 0);
        ck_assert_int_eq(atomic_load(&self.refused), THREADS);
        ctxrt_module *later = load(all); /* its kernels take the places of the others */
        cx_assert_ok(launch_add_one(kernel_of(later, "add_one"), words, NULL));
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        assert_words(words, round);
        cx_assert_ok(ctxrt_module_unload(later));
    }
    cx_assert_ok(ctxrt_free(words));
}
END_TEST

static void *unload_it(void *argument)
{
    shared *common = ((part *)argument)->all;
    ctxrt_status status = ctxrt_module_unload(common->module);
    atomic_fetch_add(status == CTXRT_SUCCESS                  ? &common->launched
                     : status == CTXRT_ERROR_INVALID_HANDLE ? &common->refused
                                                            : &common->wrong,
                     1);
    return NULL;
}

START_TEST(of_threads_that_unload_a_module_one_does)
{
    shared self = {.module = load(all)};
    run_threads(&self, unload_it);
    ck_assert_int_eq(atomic_load(&self.launched), 1);
    ck_assert_int_eq(atomic_load(&self.refused), THREADS - 1);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, text_may_end_with_a_zero_or_where_its_size_says);
    tcase_add_test(tests, an_image_need_not_stay);
    tcase_add_test(tests, what_the_compiler_says_stands_in_the_message_and_in_the_log);
    tcase_add_test(tests, code_that_the_driver_does_not_know_is_not_supported);
    tcase_add_test(tests, a_binary_that_is_not_all_there_is_refused);
    tcase_add_test(tests, a_file_is_read_and_its_errors_name_it);
    tcase_add_test(tests, loading_needs_a_frame);
    tcase_add_test(tests, the_same_name_gives_the_same_kernel);
    tcase_add_test(tests, a_name_that_is_not_there_is_named);
    tcase_add_test(tests, a_kernel_with_a_name_of_cxx_is_offered);
    tcase_add_test(tests, a_variable_is_memory_of_its_module);
    tcase_add_test(tests, a_kernel_says_what_it_is);
    tcase_add_test(tests, modules_and_kernels_have_handles_of_the_driver);
    tcase_add_test(tests, an_unloaded_module_and_its_kernels_are_refused);
    tcase_add_test(tests, a_module_keeps_its_context);
    tcase_add_test(tests, a_reset_takes_the_code_and_leaves_the_handles_to_give_back);
    tcase_add_test(tests, modules_need_nothing_current_once_they_are_loaded);
    tcase_add_test(tests, what_was_launched_runs_on_after_an_unload);
    tcase_add_test(tests, threads_that_ask_at_once_get_one_kernel_and_launch_it);
    tcase_add_test(tests, a_launch_beside_an_unload_runs_or_is_refused);
    tcase_add_test(tests, a_kernel_asked_for_beside_an_unload_goes_with_the_module);
    tcase_add_test(tests, of_threads_that_unload_a_module_one_does);
}

static Suite *module_suite(void)
{
    Suite *suite = suite_create("module");
    place_add_everywhere(suite, add_tests);
    return suite;
}

CX_TESTS_TOGETHER(module_suite);
