/* Virtual memory of the embedded driver: addresses, memory, mappings, access (V1 to V6). */
#include "emu/device.h"
#include "emu/state.h"
#include "memory_fixture.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK ((size_t)2 * MIB)
#define ck_invalid(call) ck_assert_int_eq(call, CXU_INVALID_VALUE)

static cxu_mem_properties on_device(int device)
{
    return (cxu_mem_properties){.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device}};
}

static CUdeviceptr reserve(size_t bytes)
{
    CUdeviceptr range = 0;
    ck_success(cx_emu_call_mem_address_reserve(&range, bytes, 0, 0, 0));
    ck_assert_uint_ne(range, 0);
    return range;
}

static CUmemGenericAllocationHandle create(int device, size_t bytes)
{
    CUmemGenericAllocationHandle handle = 0;
    cxu_mem_properties properties = on_device(device);
    ck_success(cx_emu_call_mem_create(&handle, bytes, &properties, 0));
    ck_assert_uint_ne(handle, 0);
    return handle;
}

static cxu_result set_access(CUdeviceptr at, size_t bytes, int device, cxu_mem_access_flags flags)
{
    cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
    return cx_emu_call_mem_set_access(at, bytes, &access, 1);
}

static void open_to(CUdeviceptr at, size_t bytes, int device)
{
    ck_success(set_access(at, bytes, device, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

static unsigned long long access_of(CUdeviceptr at, int device)
{
    unsigned long long flags = 77;
    cxu_mem_location location = {CXU_MEM_LOCATION_TYPE_DEVICE, device};
    ck_success(cx_emu_call_mem_get_access(&flags, &location, at));
    return flags;
}

/* Maps new memory of GPU 0 that nobody else has a handle to, open to it. */
static void fill_range(CUdeviceptr at, size_t bytes)
{
    CUmemGenericAllocationHandle handle = create(0, bytes);
    ck_success(cx_emu_call_mem_map(at, bytes, 0, handle, 0));
    ck_success(cx_emu_call_mem_release(handle));
    open_to(at, bytes, 0);
}

static void give_back(CUdeviceptr range, size_t bytes)
{
    ck_success(cx_emu_call_mem_unmap(range, bytes));
    ck_success(cx_emu_call_mem_address_free(range, bytes));
}

/* Most tests have a range of four chunks. */
static void give_back_rest(CUdeviceptr range)
{
    ck_success(cx_emu_call_mem_address_free(range, 4 * CHUNK));
}

/* ---- addresses ---- */

START_TEST(addresses_are_reserved_aligned_and_freed_whole) /* V1 */
{
    CUdeviceptr range = reserve(3 * CHUNK), wide = 0;
    ck_assert_uint_eq(range % CHUNK, 0);
    ck_success(cx_emu_call_mem_address_reserve(&wide, CHUNK, 32 * CHUNK, 0, 0));
    ck_assert_uint_eq(wide % (32 * CHUNK), 0);
    ck_success(cx_emu_call_mem_address_free(wide, CHUNK));

    ck_invalid(cx_emu_call_mem_address_free(range, 2 * CHUNK));
    ck_invalid(cx_emu_call_mem_address_free(range, 4 * CHUNK));
    ck_invalid(cx_emu_call_mem_address_free(range + CHUNK, 2 * CHUNK));
    ck_invalid(cx_emu_call_mem_address_free(range + CHUNK, 3 * CHUNK));
    ck_success(cx_emu_call_mem_address_free(range, 3 * CHUNK));
    ck_invalid(cx_emu_call_mem_address_free(range, 3 * CHUNK));
}
END_TEST

START_TEST(a_bad_reservation_writes_nothing) /* V1 */
{
    CUdeviceptr range = 77;
    ck_invalid(cx_emu_call_mem_address_reserve(NULL, CHUNK, 0, 0, 0));
    ck_invalid(cx_emu_call_mem_address_reserve(&range, 0, 0, 0, 0));
    ck_invalid(cx_emu_call_mem_address_reserve(&range, CHUNK + 1, 0, 0, 0));
    ck_invalid(cx_emu_call_mem_address_reserve(&range, CHUNK, 3 * MIB, 0, 0));
    ck_invalid(cx_emu_call_mem_address_reserve(&range, CHUNK, 0, 1, 0));
    ck_invalid(cx_emu_call_mem_address_reserve(&range, CHUNK, 0, 0, 1));
    ck_assert_int_eq(cx_emu_call_mem_address_reserve(&range, (size_t)1 << 62, 0, 0, 0),
                     CXU_OUT_OF_MEMORY);
    ck_assert_int_eq(
        cx_emu_call_mem_address_reserve(&range, CHUNK, (size_t)1 << 63, 0, 0),
        CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(range, 77);
    ck_invalid(cx_emu_call_mem_address_free(0, 0));
    ck_invalid(cx_emu_call_mem_address_free(CHUNK, SIZE_MAX));
}
END_TEST

START_TEST(a_hint_that_is_free_is_taken) /* V1 */
{
    CUdeviceptr range = reserve(4 * CHUNK), again = 0;
    ck_success(cx_emu_call_mem_address_free(range, 4 * CHUNK));
    ck_success(cx_emu_call_mem_address_reserve(&again, CHUNK, 0, range, 0));
    ck_assert_uint_eq(again, range);
    ck_success(cx_emu_call_mem_address_reserve(&range, CHUNK, 0, again, 0));
    ck_assert_uint_ne(again, range);
    ck_success(cx_emu_call_mem_address_free(again, CHUNK));
    ck_success(cx_emu_call_mem_address_free(range, CHUNK));
}
END_TEST

START_TEST(addresses_cost_no_memory) /* V1 */
{
    CUdeviceptr range = reserve(4 * GPU_BYTES);
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_success(cx_emu_call_mem_address_free(range, 4 * GPU_BYTES));
}
END_TEST

/* ---- memory ---- */

START_TEST(the_granularity_is_two_mebibytes) /* V2 */
{
    size_t bytes = 0;
    cxu_mem_properties properties = on_device(1);
    ck_success(cx_emu_call_mem_get_allocation_granularity(&bytes, &properties,
                                                          CXU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ck_assert_uint_eq(bytes, CHUNK);
    bytes = 0;
    ck_success(cx_emu_call_mem_get_allocation_granularity(&bytes, &properties,
                                                          CXU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    ck_assert_uint_eq(bytes, CHUNK);
    bytes = 77;
    ck_invalid(cx_emu_call_mem_get_allocation_granularity(&bytes, &properties,
                                                          (cxu_mem_granularity)2));
    ck_invalid(cx_emu_call_mem_get_allocation_granularity(&bytes, NULL, 0));
    ck_invalid(cx_emu_call_mem_get_allocation_granularity(NULL, &properties, 0));
    properties.location.id = 2;
    ck_assert_int_eq(cx_emu_call_mem_get_allocation_granularity(&bytes, &properties, 0),
                     CXU_INVALID_DEVICE);
    ck_assert_uint_eq(bytes, 77);
}
END_TEST

START_TEST(memory_is_charged_when_it_is_created_and_needs_no_context) /* V2 */
{
    CUcontext popped;
    ck_success(cx_emu_call_ctx_pop(&popped));
    CUmemGenericAllocationHandle handle = create(1, GPU_BYTES), more = 77;
    cxu_mem_properties properties = on_device(1);
    ck_assert_uint_eq(used_bytes(1), GPU_BYTES);
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_assert_int_eq(cx_emu_call_mem_create(&more, CHUNK, &properties, 0), CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(more, 77);
    ck_success(cx_emu_call_mem_release(handle));
    ck_assert_uint_eq(used_bytes(1), 0);
    ck_invalid(cx_emu_call_mem_release(handle));
    ck_invalid(cx_emu_call_mem_release(0));
    ck_invalid(cx_emu_call_mem_release(handle + 1));
    ck_success(cx_emu_call_ctx_push(popped));
}
END_TEST

static cxu_result create_with(cxu_mem_properties properties, size_t bytes)
{
    CUmemGenericAllocationHandle handle = 77;
    cxu_result result = cx_emu_call_mem_create(&handle, bytes, &properties, 0);
    ck_assert_uint_eq(handle, 77);
    return result;
}

START_TEST(bad_properties_create_nothing) /* V2 */
{
    CUmemGenericAllocationHandle handle = 77;
    cxu_mem_properties wrong = on_device(0);
    ck_invalid(cx_emu_call_mem_create(NULL, CHUNK, &wrong, 0));
    ck_invalid(cx_emu_call_mem_create(&handle, CHUNK, NULL, 0));
    ck_invalid(cx_emu_call_mem_create(&handle, CHUNK, &wrong, 1));
    ck_invalid(create_with(wrong, 0));
    ck_invalid(create_with(wrong, CHUNK + 512));
    wrong.type = CXU_MEM_ALLOCATION_TYPE_INVALID;
    ck_invalid(create_with(wrong, CHUNK));
    wrong = on_device(2);
    ck_assert_int_eq(create_with(wrong, CHUNK), CXU_INVALID_DEVICE);
    wrong = on_device(0);
    wrong.location.type = CXU_MEM_LOCATION_TYPE_INVALID;
    ck_invalid(create_with(wrong, CHUNK));
    wrong.location.type = CXU_MEM_LOCATION_TYPE_HOST;
    ck_assert_int_eq(create_with(wrong, CHUNK), CXU_NOT_SUPPORTED);
    wrong = on_device(0);
    wrong.handle_types = CXU_MEM_HANDLE_TYPE_FABRIC;
    ck_assert_int_eq(create_with(wrong, CHUNK), CXU_NOT_SUPPORTED);
    wrong.handle_types = (cxu_mem_handle_type)16;
    ck_invalid(create_with(wrong, CHUNK));
    wrong = on_device(0);
    wrong.flags.usage = CXU_MEM_CREATE_USAGE_TILE_POOL;
    ck_assert_int_eq(create_with(wrong, CHUNK), CXU_NOT_SUPPORTED);
}
END_TEST

START_TEST(properties_come_back_as_they_were_granted) /* V2 */
{
    CUmemGenericAllocationHandle handle;
    cxu_mem_properties wanted = on_device(1), given;
    wanted.handle_types = CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    wanted.flags.compression = CXU_MEM_ALLOCATION_COMP_GENERIC;
    ck_success(cx_emu_call_mem_create(&handle, CHUNK, &wanted, 0));
    memset(&given, 0xff, sizeof given);
    ck_success(cx_emu_call_mem_get_allocation_properties(&given, handle));
    ck_assert_int_eq(given.type, CXU_MEM_ALLOCATION_TYPE_PINNED);
    ck_assert_int_eq(given.location.type, CXU_MEM_LOCATION_TYPE_DEVICE);
    ck_assert_int_eq(given.location.id, 1);
    ck_assert_int_eq(given.handle_types, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    ck_assert_int_eq(given.flags.compression, CXU_MEM_ALLOCATION_COMP_NONE);
    ck_invalid(cx_emu_call_mem_get_allocation_properties(NULL, handle));
    ck_success(cx_emu_call_mem_release(handle));
    ck_invalid(cx_emu_call_mem_get_allocation_properties(&given, handle));
}
END_TEST

START_TEST(a_creation_waits_for_memory_that_is_being_freed) /* V2 */
{
    stream_gate gate;
    _Atomic int done = 0;
    CUdeviceptr pointer;
    ck_success(cx_emu_call_mem_alloc(&pointer, GPU_BYTES));
    gate_close(&gate);
    use_memory(gate.stream, pointer, &done);
    ck_success(cx_emu_call_mem_free_async(pointer, gate.stream));
    gate_open(&gate);
    CUmemGenericAllocationHandle handle = create(0, GPU_BYTES);
    ck_assert_int_eq(done, 1);
    ck_success(cx_emu_call_mem_release(handle));
    gate_end(&gate);
}
END_TEST

/* ---- mappings ---- */

START_TEST(memory_is_mapped_where_nothing_is) /* V3 */
{
    CUdeviceptr range = reserve(4 * CHUNK);
    CUmemGenericAllocationHandle handle = create(0, 2 * CHUNK);
    ck_invalid(cx_emu_call_mem_map(range, 2 * CHUNK, CHUNK, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range, 2 * CHUNK, 0, handle, 1));
    ck_invalid(cx_emu_call_mem_map(range, 2 * CHUNK, 0, handle + 1, 0));
    ck_invalid(cx_emu_call_mem_map(range, 3 * CHUNK, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range, 0, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range, 512, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range + 512, CHUNK, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range + 3 * CHUNK, 2 * CHUNK, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range - CHUNK, CHUNK, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map((CUdeviceptr)0 - CHUNK, 2 * CHUNK, 0, handle, 0));

    ck_success(cx_emu_call_mem_map(range + CHUNK, 2 * CHUNK, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range, 2 * CHUNK, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range + 2 * CHUNK, 2 * CHUNK, 0, handle, 0));
    ck_invalid(cx_emu_call_mem_map(range + CHUNK, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_map(range, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_release(handle));
    ck_invalid(cx_emu_call_mem_map(range + 3 * CHUNK, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_unmap(range, 3 * CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(whole_mappings_are_unmapped_and_no_parts) /* V3 */
{
    CUdeviceptr range = reserve(4 * CHUNK);
    fill_range(range, 2 * CHUNK);
    fill_range(range + 2 * CHUNK, CHUNK);
    ck_invalid(cx_emu_call_mem_unmap(range, CHUNK));
    ck_invalid(cx_emu_call_mem_unmap(range + CHUNK, CHUNK));
    ck_invalid(cx_emu_call_mem_unmap(range, 4 * CHUNK));
    ck_invalid(cx_emu_call_mem_unmap(range + 3 * CHUNK, CHUNK));
    ck_invalid(cx_emu_call_mem_unmap(range, 0));
    ck_invalid(cx_emu_call_mem_unmap(range, SIZE_MAX));
    ck_assert_uint_eq(used_bytes(0), 3 * CHUNK);
    ck_success(cx_emu_call_mem_unmap(range, 3 * CHUNK));
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_invalid(cx_emu_call_mem_unmap(range, 3 * CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(addresses_with_mappings_are_not_freed) /* V1 */
{
    CUdeviceptr range = reserve(4 * CHUNK);
    fill_range(range + 3 * CHUNK, CHUNK);
    ck_invalid(cx_emu_call_mem_address_free(range, 4 * CHUNK));
    ck_success(cx_emu_call_memset_d8(range + 3 * CHUNK, 1, CHUNK));
    ck_success(cx_emu_call_mem_unmap(range + 3 * CHUNK, CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(memory_lives_as_long_as_a_handle_or_a_mapping) /* V4 */
{
    unsigned char byte = 0;
    CUdeviceptr range = reserve(4 * CHUNK);
    CUmemGenericAllocationHandle handle = create(0, CHUNK);
    ck_success(cx_emu_call_mem_map(range, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_release(handle));
    open_to(range, CHUNK, 0);
    ck_success(cx_emu_call_memset_d8(range, 42, CHUNK));
    ck_assert_uint_eq(used_bytes(0), CHUNK);

    ck_success(cx_emu_call_mem_retain_allocation_handle(&handle, (void *)(range + 5)));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    ck_assert_uint_eq(used_bytes(0), CHUNK);
    ck_success(cx_emu_call_mem_map(range + CHUNK, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_release(handle));
    ck_invalid(cx_emu_call_mem_release(handle));
    open_to(range + CHUNK, CHUNK, 0);
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range + 2 * CHUNK - 1, 1));
    ck_assert_int_eq(byte, 42);
    ck_success(cx_emu_call_mem_unmap(range + CHUNK, CHUNK));
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_invalid(cx_emu_call_mem_retain_allocation_handle(&handle, (void *)(range + CHUNK)));
    ck_invalid(cx_emu_call_mem_retain_allocation_handle(NULL, (void *)range));
    give_back_rest(range);
}
END_TEST

START_TEST(a_retained_handle_is_the_one_that_was_mapped) /* V4 */
{
    CUdeviceptr range = reserve(4 * CHUNK);
    CUmemGenericAllocationHandle handle = create(0, CHUNK), retained = 0;
    ck_success(cx_emu_call_mem_map(range, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_retain_allocation_handle(&retained, (void *)range));
    ck_assert_uint_eq(retained, handle);
    ck_success(cx_emu_call_mem_release(handle));
    ck_success(cx_emu_call_mem_release(retained));
    ck_invalid(cx_emu_call_mem_release(retained));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(memory_may_be_mapped_twice_and_both_show_the_same) /* V4 */
{
    unsigned char byte = 0;
    CUdeviceptr range = reserve(4 * CHUNK);
    CUmemGenericAllocationHandle handle = create(0, CHUNK);
    ck_success(cx_emu_call_mem_map(range, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_map(range + 2 * CHUNK, CHUNK, 0, handle, 0));
    open_to(range, CHUNK, 0);
    open_to(range + 2 * CHUNK, CHUNK, 0);
    ck_success(cx_emu_call_memset_d8(range, 7, 100));
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range + 2 * CHUNK + 99, 1));
    ck_assert_int_eq(byte, 7);
    ck_assert_uint_eq(used_bytes(0), CHUNK);
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    ck_success(cx_emu_call_mem_unmap(range + 2 * CHUNK, CHUNK));
    ck_success(cx_emu_call_mem_release(handle));
    give_back_rest(range);
}
END_TEST

START_TEST(what_was_unmapped_comes_back_without_access_and_empty) /* V5 */
{
    unsigned char byte = 77;
    CUdeviceptr range = reserve(4 * CHUNK);
    fill_range(range, CHUNK);
    ck_success(cx_emu_call_memset_d8(range, 7, CHUNK));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    ck_invalid(cx_emu_call_memcpy_dtoh(&byte, range, 1));
    CUmemGenericAllocationHandle handle = create(0, CHUNK);
    ck_success(cx_emu_call_mem_map(range, CHUNK, 0, handle, 0));
    ck_assert_uint_eq(access_of(range, 0), CXU_MEM_ACCESS_FLAGS_PROT_NONE);
    ck_invalid(cx_emu_call_memcpy_dtoh(&byte, range, 1));
    ck_assert_int_eq(byte, 77);
    open_to(range, CHUNK, 0);
    ck_success(cx_emu_call_memcpy_dtoh(&byte, range, 1));
    ck_assert_int_eq(byte, 0);
    ck_success(cx_emu_call_mem_release(handle));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(as_many_pieces_as_the_device_holds_take_no_descriptors)
{
    CUdeviceptr range = reserve(GPU_BYTES);
    int before = dup(0);
    for (size_t at = 0; at < GPU_BYTES; at += CHUNK)
        fill_range(range + at, CHUNK);
    int after = dup(0);
    ck_assert_int_eq(close(before), 0);
    ck_assert_int_eq(close(after), 0);
    ck_assert_int_eq(after, before + 1);
    ck_success(cx_emu_call_memset_d8(range, 3, GPU_BYTES));
    give_back(range, GPU_BYTES);
}
END_TEST

/* ---- access ---- */

START_TEST(access_is_set_for_whole_mappings) /* V5 */
{
    CUdeviceptr range = reserve(4 * CHUNK);
    fill_range(range, 2 * CHUNK);
    fill_range(range + 2 * CHUNK, CHUNK);
    ck_invalid(set_access(range, CHUNK, 1, CXU_MEM_ACCESS_FLAGS_PROT_READ));
    ck_invalid(set_access(range + CHUNK, CHUNK, 1, CXU_MEM_ACCESS_FLAGS_PROT_READ));
    ck_invalid(set_access(range, 4 * CHUNK, 1, CXU_MEM_ACCESS_FLAGS_PROT_READ));
    ck_invalid(set_access(range, 3 * CHUNK, 1, (cxu_mem_access_flags)2));
    ck_assert_int_eq(set_access(range, 3 * CHUNK, 2, CXU_MEM_ACCESS_FLAGS_PROT_READ),
                     CXU_INVALID_DEVICE);
    ck_assert_uint_eq(access_of(range, 1), CXU_MEM_ACCESS_FLAGS_PROT_NONE);

    cxu_mem_access both[] = {
        {{CXU_MEM_LOCATION_TYPE_DEVICE, 1}, CXU_MEM_ACCESS_FLAGS_PROT_READ},
        {{CXU_MEM_LOCATION_TYPE_DEVICE, 2}, CXU_MEM_ACCESS_FLAGS_PROT_READ},
    };
    ck_assert_int_eq(cx_emu_call_mem_set_access(range, 3 * CHUNK, both, 2), CXU_INVALID_DEVICE);
    ck_assert_uint_eq(access_of(range, 1), CXU_MEM_ACCESS_FLAGS_PROT_NONE);
    ck_invalid(cx_emu_call_mem_set_access(range, 3 * CHUNK, both, 0));
    ck_invalid(cx_emu_call_mem_set_access(range, 3 * CHUNK, NULL, 1));
    both[1].location.id = 0;
    ck_success(cx_emu_call_mem_set_access(range, 3 * CHUNK, both, 2));
    ck_assert_uint_eq(access_of(range + 3 * CHUNK - 1, 1), CXU_MEM_ACCESS_FLAGS_PROT_READ);
    ck_assert_uint_eq(access_of(range + 3 * CHUNK - 1, 0), CXU_MEM_ACCESS_FLAGS_PROT_READ);
    ck_success(cx_emu_call_mem_unmap(range, 3 * CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(asking_for_access_needs_a_mapping_and_a_location) /* V5 */
{
    unsigned long long flags = 77;
    CUdeviceptr range = reserve(4 * CHUNK);
    cxu_mem_location location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0};
    ck_invalid(cx_emu_call_mem_get_access(&flags, &location, range));
    fill_range(range, CHUNK);
    ck_invalid(cx_emu_call_mem_get_access(NULL, &location, range));
    ck_invalid(cx_emu_call_mem_get_access(&flags, NULL, range));
    ck_invalid(cx_emu_call_mem_get_access(&flags, &location, range + CHUNK));
    location.id = -1;
    ck_assert_int_eq(cx_emu_call_mem_get_access(&flags, &location, range), CXU_INVALID_DEVICE);
    location.type = CXU_MEM_LOCATION_TYPE_HOST;
    ck_assert_int_eq(cx_emu_call_mem_get_access(&flags, &location, range), CXU_NOT_SUPPORTED);
    ck_assert_uint_eq(flags, 77);
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(what_may_be_read_may_not_be_written) /* V5 */
{
    unsigned char bytes[4] = {1, 2, 3, 4}, back[4];
    CUdeviceptr range = reserve(4 * CHUNK);
    fill_range(range, CHUNK);
    ck_success(cx_emu_call_memcpy_htod(range, bytes, 4));
    ck_success(set_access(range, CHUNK, 0, CXU_MEM_ACCESS_FLAGS_PROT_READ));
    ck_success(cx_emu_call_memcpy_dtoh(back, range, 4));
    ck_assert_int_eq(back[3], 4);
    ck_invalid(cx_emu_call_memcpy_htod(range, bytes, 4));
    ck_invalid(cx_emu_call_memset_d8(range, 1, 1));
    ck_invalid(cx_emu_call_memcpy_dtod(range, range + 512, 4));
    ck_success(set_access(range, CHUNK, 0, CXU_MEM_ACCESS_FLAGS_PROT_NONE));
    ck_invalid(cx_emu_call_memcpy_dtoh(back, range, 4));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    give_back_rest(range);
}
END_TEST

START_TEST(a_peer_reaches_what_it_was_given_access_to) /* V5 */
{
    CUcontext peer, popped;
    CUdeviceptr range = reserve(4 * CHUNK), theirs = 0;
    fill_range(range, CHUNK);
    ck_success(cx_emu_call_memset_d8(range, 9, 64));
    ck_success(cx_emu_call_ctx_create_v2(&peer, 0, 1));
    ck_success(cx_emu_call_mem_alloc(&theirs, 64));
    ck_invalid(cx_emu_call_memcpy_dtod(theirs, range, 64));
    /* Each side of a copy between contexts is reached by its own device. */
    ck_success(cx_emu_call_memcpy_peer(theirs, peer, range, fixture_context, 64));
    ck_assert_int_eq(driver_bytes(theirs)[63], 9);
    ck_invalid(cx_emu_call_memcpy_peer(theirs, peer, range, peer, 64));
    ck_invalid(cx_emu_call_memset_d8(range, 1, 1));
    open_to(range, CHUNK, 1);
    ck_success(cx_emu_call_memset_d8(range, 5, 64));
    ck_success(cx_emu_call_memcpy_dtod(theirs, range, 64));
    ck_assert_int_eq(driver_bytes(theirs)[63], 5);
    ck_success(cx_emu_call_mem_free(theirs));
    ck_success(cx_emu_call_ctx_pop(&popped));
    ck_success(cx_emu_call_ctx_destroy(peer));
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    give_back_rest(range);
}
END_TEST

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
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_graph_destroy(graph));
    ck_success(cx_emu_call_stream_destroy(stream));
    ck_success(cx_emu_call_mem_unmap(range, 2 * CHUNK));
    give_back_rest(range);
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
    pthread_mutex_lock(&cx_emu_lock);
    bool there = cx_emu_allocation_find(pointer, 1) != NULL;
    pthread_mutex_unlock(&cx_emu_lock);
    return there;
}

static void await_unmapping(CUdeviceptr pointer)
{
    while (found(pointer))
        sched_yield();
}

START_TEST(unmapping_waits_for_the_work_that_uses_any_of_it) /* V6 */
{
    stream_gate gate;
    pthread_t thread;
    CUdeviceptr range = reserve(4 * CHUNK);
    for (int i = 0; i < 4; i++)
        fill_range(range + (size_t)i * CHUNK, CHUNK);
    gate_close(&gate);
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
    gate_open(&gate);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_success(job.result);
    ck_success(cx_emu_call_mem_map(range + CHUNK, CHUNK, 0, handle, 0));
    ck_success(cx_emu_call_mem_release(handle));
    gate_end(&gate);
    ck_success(cx_emu_call_mem_unmap(range + CHUNK, CHUNK));
    give_back_rest(range);
}
END_TEST

/* Whether a mapping is found no more but still there: it awaits the work that uses it. */
static bool awaits_work(CUdeviceptr pointer)
{
    pthread_mutex_lock(&cx_emu_lock);
    bool awaits = cx_emu_allocation_find(pointer, 1) == NULL &&
                  cx_emu_allocation_overlapping(pointer, 1) != NULL;
    pthread_mutex_unlock(&cx_emu_lock);
    return awaits;
}

START_TEST(each_mapping_that_work_touches_waits_for_it) /* V6 */
{
    for (size_t i = 0; i < 3; i++) {
        stream_gate gate;
        pthread_t thread;
        CUdeviceptr range = reserve(4 * CHUNK);
        for (size_t each = 0; each < 3; each++)
            fill_range(range + each * CHUNK, CHUNK);
        gate_close(&gate);
        ck_success(cx_emu_call_memcpy_dtod_async(range, range, 3 * CHUNK, gate.stream));
        unmapping job = {.range = range + i * CHUNK, .bytes = CHUNK};
        ck_assert_int_eq(pthread_create(&thread, NULL, unmap_elsewhere, &job), 0);
        await_unmapping(job.range);
        ck_assert(awaits_work(job.range));
        gate_open(&gate);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_success(job.result);
        gate_end(&gate);
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
    ck_invalid(attribute(&size, CXU_POINTER_MAPPED, range + 4 * CHUNK));
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

static void add_addresses(Suite *suite)
{
    TCase *tcase = tcase_create("addresses and memory");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, addresses_are_reserved_aligned_and_freed_whole);
    tcase_add_test(tcase, a_bad_reservation_writes_nothing);
    tcase_add_test(tcase, a_hint_that_is_free_is_taken);
    tcase_add_test(tcase, addresses_cost_no_memory);
    tcase_add_test(tcase, the_granularity_is_two_mebibytes);
    tcase_add_test(tcase, memory_is_charged_when_it_is_created_and_needs_no_context);
    tcase_add_test(tcase, bad_properties_create_nothing);
    tcase_add_test(tcase, properties_come_back_as_they_were_granted);
    tcase_add_test(tcase, a_creation_waits_for_memory_that_is_being_freed);
    suite_add_tcase(suite, tcase);
}

static void add_mappings(Suite *suite)
{
    TCase *tcase = tcase_create("mappings");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, memory_is_mapped_where_nothing_is);
    tcase_add_test(tcase, whole_mappings_are_unmapped_and_no_parts);
    tcase_add_test(tcase, addresses_with_mappings_are_not_freed);
    tcase_add_test(tcase, memory_lives_as_long_as_a_handle_or_a_mapping);
    tcase_add_test(tcase, a_retained_handle_is_the_one_that_was_mapped);
    tcase_add_test(tcase, memory_may_be_mapped_twice_and_both_show_the_same);
    tcase_add_test(tcase, what_was_unmapped_comes_back_without_access_and_empty);
    tcase_add_test(tcase, as_many_pieces_as_the_device_holds_take_no_descriptors);
    tcase_add_test(tcase, access_is_set_for_whole_mappings);
    tcase_add_test(tcase, asking_for_access_needs_a_mapping_and_a_location);
    tcase_add_test(tcase, what_may_be_read_may_not_be_written);
    tcase_add_test(tcase, a_peer_reaches_what_it_was_given_access_to);
    suite_add_tcase(suite, tcase);
}

static void add_work(Suite *suite)
{
    TCase *tcase = tcase_create("work");
    tcase_add_checked_fixture(tcase, two_gpus, all_given_back);
    tcase_add_test(tcase, copies_and_fills_go_over_mappings_in_a_row);
    tcase_add_test(tcase, reserved_addresses_are_no_memory_of_the_host);
    tcase_add_test(tcase, mapped_memory_is_not_freed_like_an_allocation);
    tcase_add_test(tcase, mappings_outlive_contexts);
    tcase_add_test(tcase, captured_work_finds_mappings_at_each_launch);
    tcase_add_test(tcase, unmapping_waits_for_the_work_that_uses_any_of_it);
    tcase_add_test(tcase, each_mapping_that_work_touches_waits_for_it);
    tcase_add_test(tcase, pointers_tell_the_reservation_and_the_mapping);
    tcase_add_test(tcase, the_block_is_the_memory_and_the_buffer_the_mapping);
    tcase_add_test(tcase, threads_map_and_unmap_side_by_side);
    suite_add_tcase(suite, tcase);
}

static Suite *virtual_memory_suite(void)
{
    Suite *suite = suite_create("virtual memory");
    add_addresses(suite);
    add_mappings(suite);
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

int main(void)
{
    Suite *(*const suites[])(void) = {virtual_memory_suite, NULL};
    return cx_test_run(suites);
}
