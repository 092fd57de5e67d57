/* What the embedded driver says of a pointer, known or not (T7). */
#include "memory_fixture.h"

#include <string.h>

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer = 0;
    ck_success(cx_emu_call_mem_alloc(&pointer, bytes));
    return pointer;
}

static CUdeviceptr allocate_managed(size_t bytes)
{
    CUdeviceptr pointer = 0;
    ck_success(cx_emu_call_mem_alloc_managed(&pointer, bytes, CXU_MEM_ATTACH_GLOBAL));
    return pointer;
}

static CUdeviceptr allocate_pinned(size_t bytes)
{
    void *pointer = NULL;
    ck_success(cx_emu_call_mem_alloc_host(&pointer, bytes));
    return (uintptr_t)pointer;
}

/* A number of 4 or 8 bytes; what lies behind it must stay. */
static uint64_t number_of(CUdeviceptr pointer, cxu_pointer_attribute attribute, size_t bytes)
{
    unsigned char value[16];
    uint64_t number = 0;
    memset(value, 0xa5, sizeof(value));
    ck_success(cx_emu_call_pointer_get_attribute(value, attribute, pointer));
    for (size_t i = bytes; i < sizeof(value); i++)
        ck_assert_uint_eq(value[i], 0xa5);
    memcpy(&number, value, bytes);
    return number;
}

static cxu_result refusal_of(CUdeviceptr pointer, cxu_pointer_attribute attribute)
{
    uint64_t value = 77;
    cxu_result result = cx_emu_call_pointer_get_attribute(&value, attribute, pointer);
    ck_assert_int_ne(result, CXU_SUCCESS);
    ck_assert_uint_eq(value, 77);
    return result;
}

START_TEST(pointers_are_not_told_of_before_init) /* I1 */
{
    uint64_t value = 77;
    void *values[1] = {&value};
    cxu_pointer_attribute attribute = CXU_POINTER_CONTEXT;
    ck_assert_int_eq(refusal_of(1, CXU_POINTER_CONTEXT), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_pointer_get_attributes(1, &attribute, values, 1),
                     CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_pointer_set_attribute(&value, CXU_POINTER_SYNC_MEMOPS, 1),
                     CXU_NOT_INITIALIZED);
    ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(an_unknown_pointer_has_no_single_attribute) /* T7 */
{
    int local;
    for (int attribute = CXU_POINTER_CONTEXT; attribute <= CXU_POINTER_MEMORY_BLOCK_ID; attribute++)
        ck_assert_int_eq(refusal_of((uintptr_t)&local, (cxu_pointer_attribute)attribute),
                         CXU_INVALID_VALUE);
    ck_assert_int_eq(refusal_of(0, CXU_POINTER_CONTEXT), CXU_INVALID_VALUE);
}
END_TEST

START_TEST(the_plural_form_says_what_an_unknown_pointer_is_not) /* T7 */
{
    int local;
    CUcontext context = (CUcontext)&local;
    unsigned int type = 77, managed = 77, mapped = 77;
    CUdeviceptr device = 77;
    int ordinal = 77;
    void *host = NULL;
    size_t size = 77;
    cxu_pointer_attribute attributes[] = {CXU_POINTER_CONTEXT,        CXU_POINTER_MEMORY_TYPE,
                                          CXU_POINTER_DEVICE_POINTER, CXU_POINTER_HOST_POINTER,
                                          CXU_POINTER_IS_MANAGED,     CXU_POINTER_DEVICE_ORDINAL,
                                          CXU_POINTER_RANGE_SIZE,     CXU_POINTER_MAPPED};
    void *values[] = {&context, &type, &device, &host, &managed, &ordinal, &size, &mapped};
    ck_success(cx_emu_call_pointer_get_attributes(8, attributes, values, (uintptr_t)&local));
    ck_assert_ptr_null(context);
    ck_assert_uint_eq(type, 0);
    ck_assert_uint_eq(device, 0);
    ck_assert_ptr_eq(host, &local);
    ck_assert_uint_eq(managed, 0);
    ck_assert_int_eq(ordinal, -2);
    ck_assert_uint_eq(size, 0);
    ck_assert_uint_eq(mapped, 0);
}
END_TEST

START_TEST(the_plural_form_agrees_with_the_singular)
{
    CUdeviceptr pointers[] = {allocate(1000), allocate_pinned(1000), allocate_managed(1000)};
    for (size_t p = 0; p < 3; p++) {
        for (int attribute = CXU_POINTER_CONTEXT; attribute <= CXU_POINTER_MEMORY_BLOCK_ID;
             attribute++) {
            uint64_t single = 0, plural = 0;
            void *values[] = {&plural};
            cxu_pointer_attribute asked = (cxu_pointer_attribute)attribute;
            if (asked == CXU_POINTER_P2P_TOKENS)
                continue;
            cx_emu_call_pointer_get_attribute(&single, asked, pointers[p]);
            ck_success(cx_emu_call_pointer_get_attributes(1, &asked, values, pointers[p]));
            ck_assert_uint_eq(single, plural);
        }
    }
}
END_TEST

START_TEST(device_memory_is_known_from_any_byte_of_it)
{
    CUdeviceptr pointer = allocate(1000), inside = pointer + 999;
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_CONTEXT, 8), (uintptr_t)fixture_context);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_MEMORY_TYPE, 4), CXU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_DEVICE_POINTER, 8), inside);
    ck_assert_int_eq(refusal_of(inside, CXU_POINTER_HOST_POINTER), CXU_INVALID_VALUE);
    ck_assert_int_eq(refusal_of(inside, CXU_POINTER_P2P_TOKENS), CXU_NOT_SUPPORTED);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_SYNC_MEMOPS, 4), 0);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_IS_MANAGED, 4), 0);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_DEVICE_ORDINAL, 4), 0);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_IS_LEGACY_CUDA_IPC_CAPABLE, 4), 1);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_RANGE_START_ADDR, 8), pointer);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_RANGE_SIZE, 8), 1000);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_MAPPED, 4), 1);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_ALLOWED_HANDLE_TYPES, 8), 0);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_IS_GPU_DIRECT_RDMA_CAPABLE, 4), 0);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_ACCESS_FLAGS, 4), 3);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_MEMPOOL_HANDLE, 8), 0);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_MAPPING_SIZE, 8), 1000);
    ck_assert_uint_eq(number_of(inside, CXU_POINTER_MAPPING_BASE_ADDR, 8), pointer);
    ck_assert_int_eq(refusal_of(pointer + 1000, CXU_POINTER_CONTEXT), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_free(pointer));
    ck_assert_int_eq(refusal_of(pointer, CXU_POINTER_CONTEXT), CXU_INVALID_VALUE);
}
END_TEST

START_TEST(host_memory_has_a_host_pointer_and_is_host_memory)
{
    static char own[4096];
    CUdeviceptr pinned = allocate_pinned(100) + 10, registered = (uintptr_t)own + 10;
    ck_success(cx_emu_call_mem_host_register(own, sizeof(own), 0));
    const CUdeviceptr both[] = {pinned, registered};
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(number_of(both[i], CXU_POINTER_MEMORY_TYPE, 4), CXU_MEMORYTYPE_HOST);
        ck_assert_uint_eq(number_of(both[i], CXU_POINTER_HOST_POINTER, 8), both[i]);
        ck_assert_uint_eq(number_of(both[i], CXU_POINTER_DEVICE_POINTER, 8), both[i]);
        ck_assert_uint_eq(number_of(both[i], CXU_POINTER_CONTEXT, 8), (uintptr_t)fixture_context);
        ck_assert_uint_eq(number_of(both[i], CXU_POINTER_IS_MANAGED, 4), 0);
    }
    ck_success(cx_emu_call_mem_host_unregister(own));
}
END_TEST

START_TEST(managed_memory_is_device_memory_with_a_host_pointer)
{
    CUdeviceptr pointer = allocate_managed(100);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_MEMORY_TYPE, 4), CXU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_IS_MANAGED, 4), 1);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_HOST_POINTER, 8), pointer);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_DEVICE_POINTER, 8), pointer);
}
END_TEST

START_TEST(async_memory_has_no_context)
{
    CUdeviceptr pointer;
    ck_success(cx_emu_call_mem_alloc_async(&pointer, 100, NULL));
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_CONTEXT, 8), 0);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_DEVICE_ORDINAL, 4), 0);
    ck_assert_uint_ne(number_of(pointer, CXU_POINTER_MEMPOOL_HANDLE, 8), 0);
    ck_success(cx_emu_call_mem_free(pointer));
}
END_TEST

START_TEST(buffer_ids_are_never_used_twice)
{
    uint64_t last = 0;
    for (int i = 0; i < 10; i++) {
        CUdeviceptr pointer = i % 2 ? allocate(100) : allocate_managed(100);
        uint64_t id = number_of(pointer, CXU_POINTER_BUFFER_ID, 8);
        ck_assert_uint_gt(id, last);
        last = id;
        ck_success(cx_emu_call_mem_free(pointer));
    }
}
END_TEST

START_TEST(another_gpus_memory_needs_peer_access_to_be_reached)
{
    CUdeviceptr pointer = allocate(100), pinned = allocate_pinned(100);
    CUcontext other;
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    ck_assert_int_eq(refusal_of(pointer, CXU_POINTER_DEVICE_POINTER), CXU_INVALID_VALUE);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_ACCESS_FLAGS, 4), 0);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_CONTEXT, 8), (uintptr_t)fixture_context);
    ck_assert_uint_eq(number_of(pinned, CXU_POINTER_DEVICE_POINTER, 8), pinned);
    ck_success(cx_emu_call_ctx_enable_peer_access(fixture_context, 0));
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_DEVICE_POINTER, 8), pointer);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_ACCESS_FLAGS, 4), 3);
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

START_TEST(without_a_context_most_attributes_are_known)
{
    CUdeviceptr pointer = allocate(100), reached = 77;
    cxu_pointer_attribute attribute = CXU_POINTER_DEVICE_POINTER;
    void *values[] = {&reached};
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_CONTEXT, 8), (uintptr_t)fixture_context);
    ck_assert_int_eq(refusal_of(pointer, CXU_POINTER_DEVICE_POINTER), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(refusal_of(pointer, CXU_POINTER_ACCESS_FLAGS), CXU_INVALID_CONTEXT);
    ck_success(cx_emu_call_pointer_get_attributes(1, &attribute, values, pointer));
    ck_assert_uint_eq(reached, 0);
}
END_TEST

START_TEST(a_destroyed_contexts_memory_is_unknown) /* C3, T7 */
{
    CUdeviceptr pointer = allocate(100);
    ck_success(cx_emu_call_ctx_destroy(fixture_context));
    fixture_context = NULL;
    ck_assert_int_eq(refusal_of(pointer, CXU_POINTER_CONTEXT), CXU_INVALID_VALUE);
}
END_TEST

START_TEST(only_synchronous_copies_can_be_set)
{
    static char own[4096];
    CUdeviceptr pointer = allocate(100);
    unsigned int on = 1, off = 0, other = 2;
    ck_success(cx_emu_call_pointer_set_attribute(&on, CXU_POINTER_SYNC_MEMOPS, pointer + 50));
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_SYNC_MEMOPS, 4), 1);
    ck_success(cx_emu_call_pointer_set_attribute(&off, CXU_POINTER_SYNC_MEMOPS, pointer));
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_SYNC_MEMOPS, 4), 0);
    ck_assert_int_eq(cx_emu_call_pointer_set_attribute(&other, CXU_POINTER_SYNC_MEMOPS, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_set_attribute(NULL, CXU_POINTER_SYNC_MEMOPS, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_set_attribute(&on, CXU_POINTER_IS_MANAGED, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_set_attribute(&on, CXU_POINTER_SYNC_MEMOPS, 1),
                     CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_host_register(own, sizeof(own), 0));
    ck_assert_int_eq(
        cx_emu_call_pointer_set_attribute(&on, CXU_POINTER_SYNC_MEMOPS, (uintptr_t)own),
        CXU_INVALID_VALUE);
}
END_TEST

START_TEST(bad_queries_write_nothing)
{
    uint64_t value = 77;
    CUdeviceptr pointer = allocate(100);
    cxu_pointer_attribute attributes[] = {CXU_POINTER_CONTEXT, (cxu_pointer_attribute)21};
    void *values[] = {&value, &value}, *holes[] = {&value, NULL};
    ck_assert_int_eq(refusal_of(pointer, (cxu_pointer_attribute)0), CXU_INVALID_VALUE);
    ck_assert_int_eq(refusal_of(pointer, (cxu_pointer_attribute)21), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_get_attribute(NULL, CXU_POINTER_CONTEXT, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_get_attributes(0, attributes, values, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_get_attributes(1, NULL, values, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_get_attributes(1, attributes, NULL, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_pointer_get_attributes(2, attributes, values, pointer),
                     CXU_INVALID_VALUE);
    attributes[1] = CXU_POINTER_P2P_TOKENS;
    ck_assert_int_eq(cx_emu_call_pointer_get_attributes(2, attributes, values, pointer),
                     CXU_NOT_SUPPORTED);
    attributes[1] = CXU_POINTER_CONTEXT;
    ck_assert_int_eq(cx_emu_call_pointer_get_attributes(2, attributes, holes, pointer),
                     CXU_INVALID_VALUE);
    ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(memory_of_the_host_device_has_a_host_pointer)
{
    CUdeviceptr pointer = allocate(100);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_MEMORY_TYPE, 4), CXU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_HOST_POINTER, 8), pointer);
    ck_assert_uint_eq(number_of(pointer, CXU_POINTER_DEVICE_ORDINAL, 4), 0);
}
END_TEST

static Suite *pointer_suite(void)
{
    Suite *suite = suite_create("pointer");
    TCase *before = tcase_create("before init");
    tcase_add_test(before, pointers_are_not_told_of_before_init);
    suite_add_tcase(suite, before);

    TCase *tcase = tcase_create("gpus");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, an_unknown_pointer_has_no_single_attribute);
    tcase_add_test(tcase, the_plural_form_says_what_an_unknown_pointer_is_not);
    tcase_add_test(tcase, the_plural_form_agrees_with_the_singular);
    tcase_add_test(tcase, device_memory_is_known_from_any_byte_of_it);
    tcase_add_test(tcase, host_memory_has_a_host_pointer_and_is_host_memory);
    tcase_add_test(tcase, managed_memory_is_device_memory_with_a_host_pointer);
    tcase_add_test(tcase, async_memory_has_no_context);
    tcase_add_test(tcase, buffer_ids_are_never_used_twice);
    tcase_add_test(tcase, another_gpus_memory_needs_peer_access_to_be_reached);
    tcase_add_test(tcase, without_a_context_most_attributes_are_known);
    tcase_add_test(tcase, a_destroyed_contexts_memory_is_unknown);
    tcase_add_test(tcase, only_synchronous_copies_can_be_set);
    tcase_add_test(tcase, bad_queries_write_nothing);
    suite_add_tcase(suite, tcase);

    TCase *host = tcase_create("host device");
    tcase_add_checked_fixture(host, host_and_gpu, all_given_back);
    tcase_add_test(host, memory_of_the_host_device_has_a_host_pointer);
    suite_add_tcase(suite, host);
    return suite;
}

CX_TESTS(pointer_suite);
