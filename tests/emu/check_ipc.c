/* Device memory between processes, each with a driver of its own (T22). */
#include "partner.h"

#include <string.h>

#define BYTES ((size_t)3 << 20)
#define OFFSET 512 /* the memory before it in its page */

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr memory = 0;
    EXPECT(SUCCESS, mem_alloc, &memory, bytes);
    return memory;
}

static void read_and_write(int link)
{
    cxu_ipc_mem_handle handle;
    CUcontext first, second;
    CUdeviceptr memory = 0, again = 0;
    unsigned char bytes[4] = {0};
    size_t size = 0;
    CUdeviceptr base = 0;
    if (recv(link, &handle, sizeof handle, MSG_WAITALL) != (ssize_t)sizeof handle)
        _exit(250);
    MUST_BE(NOT_INITIALIZED, CU(ipc_open_mem_handle, &memory, handle, 1));
    MUST(CU(init, 0));
    MUST_BE(INVALID_CONTEXT, CU(ipc_open_mem_handle, &memory, handle, 1));
    MUST(CU(ctx_create_v2, &first, 0, 1));
    MUST_BE(INVALID_VALUE, CU(ipc_open_mem_handle, &memory, handle, 0));
    MUST(CU(ipc_open_mem_handle, &memory, handle, 1));
    MUST(CU(ipc_open_mem_handle, &again, handle, 1));
    if (again != memory)
        _exit(251);
    MUST(CU(mem_get_address_range, &base, &size, memory + 5));
    if (base != memory || size != BYTES)
        _exit(252);
    MUST_BE(INVALID_VALUE, CU(mem_free, memory));
    MUST(CU(memcpy_dtoh, bytes, memory + BYTES - 4, 4));
    if (bytes[0] != 7 || bytes[3] != 7)
        _exit(253);
    MUST(CU(memset_d8, memory, 9, BYTES));
    MUST(CU(ctx_synchronize));
    MUST(CU(ctx_create_v2, &second, 0, 1));
    MUST_BE(INVALID_HANDLE, CU(ipc_open_mem_handle, &again, handle, 1));
    MUST_BE(INVALID_VALUE, CU(ipc_close_mem_handle, memory));
    MUST(CU(ctx_destroy, second));
    MUST(CU(ipc_close_mem_handle, memory));
    MUST(CU(memcpy_dtoh, bytes, memory, 4));
    MUST(CU(ipc_close_mem_handle, memory));
    MUST_BE(INVALID_VALUE, CU(memcpy_dtoh, bytes, memory, 4));
    MUST_BE(INVALID_VALUE, CU(ipc_close_mem_handle, memory));
    MUST(CU(ctx_destroy, first));
    MUST_BE(INVALID_CONTEXT, CU(ipc_close_mem_handle, memory));
}

START_TEST(another_process_reads_and_writes_the_same_memory)
{
    partner other = start_partner(read_and_write);
    cxu_ipc_mem_handle handle, same;
    unsigned char bytes[4] = {0};
    start_gpus();
    CUcontext context = create_on(1);
    CUdeviceptr before = allocate(OFFSET), memory = allocate(BYTES);
    EXPECT(SUCCESS, memset_d8, before, 1, OFFSET);
    EXPECT(SUCCESS, memset_d8, memory, 7, BYTES);
    EXPECT(SUCCESS, ctx_synchronize);
    EXPECT(SUCCESS, ipc_get_mem_handle, &handle, memory);
    EXPECT(SUCCESS, ipc_get_mem_handle, &same, memory + 100);
    ck_assert_int_eq(memcmp(&handle, &same, sizeof handle), 0);
    EXPECT(INVALID_CONTEXT, ipc_open_mem_handle, &memory, handle, 1);
    say(other.link, &handle, sizeof handle);
    end_partner(&other);
    EXPECT(SUCCESS, memcpy_dtoh, bytes, memory, 4);
    ck_assert_int_eq(bytes[0], 9);
    EXPECT(SUCCESS, memcpy_dtoh, bytes, memory + BYTES - 4, 4);
    ck_assert_int_eq(bytes[3], 9);
    EXPECT(SUCCESS, memcpy_dtoh, bytes, before, 4);
    ck_assert_int_eq(bytes[0], 1);
    EXPECT(SUCCESS, mem_free, memory);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

/* Exports, and ends once it hears something. */
static void export_and_die(int link)
{
    cxu_ipc_mem_handle handle;
    CUcontext context;
    CUdeviceptr memory;
    char word;
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &context, 0, 0));
    MUST(CU(mem_alloc, &memory, BYTES));
    MUST(CU(memset_d8, memory, 5, BYTES));
    MUST(CU(ctx_synchronize));
    MUST(CU(ipc_get_mem_handle, &handle, memory));
    if (write(link, &handle, sizeof handle) != (ssize_t)sizeof handle || read(link, &word, 1) != 1)
        _exit(250);
}

START_TEST(memory_lives_on_where_it_is_open_when_its_process_ends)
{
    partner other = start_partner(export_and_die);
    cxu_ipc_mem_handle handle, changed;
    CUdeviceptr memory = 0, again = 0;
    unsigned char bytes[4] = {0};
    start_gpus();
    CUcontext context = create_on(0);
    hear(other.link, &handle, sizeof handle);
    EXPECT(SUCCESS, ipc_open_mem_handle, &memory, handle, 1);
    say(other.link, "x", 1);
    end_partner(&other);
    EXPECT(SUCCESS, memcpy_dtoh, bytes, memory, 4);
    ck_assert_int_eq(bytes[2], 5);
    EXPECT(SUCCESS, ipc_open_mem_handle, &again, handle, 1);
    ck_assert(again == memory);
    EXPECT(SUCCESS, ipc_close_mem_handle, memory);
    EXPECT(SUCCESS, ipc_close_mem_handle, memory);
    EXPECT(INVALID_HANDLE, ipc_open_mem_handle, &memory, handle, 1);
    for (size_t i = 0; i < sizeof handle; i += 4) { /* damaged handles are refused */
        changed = handle;
        changed.bytes[i] ^= 0x55;
        ck_assert_int_ne(CU(ipc_open_mem_handle, &memory, changed, 1), CXU_SUCCESS);
    }
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

/* A context that ends closes what it opened. */
START_TEST(a_context_closes_what_it_opened)
{
    partner other = start_partner(export_and_die);
    cxu_ipc_mem_handle handle;
    CUdeviceptr memory = 0;
    unsigned int device = 9;
    start_gpus();
    hear(other.link, &handle, sizeof handle);
    CUcontext context = create_on(2); /* a peer */
    EXPECT(SUCCESS, ipc_open_mem_handle, &memory, handle, 1);
    EXPECT(SUCCESS, pointer_get_attribute, &device, CXU_POINTER_DEVICE_ORDINAL, memory);
    ck_assert_uint_eq(device, 0);
    EXPECT(SUCCESS, memset_d8, memory, 1, 64);
    EXPECT(SUCCESS, ctx_destroy, context);
    EXPECT(INVALID_VALUE, pointer_get_attribute, &device, CXU_POINTER_DEVICE_ORDINAL, memory);
    context = create_on(0);
    EXPECT(SUCCESS, ipc_open_mem_handle, &memory, handle, 1);
    EXPECT(SUCCESS, ipc_close_mem_handle, memory);
    EXPECT(SUCCESS, ctx_destroy, context);
    say(other.link, "x", 1);
    end_partner(&other);
}
END_TEST

START_TEST(only_ordinary_device_memory_is_exported)
{
    cxu_ipc_mem_handle handle;
    CUdeviceptr memory, pooled, managed;
    unsigned int capable = 9;
    void *pinned;
    start_gpus();
    CUcontext context = create_on(0);
    memory = allocate(64);
    EXPECT(SUCCESS, mem_alloc_async, &pooled, 64, NULL);
    EXPECT(SUCCESS, mem_alloc_managed, &managed, 64, CXU_MEM_ATTACH_GLOBAL);
    EXPECT(SUCCESS, mem_alloc_host, &pinned, 64);
    EXPECT(SUCCESS, pointer_get_attribute, &capable, CXU_POINTER_IS_LEGACY_CUDA_IPC_CAPABLE,
           memory);
    ck_assert_uint_eq(capable, 1);
    EXPECT(INVALID_VALUE, ipc_get_mem_handle, NULL, memory);
    EXPECT(INVALID_VALUE, ipc_get_mem_handle, &handle, pooled);
    EXPECT(INVALID_VALUE, ipc_get_mem_handle, &handle, managed);
    EXPECT(INVALID_VALUE, ipc_get_mem_handle, &handle, (uintptr_t)pinned);
    EXPECT(INVALID_VALUE, ipc_get_mem_handle, &handle, 0);
    EXPECT(INVALID_VALUE, ipc_get_mem_handle, &handle, memory + 64);
    EXPECT(INVALID_VALUE, ipc_close_mem_handle, memory);
    /* A program that closes every descriptor takes the file away, and does no other harm. */
    for (int file = 3; file < 64; file++)
        close(file);
    EXPECT(NOT_SUPPORTED, ipc_get_mem_handle, &handle, memory);
    EXPECT(SUCCESS, memset_d8, memory, 1, 64);
    EXPECT(SUCCESS, mem_free, memory);
    EXPECT(INVALID_VALUE, ipc_get_mem_handle, &handle, memory);
    EXPECT(SUCCESS, mem_free, pooled);
    EXPECT(SUCCESS, ctx_destroy, context);
}
END_TEST

static Suite *ipc_suite(void)
{
    Suite *suite = suite_create("ipc");
    TCase *tcase = tcase_create("ipc");
    tcase_add_checked_fixture(tcase, NULL, expect_nothing_left);
    tcase_add_test(tcase, another_process_reads_and_writes_the_same_memory);
    tcase_add_test(tcase, memory_lives_on_where_it_is_open_when_its_process_ends);
    tcase_add_test(tcase, a_context_closes_what_it_opened);
    tcase_add_test(tcase, only_ordinary_device_memory_is_exported);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(ipc_suite);
