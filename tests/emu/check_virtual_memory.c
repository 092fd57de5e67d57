/* Virtual memory of the embedded driver: addresses, memory, mappings, access (V1 to V5, V6). */
#include "emu/device/device.h"
#include "emu/memory/reservation.h"
#include "emu/base/state.h"
#include "virtual_memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    ck_assert_uint_eq(bytes, 77);
    properties.location.id = 2; /* nobody looks */
    ck_success(cx_emu_call_mem_get_allocation_granularity(&bytes, &properties, 0));
    ck_assert_uint_eq(bytes, CHUNK);
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
    ck_assert_int_eq(create_with(wrong, CHUNK), CXU_INVALID_VALUE);
    wrong = on_device(0);
    wrong.location.type = CXU_MEM_LOCATION_TYPE_INVALID;
    ck_invalid(create_with(wrong, CHUNK));
    wrong.location.type = CXU_MEM_LOCATION_TYPE_HOST;
    ck_assert_int_eq(create_with(wrong, CHUNK), CXU_NOT_SUPPORTED);
    wrong = on_device(0);
    wrong.handle_types = CXU_MEM_HANDLE_TYPE_FABRIC;
    ck_assert_int_eq(create_with(wrong, CHUNK), CXU_NOT_SUPPORTED);
    wrong.handle_types = CXU_MEM_HANDLE_TYPE_WIN32;
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
    memory_gate gate;
    _Atomic int done = 0;
    CUdeviceptr pointer;
    ck_success(cx_emu_call_mem_alloc(&pointer, GPU_BYTES));
    memory_gate_close(&gate);
    use_memory(gate.stream, pointer, &done);
    ck_success(cx_emu_call_mem_free_async(pointer, gate.stream));
    memory_gate_open(&gate);
    CUmemGenericAllocationHandle handle = create(0, GPU_BYTES);
    ck_assert_int_eq(done, 1);
    ck_success(cx_emu_call_mem_release(handle));
    memory_gate_end(&gate);
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
    ck_success(cx_emu_call_mem_unmap(range + 3 * CHUNK, CHUNK)); /* nothing there */
    ck_invalid(cx_emu_call_mem_unmap(range, 0));
    ck_invalid(cx_emu_call_mem_unmap(range, SIZE_MAX));
    ck_assert_uint_eq(used_bytes(0), 3 * CHUNK);
    ck_success(cx_emu_call_mem_unmap(range, 3 * CHUNK));
    ck_assert_uint_eq(used_bytes(0), 0);
    ck_success(cx_emu_call_mem_unmap(range, 3 * CHUNK));
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
                     CXU_INVALID_VALUE);
    ck_assert_uint_eq(access_of(range, 1), CXU_MEM_ACCESS_FLAGS_PROT_NONE);

    cxu_mem_access both[] = {
        {{CXU_MEM_LOCATION_TYPE_DEVICE, 1}, CXU_MEM_ACCESS_FLAGS_PROT_READ},
        {{CXU_MEM_LOCATION_TYPE_DEVICE, 2}, CXU_MEM_ACCESS_FLAGS_PROT_READ},
    };
    ck_assert_int_eq(cx_emu_call_mem_set_access(range, 3 * CHUNK, both, 2), CXU_INVALID_VALUE);
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
    ck_assert_int_eq(cx_emu_call_mem_get_access(&flags, &location, range), CXU_INVALID_VALUE);
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

/* Where the host cannot touch the memory of GPUs, the driver reaches it elsewhere. */
START_TEST(the_addresses_at_which_the_driver_reaches_memory_are_nobody_elses)
{
    char bytes[64];
    unsigned int kind = 0, mapped = 77;
    CUdeviceptr range = reserve(CHUNK);
    fill_range(range, CHUNK);
    cx_lock_enter(&cx_emu_lock);
    unsigned char *place = cx_emu_reservation_find(range, 1)->mapped;
    cx_lock_leave(&cx_emu_lock);
    ck_assert_ptr_ne(place, (void *)range);
    for (int i = 0; i < 2; i++) {
        CUdeviceptr at = (CUdeviceptr)place + (i == 1 ? CHUNK - sizeof bytes : 0);
        ck_success(cx_emu_call_pointer_get_attribute(&mapped, CXU_POINTER_MAPPED, at));
        ck_assert_uint_eq(mapped, 0);
        ck_invalid(cx_emu_call_pointer_get_attribute(&kind, CXU_POINTER_MEMORY_TYPE, at));
        ck_invalid(cx_emu_call_memcpy_unified((CUdeviceptr)bytes, at, sizeof bytes));
        ck_invalid(cx_emu_call_mem_host_register((void *)at, sizeof bytes, 0));
    }
    ck_success(cx_emu_call_mem_unmap(range, CHUNK));
    ck_success(cx_emu_call_mem_address_free(range, CHUNK));
    ck_invalid(cx_emu_call_pointer_get_attribute(&mapped, CXU_POINTER_MAPPED, (CUdeviceptr)place));
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
    tcase_add_test(tcase, the_addresses_at_which_the_driver_reaches_memory_are_nobody_elses);
    suite_add_tcase(suite, tcase);
}

static Suite *virtual_memory_suite(void)
{
    Suite *suite = suite_create("virtual memory");
    add_addresses(suite);
    add_mappings(suite);
    return suite;
}

CX_TESTS(virtual_memory_suite);
