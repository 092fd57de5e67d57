/* Device memory of the embedded driver: quotas, frees, stream order (A1, A2). */
#include "emu/device/device.h"
#include "emu/base/state.h"
#include "memory_fixture.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer = 0;
    ck_success(cx_emu_call_mem_alloc(&pointer, bytes));
    ck_assert_uint_ne(pointer, 0);
    return pointer;
}

static CUdeviceptr allocate_async(size_t bytes, CUstream stream)
{
    CUdeviceptr pointer = 0;
    ck_success(cx_emu_call_mem_alloc_async(&pointer, bytes, stream));
    return pointer;
}

static size_t free_bytes(void)
{
    size_t available, total;
    ck_success(cx_emu_call_mem_get_info(&available, &total));
    ck_assert_uint_eq(total, GPU_BYTES);
    return available;
}

START_TEST(nothing_is_allocated_before_init) /* I1 */
{
    CUdeviceptr pointer = 77;
    size_t size = 77;
    ck_assert_int_eq(cx_emu_call_mem_alloc(&pointer, 1), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &size, 1, 1, 4), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_alloc_async(&pointer, 1, NULL), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_free(0), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_free_async(0, NULL), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_get_info(&size, &size), CXU_NOT_INITIALIZED);
    ck_assert_int_eq(cx_emu_call_mem_get_address_range(&pointer, &size, 1), CXU_NOT_INITIALIZED);
    ck_assert_uint_eq(pointer, 77);
    ck_assert_uint_eq(size, 77);
}
END_TEST

START_TEST(memory_is_aligned_and_accounted_for_to_the_byte)
{
    size_t before = free_bytes();
    CUdeviceptr odd = allocate(1), wide = allocate(513);
    ck_assert_uint_eq(odd % CX_EMU_ALIGNMENT, 0);
    ck_assert_uint_eq(wide % CX_EMU_ALIGNMENT, 0);
    ck_assert_uint_eq(before - free_bytes(), 512 + 1024);
    ck_success(cx_emu_call_mem_free(odd));
    ck_success(cx_emu_call_mem_free(wide));
    ck_assert_uint_eq(free_bytes(), before);
}
END_TEST

START_TEST(memory_of_1_mib_and_more_begins_at_a_multiple_of_2_mib)
{
    static const size_t sizes[] = {MIB, MIB + 1, 2 * MIB - 512, 3 * MIB + 1};
    size_t before = free_bytes(), charged = 0, pitch;
    CUdeviceptr all[4][3];
    for (int i = 0; i < 4; i++) {
        size_t rounded = (sizes[i] + 511) / 512 * 512;
        CUdeviceptr small = allocate(8);
        all[i][0] = allocate(sizes[i]);
        all[i][1] = allocate_async(sizes[i], NULL);
        ck_success(
            cx_emu_call_mem_alloc_pitch(&all[i][2], &pitch, 512, (rounded + 511) / 512, 4));
        for (int j = 0; j < 3; j++)
            ck_assert_uint_eq(all[i][j] % CX_EMU_LARGE_ALIGNMENT, 0);
        charged += 3 * rounded;
        ck_success(cx_emu_call_mem_free(small));
        ck_assert_uint_eq(before - free_bytes(), charged);
    }
    for (int i = 0; i < 12; i++)
        ck_success(cx_emu_call_mem_free(all[i / 3][i % 3]));
    ck_assert_uint_eq(free_bytes(), before);
}
END_TEST

START_TEST(the_quota_is_all_there_is)
{
    CUdeviceptr pointer = 77;
    ck_assert_int_eq(cx_emu_call_mem_alloc(&pointer, GPU_BYTES + 1), CXU_OUT_OF_MEMORY);
    CUdeviceptr all = allocate(GPU_BYTES);
    ck_assert_uint_eq(free_bytes(), 0);
    ck_assert_int_eq(cx_emu_call_mem_alloc(&pointer, 1), CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(pointer, 77);
    ck_success(cx_emu_call_mem_free(all));
    ck_success(cx_emu_call_mem_free(allocate(GPU_BYTES)));
}
END_TEST

START_TEST(each_device_has_its_own_quota_and_addresses)
{
    CUcontext other, popped;
    CUdeviceptr first = allocate(GPU_BYTES);
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    CUdeviceptr second = allocate(GPU_BYTES);
    ck_assert(second + GPU_BYTES <= first || first + GPU_BYTES <= second);
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_mem_free(second));
    ck_success(cx_emu_call_mem_free(first));
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

START_TEST(sizes_that_overflow_are_out_of_memory)
{
    CUdeviceptr pointer = 77;
    for (size_t low = 0; low < 4; low++)
        ck_assert_int_eq(cx_emu_call_mem_alloc(&pointer, SIZE_MAX - low), CXU_OUT_OF_MEMORY);
    ck_assert_int_eq(cx_emu_call_mem_alloc(&pointer, SIZE_MAX / 2), CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(pointer, 77);
}
END_TEST

START_TEST(no_bytes_in_stream_order_are_no_memory)
{
    CUdeviceptr pointer = 77, from_pool = 77;
    CUmemoryPool pool;
    ck_success(cx_emu_call_device_get_default_mem_pool(&pool, 0));
    ck_success(cx_emu_call_mem_alloc_async(&pointer, 0, NULL));
    ck_success(cx_emu_call_mem_alloc_from_pool_async(&from_pool, 0, pool, NULL));
    ck_assert_uint_eq(pointer, 0);
    ck_assert_uint_eq(from_pool, 0);
}
END_TEST

START_TEST(bad_arguments_are_invalid_values)
{
    CUdeviceptr pointer = 77;
    size_t size = 77;
    ck_assert_int_eq(cx_emu_call_mem_alloc(&pointer, 0), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc(NULL, 1), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_async(NULL, 1, NULL), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_get_info(NULL, &size), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_get_info(&size, NULL), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free(1), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free(UINT64_MAX), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_async(1, NULL), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free_async(0, NULL), CXU_INVALID_VALUE);
    ck_assert_uint_eq(pointer, 77);
    ck_assert_uint_eq(size, 77);
}
END_TEST

START_TEST(without_a_context_nothing_is_allocated)
{
    CUdeviceptr pointer = 77;
    size_t size = 77;
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_assert_int_eq(cx_emu_call_mem_alloc(&pointer, 1), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &size, 1, 1, 4), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_get_info(&size, &size), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_get_address_range(&pointer, &size, 1), CXU_INVALID_CONTEXT);
    ck_assert_uint_eq(pointer, 77);
    ck_assert_uint_eq(size, 77);
}
END_TEST

START_TEST(memory_is_freed_once_and_at_its_start)
{
    CUdeviceptr pointer = allocate(4096);
    ck_assert_int_eq(cx_emu_call_mem_free(pointer + 512), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free(pointer + 4096), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_free(pointer));
    ck_assert_int_eq(cx_emu_call_mem_free(pointer), CXU_INVALID_VALUE);
    ck_success(cx_emu_call_mem_free(0));
}
END_TEST

START_TEST(free_needs_no_current_context) /* T5 */
{
    CUdeviceptr pointer = allocate(1), again = allocate(1);
    CUcontext other;
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_success(cx_emu_call_mem_free(pointer));
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    ck_success(cx_emu_call_mem_free(again));
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

START_TEST(memory_goes_with_its_context) /* C3, T5 */
{
    CUdeviceptr pointer = allocate(MIB), pitched;
    size_t pitch;
    ck_success(cx_emu_call_mem_alloc_pitch(&pitched, &pitch, 100, 100, 4));
    ck_success(cx_emu_call_ctx_destroy(fixture_context));
    fixture_context = NULL;
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_assert_int_eq(cx_emu_call_mem_free(pointer), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free(pitched), CXU_INVALID_VALUE);
}
END_TEST

START_TEST(memory_of_a_primary_goes_with_its_reset) /* C3, P3 */
{
    CUcontext primary;
    ck_success(cx_emu_call_primary_retain(&primary, 1));
    ck_success(cx_emu_call_ctx_push(primary));
    CUdeviceptr pointer = allocate(MIB);
    ck_success(cx_emu_call_primary_reset(1));
    ck_assert_uint_eq(used_bytes(1), 0);
    ck_assert_int_eq(cx_emu_call_mem_free(pointer), CXU_INVALID_VALUE);
    CUdeviceptr none = 77;
    ck_assert_int_eq(cx_emu_call_mem_alloc(&none, 1), CXU_CONTEXT_IS_DESTROYED);
    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_success(cx_emu_call_primary_release(1));
}
END_TEST

START_TEST(a_pitch_is_aligned_and_rows_fit)
{
    CUdeviceptr pointer, base;
    size_t pitch, size;
    for (size_t width = 1; width < 2000; width += 37) {
        ck_success(cx_emu_call_mem_alloc_pitch(&pointer, &pitch, width, 7, 8));
        ck_assert_uint_ge(pitch, width);
        ck_assert_uint_eq(pitch % CX_EMU_TEXTURE_ALIGNMENT, 0);
        ck_success(cx_emu_call_mem_get_address_range(&base, &size, pointer + pitch * 6));
        ck_assert_uint_eq(base, pointer);
        ck_assert_uint_eq(size, pitch * 7);
        ck_success(cx_emu_call_mem_free(pointer));
    }
}
END_TEST

START_TEST(a_bad_pitched_request_changes_nothing)
{
    CUdeviceptr pointer = 77;
    size_t pitch = 77;
    for (unsigned int element = 0; element < 20; element++)
        if (element != 4 && element != 8 && element != 16)
            ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &pitch, 8, 8, element),
                             CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(NULL, &pitch, 8, 8, 4), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, NULL, 8, 8, 4), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &pitch, 0, 8, 4), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &pitch, 8, 0, 4), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &pitch, SIZE_MAX, 1, 4),
                     CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &pitch, 8, SIZE_MAX, 4),
                     CXU_OUT_OF_MEMORY);
    ck_assert_int_eq(cx_emu_call_mem_alloc_pitch(&pointer, &pitch, 8, SIZE_MAX / 512, 4),
                     CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(pointer, 77);
    ck_assert_uint_eq(pitch, 77);
}
END_TEST

START_TEST(an_address_range_is_found_from_any_byte_of_it)
{
    CUdeviceptr base = 77, pointer = allocate(1000);
    size_t size = 77;
    ck_success(cx_emu_call_mem_get_address_range(&base, &size, pointer + 999));
    ck_assert_uint_eq(base, pointer);
    ck_assert_uint_eq(size, 1000);
    ck_success(cx_emu_call_mem_get_address_range(NULL, NULL, pointer));
    base = 77;
    ck_assert_int_eq(cx_emu_call_mem_get_address_range(&base, &size, pointer + 1000),
                     CXU_NOT_FOUND);
    ck_assert_int_eq(cx_emu_call_mem_get_address_range(&base, &size, pointer - 1), CXU_NOT_FOUND);
    ck_assert_uint_eq(base, 77);
    ck_success(cx_emu_call_mem_free(pointer));
    ck_assert_int_eq(cx_emu_call_mem_get_address_range(&base, &size, pointer), CXU_NOT_FOUND);
}
END_TEST

START_TEST(fragments_do_not_eat_the_quota)
{
    enum { PIECES = GPU_BYTES / 4096 };
    static CUdeviceptr pieces[PIECES];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = allocate(4096);
    for (int i = 0; i < PIECES; i += 2)
        ck_success(cx_emu_call_mem_free(pieces[i]));
    CUdeviceptr half = allocate(GPU_BYTES / 2);
    ck_assert_uint_eq(free_bytes(), 0);
    ck_success(cx_emu_call_mem_free(half));
    for (int i = 1; i < PIECES; i += 2)
        ck_success(cx_emu_call_mem_free(pieces[i]));
    ck_success(cx_emu_call_mem_free(allocate(GPU_BYTES)));
}
END_TEST

START_TEST(a_hundred_thousand_allocations_live_at_once)
{
    enum { COUNT = 100000 };
    static CUdeviceptr pointers[COUNT];
    CUdeviceptr base;
    for (int i = 0; i < COUNT; i++)
        pointers[i] = allocate(1);
    for (int i = 0; i < COUNT; i++) {
        ck_success(cx_emu_call_mem_get_address_range(&base, NULL, pointers[i]));
        ck_assert_uint_eq(base, pointers[i]);
    }
    for (int i = 0; i < COUNT; i++)
        ck_success(cx_emu_call_mem_free(pointers[(i * 7919LL) % COUNT]));
}
END_TEST

START_TEST(the_host_faults_on_device_memory)
{
    *(volatile char *)(uintptr_t)allocate(1) = 1;
}
END_TEST

static void open_gpus(void)
{
    cx_emu_config config = {.gpus = 1,
                            .gpu_memory_bytes = GPU_BYTES,
                            .host_access = true,
                            .driver_version = CX_EMU_DRIVER_VERSION};
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_success(cx_emu_call_ctx_create_v2(&fixture_context, 0, 0));
}

START_TEST(host_access_opens_device_memory_to_the_host)
{
    CUdeviceptr pointer = allocate(100);
    *(volatile unsigned char *)(uintptr_t)(pointer + 99) = 42;
    ck_assert_uint_eq(driver_bytes(pointer)[99], 42);
    void *host = NULL;
    ck_success(cx_emu_call_pointer_get_attribute(&host, CXU_POINTER_HOST_POINTER, pointer));
    ck_assert_uint_eq((uintptr_t)host, pointer);
    ck_success(cx_emu_call_mem_free(pointer));
}
END_TEST

START_TEST(memory_of_the_host_device_is_the_hosts)
{
    CUdeviceptr pointer = allocate(1000);
    ck_assert_uint_eq(pointer % CX_EMU_ALIGNMENT, 0);
    memset((void *)(uintptr_t)pointer, 1, 1000);
    ck_assert_uint_eq(used_bytes(0), 1024);
    CUdeviceptr none = 77;
    ck_assert_int_eq(cx_emu_call_mem_alloc(&none, (size_t)1 << 46), CXU_OUT_OF_MEMORY);
    ck_assert_int_eq(cx_emu_call_mem_alloc(&none, SIZE_MAX), CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(none, 77);
    CUdeviceptr async = allocate_async(MIB, NULL);
    memset((void *)(uintptr_t)async, 1, MIB);
    ck_success(cx_emu_call_mem_free_async(async, NULL));
    ck_success(cx_emu_call_ctx_synchronize());
    ck_success(cx_emu_call_mem_free(pointer));
    ck_assert_uint_eq(used_bytes(0), 0);
}
END_TEST

typedef struct freeing {
    CUdeviceptr pointer;
    _Atomic int *used; /* set by the work that uses it */
    int used_at_return;
    cxu_result result;
} freeing;

static void *free_in_thread(void *argument)
{
    freeing *free_call = argument;
    free_call->result = cx_emu_call_mem_free(free_call->pointer);
    free_call->used_at_return = free_call->used == NULL ? 0 : atomic_load(free_call->used);
    return NULL;
}

static void spin_until_freed(CUdeviceptr pointer)
{
    unsigned int type;
    while (cx_emu_call_pointer_get_attribute(&type, CXU_POINTER_MEMORY_TYPE, pointer) ==
           CXU_SUCCESS)
        sched_yield();
}

START_TEST(free_waits_for_the_work_that_uses_the_memory) /* T12 */
{
    memory_gate gate;
    pthread_t thread;
    _Atomic int used = 0;
    freeing call = {.pointer = allocate(4096), .used = &used};
    memory_gate_close(&gate);
    use_memory(gate.stream, call.pointer, &used);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_in_thread, &call), 0);
    spin_until_freed(call.pointer);
    ck_assert_int_eq(cx_emu_call_mem_free(call.pointer), CXU_INVALID_VALUE);
    ck_assert_uint_eq(used_bytes(0), 4096);
    memory_gate_open(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_success(call.result);
    ck_assert_int_eq(call.used_at_return, 1);
    ck_assert_uint_eq(used_bytes(0), 0);
    memory_gate_end(&gate);
}
END_TEST

START_TEST(a_context_may_go_while_free_waits) /* T12, C3 */
{
    memory_gate gate;
    CUcontext other;
    pthread_t thread;
    _Atomic int used = 0;
    memory_gate_close(&gate);
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    freeing call = {.pointer = allocate(4096), .used = &used};
    use_memory(gate.stream, call.pointer, &used);
    ck_assert_int_eq(pthread_create(&thread, NULL, free_in_thread, &call), 0);
    spin_until_freed(call.pointer);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_assert_uint_eq(used_bytes(1), 4096);
    memory_gate_open(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_success(call.result);
    ck_assert_int_eq(call.used_at_return, 1);
    ck_assert_uint_eq(used_bytes(1), 0);
    memory_gate_end(&gate);
}
END_TEST

START_TEST(memory_outlives_its_context_while_others_use_it) /* C3 */
{
    memory_gate gate;
    CUcontext other;
    _Atomic int used = 0;
    memory_gate_close(&gate);
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    CUdeviceptr pointer = allocate(4096);
    use_memory(gate.stream, pointer, &used);
    ck_success(cx_emu_call_ctx_destroy(other));
    ck_assert_int_eq(cx_emu_call_mem_free(pointer), CXU_INVALID_VALUE);
    ck_assert_uint_eq(used_bytes(1), 4096);
    memory_gate_open(&gate);
    memory_gate_end(&gate);
    ck_assert_int_eq(atomic_load(&used), 1);
    ck_assert_uint_eq(used_bytes(1), 0);
}
END_TEST

START_TEST(two_frees_at_once_free_once)
{
    for (int round = 0; round < 200; round++) {
        pthread_t threads[4];
        freeing calls[4];
        CUdeviceptr pointer = allocate(2 * MIB);
        int successes = 0;
        for (int i = 0; i < 4; i++) {
            calls[i] = (freeing){.pointer = pointer};
            ck_assert_int_eq(pthread_create(&threads[i], NULL, free_in_thread, &calls[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
            successes += calls[i].result == CXU_SUCCESS;
            ck_assert(calls[i].result == CXU_SUCCESS || calls[i].result == CXU_INVALID_VALUE);
        }
        ck_assert_int_eq(successes, 1);
    }
}
END_TEST

START_TEST(free_async_frees_when_the_stream_gets_there) /* T12 */
{
    memory_gate gate;
    memory_gate_close(&gate);
    size_t before = free_bytes();
    CUdeviceptr pointer = allocate_async(MIB, gate.stream), ordinary = allocate(MIB);
    ck_success(cx_emu_call_mem_free_async(pointer, gate.stream));
    ck_success(cx_emu_call_mem_free_async(ordinary, gate.stream));
    ck_assert_uint_eq(free_bytes(), before - 2 * MIB);
    ck_assert_int_eq(cx_emu_call_mem_free_async(pointer, gate.stream), CXU_INVALID_VALUE);
    ck_assert_int_eq(cx_emu_call_mem_free(pointer), CXU_INVALID_VALUE);
    memory_gate_open(&gate);
    memory_gate_end(&gate);
    ck_assert_uint_eq(free_bytes(), before);
}
END_TEST

START_TEST(free_of_async_memory_does_not_wait) /* T12 */
{
    memory_gate gate;
    _Atomic int used = 0;
    memory_gate_close(&gate);
    CUdeviceptr pointer = allocate_async(MIB, gate.stream);
    use_memory(gate.stream, pointer, &used);
    ck_success(cx_emu_call_mem_free(pointer));
    ck_assert_int_eq(atomic_load(&used), 0);
    ck_assert_uint_eq(used_bytes(0), MIB);
    memory_gate_open(&gate);
    memory_gate_end(&gate);
    ck_assert_uint_eq(used_bytes(0), 0);
}
END_TEST

START_TEST(async_memory_survives_its_context) /* C3 */
{
    CUdeviceptr pointer = allocate_async(MIB, NULL);
    ck_success(cx_emu_call_ctx_destroy(fixture_context));
    fixture_context = NULL;
    ck_assert_uint_eq(used_bytes(0), MIB);
    ck_success(cx_emu_call_mem_free(pointer));
    ck_assert_uint_eq(used_bytes(0), 0);
}
END_TEST

START_TEST(async_memory_belongs_to_the_streams_device) /* T8 */
{
    CUcontext other;
    CUstream stream;
    CUdeviceptr pointer = 77;
    ck_success(cx_emu_call_ctx_create_v2(&other, 0, 1));
    ck_success(cx_emu_call_stream_create(&stream, CXU_STREAM_DEFAULT));
    ck_success(cx_emu_call_ctx_pop(NULL));
    CUdeviceptr remote = allocate_async(MIB, stream);
    ck_assert_uint_eq(used_bytes(1), MIB);

    ck_success(cx_emu_call_ctx_pop(NULL));
    ck_assert_int_eq(cx_emu_call_mem_alloc_async(&pointer, 1, NULL), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(cx_emu_call_mem_free_async(remote, NULL), CXU_INVALID_CONTEXT);
    ck_assert_uint_eq(pointer, 77);
    pointer = allocate_async(1, stream);
    ck_success(cx_emu_call_mem_free_async(pointer, stream));
    ck_success(cx_emu_call_mem_free_async(remote, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_assert_uint_eq(used_bytes(1), 0);
    ck_success(cx_emu_call_ctx_destroy(other));
}
END_TEST

static void *open_once_awaited(void *argument)
{
    memory_gate *gate = ((void **)argument)[0];
    cx_emu_allocation *leaving = ((void **)argument)[1];
    for (bool awaited = false; !awaited; sched_yield()) {
        cx_lock_enter(&cx_emu_lock);
        awaited = leaving->awaited;
        cx_lock_leave(&cx_emu_lock);
    }
    memory_gate_open(gate);
    return NULL;
}

START_TEST(an_allocation_waits_for_memory_that_is_being_freed)
{
    memory_gate gate;
    pthread_t thread;
    memory_gate_close(&gate);
    CUdeviceptr pointer = allocate_async(GPU_BYTES, gate.stream);
    cx_lock_enter(&cx_emu_lock);
    void *argument[2] = {&gate, cx_emu_allocation_find(pointer, 1)};
    cx_lock_leave(&cx_emu_lock);
    ck_success(cx_emu_call_mem_free_async(pointer, gate.stream));
    ck_assert_int_eq(pthread_create(&thread, NULL, open_once_awaited, argument), 0);
    pointer = allocate_async(GPU_BYTES, gate.stream);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_success(cx_emu_call_mem_free(pointer));
    memory_gate_end(&gate);
}
END_TEST

START_TEST(a_request_beyond_the_quota_waits_for_nothing)
{
    memory_gate gate;
    memory_gate_close(&gate);
    CUdeviceptr pointer = allocate_async(MIB, gate.stream), none = 77;
    ck_success(cx_emu_call_mem_free_async(pointer, gate.stream));
    ck_assert_int_eq(cx_emu_call_mem_alloc(&none, GPU_BYTES + 1), CXU_OUT_OF_MEMORY);
    ck_assert_int_eq(cx_emu_call_mem_alloc(&none, SIZE_MAX), CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(none, 77);
    memory_gate_open(&gate);
    memory_gate_end(&gate);
}
END_TEST

static void *allocate_at_random(void *argument)
{
    enum { SLOTS = 40, STEPS = 2000 };
    unsigned int seed = (unsigned int)(uintptr_t)argument;
    unsigned char mark = (unsigned char)seed;
    CUdeviceptr pointers[SLOTS] = {0};
    size_t sizes[SLOTS];
    ck_success(cx_emu_call_ctx_push(fixture_context));
    for (int step = 0; step < STEPS + SLOTS; step++) {
        int i = step < STEPS ? (int)(rand_r(&seed) % SLOTS) : step - STEPS;
        if (pointers[i] != 0) {
            unsigned char *bytes = driver_bytes(pointers[i]);
            ck_assert_uint_eq(bytes[0], mark);
            ck_assert_uint_eq(bytes[sizes[i] - 1], mark);
            ck_success(rand_r(&seed) % 2 ? cx_emu_call_mem_free(pointers[i])
                                         : cx_emu_call_mem_free_async(pointers[i], NULL));
            pointers[i] = 0;
        } else if (step < STEPS) {
            sizes[i] = 1 + rand_r(&seed) % (1u << (rand_r(&seed) % 21));
            cxu_result result = rand_r(&seed) % 2
                                    ? cx_emu_call_mem_alloc(&pointers[i], sizes[i])
                                    : cx_emu_call_mem_alloc_async(&pointers[i], sizes[i], NULL);
            if (result == CXU_OUT_OF_MEMORY)
                continue;
            ck_success(result);
            driver_bytes(pointers[i])[0] = mark;
            driver_bytes(pointers[i])[sizes[i] - 1] = mark;
        }
    }
    ck_success(cx_emu_call_ctx_pop(NULL));
    return NULL;
}

START_TEST(sixteen_threads_never_share_a_byte)
{
    pthread_t threads[16];
    for (uintptr_t i = 0; i < 16; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_at_random, (void *)(i + 1)), 0);
    for (int i = 0; i < 16; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_success(cx_emu_call_ctx_synchronize());
    ck_assert_uint_eq(used_bytes(0), 0);
}
END_TEST

static void add_ordinary(Suite *suite)
{
    TCase *tcase = tcase_create("ordinary");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, memory_is_aligned_and_accounted_for_to_the_byte);
    tcase_add_test(tcase, memory_of_1_mib_and_more_begins_at_a_multiple_of_2_mib);
    tcase_add_test(tcase, the_quota_is_all_there_is);
    tcase_add_test(tcase, each_device_has_its_own_quota_and_addresses);
    tcase_add_test(tcase, sizes_that_overflow_are_out_of_memory);
    tcase_add_test(tcase, no_bytes_in_stream_order_are_no_memory);
    tcase_add_test(tcase, bad_arguments_are_invalid_values);
    tcase_add_test(tcase, without_a_context_nothing_is_allocated);
    tcase_add_test(tcase, memory_is_freed_once_and_at_its_start);
    tcase_add_test(tcase, free_needs_no_current_context);
    tcase_add_test(tcase, memory_goes_with_its_context);
    tcase_add_test(tcase, memory_of_a_primary_goes_with_its_reset);
    tcase_add_test(tcase, a_pitch_is_aligned_and_rows_fit);
    tcase_add_test(tcase, a_bad_pitched_request_changes_nothing);
    tcase_add_test(tcase, an_address_range_is_found_from_any_byte_of_it);
    tcase_add_test(tcase, fragments_do_not_eat_the_quota);
    tcase_add_test(tcase, a_hundred_thousand_allocations_live_at_once);
    if (!CX_TEST_SANITIZED)
        tcase_add_test_raise_signal(tcase, the_host_faults_on_device_memory, SIGSEGV);
    suite_add_tcase(suite, tcase);
}

static void add_in_flight(Suite *suite)
{
    TCase *tcase = tcase_create("in flight");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, free_waits_for_the_work_that_uses_the_memory);
    tcase_add_test(tcase, a_context_may_go_while_free_waits);
    tcase_add_test(tcase, memory_outlives_its_context_while_others_use_it);
    tcase_add_test(tcase, two_frees_at_once_free_once);
    tcase_add_test(tcase, free_async_frees_when_the_stream_gets_there);
    tcase_add_test(tcase, free_of_async_memory_does_not_wait);
    tcase_add_test(tcase, async_memory_survives_its_context);
    tcase_add_test(tcase, async_memory_belongs_to_the_streams_device);
    tcase_add_test(tcase, an_allocation_waits_for_memory_that_is_being_freed);
    tcase_add_test(tcase, a_request_beyond_the_quota_waits_for_nothing);
    tcase_add_test(tcase, sixteen_threads_never_share_a_byte);
    suite_add_tcase(suite, tcase);
}

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *before = tcase_create("before init");
    tcase_add_test(before, nothing_is_allocated_before_init);
    suite_add_tcase(suite, before);
    add_ordinary(suite);
    add_in_flight(suite);

    TCase *open = tcase_create("host access");
    tcase_add_checked_fixture(open, open_gpus, all_given_back);
    tcase_add_test(open, host_access_opens_device_memory_to_the_host);
    suite_add_tcase(suite, open);

    TCase *host = tcase_create("host device");
    tcase_add_checked_fixture(host, host_and_gpu, all_given_back);
    tcase_add_test(host, memory_of_the_host_device_is_the_hosts);
    suite_add_tcase(suite, host);
    return suite;
}

CX_TESTS(memory_suite);
