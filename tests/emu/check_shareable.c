/* Memory shared as file descriptors, within a process and between two (V7). */
#include "emu/device/device.h"
#include "file_passing.h"
#include "memory_fixture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK ((size_t)2 * MIB)
#define FILES CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define ck_invalid(call) ck_assert_int_eq(call, CXU_INVALID_VALUE)

static CUmemGenericAllocationHandle create(int device, cxu_mem_handle_type types)
{
    CUmemGenericAllocationHandle handle = 0;
    cxu_mem_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                     .handle_types = types,
                                     .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
    ck_success(cx_emu_call_mem_create(&handle, CHUNK, &properties, 0));
    return handle;
}

static cxu_result import(int file, CUmemGenericAllocationHandle *out_handle)
{
    return cx_emu_call_mem_import_from_shareable_handle(out_handle, (void *)(intptr_t)file, FILES);
}

/* Maps memory at new addresses, open to its device; 0: that failed. No Check assertions: for a
 * child too. */
static CUdeviceptr map(CUmemGenericAllocationHandle handle, int device)
{
    CUdeviceptr range = 0;
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, device},
                             CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (cx_emu_call_mem_address_reserve(&range, CHUNK, 0, 0, 0) != CXU_SUCCESS ||
        cx_emu_call_mem_map(range, CHUNK, 0, handle, 0) != CXU_SUCCESS ||
        cx_emu_call_mem_set_access(range, CHUNK, &access, 1) != CXU_SUCCESS)
        return 0;
    return range;
}

static void unmap(CUdeviceptr range)
{
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    ck_success(cx_emu_call_mem_address_free(range, CHUNK));
}

static int export(CUmemGenericAllocationHandle handle)
{
    int file = -1;
    ck_success(cx_emu_call_mem_export_to_shareable_handle(&file, handle, FILES, 0));
    ck_assert_int_ge(file, 0);
    return file;
}

START_TEST(only_memory_made_for_it_is_exported)
{
    int file = 77;
    CUmemGenericAllocationHandle handle = create(0, CXU_MEM_HANDLE_TYPE_NONE);
    ck_invalid(cx_emu_call_mem_export_to_shareable_handle(&file, handle, FILES, 0));
    ck_success(cx_emu_call_mem_release(handle));
    ck_invalid(cx_emu_call_mem_export_to_shareable_handle(&file, handle, FILES, 0));
    handle = create(0, FILES);
    ck_invalid(cx_emu_call_mem_export_to_shareable_handle(NULL, handle, FILES, 0));
    ck_invalid(cx_emu_call_mem_export_to_shareable_handle(&file, handle, FILES, 1));
    ck_invalid(cx_emu_call_mem_export_to_shareable_handle(&file, handle, 0, 0));
    ck_invalid(cx_emu_call_mem_export_to_shareable_handle(&file, handle,
                                                          CXU_MEM_HANDLE_TYPE_FABRIC, 0));
    ck_assert_int_eq(file, 77);
    ck_success(cx_emu_call_mem_release(handle));
}
END_TEST

START_TEST(an_import_is_the_same_memory_with_one_handle_more)
{
    CUmemGenericAllocationHandle handle = create(0, FILES), imported = 0;
    int file = export(handle);
    ck_assert_int_ne(fcntl(file, F_GETFD) & FD_CLOEXEC, 0);
    ck_success(import(file, &imported));
    ck_assert_uint_eq(used_bytes(0), CHUNK);
    ck_success(cx_emu_call_mem_release(handle));
    ck_assert_uint_eq(used_bytes(0), CHUNK);
    ck_success(cx_emu_call_mem_release(imported));
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_assert_int_eq(close(file), 0);
}
END_TEST

START_TEST(what_was_exported_outlives_the_handles)
{
    unsigned char byte = 0;
    CUmemGenericAllocationHandle handle = create(1, FILES), imported = 0;
    int file = export(handle);
    CUdeviceptr range = map(handle, 0);
    ck_success(cx_emu_call_memset_d8(range, 0x5a, CHUNK));
    unmap(range);
    ck_success(cx_emu_call_mem_release(handle));
    ck_success(import(file, &imported));
    ck_assert_int_eq(close(file), 0);
    cxu_mem_properties given;
    ck_success(cx_emu_call_mem_get_allocation_properties(&given, imported));
    ck_assert_int_eq(given.location.id, 1);
    ck_assert_int_eq(given.handle_types, FILES);
    range = map(imported, 0);
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range + CHUNK - 1, 1));
    ck_assert_int_eq(byte, 0x5a);
    unmap(range);
    /* It may be passed on. */
    ck_assert_int_eq(close(export(imported)), 0);
    ck_success(cx_emu_call_mem_release(imported));
}
END_TEST

START_TEST(what_is_not_ours_is_not_imported)
{
    CUmemGenericAllocationHandle handle = 77;
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    int strange = memfd_create("strange", MFD_ALLOW_SEALING);
    ck_assert_int_ge(strange, 0);
    ck_invalid(import(ends[0], &handle));
    ck_assert_int_eq(import(-1, &handle), CXU_INVALID_DEVICE);
    ck_invalid(import(strange, &handle));
    ck_assert_int_eq(ftruncate(strange, (off_t)CHUNK + 40), 0);
    ck_invalid(import(strange, &handle));
    ck_assert_int_eq(fcntl(strange, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    ck_invalid(import(strange, &handle));
    ck_assert_int_eq(cx_emu_call_mem_import_from_shareable_handle(
                         &handle, (void *)(intptr_t)strange, CXU_MEM_HANDLE_TYPE_WIN32),
                     CXU_NOT_SUPPORTED);
    ck_invalid(cx_emu_call_mem_import_from_shareable_handle(&handle, NULL, 0));
    ck_invalid(import(strange, NULL));
    ck_assert_uint_eq(handle, 77);
    close(strange);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(nobody_shortens_the_memory_of_others)
{
    CUmemGenericAllocationHandle handle = create(0, FILES);
    int file = export(handle);
    ck_assert_int_ne(ftruncate(file, 0), 0);
    CUdeviceptr range = map(handle, 0);
    ck_success(cx_emu_call_memset_d8(range, 1, CHUNK));
    unmap(range);
    ck_success(cx_emu_call_mem_release(handle));
    ck_assert_int_eq(close(file), 0);
}
END_TEST

/* As UCX hooks it: without the place. */
static int hook_calls;
void *mremap(void *pages, size_t old_bytes, size_t new_bytes, int flags, ...)
{
    hook_calls++;
    return (void *)syscall(SYS_mremap, pages, old_bytes, new_bytes, flags, NULL);
}

START_TEST(memory_is_mapped_in_its_place_where_a_library_hooks_mremap)
{
    unsigned char byte = 0;
    CUmemGenericAllocationHandle handle = create(0, FILES);
    CUdeviceptr range = map(handle, 0);
    ck_success(cx_emu_call_memset_d8(range, 0x5a, CHUNK));
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range + CHUNK - 1, 1));
    ck_assert_int_eq(byte, 0x5a);
    ck_assert_int_eq(hook_calls, 0);
    unmap(range);
    ck_success(cx_emu_call_mem_release(handle));
}
END_TEST

/* ---- two processes ---- */

/* GPUs for a process without Check; 1 sees board 1 only. */
static bool start(const char *visible)
{
    cx_emu_config config = {
        .gpus = 2, .gpu_memory_bytes = GPU_BYTES, .driver_version = CX_EMU_DRIVER_VERSION};
    CUcontext context;
    setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    return cx_emu_configure(&config) && cx_emu_call_init(0) == CXU_SUCCESS &&
           cx_emu_call_ctx_create_v2(&context, 0, 0) == CXU_SUCCESS;
}

/* The other process: reads what was written, answers in the same memory. */
static int answer(int socket)
{
    unsigned char byte = 0;
    CUmemGenericAllocationHandle handle;
    size_t available = 0, total = 1;
    if (!start("1"))
        return 1;
    int file = receive_file(socket);
    if (file < 0 || import(file, &handle) != CXU_SUCCESS || close(file) != 0)
        return 2;
    /* Its device is number 0 here, whose quota it does not take. */
    CUdeviceptr range = map(handle, 0);
    if (range == 0 || cx_emu_call_mem_release(handle) != CXU_SUCCESS)
        return 3;
    if (cx_emu_call_mem_get_info(&available, &total) != CXU_SUCCESS || available != total)
        return 4;
    if (cx_emu_call_memcpy_dtoh(&byte, range + 100, 1) != CXU_SUCCESS || byte != 11)
        return 5;
    if (cx_emu_call_memset_d8(range, 22, CHUNK) != CXU_SUCCESS ||
        cx_emu_call_ctx_synchronize() != CXU_SUCCESS)
        return 6;
    return cx_emu_call_mem_unmap(range, CHUNK) == CXU_SUCCESS ? 0 : 7;
}

static int answer_elsewhere(int socket)
{
    CUmemGenericAllocationHandle handle;
    int file = start("0") ? receive_file(socket) : -1;
    if (file < 0)
        return 1;
    return import(file, &handle) == CXU_INVALID_DEVICE ? 0 : 2;
}

/* A program that closes every descriptor, whose numbers others get then, does itself no harm. */
static int close_all(int socket)
{
    (void)socket;
    int file = 77, none = -1;
    CUmemGenericAllocationHandle handle;
    cxu_mem_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                     .handle_types = FILES,
                                     .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    if (!start("0") || cx_emu_call_mem_create(&handle, CHUNK, &properties, 0) != CXU_SUCCESS)
        return 1;
    for (int each = 0; each < 256; each++)
        close(each);
    for (int each = 0; each < 256; each++)
        none = memfd_create("another", MFD_CLOEXEC);
    if (cx_emu_call_mem_export_to_shareable_handle(&file, handle, FILES, 0) != CXU_INVALID_VALUE ||
        file != 77)
        return 2;
    CUdeviceptr range = map(handle, 0);
    if (range == 0 || cx_emu_call_memset_d8(range, 1, CHUNK) != CXU_SUCCESS ||
        cx_emu_call_mem_unmap(range, CHUNK) != CXU_SUCCESS ||
        cx_emu_call_mem_release(handle) != CXU_SUCCESS)
        return 3;
    for (int each = 0; each <= none; each++)
        if (close(each) != 0)
            return 4;
    return 0;
}

static pid_t start_other(int (*body)(int socket), int *out_socket)
{
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t other = fork(); /* before this process starts its driver */
    ck_assert_int_ge(other, 0);
    if (other == 0) {
        close(ends[0]);
        _exit(body(ends[1]));
    }
    close(ends[1]);
    *out_socket = ends[0];
    return other;
}

static void expect_well(pid_t other)
{
    int status = 0;
    ck_assert_int_eq(waitpid(other, &status, 0), other);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

START_TEST(two_processes_see_the_same_memory)
{
    int socket;
    unsigned char byte = 0;
    pid_t other = start_other(answer, &socket);
    two_gpus();
    CUmemGenericAllocationHandle handle = create(1, FILES);
    CUdeviceptr range = map(handle, 0);
    ck_success(cx_emu_call_memset_d8(range, 11, CHUNK));
    ck_success(cx_emu_call_ctx_synchronize());
    int file = export(handle);
    ck_assert(send_file(socket, file));
    expect_well(other);
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range + CHUNK - 1, 1));
    ck_assert_int_eq(byte, 22);
    unmap(range);
    ck_success(cx_emu_call_mem_release(handle));
    close(file);
    close(socket);
    all_given_back();
}
END_TEST

START_TEST(memory_of_a_device_that_is_not_visible_is_refused)
{
    int socket;
    pid_t other = start_other(answer_elsewhere, &socket);
    two_gpus();
    CUmemGenericAllocationHandle handle = create(1, FILES);
    int file = export(handle);
    ck_assert(send_file(socket, file));
    expect_well(other);
    ck_success(cx_emu_call_mem_release(handle));
    close(file);
    close(socket);
    all_given_back();
}
END_TEST

START_TEST(a_program_that_closes_every_descriptor_does_no_harm)
{
    int socket;
    expect_well(start_other(close_all, &socket));
    close(socket);
}
END_TEST

static Suite *shareable_suite(void)
{
    Suite *suite = suite_create("shareable memory");
    TCase *one = tcase_create("one process");
    tcase_add_checked_fixture(one, two_gpus, all_given_back);
    tcase_add_test(one, only_memory_made_for_it_is_exported);
    tcase_add_test(one, an_import_is_the_same_memory_with_one_handle_more);
    tcase_add_test(one, what_was_exported_outlives_the_handles);
    tcase_add_test(one, what_is_not_ours_is_not_imported);
    tcase_add_test(one, nobody_shortens_the_memory_of_others);
    tcase_add_test(one, memory_is_mapped_in_its_place_where_a_library_hooks_mremap);
    suite_add_tcase(suite, one);

    TCase *two = tcase_create("two processes");
    tcase_add_test(two, two_processes_see_the_same_memory);
    tcase_add_test(two, a_program_that_closes_every_descriptor_does_no_harm);
    tcase_add_test(two, memory_of_a_device_that_is_not_visible_is_refused);
    suite_add_tcase(suite, two);
    return suite;
}

CX_TESTS(shareable_suite);
