/* What an allocator calls before it refuses a request, and allocators over a driver's pool. */
#include "device/device.h"
#include "gate.h"
#include "two_processes.h"

#define MIB ((size_t)1 << 20)

/* ---- callbacks ---- */

/* The callback gives back one of these each time. */
typedef struct reserve {
    ctxrt_memory *kept[8];
    int count, calls;
    unsigned int attempts;
    size_t size_bytes;
    ctxrt_allocator *allocator;
    bool asks_itself;
} reserve;

static int give_one(ctxrt_allocator *allocator, size_t size_bytes, unsigned int attempt,
                    void *user_data)
{
    reserve *self = user_data;
    self->calls++;
    self->attempts = attempt;
    self->size_bytes = size_bytes;
    self->allocator = allocator;
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_ERROR_OUT_OF_MEMORY);
    if (self->asks_itself) {
        ctxrt_memory *none;
        cx_assert_error(ctxrt_memory_alloc((size_t)1 << 40, &none), CTXRT_ERROR_OUT_OF_MEMORY);
        ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    }
    if (self->count == 0)
        return 0;
    cx_assert_ok(ctxrt_memory_release(self->kept[--self->count]));
    return 1;
}

static ctxrt_allocator *current_allocator(void)
{
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_allocator_current(&allocator));
    return allocator;
}

static void start(void)
{
    cx_fixture_start();
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}

static void end(void)
{
    cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static void keep_blocks(reserve *self, int count)
{
    for (int i = 0; i < count; i++)
        cx_assert_ok(ctxrt_memory_alloc(16 * MIB, &self->kept[i]));
    self->count = count;
}

START_TEST(a_request_is_made_again_until_the_callback_has_freed_enough)
{
    reserve self = {.count = 0};
    ctxrt_memory *memory;
    keep_blocks(&self, 4);
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 64 * MIB));
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(NULL, give_one, &self));
    cx_assert_ok(ctxrt_memory_alloc(48 * MIB, &memory));
    ck_assert_int_eq(self.calls, 3);
    ck_assert_uint_eq(self.attempts, 3);
    ck_assert_uint_eq(self.size_bytes, 48 * MIB);
    ck_assert_ptr_eq(self.allocator, current_allocator());
    ck_assert_int_eq(ctxrt_last_error()->status, CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_release(self.kept[0]));
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(NULL, NULL, NULL));
}
END_TEST

START_TEST(a_callback_that_gives_up_lets_the_request_be_refused)
{
    reserve self = {.asks_itself = true};
    ctxrt_memory *memory = NULL;
    void *pointer = NULL;
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(NULL, give_one, &self));
    cx_assert_error(ctxrt_memory_alloc((size_t)1 << 40, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(self.calls, 1); /* the request of the callback did not call it */
    cx_assert_error(ctxrt_alloc((size_t)1 << 40, &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(self.calls, 2);
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(NULL, NULL, NULL));
    cx_assert_error(ctxrt_alloc((size_t)1 << 40, &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(self.calls, 2);
    ck_assert(memory == NULL && pointer == NULL);
}
END_TEST

/* The device is full by blocks that the callback frees. */
START_TEST(every_source_of_device_memory_asks_and_so_do_the_driver_and_pinned_memory)
{
    reserve self = {.count = 0};
    size_t free_bytes;
    void *pointer;
    cx_assert_ok(ctxrt_device_memory_info(CTXRT_CUDA(0), &free_bytes, NULL));
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_memory_alloc(free_bytes / 5, &self.kept[i]));
    self.count = 4;
    ctxrt_allocator *direct;
    cx_assert_ok(ctxrt_allocator_direct(&direct));
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(direct, give_one, &self));
    cx_assert_error(ctxrt_alloc_direct((size_t)1 << 40, &pointer), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(self.calls, 5);
    ctxrt_allocator *pinned;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_allocator_pinned(&pinned));
    cx_assert_ok(ctxrt_allocator_set_limit(pinned, MIB));
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(pinned, give_one, &self));
    cx_assert_error(ctxrt_memory_alloc_pinned(2 * MIB, &memory), CTXRT_ERROR_OUT_OF_MEMORY);
    ck_assert_int_eq(self.calls, 6);
    ck_assert_ptr_eq(self.allocator, pinned);
}
END_TEST

START_TEST(memory_of_a_named_context_asks_with_nothing_current)
{
    reserve self = {.count = 0};
    ctxrt_context *context;
    ctxrt_memory *memory;
    keep_blocks(&self, 2);
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 32 * MIB));
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(NULL, give_one, &self));
    cx_assert_ok(ctxrt_context_retain_primary(CTXRT_CUDA(0), &context));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_memory_alloc_on(context, 32 * MIB, &memory));
    ck_assert_int_eq(self.calls, 2);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_context_release(context));
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
}
END_TEST

static int give_shared(ctxrt_allocator *allocator, size_t size_bytes, unsigned int attempt,
                       void *user_data)
{
    (void)allocator, (void)size_bytes;
    atomic_fetch_add((atomic_int *)user_data, 1);
    return attempt < 1000;
}

static void *allocate_under_a_limit(void *argument)
{
    (void)argument;
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    for (int i = 0; i < 50; i++) {
        ctxrt_memory *memory;
        ctxrt_status status = ctxrt_memory_alloc(24 * MIB, &memory);
        if (status == CTXRT_SUCCESS)
            cx_assert_ok(ctxrt_memory_release(memory));
        else
            ck_assert_int_eq(status, CTXRT_ERROR_OUT_OF_MEMORY);
    }
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(threads_are_called_at_once)
{
    pthread_t threads[4];
    atomic_int calls = 0;
    cx_assert_ok(ctxrt_allocator_set_limit(NULL, 32 * MIB));
    cx_assert_ok(ctxrt_allocator_set_out_of_memory(NULL, give_shared, &calls));
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_under_a_limit, NULL), 0);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

/* ---- pools ---- */

static CUmemoryPool pool;
static ctxrt_allocator *over_pool;
static const cx_driver_table *driver;

static void start_with_pool(void)
{
    const cxu_mem_pool_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CXU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
    start();
    driver = &cx_drivers[0].table;
    ck_assert_int_eq(driver->mem_pool_create(&pool, &properties), CXU_SUCCESS);
    cx_assert_ok(ctxrt_allocator_create_from_pool(pool, &over_pool));
    cx_assert_ok(ctxrt_frame_set_allocator(over_pool));
}

static uint64_t used_bytes(CUmemoryPool of)
{
    uint64_t bytes = 77;
    ck_assert_int_eq(driver->mem_pool_get_attribute(of, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes),
                     CXU_SUCCESS);
    return bytes;
}

static void end_with_pool(void)
{
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_allocator_destroy(over_pool));
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_uint_eq(used_bytes(pool), 0);
    ck_assert_int_eq(driver->mem_pool_destroy(pool), CXU_SUCCESS);
    end();
}

START_TEST(memory_comes_from_the_pool_and_goes_back_to_it)
{
    ctxrt_memory *memory;
    ctxrt_allocator_figures figures;
    void *raw;
    unsigned char bytes[64];
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    ck_assert_uint_ge(used_bytes(pool), MIB);
    cx_assert_ok(ctxrt_alloc(MIB, &raw));
    ck_assert_uint_ge(used_bytes(pool), 2 * MIB);
    cx_assert_ok(ctxrt_allocator_statistics(over_pool, &figures));
    ck_assert_uint_eq(figures.current_bytes, 2 * MIB);
    cx_assert_error(ctxrt_allocator_destroy(over_pool), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_fill(raw, 3, MIB));
    cx_assert_ok(ctxrt_copy(ctxrt_memory_pointer(memory), raw, MIB, CTXRT_COPY_ANY));
    cx_assert_ok(ctxrt_copy(bytes, ctxrt_memory_pointer(memory), 64, CTXRT_COPY_ANY));
    ck_assert_uint_eq(bytes[63], 3);
    cx_assert_error(ctxrt_fill(raw, 3, MIB + 1), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_free(raw));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_uint_eq(used_bytes(pool), 0);
    cx_assert_ok(ctxrt_allocator_trim(over_pool, NULL));
}
END_TEST

START_TEST(a_free_comes_behind_the_work_of_its_stream)
{
    CTXRT_SCOPE_STREAM ctxrt_stream *stream = NULL;
    ctxrt_memory *memory;
    gate barrier;
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    gate_close(&barrier, stream);
    cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, MIB, stream));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_error(ctxrt_stream_query(stream), CTXRT_ERROR_NOT_READY);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ck_assert_uint_eq(used_bytes(pool), 0);
}
END_TEST

START_TEST(memory_whose_stream_was_destroyed_is_freed_behind_the_work_of_the_context)
{
    ctxrt_stream *stream;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, MIB, stream));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_uint_eq(used_bytes(pool), 0);
}
END_TEST

START_TEST(a_capture_refuses_requests_and_frees_come_behind_it)
{
    CTXRT_SCOPE_STREAM ctxrt_stream *stream = NULL;
    ctxrt_memory *memory, *none = NULL;
    ctxrt_graph *graph;
    cx_assert_ok(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &stream));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_RELAXED));
    cx_assert_error(ctxrt_memory_alloc(MIB, &none), CTXRT_ERROR_NOT_SUPPORTED);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_uint_ge(used_bytes(pool), MIB);
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_allocator_trim(over_pool, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    ck_assert_uint_eq(used_bytes(pool), 0);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
}
END_TEST

START_TEST(memory_of_a_pool_outlives_a_reset_and_is_released_after_it)
{
    ctxrt_memory *memory, *newer;
    void *raw;
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    cx_assert_ok(ctxrt_alloc(MIB, &raw));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    ck_assert_uint_ge(used_bytes(pool), 2 * MIB);
    cx_assert_ok(ctxrt_memory_alloc(MIB, &newer));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_free(raw));
    cx_assert_ok(ctxrt_memory_release(newer));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_uint_eq(used_bytes(pool), 0);
}
END_TEST

static void *release_there(void *memory)
{
    cx_assert_ok(ctxrt_memory_release(memory));
    return NULL;
}

START_TEST(another_thread_releases_with_nothing_current)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    on_a_thread(release_there, memory);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_uint_eq(used_bytes(pool), 0);
}
END_TEST

START_TEST(null_is_the_pool_that_other_libraries_share)
{
    ctxrt_allocator *shared;
    ctxrt_memory *memory;
    CUmemoryPool of_device;
    CUdeviceptr foreign;
    ck_assert_int_eq(driver->device_get_mem_pool(&of_device, 1), CXU_SUCCESS);
    cx_assert_ok(ctxrt_allocator_create_from_pool(NULL, &shared));
    cx_assert_ok(ctxrt_frame_set_allocator(shared));
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    uint64_t ours = used_bytes(of_device);
    ck_assert_uint_ge(ours, MIB);
    ck_assert_int_eq(driver->mem_alloc_async(&foreign, MIB, NULL), CXU_SUCCESS); /* other code */
    ck_assert_uint_ge(used_bytes(of_device), ours + MIB);
    ck_assert_int_eq(driver->mem_free_async(foreign, NULL), CXU_SUCCESS);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_device_synchronize());
    ck_assert_uint_eq(used_bytes(of_device), 0);
    cx_assert_ok(ctxrt_frame_set_allocator(over_pool));
    cx_assert_ok(ctxrt_allocator_destroy(shared));
}
END_TEST

/* ---- a pool between processes ---- */

static void fill_and_check(ctxrt_memory *memory, unsigned char expected, unsigned char next)
{
    unsigned char byte = 0;
    char *last = (char *)ctxrt_memory_pointer(memory) + MIB - 1;
    cx_assert_ok(ctxrt_copy(&byte, last, 1, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_uint_eq(byte, expected);
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), next, MIB));
}

/* Imports the pool and its memory, sees what is in it, and writes something else. */
static void import_in_child(int line)
{
    ctxrt_exported_memory token;
    ctxrt_memory *memory;
    ctxrt_memory_info info;
    CUmemoryPool imported;
    start();
    driver = &cx_drivers[0].table;
    int file = receive_file(line);
    ck_assert_int_eq(driver->mem_pool_import_from_shareable_handle(
                         &imported, (void *)(intptr_t)file,
                         CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                     CXU_SUCCESS);
    hear(line, &token, sizeof token);
    cx_assert_ok(ctxrt_memory_import_from_pool(imported, &token, &memory));
    cx_assert_ok(ctxrt_memory_describe(memory, &info));
    ck_assert_uint_eq(info.size_bytes, MIB);
    fill_and_check(memory, 5, 6);
    cx_assert_ok(ctxrt_memory_release(memory));
    ck_assert_int_eq(driver->mem_pool_destroy(imported), CXU_SUCCESS);
    close(file);
    end();
    say(line, "d", 1);
}

START_TEST(memory_of_a_shared_pool_is_exported_and_imported)
{
    const cxu_mem_pool_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .handle_types = CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CXU_MEM_LOCATION_TYPE_DEVICE, .id = 1}};
    int line, file;
    pid_t child = fork_with_line(&line);
    if (child == 0) {
        import_in_child(line);
        _exit(0);
    }
    ctxrt_memory *memory;
    ctxrt_exported_memory token;
    start();
    driver = &cx_drivers[0].table;
    ck_assert_int_eq(driver->mem_pool_create(&pool, &properties), CXU_SUCCESS);
    cx_assert_ok(ctxrt_allocator_create_from_pool(pool, &over_pool));
    cx_assert_ok(ctxrt_frame_set_allocator(over_pool));
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    cx_assert_ok(ctxrt_fill(ctxrt_memory_pointer(memory), 5, MIB));
    ck_assert_int_eq(driver->mem_pool_export_to_shareable_handle(
                         &file, pool, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                     CXU_SUCCESS);
    ck_assert(send_file(line, file));
    close(file);
    cx_assert_ok(ctxrt_memory_export(memory, &token));
    say(line, &token, sizeof token);
    hear_the_end(line, child);
    fill_and_check(memory, 6, 7);
    cx_assert_ok(ctxrt_memory_release(memory));
    end_with_pool();
}
END_TEST

START_TEST(memory_of_a_pool_that_is_not_shared_is_not_exported)
{
    ctxrt_exported_memory token;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(MIB, &memory));
    ck_assert_int_ne(ctxrt_memory_export(memory, &token), CTXRT_SUCCESS);
    ck_assert_str_eq(ctxrt_last_error()->driver_call, "cuMemPoolExportPointer");
    cx_assert_ok(ctxrt_memory_release(memory));
}
END_TEST

static Suite *out_of_memory_suite(void)
{
    Suite *suite = suite_create("out of memory");
    TCase *tcase = tcase_create("callbacks");
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_test(tcase, a_request_is_made_again_until_the_callback_has_freed_enough);
    tcase_add_test(tcase, a_callback_that_gives_up_lets_the_request_be_refused);
    tcase_add_test(tcase,
                   every_source_of_device_memory_asks_and_so_do_the_driver_and_pinned_memory);
    tcase_add_test(tcase, memory_of_a_named_context_asks_with_nothing_current);
    tcase_add_test(tcase, threads_are_called_at_once);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("pools");
    tcase_add_checked_fixture(tcase, start_with_pool, end_with_pool);
    tcase_add_test(tcase, memory_comes_from_the_pool_and_goes_back_to_it);
    tcase_add_test(tcase, a_free_comes_behind_the_work_of_its_stream);
    tcase_add_test(tcase,
                   memory_whose_stream_was_destroyed_is_freed_behind_the_work_of_the_context);
    tcase_add_test(tcase, a_capture_refuses_requests_and_frees_come_behind_it);
    tcase_add_test(tcase, memory_of_a_pool_outlives_a_reset_and_is_released_after_it);
    tcase_add_test(tcase, another_thread_releases_with_nothing_current);
    tcase_add_test(tcase, null_is_the_pool_that_other_libraries_share);
    tcase_add_test(tcase, memory_of_a_pool_that_is_not_shared_is_not_exported);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("pools between processes"); /* which fork before the runtime starts */
    tcase_add_test(tcase, memory_of_a_shared_pool_is_exported_and_imported);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(out_of_memory_suite);
