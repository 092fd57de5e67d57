/* Memory pools between processes, each with a driver of its own (T21). */
#include "file_passing.h"
#include "partner.h"

#include <fcntl.h>

#define FILES CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define BYTES ((size_t)1 << 20)

static const cxu_mem_location device = {CXU_MEM_LOCATION_TYPE_DEVICE, 1},
                              node = {CXU_MEM_LOCATION_TYPE_HOST_NUMA, 0};

static cxu_result create(cxu_mem_location location, cxu_mem_handle_type types, CUmemoryPool *out)
{
    const cxu_mem_pool_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED, .location = location, .handle_types = types};
    return CU(mem_pool_create, out, &properties);
}

static int export_pool(CUmemoryPool pool)
{
    int file = -1;
    EXPECT(SUCCESS, mem_pool_export_to_shareable_handle, &file, pool, FILES, 0);
    ck_assert_int_ge(file, 0);
    return file;
}

static CUmemoryPool import_pool(int file)
{
    CUmemoryPool pool = NULL;
    EXPECT(SUCCESS, mem_pool_import_from_shareable_handle, &pool, (void *)(intptr_t)file, FILES, 0);
    return pool;
}

/* ---- two processes ---- */

static CUmemoryPool hear_pool(int link)
{
    CUmemoryPool pool = NULL;
    int file = receive_file(link);
    MUST(CU(mem_pool_import_from_shareable_handle, &pool, (void *)(intptr_t)file, FILES, 0));
    if (close(file) != 0)
        _exit(250);
    return pool;
}

static void must_allocate_nothing(CUmemoryPool pool)
{
    CUdeviceptr memory = 0;
    int file = -1;
    MUST_BE(INVALID_VALUE, CU(mem_alloc_from_pool_async, &memory, 64, pool, NULL));
    MUST_BE(INVALID_VALUE, CU(device_set_mem_pool, 1, pool));
    MUST_BE(INVALID_VALUE, CU(mem_pool_export_to_shareable_handle, &file, pool, FILES, 0));
}

static void fill_what_is_shared(int link)
{
    cxu_mem_pool_pointer shared;
    CUcontext context;
    CUmemoryPool pool, named = NULL;
    CUdeviceptr memory = 0, again = 0;
    unsigned char bytes[4] = {0};
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &context, 0, 1));
    pool = hear_pool(link);
    must_allocate_nothing(pool);
    if (recv(link, &shared, sizeof shared, MSG_WAITALL) != (ssize_t)sizeof shared)
        _exit(251);
    MUST(CU(mem_pool_import_pointer, &memory, pool, &shared));
    MUST(CU(mem_pool_import_pointer, &again, pool, &shared));
    MUST(CU(pointer_get_attribute, &named, CXU_POINTER_MEMPOOL_HANDLE, memory));
    if (again != memory || named != pool)
        _exit(252);
    MUST(CU(memcpy_dtoh, bytes, memory + BYTES - 4, 4));
    if (bytes[3] != 7)
        _exit(253);
    MUST(CU(memset_d8_async, memory, 9, BYTES, NULL));
    MUST(CU(mem_free_async, memory, NULL));
    MUST(CU(memset_d8_async, memory, 8, 4, NULL));
    MUST(CU(stream_synchronize, NULL));
    MUST(CU(mem_pool_destroy, pool));
    MUST(CU(mem_free, memory));
    MUST_BE(INVALID_VALUE, CU(mem_free, memory));
    MUST(CU(ctx_destroy, context));
}

START_TEST(another_process_fills_memory_of_a_shared_pool)
{
    partner other = start_partner(fill_what_is_shared);
    cxu_mem_pool_pointer shared;
    CUmemoryPool pool;
    CUdeviceptr memory = 0;
    unsigned char bytes[4] = {0};
    start_gpus();
    CUcontext context = create_on(1);
    ck_assert_int_eq(create(device, FILES, &pool), CXU_SUCCESS);
    EXPECT(SUCCESS, mem_alloc_from_pool_async, &memory, BYTES, pool, NULL);
    EXPECT(SUCCESS, memset_d8_async, memory, 7, BYTES, NULL);
    EXPECT(SUCCESS, stream_synchronize, NULL);
    int file = export_pool(pool);
    EXPECT(SUCCESS, mem_pool_export_pointer, &shared, memory);
    ck_assert(send_file(other.link, file));
    close(file);
    say(other.link, &shared, sizeof shared);
    end_partner(&other);
    EXPECT(SUCCESS, memcpy_dtoh, bytes, memory + BYTES - 4, 4);
    ck_assert_int_eq(bytes[3], 9);
    EXPECT(SUCCESS, memcpy_dtoh, bytes, memory, 4);
    ck_assert_int_eq(bytes[3], 8);
    EXPECT(SUCCESS, mem_free, memory);
    EXPECT(SUCCESS, mem_pool_destroy, pool);
    EXPECT(SUCCESS, ctx_destroy, context);
    expect_nothing_left();
}
END_TEST

/* The host reads and writes memory of its node in both processes. */
static void write_on_the_host(int link)
{
    cxu_mem_pool_pointer shared;
    CUcontext context;
    CUdeviceptr memory = 0;
    unsigned int type = 0;
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &context, 0, 0));
    CUmemoryPool pool = hear_pool(link);
    if (recv(link, &shared, sizeof shared, MSG_WAITALL) != (ssize_t)sizeof shared)
        _exit(251);
    MUST(CU(mem_pool_import_pointer, &memory, pool, &shared));
    MUST(CU(pointer_get_attribute, &type, CXU_POINTER_MEMORY_TYPE, memory));
    if (type != CXU_MEMORYTYPE_HOST || *(int *)(uintptr_t)memory != 5)
        _exit(252);
    *(int *)(uintptr_t)memory = 6;
    MUST_BE(INVALID_VALUE, CU(memset_d8, memory, 1, 4));
    MUST(CU(mem_free_async, memory, NULL));
    MUST(CU(mem_pool_destroy, pool));
    MUST(CU(ctx_destroy, context));
}

START_TEST(a_pool_of_the_node_is_host_memory_in_both_processes)
{
    partner other = start_partner(write_on_the_host);
    cxu_mem_pool_pointer shared;
    CUmemoryPool pool;
    CUdeviceptr memory = 0;
    start_gpus();
    CUcontext context = create_on(0);
    ck_assert_int_eq(create(node, FILES, &pool), CXU_SUCCESS);
    EXPECT(SUCCESS, mem_alloc_from_pool_async, &memory, 64, pool, NULL);
    *(int *)(uintptr_t)memory = 5;
    int file = export_pool(pool);
    EXPECT(SUCCESS, mem_pool_export_pointer, &shared, memory);
    ck_assert(send_file(other.link, file));
    close(file);
    say(other.link, &shared, sizeof shared);
    end_partner(&other);
    ck_assert_int_eq(*(int *)(uintptr_t)memory, 6);
    EXPECT(SUCCESS, mem_free, memory);
    EXPECT(SUCCESS, mem_pool_destroy, pool);
    EXPECT(SUCCESS, ctx_destroy, context);
    expect_nothing_left();
}
END_TEST

/* ---- one process ---- */

static CUcontext context;

static void setup(void)
{
    start_gpus();
    context = create_on(1);
}

static void teardown(void)
{
    EXPECT(SUCCESS, ctx_destroy, context);
    expect_nothing_left();
}

START_TEST(memory_is_imported_from_its_own_pool_alone)
{
    CUmemoryPool pools[2], imported[2];
    cxu_mem_pool_pointer shared, nonsense = {{0}};
    CUdeviceptr memory = 0, seen = 77;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(create(device, FILES, &pools[i]), CXU_SUCCESS);
        int file = export_pool(pools[i]);
        imported[i] = import_pool(file);
        close(file);
    }
    EXPECT(SUCCESS, mem_alloc_from_pool_async, &memory, 4096, pools[0], NULL);
    EXPECT(SUCCESS, mem_pool_export_pointer, &shared, memory);
    EXPECT(INVALID_VALUE, mem_pool_import_pointer, &seen, imported[1], &shared);
    EXPECT(INVALID_VALUE, mem_pool_import_pointer, &seen, pools[0], &shared);
    EXPECT(INVALID_VALUE, mem_pool_import_pointer, &seen, NULL, &shared);
    EXPECT(INVALID_VALUE, mem_pool_import_pointer, &seen, imported[0], &nonsense);
    EXPECT(INVALID_VALUE, mem_pool_import_pointer, &seen, imported[0], NULL);
    EXPECT(INVALID_VALUE, mem_pool_import_pointer, NULL, imported[0], &shared);
    ck_assert_uint_eq(seen, 77);
    EXPECT(SUCCESS, mem_pool_import_pointer, &seen, imported[0], &shared);
    ck_assert_uint_ne(seen, memory);
    EXPECT(INVALID_VALUE, mem_pool_export_pointer, &shared, seen);
    EXPECT(SUCCESS, mem_free_async, seen, NULL);
    EXPECT(SUCCESS, mem_free_async, memory, NULL);
    EXPECT(SUCCESS, ctx_synchronize);
    for (int i = 0; i < 2; i++) {
        EXPECT(SUCCESS, mem_pool_destroy, pools[i]);
        EXPECT(SUCCESS, mem_pool_destroy, imported[i]);
    }
}
END_TEST

START_TEST(an_imported_pool_gives_a_capture_nothing_either)
{
    CUmemoryPool pool, imported;
    CUdeviceptr memory = 77;
    CUstream on;
    CUgraph graph;
    ck_assert_int_eq(create(device, FILES, &pool), CXU_SUCCESS);
    int file = export_pool(pool);
    imported = import_pool(file);
    close(file);
    EXPECT(SUCCESS, stream_create, &on, CXU_STREAM_NON_BLOCKING);
    EXPECT(SUCCESS, stream_begin_capture, on, CXU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT(INVALID_VALUE, mem_alloc_from_pool_async, &memory, 64, imported, on);
    EXPECT(INVALID_VALUE, mem_alloc_from_pool_async, &memory, 0, imported, on);
    ck_assert_uint_eq(memory, 77);
    EXPECT(SUCCESS, stream_end_capture, on, &graph);
    EXPECT(SUCCESS, graph_destroy, graph);
    EXPECT(SUCCESS, stream_destroy, on);
    EXPECT(SUCCESS, mem_pool_destroy, imported);
    EXPECT(SUCCESS, mem_pool_destroy, pool);
}
END_TEST

START_TEST(only_memory_of_a_pool_that_was_shared_is_exported)
{
    CUmemoryPool plain, pool;
    cxu_mem_pool_pointer shared;
    CUdeviceptr memories[3];
    int file = -1;
    ck_assert_int_eq(create(device, 0, &plain), CXU_SUCCESS);
    ck_assert_int_eq(create(device, FILES, &pool), CXU_SUCCESS);
    EXPECT(INVALID_VALUE, mem_pool_export_to_shareable_handle, &file, plain, FILES, 0);
    EXPECT(INVALID_VALUE, mem_pool_export_to_shareable_handle, &file, NULL, FILES, 0);
    EXPECT(INVALID_VALUE, mem_pool_export_to_shareable_handle, &file, pool, FILES, 1);
    EXPECT(INVALID_VALUE, mem_pool_export_to_shareable_handle, NULL, pool, FILES, 0);
    EXPECT(INVALID_VALUE, mem_pool_export_to_shareable_handle, &file, pool, 0, 0);
    EXPECT(NOT_SUPPORTED, mem_pool_export_to_shareable_handle, &file, pool,
           CXU_MEM_HANDLE_TYPE_FABRIC, 0);
    ck_assert_int_eq(file, -1);
    EXPECT(SUCCESS, mem_alloc_from_pool_async, &memories[0], 64, plain, NULL);
    EXPECT(SUCCESS, mem_alloc_from_pool_async, &memories[1], 64, pool, NULL);
    EXPECT(SUCCESS, mem_alloc, &memories[2], 64);
    EXPECT(INVALID_VALUE, mem_pool_export_pointer, &shared, memories[1]);
    close(export_pool(pool));
    EXPECT(SUCCESS, mem_pool_export_pointer, &shared, memories[1]);
    EXPECT(INVALID_VALUE, mem_pool_export_pointer, &shared, memories[1] + 1);
    EXPECT(INVALID_VALUE, mem_pool_export_pointer, NULL, memories[1]);
    EXPECT(INVALID_VALUE, mem_pool_export_pointer, &shared, memories[0]);
    EXPECT(INVALID_VALUE, mem_pool_export_pointer, &shared, memories[2]);
    EXPECT(INVALID_VALUE, mem_pool_export_pointer, &shared, 0);
    for (int i = 0; i < 3; i++)
        EXPECT(SUCCESS, mem_free, memories[i]);
    EXPECT(SUCCESS, mem_pool_destroy, plain);
    EXPECT(SUCCESS, mem_pool_destroy, pool);
}
END_TEST

START_TEST(a_file_that_is_no_pool_is_refused)
{
    CUmemoryPool pool = (CUmemoryPool)&pool;
    const int files[] = {-1, open("/dev/null", O_RDONLY), open("/proc/self/exe", O_RDONLY)};
    for (int i = 0; i < 3; i++) {
        void *handle = (void *)(intptr_t)files[i];
        EXPECT(INVALID_VALUE, mem_pool_import_from_shareable_handle, &pool, handle, FILES, 0);
        if (files[i] >= 0)
            close(files[i]);
    }
    EXPECT(INVALID_VALUE, mem_pool_import_from_shareable_handle, NULL, NULL, FILES, 0);
    ck_assert_ptr_eq(pool, (CUmemoryPool)&pool);
}
END_TEST

START_TEST(handle_types_of_pools_are_checked)
{
    CUmemoryPool pool = (CUmemoryPool)&pool;
    unsigned long long types = 0;
    CUdeviceptr memory;
    ck_assert_int_eq(create(device, CXU_MEM_HANDLE_TYPE_FABRIC, &pool), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(create(device, (cxu_mem_handle_type)16, &pool), CXU_INVALID_VALUE);
    ck_assert_ptr_eq(pool, (CUmemoryPool)&pool);
    ck_assert_int_eq(create(device, FILES, &pool), CXU_SUCCESS);
    EXPECT(SUCCESS, mem_alloc_from_pool_async, &memory, 64, pool, NULL);
    EXPECT(SUCCESS, pointer_get_attribute, &types, CXU_POINTER_ALLOWED_HANDLE_TYPES, memory);
    ck_assert_uint_eq(types, FILES);
    EXPECT(SUCCESS, mem_free, memory);
    EXPECT(SUCCESS, mem_pool_destroy, pool);
}
END_TEST

START_TEST(an_imported_pool_counts_what_is_imported_and_keeps_nothing)
{
    CUmemoryPool pool, imported;
    cxu_mem_pool_pointer shared;
    CUdeviceptr memory, seen;
    uint64_t used = 77, most = UINT64_MAX;
    ck_assert_int_eq(create(device, FILES, &pool), CXU_SUCCESS);
    int file = export_pool(pool);
    imported = import_pool(file);
    close(file);
    EXPECT(SUCCESS, mem_pool_set_attribute, imported, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most);
    EXPECT(SUCCESS, mem_alloc_from_pool_async, &memory, 4096, pool, NULL);
    EXPECT(SUCCESS, mem_pool_export_pointer, &shared, memory);
    EXPECT(SUCCESS, mem_pool_import_pointer, &seen, imported, &shared);
    EXPECT(SUCCESS, mem_pool_get_attribute, imported, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
    ck_assert_uint_eq(used, 4096);
    EXPECT(SUCCESS, mem_free, seen);
    EXPECT(SUCCESS, mem_pool_get_attribute, imported, CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &used);
    ck_assert_uint_eq(used, 0);
    EXPECT(SUCCESS, mem_free, memory);
    EXPECT(SUCCESS, mem_pool_destroy, imported);
    EXPECT(SUCCESS, mem_pool_destroy, pool);
}
END_TEST

static Suite *share_suite(void)
{
    Suite *suite = suite_create("pools between processes");
    TCase *two = tcase_create("two processes"), *one = tcase_create("one process");
    tcase_add_test(two, another_process_fills_memory_of_a_shared_pool);
    tcase_add_test(two, a_pool_of_the_node_is_host_memory_in_both_processes);
    tcase_add_checked_fixture(one, setup, teardown);
    tcase_add_test(one, memory_is_imported_from_its_own_pool_alone);
    tcase_add_test(one, an_imported_pool_gives_a_capture_nothing_either);
    tcase_add_test(one, only_memory_of_a_pool_that_was_shared_is_exported);
    tcase_add_test(one, a_file_that_is_no_pool_is_refused);
    tcase_add_test(one, handle_types_of_pools_are_checked);
    tcase_add_test(one, an_imported_pool_counts_what_is_imported_and_keeps_nothing);
    suite_add_tcase(suite, two);
    suite_add_tcase(suite, one);
    return suite;
}

CX_TESTS(share_suite);
