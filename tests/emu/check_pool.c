/* Memory pools of the embedded driver: what is counted, and pools that go before their memory (T14,
 * T15). */
#include "emu/device/device.h"
#include "memory_fixture.h"

#include <pthread.h>
#include <stdlib.h>

#define ck_invalid(call) ck_assert_int_eq(call, CXU_INVALID_VALUE)

static CUmemoryPool create(int device, size_t max_bytes)
{
    CUmemoryPool pool = NULL;
    cxu_mem_pool_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device},
                                          .max_bytes = max_bytes};
    ck_success(cx_emu_call_mem_pool_create(&pool, &properties));
    ck_assert_ptr_nonnull(pool);
    return pool;
}

static uint64_t attribute(CUmemoryPool pool, cxu_mem_pool_attribute which)
{
    uint64_t value = 77;
    ck_success(cx_emu_call_mem_pool_get_attribute(pool, which, &value));
    return value;
}

static CUstream stream(void)
{
    CUstream made;
    ck_success(cx_emu_call_stream_create(&made, CXU_STREAM_NON_BLOCKING));
    return made;
}

START_TEST(a_pool_counts_what_is_allocated_until_the_stream_frees_it)
{
    memory_gate gate;
    CUdeviceptr pointer;
    CUmemoryPool pool = create(0, 0);
    memory_gate_close(&gate);
    ck_success(cx_emu_call_mem_alloc_from_pool_async(&pointer, 100, pool, gate.stream));
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 512);
    ck_success(cx_emu_call_mem_free_async(pointer, gate.stream));
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 512);
    memory_gate_open(&gate);
    memory_gate_end(&gate);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_HIGH), 512);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 512);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
}
END_TEST

static void set_threshold(CUmemoryPool pool, uint64_t bytes)
{
    ck_success(
        cx_emu_call_mem_pool_set_attribute(pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes));
}

static CUdeviceptr take(CUmemoryPool pool, size_t bytes, CUstream on)
{
    CUdeviceptr pointer = 0;
    ck_success(cx_emu_call_mem_alloc_from_pool_async(&pointer, bytes, pool, on));
    return pointer;
}

static void give(CUdeviceptr pointer, CUstream on)
{
    ck_success(cx_emu_call_mem_free_async(pointer, on));
    ck_success(cx_emu_call_stream_synchronize(on));
}

static size_t free_bytes(void)
{
    size_t free_now, total;
    ck_success(cx_emu_call_mem_get_info(&free_now, &total));
    return free_now;
}

static void ck_reserved(CUmemoryPool pool, uint64_t bytes, size_t free_before)
{
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), bytes);
    ck_assert_uint_eq(free_bytes(), free_before - bytes);
}

START_TEST(a_pool_keeps_freed_memory_up_to_its_threshold)
{
    CUmemoryPool pool = create(0, 0);
    CUstream on = stream();
    size_t before = free_bytes();
    set_threshold(pool, 6144);
    CUdeviceptr first = take(pool, 4096, on), second = take(pool, 4096, on);
    ck_reserved(pool, 8192, before);
    give(first, on);
    ck_reserved(pool, 6144, before);
    give(second, on);
    ck_reserved(pool, 6144, before);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    first = take(pool, 1000, on);
    ck_reserved(pool, 6144, before);
    ck_success(cx_emu_call_mem_pool_trim_to(pool, 2048));
    ck_reserved(pool, 2048, before);
    ck_success(cx_emu_call_mem_pool_trim_to(pool, 0));
    ck_reserved(pool, 1024, before);
    give(first, on);
    ck_reserved(pool, 1024, before);
    set_threshold(pool, 0);
    ck_reserved(pool, 0, before);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 8192);
    set_threshold(pool, UINT64_MAX);
    give(take(pool, 4096, on), on);
    ck_reserved(pool, 4096, before);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
    ck_assert_uint_eq(free_bytes(), before);
}
END_TEST

START_TEST(kept_memory_goes_where_it_is_needed)
{
    CUmemoryPool pool = create(0, 0);
    CUstream on = stream();
    CUdeviceptr all;
    size_t before = free_bytes();
    set_threshold(pool, UINT64_MAX);
    give(take(pool, before, on), on);
    ck_assert_uint_eq(free_bytes(), 0);
    give(take(pool, before, on), on);
    ck_success(cx_emu_call_mem_alloc(&all, before));
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    ck_assert_uint_eq(free_bytes(), 0);
    ck_success(cx_emu_call_mem_free(all));
    ck_assert_uint_eq(free_bytes(), before);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
}
END_TEST

START_TEST(pools_are_found_by_location_too)
{
    cxu_mem_location place = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}, nowhere = {place.type, 99};
    const cxu_mem_allocation_type pinned = CXU_MEM_ALLOCATION_TYPE_PINNED;
    CUmemoryPool mine = create(0, 0), found, of_device;
    ck_success(cx_emu_call_mem_get_default_mem_pool(&found, &place, pinned));
    ck_success(cx_emu_call_device_get_default_mem_pool(&of_device, 0));
    ck_assert_ptr_eq(found, of_device);
    ck_success(cx_emu_call_mem_get_mem_pool(&found, &place, pinned));
    ck_assert_ptr_eq(found, of_device);
    ck_success(cx_emu_call_mem_set_mem_pool(&place, pinned, mine));
    ck_success(cx_emu_call_mem_get_mem_pool(&found, &place, pinned));
    ck_assert_ptr_eq(found, mine);
    ck_success(cx_emu_call_device_get_mem_pool(&found, 0));
    ck_assert_ptr_eq(found, mine);
    ck_invalid(cx_emu_call_mem_get_default_mem_pool(NULL, &place, pinned));
    ck_invalid(cx_emu_call_mem_get_default_mem_pool(&found, NULL, pinned));
    ck_invalid(cx_emu_call_mem_get_default_mem_pool(&found, &nowhere, pinned));
    ck_invalid(cx_emu_call_mem_get_mem_pool(&found, &place, CXU_MEM_ALLOCATION_TYPE_INVALID));
    ck_invalid(cx_emu_call_mem_set_mem_pool(&place, pinned, NULL));
    ck_invalid(cx_emu_call_mem_set_mem_pool(NULL, pinned, mine));
    ck_invalid(cx_emu_call_mem_set_mem_pool(&nowhere, pinned, mine));
    ck_success(cx_emu_call_mem_pool_destroy(mine));
}
END_TEST

START_TEST(memory_outlives_its_pool_and_the_handle_is_stale)
{
    CUdeviceptr first, second = 77;
    unsigned char byte = 0;
    CUstream on = stream();
    CUmemoryPool pool = create(0, 0);
    ck_success(cx_emu_call_mem_alloc_from_pool_async(&first, MIB, pool, on));
    ck_success(cx_emu_call_mem_pool_destroy(pool));
    ck_invalid(cx_emu_call_mem_alloc_from_pool_async(&second, MIB, pool, on));
    ck_invalid(cx_emu_call_mem_pool_destroy(pool));
    ck_invalid(cx_emu_call_mem_pool_trim_to(pool, 0));
    ck_assert_uint_eq(second, 77);
    ck_success(cx_emu_call_memset_d8_async(first, 4, MIB, on));
    ck_success(cx_emu_call_memcpy_dtoh_async(&byte, first + MIB - 1, 1, on));
    ck_assert_int_eq(byte, 4);
    ck_success(cx_emu_call_mem_free_async(first, on));
    ck_success(cx_emu_call_stream_synchronize(on));
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_success(cx_emu_call_stream_destroy(on));
}
END_TEST

START_TEST(pool_memory_is_of_the_pools_device_and_names_its_pool)
{
    CUdeviceptr pointer, plain;
    CUmemoryPool pool = create(1, 0), named = NULL, fallback = NULL;
    CUstream on = stream();
    int ordinal = -1;
    ck_success(cx_emu_call_mem_alloc_from_pool_async(&pointer, 64, pool, on));
    ck_success(cx_emu_call_pointer_get_attribute(&ordinal, CXU_POINTER_DEVICE_ORDINAL, pointer));
    ck_assert_int_eq(ordinal, 1);
    ck_assert_uint_eq(used_bytes(1), 512);
    ck_success(cx_emu_call_pointer_get_attribute(&named, CXU_POINTER_MEMPOOL_HANDLE, pointer));
    ck_assert_ptr_eq(named, pool);
    ck_success(cx_emu_call_mem_alloc_async(&plain, 64, on));
    ck_success(cx_emu_call_pointer_get_attribute(&named, CXU_POINTER_MEMPOOL_HANDLE, plain));
    ck_success(cx_emu_call_device_get_default_mem_pool(&fallback, 0));
    ck_assert_ptr_eq(named, fallback);
    ck_success(cx_emu_call_mem_free_async(plain, on));
    ck_success(cx_emu_call_mem_free(pointer));
    ck_success(cx_emu_call_stream_synchronize(on));
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
    ck_success(cx_emu_call_stream_destroy(on));
}
END_TEST

START_TEST(access_of_a_peer_is_seen_by_the_pointer)
{
    CUdeviceptr pointer;
    CUcontext peer, popped;
    CUmemoryPool pool = create(0, 0);
    CUstream on = stream();
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, 1},
                             CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    unsigned int flags = 77;
    ck_success(cx_emu_call_mem_alloc_from_pool_async(&pointer, 64, pool, on));
    ck_success(cx_emu_call_ctx_create_v2(&peer, 0, 1));
    ck_success(cx_emu_call_pointer_get_attribute(&flags, CXU_POINTER_ACCESS_FLAGS, pointer));
    ck_assert_uint_eq(flags, 0);
    ck_success(cx_emu_call_mem_pool_set_access(pool, &access, 1));
    ck_success(cx_emu_call_pointer_get_attribute(&flags, CXU_POINTER_ACCESS_FLAGS, pointer));
    ck_assert_uint_eq(flags, 3);
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_ctx_destroy(peer));
    ck_success(cx_emu_call_mem_free(pointer));
    ck_success(cx_emu_call_mem_pool_destroy(pool));
    ck_success(cx_emu_call_stream_destroy(on));
}
END_TEST

START_TEST(bad_properties_make_no_pool)
{
    CUmemoryPool pool = (CUmemoryPool)&pool;
    cxu_mem_pool_properties wrong = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    ck_invalid(cx_emu_call_mem_pool_create(NULL, &wrong));
    ck_invalid(cx_emu_call_mem_pool_create(&pool, NULL));
    wrong.type = CXU_MEM_ALLOCATION_TYPE_INVALID;
    ck_invalid(cx_emu_call_mem_pool_create(&pool, &wrong));
    wrong.type = CXU_MEM_ALLOCATION_TYPE_PINNED;
    wrong.usage = 2;
    ck_assert_int_eq(cx_emu_call_mem_pool_create(&pool, &wrong), CXU_NOT_SUPPORTED);
    wrong.usage = 0;
    wrong.location.type = CXU_MEM_LOCATION_TYPE_INVALID;
    ck_invalid(cx_emu_call_mem_pool_create(&pool, &wrong));
    ck_assert_ptr_eq(pool, (CUmemoryPool)&pool);
}
END_TEST

#define THREADS 8
#define ROUNDS 200

typedef struct churn {
    pthread_t thread;
    int failures;
} churn;

/* Makes the device's current pool its own, and destroys it under what others take from it. */
static void *churn_body(void *argument)
{
    churn *job = argument;
    CUstream on;
    job->failures += cx_emu_call_ctx_push(fixture_context) != CXU_SUCCESS;
    job->failures += cx_emu_call_stream_create(&on, CXU_STREAM_NON_BLOCKING) != CXU_SUCCESS;
    for (int round = 0; round < ROUNDS; round++) {
        CUmemoryPool pool;
        CUdeviceptr pointer;
        cxu_mem_pool_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                              .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
        job->failures += cx_emu_call_mem_pool_create(&pool, &properties) != CXU_SUCCESS;
        job->failures += cx_emu_call_device_set_mem_pool(0, pool) != CXU_SUCCESS;
        job->failures += cx_emu_call_mem_alloc_async(&pointer, 4096, on) != CXU_SUCCESS;
        job->failures += cx_emu_call_mem_pool_destroy(pool) != CXU_SUCCESS;
        job->failures += cx_emu_call_memset_d8_async(pointer, 1, 4096, on) != CXU_SUCCESS;
        job->failures += cx_emu_call_mem_free_async(pointer, on) != CXU_SUCCESS;
    }
    job->failures += cx_emu_call_stream_synchronize(on) != CXU_SUCCESS;
    job->failures += cx_emu_call_stream_destroy(on) != CXU_SUCCESS;
    job->failures += cx_emu_call_ctx_pop(NULL) != CXU_SUCCESS;
    return NULL;
}

START_TEST(threads_change_the_current_pool_under_each_other)
{
    churn jobs[THREADS] = {0};
    CUmemoryPool fallback, now;
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, churn_body, &jobs[i]), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(jobs[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(jobs[i].failures, 0);
    ck_success(cx_emu_call_device_get_default_mem_pool(&fallback, 0));
    ck_success(cx_emu_call_device_get_mem_pool(&now, 0));
    ck_assert_ptr_eq(now, fallback);
    ck_assert_uint_eq(attribute(fallback, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
}
END_TEST

static Suite *pool_suite(void)
{
    Suite *suite = suite_create("memory pools");
    TCase *tcase = tcase_create("pools");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, a_pool_counts_what_is_allocated_until_the_stream_frees_it);
    tcase_add_test(tcase, a_pool_keeps_freed_memory_up_to_its_threshold);
    tcase_add_test(tcase, kept_memory_goes_where_it_is_needed);
    tcase_add_test(tcase, pools_are_found_by_location_too);
    tcase_add_test(tcase, memory_outlives_its_pool_and_the_handle_is_stale);
    tcase_add_test(tcase, pool_memory_is_of_the_pools_device_and_names_its_pool);
    tcase_add_test(tcase, access_of_a_peer_is_seen_by_the_pointer);
    tcase_add_test(tcase, bad_properties_make_no_pool);
    tcase_add_test(tcase, threads_change_the_current_pool_under_each_other);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(pool_suite);
