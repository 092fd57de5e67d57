/* Memory pools of the host and of managed memory (T18). */
#include "emu/device/device.h"
#include "memory_fixture.h"

#include <string.h>

#define ck_invalid(call) ck_assert_int_eq(call, CXU_INVALID_VALUE)

#define PINNED CXU_MEM_ALLOCATION_TYPE_PINNED
#define MANAGED CXU_MEM_ALLOCATION_TYPE_MANAGED

static const cxu_mem_location host = {CXU_MEM_LOCATION_TYPE_HOST, 0},
                              node = {CXU_MEM_LOCATION_TYPE_HOST_NUMA, 0},
                              here = {CXU_MEM_LOCATION_TYPE_DEVICE, 0},
                              there = {CXU_MEM_LOCATION_TYPE_DEVICE, 1},
                              nowhere = {CXU_MEM_LOCATION_TYPE_INVALID, 0};

static CUmemoryPool create(cxu_mem_allocation_type type, cxu_mem_location location)
{
    CUmemoryPool pool = NULL;
    const cxu_mem_pool_properties properties = {.type = type, .location = location};
    ck_success(cx_emu_call_mem_pool_create(&pool, &properties));
    ck_assert_ptr_nonnull(pool);
    return pool;
}

static CUdeviceptr take(CUmemoryPool pool, size_t bytes)
{
    CUdeviceptr pointer = 0;
    ck_success(cx_emu_call_mem_alloc_from_pool_async(&pointer, bytes, pool, NULL));
    return pointer;
}

static void give(CUdeviceptr pointer)
{
    ck_success(cx_emu_call_mem_free_async(pointer, NULL));
    ck_success(cx_emu_call_stream_synchronize(NULL));
}

static uint64_t attribute(CUmemoryPool pool, cxu_mem_pool_attribute which)
{
    uint64_t value = 77;
    ck_success(cx_emu_call_mem_pool_get_attribute(pool, which, &value));
    return value;
}

static unsigned int number(CUdeviceptr pointer, cxu_pointer_attribute which)
{
    unsigned int value = 77;
    ck_success(cx_emu_call_pointer_get_attribute(&value, which, pointer));
    return value;
}

static int access_of(CUmemoryPool pool, cxu_mem_location location)
{
    cxu_mem_access_flags flags = 77;
    ck_success(cx_emu_call_mem_pool_get_access(&flags, pool, &location));
    return (int)flags;
}

static cxu_result set_access(CUmemoryPool pool, cxu_mem_location location, int flags)
{
    const cxu_mem_access access = {location, (cxu_mem_access_flags)flags};
    return cx_emu_call_mem_pool_set_access(pool, &access, 1);
}

static void the_host_reads_and_writes(CUdeviceptr pointer, size_t bytes)
{
    unsigned char *memory = (unsigned char *)(uintptr_t)pointer, back[4] = {0};
    memset(memory, 5, bytes);
    ck_success(cx_emu_call_memcpy_dtoh(back, pointer + bytes - 4, 4));
    ck_assert_int_eq(back[3], 5);
}

static void check_host_pool(cxu_mem_location location)
{
    CUmemoryPool pool = create(PINNED, location), named = NULL;
    CUdeviceptr pointer = take(pool, 100);
    the_host_reads_and_writes(pointer, 100);
    ck_assert_uint_eq(number(pointer, CXU_POINTER_MEMORY_TYPE), CXU_MEMORYTYPE_HOST);
    ck_assert_uint_eq(number(pointer, CXU_POINTER_IS_MANAGED), 0);
    ck_success(cx_emu_call_pointer_get_attribute(&named, CXU_POINTER_MEMPOOL_HANDLE, pointer));
    ck_assert_ptr_eq(named, pool);
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 512);
    give(pointer);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_HIGH), 512);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
}

START_TEST(memory_of_a_host_pool_is_the_hosts)
{
    check_host_pool(host);
    check_host_pool(node);
}
END_TEST

START_TEST(devices_reach_a_host_pool_that_is_open_to_them)
{
    CUmemoryPool pool = create(PINNED, host);
    CUdeviceptr pointer = take(pool, 64), seen = 0;
    ck_assert_int_eq(access_of(pool, host), 3);
    ck_assert_int_eq(access_of(pool, node), 3);
    ck_assert_int_eq(access_of(pool, here), 0);
    ck_assert_uint_eq(number(pointer, CXU_POINTER_ACCESS_FLAGS), 0);
    ck_invalid(cx_emu_call_pointer_get_attribute(&seen, CXU_POINTER_DEVICE_POINTER, pointer));
    ck_invalid(cx_emu_call_memset_d8(pointer, 1, 64));
    ck_success(set_access(pool, here, 3));
    ck_success(cx_emu_call_memset_d8(pointer, 1, 64));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_int_eq(*(unsigned char *)(uintptr_t)pointer, 1);
    ck_success(cx_emu_call_pointer_get_attribute(&seen, CXU_POINTER_DEVICE_POINTER, pointer));
    ck_assert_uint_eq(seen, pointer);
    ck_assert_int_eq(access_of(pool, there), 0);
    ck_success(set_access(pool, there, 3));
    ck_success(set_access(pool, here, 0));
    ck_assert_int_eq(access_of(pool, here), 0);
    ck_assert_int_eq(access_of(pool, there), 3);
    ck_success(set_access(pool, host, 3));
    ck_success(set_access(pool, node, 3));
    ck_invalid(set_access(pool, host, 0));
    give(pointer);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
}
END_TEST

START_TEST(the_host_never_reaches_a_device_pool)
{
    CUmemoryPool pool = create(PINNED, here);
    ck_assert_int_eq(access_of(pool, host), 0);
    ck_assert_int_eq(access_of(pool, node), 0);
    ck_invalid(set_access(pool, host, 3));
    ck_success(cx_emu_call_mem_pool_destroy(pool));
}
END_TEST

START_TEST(memory_of_a_host_pool_is_none_of_cuMemHostAlloc)
{
    CUmemoryPool pool = create(PINNED, host);
    CUdeviceptr pointer = take(pool, 64), seen;
    void *memory = (void *)(uintptr_t)pointer;
    unsigned int flags;
    ck_invalid(cx_emu_call_mem_free_host(memory));
    ck_invalid(cx_emu_call_mem_host_get_device_pointer(&seen, memory, 0));
    ck_invalid(cx_emu_call_mem_host_get_flags(&flags, memory));
    ck_success(cx_emu_call_mem_free(pointer));
    ck_invalid(cx_emu_call_mem_free(pointer));
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
}
END_TEST

START_TEST(memory_of_a_managed_pool_is_managed_and_reached_by_all)
{
    CUmemoryPool pool = create(MANAGED, nowhere);
    CUdeviceptr pointer = take(pool, 4096);
    the_host_reads_and_writes(pointer, 4096);
    ck_assert_uint_eq(number(pointer, CXU_POINTER_IS_MANAGED), 1);
    ck_assert_uint_eq(number(pointer, CXU_POINTER_ACCESS_FLAGS), 3);
    ck_success(cx_emu_call_memset_d8(pointer, 1, 64));
    ck_assert_int_eq(access_of(pool, host), 3);
    ck_assert_int_eq(access_of(pool, there), 3);
    ck_success(set_access(pool, there, 3));
    ck_invalid(set_access(pool, there, 0));
    ck_success(cx_emu_call_mem_advise(pointer, 4096, CXU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    ck_success(cx_emu_call_mem_pool_destroy(pool));
    give(pointer);
    ck_assert_uint_eq(used_bytes(0), 0);
}
END_TEST

static int preferred(CUdeviceptr pointer)
{
    int device = 77;
    ck_success(cx_emu_call_mem_range_get_attribute(
        &device, sizeof device, CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, pointer, 64));
    return device;
}

START_TEST(memory_of_a_managed_pool_prefers_the_place_of_its_pool)
{
    const struct {
        cxu_mem_location location;
        int device; /* -1: the host, -2: none */
    } cases[] = {{nowhere, -2}, {host, -1}, {there, 1}};
    for (int i = 0; i < 3; i++) {
        CUmemoryPool pool = create(MANAGED, cases[i].location);
        CUdeviceptr pointer = take(pool, 64);
        ck_assert_int_eq(preferred(pointer), cases[i].device);
        ck_assert_uint_eq(used_bytes(1), cases[i].device == 1 ? 512 : 0);
        give(pointer);
        ck_success(cx_emu_call_mem_pool_destroy(pool));
    }
}
END_TEST

static void check_place(cxu_mem_allocation_type type, cxu_mem_location location)
{
    CUmemoryPool mine = create(type, location), usual = NULL, found = NULL;
    ck_success(cx_emu_call_mem_get_default_mem_pool(&usual, &location, type));
    ck_success(cx_emu_call_mem_get_mem_pool(&found, &location, type));
    ck_assert_ptr_eq(found, usual);
    ck_invalid(cx_emu_call_mem_pool_destroy(usual));
    give(take(usual, 64));
    ck_success(cx_emu_call_mem_set_mem_pool(&location, type, mine));
    ck_success(cx_emu_call_mem_get_mem_pool(&found, &location, type));
    ck_assert_ptr_eq(found, mine);
    ck_success(cx_emu_call_mem_pool_destroy(mine));
    ck_success(cx_emu_call_mem_get_mem_pool(&found, &location, type));
    ck_assert_ptr_eq(found, usual);
}

START_TEST(each_place_has_a_default_pool_and_a_current_one)
{
    const cxu_mem_location places[] = {host, node, here, there};
    cxu_mem_location at_host = host, at_none = nowhere, at_here = here;
    CUmemoryPool pools[2], of_node = create(PINNED, node);
    for (int i = 0; i < 4; i++) {
        check_place(PINNED, places[i]);
        check_place(MANAGED, places[i]);
    }
    check_place(MANAGED, nowhere);
    ck_success(cx_emu_call_mem_get_mem_pool(&pools[0], &at_host, PINNED));
    ck_success(cx_emu_call_mem_get_mem_pool(&pools[1], &at_host, MANAGED));
    ck_assert_ptr_ne(pools[0], pools[1]);
    ck_invalid(cx_emu_call_mem_set_mem_pool(&at_host, PINNED, of_node));
    ck_invalid(cx_emu_call_mem_set_mem_pool(&at_here, PINNED, of_node));
    ck_invalid(cx_emu_call_mem_set_mem_pool(&at_host, MANAGED, pools[0]));
    ck_invalid(cx_emu_call_mem_get_mem_pool(&pools[0], &at_none, PINNED));
    ck_success(cx_emu_call_mem_pool_destroy(of_node));
}
END_TEST

START_TEST(a_device_may_take_from_a_pool_of_the_node)
{
    CUmemoryPool pool = create(PINNED, node), plain = create(PINNED, host), found, usual;
    CUdeviceptr pointer;
    ck_success(cx_emu_call_device_get_default_mem_pool(&usual, 0));
    ck_invalid(cx_emu_call_device_set_mem_pool(0, plain));
    ck_success(cx_emu_call_device_set_mem_pool(0, pool));
    ck_success(cx_emu_call_mem_alloc_async(&pointer, 64, NULL));
    the_host_reads_and_writes(pointer, 64);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
    ck_success(cx_emu_call_device_get_mem_pool(&found, 0));
    ck_assert_ptr_eq(found, usual);
    give(pointer);
    ck_success(cx_emu_call_mem_pool_destroy(plain));
}
END_TEST

START_TEST(a_host_pool_keeps_memory_and_has_a_limit)
{
    const cxu_mem_pool_properties properties = {
        .type = PINNED, .location = host, .max_bytes = (size_t)2 * MIB};
    uint64_t threshold = MIB;
    CUdeviceptr pointer, none;
    CUmemoryPool pool;
    ck_success(cx_emu_call_mem_pool_create(&pool, &properties));
    ck_success(cx_emu_call_mem_pool_set_attribute(pool, CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                                                  &threshold));
    pointer = take(pool, (size_t)2 * MIB);
    ck_assert_int_eq(cx_emu_call_mem_alloc_from_pool_async(&none, 1, pool, NULL),
                     CXU_OUT_OF_MEMORY);
    give(pointer);
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), MIB);
    give(take(pool, 512));
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 2 * MIB);
    ck_success(cx_emu_call_mem_pool_trim_to(pool, 0));
    ck_assert_uint_eq(attribute(pool, CXU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
    ck_success(cx_emu_call_mem_pool_destroy(pool));
}
END_TEST

/* Memory of graphs is a device's. */
START_TEST(a_capture_takes_from_no_host_or_managed_pool)
{
    CUmemoryPool pools[] = {create(PINNED, host), create(MANAGED, nowhere)};
    CUdeviceptr pointer = 77;
    CUgraph graph;
    CUstream on;
    ck_success(cx_emu_call_stream_create(&on, CXU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++) {
        ck_success(cx_emu_call_stream_begin_capture(on, CXU_STREAM_CAPTURE_MODE_RELAXED));
        ck_assert_int_eq(cx_emu_call_mem_alloc_from_pool_async(&pointer, 64, pools[i], on),
                         CXU_NOT_SUPPORTED);
        ck_success(cx_emu_call_stream_end_capture(on, &graph));
        ck_success(cx_emu_call_graph_destroy(graph));
        ck_success(cx_emu_call_mem_pool_destroy(pools[i]));
    }
    ck_assert_uint_eq(pointer, 77);
    ck_success(cx_emu_call_stream_destroy(on));
}
END_TEST

START_TEST(there_is_no_pool_elsewhere)
{
    const struct {
        cxu_mem_allocation_type type;
        cxu_mem_location location;
        cxu_mem_handle_type handles;
    } wrong[] = {{PINNED, {CXU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0}, 0},
                 {PINNED, {CXU_MEM_LOCATION_TYPE_HOST_NUMA, 1}, 0},
                 {PINNED, nowhere, 0},
                 {PINNED, host, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR},
                 {MANAGED, nowhere, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR},
                 {MANAGED, {CXU_MEM_LOCATION_TYPE_DEVICE, 9}, 0},
                 {(cxu_mem_allocation_type)3, host, 0}};
    CUmemoryPool pool = (CUmemoryPool)&pool;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const cxu_mem_pool_properties properties = {.type = wrong[i].type,
                                                    .location = wrong[i].location,
                                                    .handle_types = wrong[i].handles};
        ck_invalid(cx_emu_call_mem_pool_create(&pool, &properties));
    }
    ck_assert_ptr_eq(pool, (CUmemoryPool)&pool);
}
END_TEST

START_TEST(without_concurrent_access_no_place_has_a_managed_pool)
{
    cx_emu_config config = {.gpus = 1,
                            .gpu = CX_EMU_GPU_RTX3060,
                            .gpu_memory_bytes = (size_t)64 << 20,
                            .driver_version = CX_EMU_DRIVER_VERSION};
    cxu_mem_location place = here, any = nowhere;
    CUmemoryPool pool;
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_assert_int_eq(cx_emu_call_mem_get_default_mem_pool(&pool, &place, MANAGED),
                     CXU_NOT_SUPPORTED);
    ck_assert_int_eq(cx_emu_call_mem_get_mem_pool(&pool, &any, MANAGED), CXU_NOT_SUPPORTED);
    ck_success(cx_emu_call_mem_pool_destroy(create(MANAGED, nowhere)));
}
END_TEST

static Suite *place_suite(void)
{
    Suite *suite = suite_create("pools of the host and of managed memory");
    TCase *tcase = tcase_create("places"), *other = tcase_create("another GPU");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, memory_of_a_host_pool_is_the_hosts);
    tcase_add_test(tcase, devices_reach_a_host_pool_that_is_open_to_them);
    tcase_add_test(tcase, the_host_never_reaches_a_device_pool);
    tcase_add_test(tcase, memory_of_a_host_pool_is_none_of_cuMemHostAlloc);
    tcase_add_test(tcase, memory_of_a_managed_pool_is_managed_and_reached_by_all);
    tcase_add_test(tcase, memory_of_a_managed_pool_prefers_the_place_of_its_pool);
    tcase_add_test(tcase, each_place_has_a_default_pool_and_a_current_one);
    tcase_add_test(tcase, a_device_may_take_from_a_pool_of_the_node);
    tcase_add_test(tcase, a_host_pool_keeps_memory_and_has_a_limit);
    tcase_add_test(tcase, a_capture_takes_from_no_host_or_managed_pool);
    tcase_add_test(tcase, there_is_no_pool_elsewhere);
    tcase_add_test(other, without_concurrent_access_no_place_has_a_managed_pool);
    suite_add_tcase(suite, tcase);
    suite_add_tcase(suite, other);
    return suite;
}

CX_TESTS(place_suite);
