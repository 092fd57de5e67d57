/* Pinned, registered and managed memory: reachable from both sides at one address (A3). */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "memory_fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *allocate_host(size_t bytes, unsigned int flags)
{
    void *pointer = NULL;
    ck_success(cx_emu_call_mem_host_alloc(&pointer, bytes, flags));
    ck_assert_uint_eq((uintptr_t)pointer % (uintptr_t)sysconf(_SC_PAGESIZE), 0);
    return pointer;
}

static CUdeviceptr allocate_managed(size_t bytes)
{
    CUdeviceptr pointer = 0;
    ck_success(cx_emu_call_mem_alloc_managed(&pointer, bytes, CXU_MEM_ATTACH_GLOBAL));
    return pointer;
}

/* Pages that nothing is registered on. */
static unsigned char *own_pages(size_t bytes)
{
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(pages, MAP_FAILED);
    return pages;
}

START_TEST(nothing_is_pinned_before_init) /* I1 */
{
    void *host = &host;
    CUdeviceptr pointer = 77;
    unsigned int flags = 77;
    ck_assert_int_eq(cx_emu_call_mem_alloc_host(&host, 1), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_host_alloc(&host, 1, 0), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_free_host(NULL), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_host_register(host, 1, 0), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_host_unregister(host), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_host_get_flags(&flags, host), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_host_get_device_pointer(&pointer, host, 0),
                     CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_alloc_managed(&pointer, 1, CXU_MEM_ATTACH_GLOBAL),
                     CXU_NOT_INITIALIZED);
    ck_assert_ptr_eq(host, &host);
    ck_assert_uint_eq(pointer, 77);
    ck_assert_uint_eq(flags, 77);
}
END_TEST

START_TEST(pinned_memory_has_one_address_on_both_sides)
{
    CUdeviceptr pointer;
    unsigned char *host = allocate_host(1000, CXU_MEMHOSTALLOC_DEVICEMAP);
    memset(host, 42, 1000);
    ck_success(cx_emu_call_mem_host_get_device_pointer(&pointer, host + 10, 0));
    ck_assert_uint_eq(pointer, (uintptr_t)host + 10);
    ck_assert_ptr_eq(driver_bytes(pointer), host + 10);
    ck_success(cx_emu_call_mem_free_host(host));
}
END_TEST

START_TEST(pinned_memory_has_no_quota)
{
    void *host = allocate_host(2 * GPU_BYTES, 0);
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_success(cx_emu_call_mem_free_host(host));
    void *none = &none;
    ck_assert_int_eq(cx_emu_call_mem_alloc_host(&none, (size_t)1 << 46), CXU_OUT_OF_MEMORY);
    ck_assert_int_eq(cx_emu_call_mem_alloc_host(&none, SIZE_MAX), CXU_OUT_OF_MEMORY);
    ck_assert_ptr_eq(none, &none);
}
END_TEST

START_TEST(flags_of_pinned_memory_are_those_it_was_made_with_and_that_it_is_mapped)
{
    unsigned int flags = 77;
    for (unsigned int made_with = 0; made_with < 8; made_with++) {
        unsigned char *host = allocate_host(100, made_with);
        ck_success(cx_emu_call_mem_host_get_flags(&flags, host + 99));
        ck_assert_uint_eq(flags, made_with | CXU_MEMHOSTALLOC_DEVICEMAP);
        ck_success(cx_emu_call_mem_free_host(host));
    }
    void *plain;
    ck_success(cx_emu_call_mem_alloc_host(&plain, 100));
    ck_success(cx_emu_call_mem_host_get_flags(&flags, plain));
    ck_assert_uint_eq(flags, CXU_MEMHOSTALLOC_DEVICEMAP);
    ck_success(cx_emu_call_mem_free_host(plain));
}
END_TEST

START_TEST(nothing_may_be_pinned_and_freed)
{
    void *host = &host;
    ck_success(cx_emu_call_mem_alloc_host(&host, 0));
    ck_assert_ptr_null(host);
    ck_success(cx_emu_call_mem_free_host(host));
}
END_TEST

START_TEST(bad_arguments_are_invalid_values)
{
    void *host = &host;
    CUdeviceptr pointer = 77;
    unsigned int flags = 77;
    ck_assert_int_eq(cx_emu_call_mem_alloc_host(NULL, 1), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_alloc(&host, 1, 8), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_managed(NULL, 1, CXU_MEM_ATTACH_GLOBAL),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_managed(&pointer, 0, CXU_MEM_ATTACH_GLOBAL),
                     CXU_INVALID_VALUE);
    for (unsigned int attach = 0; attach < 16; attach++)
        if (attach != CXU_MEM_ATTACH_GLOBAL && attach != CXU_MEM_ATTACH_HOST)
            ck_assert_int_eq(cx_emu_call_mem_alloc_managed(&pointer, 1, attach), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_get_device_pointer(&pointer, &host, 0),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_get_flags(&flags, &host), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_host(&host), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_register(NULL, 1, 0), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_register(&host, 0, 0), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_register(&host, SIZE_MAX, 0), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_register(&host, 1, 16), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_register(&host, 1, CXU_MEMHOSTREGISTER_IOMEMORY),
                     CXU_NOT_SUPPORTED);
    ck_assert_int_eq(cx_emu_call_mem_host_unregister(NULL), CXU_INVALID_VALUE);
    ck_assert_ptr_eq(host, &host);
    ck_assert_uint_eq(pointer, 77);
    ck_assert_uint_eq(flags, 77);

    host = allocate_host(1, 0);
    ck_assert_int_eq(cx_emu_call_mem_host_get_device_pointer(&pointer, host, 1), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_get_device_pointer(NULL, host, 0), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_get_flags(NULL, host), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_free_host(host));
}
END_TEST

START_TEST(without_a_context_nothing_is_pinned)
{
    void *host = &host;
    CUdeviceptr pointer = 77;
    unsigned int flags = 77;
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_assert_int_eq(cx_emu_call_mem_alloc_host(&host, 1), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_alloc_managed(&pointer, 1, CXU_MEM_ATTACH_GLOBAL),
                     CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_host_register(&host, 1, 0), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_host_get_flags(&flags, host), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_host_get_device_pointer(&pointer, host, 0),
                     CXU_INVALID_CONTEXT);
    ck_assert_ptr_eq(host, &host);
    ck_assert_uint_eq(pointer, 77);
}
END_TEST

START_TEST(each_kind_of_memory_has_its_own_free)
{
    CUdeviceptr device, managed = allocate_managed(100);
    unsigned char *host = allocate_host(8192, 0);
    ck_success(cx_emu_call_mem_alloc(&device, 100));
    ck_assert_int_eq(cx_emu_call_mem_free((uintptr_t)host), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_async((uintptr_t)host, NULL), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_async(managed, NULL), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_host((void *)(uintptr_t)device), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_host((void *)(uintptr_t)managed), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_unregister(host), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_host(host + 4096), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_free_host(host));
    ck_assert_int_eq(cx_emu_call_mem_free_host(host), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_free_host(NULL));
    ck_success(cx_emu_call_mem_free(managed));
    ck_success(cx_emu_call_mem_free(device));
}
END_TEST

START_TEST(host_memory_is_freed_under_any_context) /* T5 */
{
    CUcontext other;
    void *first = allocate_host(1, 0), *second = allocate_host(1, 0);
    unsigned char *pages = own_pages(4096);
    ck_success(cx_emu_call_mem_host_register(pages, 4096, 0));
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_success(cx_emu_call_mem_free_host(first));
    ck_success(cx_emu_call_mem_host_unregister(pages));
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    ck_success(cx_emu_call_mem_free_host(second));
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

START_TEST(host_memory_goes_with_its_context) /* C3 */
{
    void *pinned = allocate_host(100, CXU_MEMHOSTALLOC_PORTABLE);
    CUdeviceptr managed = allocate_managed(100);
    unsigned char *pages = own_pages(4096);
    ck_success(cx_emu_call_mem_host_register(pages, 4096, 0));
    ck_success(cx_emu_call_ctx_destroy(fixture_context));
    fixture_context = NULL;
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_assert_int_eq(cx_emu_call_mem_free_host(pinned), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free(managed), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_unregister(pages), CXU_HOST_MEMORY_NOT_REGISTERED);
    pages[0] = 1; /* the user's own pages stay */
}
END_TEST

START_TEST(managed_memory_is_the_hosts_and_counts_on_its_device)
{
    CUdeviceptr pointer = allocate_managed(1000), none = 77;
    memset((void *)(uintptr_t)pointer, 42, 1000);
    ck_assert_ptr_eq(driver_bytes(pointer), (void *)(uintptr_t)pointer);
    ck_assert_uint_eq(used_bytes(0), 1024);
    ck_assert_int_eq(cx_emu_call_mem_alloc_managed(&none, GPU_BYTES, CXU_MEM_ATTACH_GLOBAL),
                     CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(none, 77);
    ck_success(cx_emu_call_mem_free(pointer));
    ck_assert_uint_eq(used_bytes(0), 0);
}
END_TEST

START_TEST(registered_pages_are_known_until_unregistered)
{
    CUdeviceptr pointer = 77;
    unsigned int flags = 77;
    unsigned char *pages = own_pages(3 * 4096);
    unsigned char *inside = pages + 100;
    ck_success(cx_emu_call_mem_host_register(inside, 8192, CXU_MEMHOSTREGISTER_DEVICEMAP));
    ck_success(cx_emu_call_mem_host_get_device_pointer(&pointer, inside + 8191, 0));
    ck_assert_uint_eq(pointer, (uintptr_t)inside + 8191);
    ck_success(cx_emu_call_mem_host_get_flags(&flags, inside));
    ck_assert_int_eq(cx_emu_call_mem_host_unregister(inside + 1), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_host(inside), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free((uintptr_t)inside), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_host_unregister(inside));
    ck_assert_int_eq(cx_emu_call_mem_host_unregister(inside), CXU_HOST_MEMORY_NOT_REGISTERED);
    ck_assert_int_eq(cx_emu_call_mem_host_get_device_pointer(&pointer, inside, 0),
                     CXU_INVALID_VALUE);
}
END_TEST

START_TEST(no_byte_is_registered_twice)
{
    unsigned char *pages = own_pages(8 * 4096);
    unsigned char *middle = pages + 2 * 4096;
    ck_success(cx_emu_call_mem_host_register(middle, 4096, 0));
    const struct {
        unsigned char *start;
        size_t bytes;
    } overlapping[] = {{middle, 4096},  {middle, 1},       {middle + 4095, 1},
                       {middle - 1, 2}, {pages, 8 * 4096}, {middle + 100, 4096}};
    for (size_t i = 0; i < sizeof(overlapping) / sizeof(*overlapping); i++)
        ck_assert_int_eq(
            cx_emu_call_mem_host_register(overlapping[i].start, overlapping[i].bytes, 0),
            CXU_HOST_MEMORY_ALREADY_REGISTERED);
    ck_success(cx_emu_call_mem_host_register(pages, 2 * 4096, 0));
    ck_success(cx_emu_call_mem_host_register(middle + 4096, 1, 0));
    ck_success(cx_emu_call_mem_host_unregister(middle));
    ck_success(cx_emu_call_mem_host_unregister(pages));
    ck_success(cx_emu_call_mem_host_unregister(middle + 4096));
}
END_TEST

START_TEST(memory_of_the_driver_is_not_registered_again)
{
    CUdeviceptr managed = allocate_managed(4096), device;
    void *pinned = allocate_host(4096, 0);
    ck_success(cx_emu_call_mem_alloc(&device, 4096));
    ck_assert_int_eq(cx_emu_call_mem_host_register(pinned, 1, 0), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_register((void *)(uintptr_t)managed, 1, 0),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_host_register((void *)(uintptr_t)device, 1, 0),
                     CXU_INVALID_VALUE);
}
END_TEST

START_TEST(pages_that_do_not_exist_are_not_registered)
{
    unsigned char *pages = own_pages(3 * 4096);
    ck_assert_int_eq(munmap(pages + 4096, 4096), 0);
    ck_assert_int_eq(cx_emu_call_mem_host_register(pages, 3 * 4096, 0), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_host_register(pages, 4096, 0));
    ck_success(cx_emu_call_mem_host_unregister(pages));
}
END_TEST

START_TEST(a_forgotten_registration_yields_to_new_memory)
{
    /* As if pages were unmapped while registered, and the system gave them out again. */
    cx_emu_context *owner;
    uintptr_t stale = (uintptr_t)own_pages(3 * 4096);
    cx_lock_enter(&cx_emu_lock);
    ck_success(cx_emu_context_current(&owner));
    ck_success(cx_emu_allocation_register(owner, stale, 8192, 0));
    ck_success(cx_emu_allocation_register(owner, stale + 4096, 8192, 4));
    cx_emu_allocation *allocation = cx_emu_allocation_find(stale + 4096, 8192);
    ck_assert_ptr_nonnull(allocation);
    ck_assert_uint_eq(allocation->flags, 4);
    ck_assert_ptr_null(cx_emu_allocation_find(stale, 1));
    cx_lock_leave(&cx_emu_lock);
}
END_TEST

START_TEST(a_registration_close_behind_new_memory_stays)
{
    /* Large enough to be mapped by itself: the system mostly gives the same address again. */
    const size_t bytes = 40 * MIB + 1;
    cx_emu_context *owner;
    unsigned char *host = allocate_host(bytes, 0);
    uintptr_t behind = (uintptr_t)host + bytes + 8;
    ck_success(cx_emu_call_mem_free_host(host));
    cx_lock_enter(&cx_emu_lock);
    ck_success(cx_emu_context_current(&owner));
    ck_success(cx_emu_allocation_register(owner, behind, 64, 0));
    cx_lock_leave(&cx_emu_lock);
    host = allocate_host(bytes, 0);
    ck_success(cx_emu_call_mem_host_unregister((void *)behind));
    ck_success(cx_emu_call_mem_free_host(host));
}
END_TEST

typedef struct releasing {
    cxu_result (*call)(void *pointer);
    void *pointer;
    _Atomic int *used;
    int used_at_return;
    cxu_result result;
} releasing;

static void *release_in_thread(void *argument)
{
    releasing *release = argument;
    release->result = release->call(release->pointer);
    release->used_at_return = atomic_load(release->used);
    return NULL;
}

static void release_while_in_use(cxu_result (*call)(void *), void *pointer)
{
    memory_gate gate;
    pthread_t thread;
    _Atomic int used = 0;
    CUdeviceptr mapped;
    releasing release = {.call = call, .pointer = pointer, .used = &used};
    memory_gate_close(&gate);
    use_memory(gate.stream, (uintptr_t)pointer, &used);
    ck_assert_int_eq(pthread_create(&thread, NULL, release_in_thread, &release), 0);
    while (cx_emu_call_mem_host_get_device_pointer(&mapped, pointer, 0) == CXU_SUCCESS)
        sched_yield();
    memory_gate_open(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_success(release.result);
    ck_assert_int_eq(release.used_at_return, 1);
    memory_gate_end(&gate);
}

START_TEST(pinned_pages_stay_while_work_uses_them) /* T12 */
{
    release_while_in_use(cx_emu_call_mem_free_host, allocate_host(4096, 0));
}
END_TEST

START_TEST(registered_pages_stay_while_work_uses_them)
{
    unsigned char *pages = own_pages(4096);
    ck_success(cx_emu_call_mem_host_register(pages, 4096, 0));
    release_while_in_use(cx_emu_call_mem_host_unregister, pages);
}
END_TEST

static Suite *host_memory_suite(void)
{
    Suite *suite = suite_create("host memory");
    TCase *before = tcase_create("before init");
    tcase_add_test(before, nothing_is_pinned_before_init);
    suite_add_tcase(suite, before);

    TCase *tcase = tcase_create("gpus");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, pinned_memory_has_one_address_on_both_sides);
    tcase_add_test(tcase, pinned_memory_has_no_quota);
    tcase_add_test(tcase, flags_of_pinned_memory_are_those_it_was_made_with_and_that_it_is_mapped);
    tcase_add_test(tcase, nothing_may_be_pinned_and_freed);
    tcase_add_test(tcase, bad_arguments_are_invalid_values);
    tcase_add_test(tcase, without_a_context_nothing_is_pinned);
    tcase_add_test(tcase, each_kind_of_memory_has_its_own_free);
    tcase_add_test(tcase, host_memory_is_freed_under_any_context);
    tcase_add_test(tcase, host_memory_goes_with_its_context);
    tcase_add_test(tcase, managed_memory_is_the_hosts_and_counts_on_its_device);
    tcase_add_test(tcase, registered_pages_are_known_until_unregistered);
    tcase_add_test(tcase, no_byte_is_registered_twice);
    tcase_add_test(tcase, memory_of_the_driver_is_not_registered_again);
    tcase_add_test(tcase, pages_that_do_not_exist_are_not_registered);
    tcase_add_test(tcase, a_forgotten_registration_yields_to_new_memory);
    tcase_add_test(tcase, a_registration_close_behind_new_memory_stays);
    tcase_add_test(tcase, pinned_pages_stay_while_work_uses_them);
    tcase_add_test(tcase, registered_pages_stay_while_work_uses_them);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(host_memory_suite);
