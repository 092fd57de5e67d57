/* Work, pointers, the host and threads on mapped memory of the embedded driver (V1 to V6). */
#include "emu/device/device.h"
#include "emu/base/state.h"
#include "virtual_memory.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- copies ---- */

static void pattern(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 255);
}

START_TEST(copies_and_fills_go_over_mappings_in_a_row) /* V6 */
{
    static unsigned char out[4096], back[4096];
    CUdeviceptr range = reserve(4 * CHUNK);
    for (int i = 0; i < 3; i++)
        fill_range(range + (size_t)i * CHUNK, CHUNK);
    pattern(out, sizeof out);
    ck_success(cx_emu_call_memcpy_htod(range + CHUNK - 2000, out, sizeof out));
    ck_success(cx_emu_call_memcpy_dtod(range + 2 * CHUNK - 1000, range + CHUNK - 2000, sizeof out));
    ck_success(cx_emu_call_memcpy_dtoh(back, range + 2 * CHUNK - 1000, sizeof back));
    ck_assert_mem_eq(out, back, sizeof out);
    ck_success(cx_emu_call_memset_d32(range, 0x01020304, 3 * CHUNK / 4));
    ck_success(cx_emu_call_memcpy_dtoh(back, range + 3 * CHUNK - 4, 4));
    ck_assert_int_eq(back[0], 4);
    /* The last byte of a range decides. */
    ck_invalid(cx_emu_call_memset_d8(range, 1, 3 * CHUNK + 1));
    ck_success(set_access(range + CHUNK, CHUNK, 0, CXU_MEM_ACCESS_FLAGS_PROT_NONE));
    ck_invalid(cx_emu_call_memset_d8(range, 1, 3 * CHUNK));
    ck_invalid(cx_emu_call_memset_d8(range, 1, CHUNK + 1));
    ck_success(cx_emu_call_memset_d8(range, 1, CHUNK));
    ck_success(cx_emu_call_mem_unmap(range + CHUNK, CHUNK));
    ck_invalid(cx_emu_call_memset_d8(range, 1, 3 * CHUNK));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    ck_success(cx_emu_call_mem_unmap(range + 2 * CHUNK, CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(reserved_addresses_are_no_memory_of_the_host) /* V6 */
{
    char byte = 0;
    CUdeviceptr range = reserve(CHUNK), device = 0;
    ck_success(cx_emu_call_mem_alloc(&device, 64));
    ck_invalid(cx_emu_call_memcpy_unified(device, range, 16));
    ck_invalid(cx_emu_call_memcpy_unified(range, device, 16));
    ck_invalid(cx_emu_call_memcpy_htod(device, (void *)range, 16));
    ck_invalid(cx_emu_call_memcpy_unified(range, (CUdeviceptr)(uintptr_t)&byte, 1));
    ck_invalid(cx_emu_call_mem_host_register((void *)range, 4096, 0));
    ck_invalid(cx_emu_call_mem_free(range));
    ck_success(cx_emu_call_mem_free(device));
    ck_success(cx_emu_call_mem_address_free(range, CHUNK));
}
END_TEST

START_TEST(mapped_memory_is_not_freed_like_an_allocation) /* V4 */
{
    CUstream stream;
    CUdeviceptr range = reserve(CHUNK);
    fill_range(range, CHUNK);
    ck_success(cx_emu_call_stream_create(&stream, 0));
    ck_invalid(cx_emu_call_mem_free(range));
    ck_invalid(cx_emu_call_mem_free_async(range, stream));
    ck_invalid(cx_emu_call_mem_free_host((void *)range));
    ck_success(cx_emu_call_memset_d8(range, 1, CHUNK));
    ck_success(cx_emu_call_stream_destroy(stream));
    give_back(range, CHUNK);
}
END_TEST

START_TEST(mappings_outlive_contexts) /* V4 */
{
    CUcontext context, popped;
    unsigned char byte = 0;
    CUdeviceptr range = reserve(CHUNK);
    ck_success(cx_emu_call_ctx_create_v2(&context, 0, 0));
    fill_range(range, CHUNK);
    ck_success(cx_emu_call_memset_d8(range, 6, CHUNK));
    ck_success(cx_emu_call_ctx_destroy(context));
    ck_success(cx_emu_call_ctx_get_current(&popped));
    ck_assert_ptr_eq(popped, fixture_context);
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range + 100, 1));
    ck_assert_int_eq(byte, 6);
    give_back(range, CHUNK);
}
END_TEST

START_TEST(captured_work_finds_mappings_at_each_launch) /* V6 */
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr range = reserve(4 * CHUNK);
    fill_range(range, CHUNK);
    fill_range(range + CHUNK, CHUNK);
    ck_success(cx_emu_call_stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(cx_emu_call_memset_d8_async(range, 8, 2 * CHUNK, stream));
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_int_eq(driver_bytes(range + CHUNK)[CHUNK - 1], 8);
    ck_success(cx_emu_call_mem_unmap(range + CHUNK, CHUNK));
    ck_invalid(cx_emu_call_graph_launch(exec, stream));
    fill_range(range + CHUNK, CHUNK);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_int_eq(driver_bytes(range + CHUNK)[CHUNK - 1], 8);
    ck_success(set_access(range, CHUNK, 0, CXU_MEM_ACCESS_FLAGS_PROT_READ));
    ck_invalid(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_success(cx_emu_call_mem_unmap(range, 2 * CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(captured_work_finds_addresses_that_were_reserved_since) /* V6 */
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr range = reserve(CHUNK), device = 0, again = 0;
    ck_success(cx_emu_call_mem_address_free(range, CHUNK));
    void *host = mmap((void *)range, CHUNK, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ck_assert_ptr_eq(host, (void *)range);
    ck_success(cx_emu_call_mem_alloc(&device, 64));
    ck_success(cx_emu_call_stream_create(&stream, CXU_STREAM_NON_BLOCKING));
    ck_success(cx_emu_call_stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(cx_emu_call_memcpy_htod_async(device, host, 64, stream));
    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_int_eq(munmap(host, CHUNK), 0);
    ck_success(cx_emu_call_mem_address_reserve(&again, CHUNK, 0, range, 0));
    ck_assert_uint_eq(again, range);
    ck_invalid(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_success(cx_emu_call_mem_free(device));
    ck_success(cx_emu_call_mem_address_free(range, CHUNK));
}
END_TEST

/* ---- work in flight ---- */

typedef struct unmapping {
    CUdeviceptr range;
    size_t bytes;
    cxu_result result;
    _Atomic int done;
} unmapping;

static void *unmap_elsewhere(void *argument)
{
    unmapping *job = argument;
    job->result = cx_emu_call_mem_unmap(job->range, job->bytes);
    atomic_store(&job->done, 1);
    return NULL;
}

static bool found(CUdeviceptr pointer)
{
    cx_lock_enter(&cx_emu_lock);
    bool there = cx_emu_allocation_find(pointer, 1) != NULL;
    cx_lock_leave(&cx_emu_lock);
    return there;
}

static void await_unmapping(CUdeviceptr pointer)
{
    while (found(pointer))
        sched_yield();
}

START_TEST(unmapping_waits_for_the_work_that_uses_any_of_it) /* V6 */
{
    memory_gate gate;
    pthread_t thread;
    CUdeviceptr range = reserve(4 * CHUNK);
    for (int i = 0; i < 4; i++)
        fill_range(range + (size_t)i * CHUNK, CHUNK);
    memory_gate_close(&gate);
    ck_success(cx_emu_call_memset_d8_async(range + CHUNK - 1, 5, CHUNK + 2, gate.stream));

    /* What the work does not use need not wait. */
    ck_success(cx_emu_call_mem_unmap(range + 3 * CHUNK, CHUNK));
    unmapping job = {.range = range, .bytes = 3 * CHUNK};
    ck_assert_int_eq(pthread_create(&thread, NULL, unmap_elsewhere, &job), 0);
    await_unmapping(range + 2 * CHUNK);
    ck_assert_int_eq(atomic_load(&job.done), 0);
    /* Meanwhile it is neither there nor free for others. */
    ck_invalid(cx_emu_call_mem_unmap(range, 3 * CHUNK));
    ck_invalid(cx_emu_call_memset_d8_async(range + CHUNK, 1, 1, gate.stream));
    ck_invalid(cx_emu_call_mem_address_free(range, 4 * CHUNK));
    CUmemGenericAllocationHandle handle = create(0, CHUNK);
    ck_invalid(cx_emu_call_mem_map(range + CHUNK, CHUNK, 0, handle, 0));
    memory_gate_open(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_success(job.result);
    ck_success(cx_emu_call_mem_map(range + CHUNK, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_release(handle));
    memory_gate_end(&gate);
    ck_success(cx_emu_call_mem_unmap(range + CHUNK, CHUNK));
    give_back_rest(range);
}
END_TEST

/* Whether a mapping is found no more but still there: it awaits the work that uses it. */
static bool awaits_work(CUdeviceptr pointer)
{
    cx_lock_enter(&cx_emu_lock);
    bool awaits = cx_emu_allocation_find(pointer, 1) == NULL &&
                  cx_emu_allocation_overlapping(pointer, 1) != NULL;
    cx_lock_leave(&cx_emu_lock);
    return awaits;
}

START_TEST(each_mapping_that_work_touches_waits_for_it) /* V6 */
{
    for (size_t i = 0; i < 3; i++) {
        memory_gate gate;
        pthread_t thread;
        CUdeviceptr range = reserve(4 * CHUNK);
        for (size_t each = 0; each < 3; each++)
            fill_range(range + each * CHUNK, CHUNK);
        memory_gate_close(&gate);
        ck_success(cx_emu_call_memcpy_dtod_async(range, range, 3 * CHUNK, gate.stream));
        unmapping job = {.range = range + i * CHUNK, .bytes = CHUNK};
        ck_assert_int_eq(pthread_create(&thread, NULL, unmap_elsewhere, &job), 0);
        await_unmapping(job.range);
        ck_assert(awaits_work(job.range));
        memory_gate_open(&gate);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_success(job.result);
        memory_gate_end(&gate);
        for (size_t each = 0; each < 3; each++)
            if (each != i)
                ck_success(cx_emu_call_mem_unmap(range + each * CHUNK, CHUNK));
        give_back_rest(range);
    }
}
END_TEST

/* ---- pointers ---- */

static cxu_result attribute(void *out, cxu_pointer_attribute which, CUdeviceptr pointer)
{
    return cx_emu_call_pointer_get_attribute(out, which, pointer);
}

static uint64_t wide(cxu_pointer_attribute which, CUdeviceptr pointer)
{
    uint64_t value = 77;
    ck_success(attribute(&value, which, pointer));
    return value;
}

static unsigned int narrow(cxu_pointer_attribute which, CUdeviceptr pointer)
{
    unsigned int value = 77;
    ck_success(attribute(&value, which, pointer));
    return value;
}

START_TEST(pointers_tell_the_reservation_and_the_mapping) /* T7, V1 */
{
    CUdeviceptr range = reserve(4 * CHUNK), base = 0;
    size_t size = 0;
    fill_range(range, CHUNK);
    fill_range(range + CHUNK, 2 * CHUNK);
    CUdeviceptr inside = range + CHUNK + 4711;
    ck_success(cx_emu_call_mem_get_address_range(&base, &size, inside));
    ck_assert_uint_eq(base, range + CHUNK);
    ck_assert_uint_eq(size, 2 * CHUNK);
    ck_assert_uint_eq(wide(CXU_POINTER_RANGE_START_ADDR, inside), range);
    ck_assert_uint_eq(wide(CXU_POINTER_RANGE_SIZE, inside), 4 * CHUNK);
    ck_assert_uint_eq(wide(CXU_POINTER_MAPPING_BASE_ADDR, inside), range + CHUNK);
    ck_assert_uint_eq(wide(CXU_POINTER_MAPPING_SIZE, inside), 2 * CHUNK);
    ck_assert_uint_eq(wide(CXU_POINTER_CONTEXT, inside), 0);
    ck_assert_uint_eq(wide(CXU_POINTER_ALLOWED_HANDLE_TYPES, inside), 0);
    ck_assert_uint_eq(narrow(CXU_POINTER_MEMORY_TYPE, inside), CXU_MEMORYTYPE_DEVICE);
    ck_assert_uint_eq(narrow(CXU_POINTER_MAPPED, inside), 1);
    ck_assert_uint_eq(narrow(CXU_POINTER_MAPPED, range + 3 * CHUNK), 0);
    ck_assert_uint_eq(wide(CXU_POINTER_RANGE_START_ADDR, range + 3 * CHUNK), range);
    ck_invalid(attribute(&size, CXU_POINTER_MEMORY_TYPE, range + 3 * CHUNK));
    ck_invalid(attribute(&size, CXU_POINTER_MAPPED, (CUdeviceptr)&size));
    ck_assert_int_eq(cx_emu_call_mem_get_address_range(&base, &size, range + 3 * CHUNK),
                     CXU_NOT_FOUND);
    ck_assert_uint_eq(narrow(CXU_POINTER_ACCESS_FLAGS, inside), 3);
    ck_success(set_access(range + CHUNK, 2 * CHUNK, 0, CXU_MEM_ACCESS_FLAGS_PROT_READ));
    ck_assert_uint_eq(narrow(CXU_POINTER_ACCESS_FLAGS, inside), 1);
    ck_success(cx_emu_call_mem_unmap(range, 3 * CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(the_block_is_the_memory_and_the_buffer_the_mapping) /* T7 */
{
    CUdeviceptr range = reserve(4 * CHUNK);
    CUmemGenericAllocationHandle handle = create(0, CHUNK);
    ck_success(cx_emu_call_mem_map(range, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_map(range + CHUNK, CHUNK, 0, handle, 0));
    ck_assert_uint_eq(wide(CXU_POINTER_MEMORY_BLOCK_ID, range),
                      wide(CXU_POINTER_MEMORY_BLOCK_ID, range + CHUNK));
    ck_assert_uint_ne(wide(CXU_POINTER_BUFFER_ID, range),
                      wide(CXU_POINTER_BUFFER_ID, range + CHUNK));
    ck_success(cx_emu_call_mem_release(handle));
    ck_success(cx_emu_call_mem_unmap(range, 2 * CHUNK));
    give_back_rest(range);
}
END_TEST

/* ---- the host ---- */

START_TEST(the_host_faults_on_mapped_memory)
{
    CUdeviceptr range = reserve(CHUNK);
    fill_range(range, CHUNK);
    *(volatile char *)range = 1;
}
END_TEST

START_TEST(the_host_faults_on_reserved_addresses)
{
    *(volatile char *)reserve(CHUNK) = 1;
}
END_TEST

static void open_gpus(void)
{
    cx_emu_config config = {.gpus = 2,
                            .gpu_memory_bytes = GPU_BYTES,
                            .driver_version = CX_EMU_DRIVER_VERSION,
                            .host_access = true};
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_success(cx_emu_call_ctx_create_v2(&fixture_context, 0, 0));
}

START_TEST(host_access_opens_mappings_to_the_host)
{
    CUdeviceptr range = reserve(2 * CHUNK);
    char byte = 0;
    fill_range(range, CHUNK);
    *(volatile char *)(range + 9) = 55;
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range + 9, 1));
    ck_assert_int_eq(byte, 55);
    /* What is not mapped is still nobody's. */
    ck_invalid(cx_emu_call_memcpy_unified(range, range + CHUNK, 16));
    ck_invalid(cx_emu_call_memcpy_unified(range, range + CHUNK - 8, 16));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    ck_success(cx_emu_call_mem_address_free(range, 2 * CHUNK));
}
END_TEST

START_TEST(a_forked_child_has_no_part_of_it) /* I4 */
{
    CUdeviceptr range = reserve(CHUNK);
    fill_range(range, CHUNK);
    unsigned char *bytes = driver_bytes(range);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        CUmemGenericAllocationHandle handle = 0;
        cxu_mem_properties properties = on_device(0);
        bool right = cx_emu_call_mem_unmap(range, CHUNK) == CXU_NOT_INITIALIZED &&
                     cx_emu_call_mem_create(&handle, CHUNK, &properties, 0) ==
                         CXU_NOT_INITIALIZED &&
                     mincore(bytes, 4096, (unsigned char[1]){0}) != 0;
        _exit(right ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ck_success(cx_emu_call_memset_d8(range, 1, CHUNK));
    give_back(range, CHUNK);
}
END_TEST

START_TEST(the_host_device_has_no_virtual_memory)
{
    int supported = 77;
    ck_success(cx_emu_call_device_get_attribute(
        &supported, CXU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 0));
    ck_assert_int_eq(supported, 0);
    ck_assert_int_eq(create_with(on_device(0), CHUNK), CXU_NOT_SUPPORTED);
    ck_success(cx_emu_call_device_get_attribute(
        &supported, CXU_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED, 1));
    ck_assert_int_eq(supported, 1);
    ck_success(cx_emu_call_mem_release(create(1, CHUNK)));
}
END_TEST

/* ---- many threads ---- */

#define THREADS 8
#define ROUNDS 20

typedef struct churn {
    pthread_t thread;
    CUdeviceptr shared; /* one chunk for each thread, and one more between every two of them */
    int index;
    int failures;
} churn;

static cxu_result churn_chunk(CUdeviceptr at, CUstream stream, unsigned char value)
{
    unsigned char back[2] = {0};
    CUmemGenericAllocationHandle handle;
    cxu_mem_properties properties = on_device(0);
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, 0},
                             CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    cxu_result result = cx_emu_call_mem_create(&handle, CHUNK, &properties, 0);
    if (result == CXU_SUCCESS)
        result = cx_emu_call_mem_map(at, CHUNK, 0, handle, 0);
    if (result == CXU_SUCCESS)
        result = cx_emu_call_mem_release(handle);
    if (result == CXU_SUCCESS)
        result = cx_emu_call_mem_set_access(at, CHUNK, &access, 1);
    if (result == CXU_SUCCESS)
        result = cx_emu_call_memset_d8_async(at, value, CHUNK, stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_call_memcpy_dtoh_async(back, at + CHUNK - 2, 2, stream);
    if (result == CXU_SUCCESS && (back[0] != value || back[1] != value))
        result = CXU_UNKNOWN;
    /* With work in flight. */
    if (result == CXU_SUCCESS)
        result = cx_emu_call_memset_d8_async(at, 0, CHUNK, stream);
    if (result == CXU_SUCCESS)
        result = cx_emu_call_mem_unmap(at, CHUNK);
    return result;
}

static void *churn_body(void *argument)
{
    churn *job = argument;
    CUstream stream;
    job->failures += cx_emu_call_ctx_push(fixture_context) != CXU_SUCCESS;
    job->failures += cx_emu_call_stream_create(&stream, CXU_STREAM_NON_BLOCKING) != CXU_SUCCESS;
    for (int round = 0; round < ROUNDS; round++) {
        CUdeviceptr at = job->shared + (size_t)job->index * CHUNK;
        job->failures += churn_chunk(at, stream, (unsigned char)(job->index + 1)) != CXU_SUCCESS;
    }
    job->failures += cx_emu_call_stream_destroy(stream) != CXU_SUCCESS;
    job->failures += cx_emu_call_ctx_pop(NULL) != CXU_SUCCESS;
    return NULL;
}

START_TEST(threads_map_and_unmap_side_by_side)
{
    churn jobs[THREADS];
    CUdeviceptr range = reserve(THREADS * CHUNK);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (churn){.shared = range, .index = i};
        ck_assert_int_eq(pthread_create(&jobs[i].thread, NULL, churn_body, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(jobs[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(jobs[i].failures, 0);
    ck_success(cx_emu_call_mem_address_free(range, THREADS * CHUNK));
}
END_TEST

static void add_work(Suite *suite)
{
    TCase *tcase = tcase_create("work");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, copies_and_fills_go_over_mappings_in_a_row);
    tcase_add_test(tcase, reserved_addresses_are_no_memory_of_the_host);
    tcase_add_test(tcase, mapped_memory_is_not_freed_like_an_allocation);
    tcase_add_test(tcase, mappings_outlive_contexts);
    tcase_add_test(tcase, captured_work_finds_mappings_at_each_launch);
    tcase_add_test(tcase, captured_work_finds_addresses_that_were_reserved_since);
    tcase_add_test(tcase, unmapping_waits_for_the_work_that_uses_any_of_it);
    tcase_add_test(tcase, each_mapping_that_work_touches_waits_for_it);
    tcase_add_test(tcase, pointers_tell_the_reservation_and_the_mapping);
    tcase_add_test(tcase, the_block_is_the_memory_and_the_buffer_the_mapping);
    tcase_add_test(tcase, threads_map_and_unmap_side_by_side);
    suite_add_tcase(suite, tcase);
}

static Suite *mapped_work_suite(void)
{
    Suite *suite = suite_create("work on mapped memory");
    add_work(suite);

    TCase *host = tcase_create("host");
    tcase_add_checked_fixture(host, two_gpus, all_given_back);
    tcase_add_test(host, a_forked_child_has_no_part_of_it);
    if (!CX_TEST_SANITIZED) {
        tcase_add_test_raise_signal(host, the_host_faults_on_mapped_memory, SIGSEGV);
        tcase_add_test_raise_signal(host, the_host_faults_on_reserved_addresses, SIGSEGV);
    }
    suite_add_tcase(suite, host);

    TCase *open = tcase_create("host access");
    tcase_add_checked_fixture(open, open_gpus, all_given_back);
    tcase_add_test(open, host_access_opens_mappings_to_the_host);
    suite_add_tcase(suite, open);

    TCase *device = tcase_create("host device");
    tcase_add_checked_fixture(device, host_and_gpu, all_given_back);
    tcase_add_test(device, the_host_device_has_no_virtual_memory);
    suite_add_tcase(suite, device);
    return suite;
}

CX_TESTS(mapped_work_suite);
