/* A mapped range over the embedded driver: what is mapped, what moves, and that a refusal changes
 * nothing. */
#include "memory/mapped_range.h"

#include "emu/emu.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define CHUNK (2 * MIB)
#define GPU_BYTES (16 * CHUNK)

static cx_driver driver;
static cx_mapped_range range;
static CUcontext context;
static int refuse_after = -1; /* creations that succeed before one is refused; below 0: no end */

static bool refuse_exportable, refuse_map, refuse_access, refuse_reserve;

static cxu_result refusing_map(CUdeviceptr address, size_t bytes, size_t offset,
                               CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    return refuse_map ? CXU_UNKNOWN : cx_emu_table.mem_map(address, bytes, offset, handle, flags);
}

static cxu_result refusing_access(CUdeviceptr address, size_t bytes, const cxu_mem_access *accesses,
                                  size_t count)
{
    return refuse_access ? CXU_UNKNOWN
                         : cx_emu_table.mem_set_access(address, bytes, accesses, count);
}

static cxu_result refusing_reserve(CUdeviceptr *out_address, size_t bytes, size_t alignment,
                                   CUdeviceptr wanted, unsigned long long flags)
{
    return refuse_reserve
               ? CXU_OUT_OF_MEMORY
               : cx_emu_table.mem_address_reserve(out_address, bytes, alignment, wanted, flags);
}

static cxu_result refusing_create(CUmemGenericAllocationHandle *out_handle, size_t bytes,
                                  const cxu_mem_properties *properties, unsigned long long flags)
{
    bool refused = refuse_after == 0 ||
                   (refuse_exportable && properties->handle_types != CXU_MEM_HANDLE_TYPE_NONE);
    if (refused)
        return CXU_OUT_OF_MEMORY;
    refuse_after--;
    return cx_emu_table.mem_create(out_handle, bytes, properties, flags);
}

static void open_range(void)
{
    const cx_emu_config config = {
        .gpus = 2, .gpu_memory_bytes = GPU_BYTES, .driver_version = CX_EMU_DRIVER_VERSION};
    ck_assert(cx_emu_configure(&config));
    ck_assert(cx_driver_adopt("embedded", &cx_emu_table, &driver));
    driver.table.mem_create = refusing_create;
    driver.table.mem_map = refusing_map;
    driver.table.mem_set_access = refusing_access;
    driver.table.mem_address_reserve = refusing_reserve;
    ck_assert_int_eq(driver.table.ctx_create_v2(&context, 0, 0), CXU_SUCCESS);
    ck_assert_int_eq(cx_mapped_range_open(&range, &driver, 0, 4 * GPU_BYTES - 5, 0), CXU_SUCCESS);
    ck_assert_uint_eq(range.bytes, 4 * GPU_BYTES);
    ck_assert_uint_eq(range.chunk_bytes, CHUNK);
}

static size_t free_bytes(void)
{
    size_t available, total;
    ck_assert_int_eq(driver.table.mem_get_info(&available, &total), CXU_SUCCESS);
    return available;
}

static void close_range(void)
{
    cx_mapped_range_close(&range);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES);
    ck_assert_int_eq(driver.table.ctx_destroy(context), CXU_SUCCESS);
}

static void map(size_t offset, size_t bytes)
{
    ck_assert_int_eq(cx_mapped_range_map(&range, offset, bytes), CXU_SUCCESS);
    ck_assert_uint_eq(cx_mapped_range_lacks(&range, offset, bytes), 0);
}

static void fill(size_t offset, unsigned char value, size_t bytes)
{
    ck_assert_int_eq(driver.table.memset_d8(range.address + offset, value, bytes), CXU_SUCCESS);
}

static unsigned char byte_at(size_t offset)
{
    unsigned char byte = 0;
    ck_assert_int_eq(driver.table.memcpy_dtoh(&byte, range.address + offset, 1), CXU_SUCCESS);
    return byte;
}

START_TEST(chunks_are_mapped_where_a_part_touches_them)
{
    ck_assert_uint_eq(free_bytes(), GPU_BYTES);
    map(CHUNK - 1, 2);
    ck_assert_uint_eq(range.mapped_bytes, 2 * CHUNK);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES - 2 * CHUNK);
    fill(0, 1, 2 * CHUNK);
    ck_assert_uint_ne(cx_mapped_range_lacks(&range, 2 * CHUNK, 1), 0);
    map(2 * CHUNK - 1, 1);
    ck_assert_uint_eq(range.mapped_bytes, 2 * CHUNK);
}
END_TEST

START_TEST(what_was_mapped_before_keeps_its_contents)
{
    map(CHUNK, 1);
    map(3 * CHUNK, 1);
    fill(CHUNK, 7, CHUNK);
    ck_assert_uint_eq(cx_mapped_range_lacks(&range, 0, 5 * CHUNK), 3 * CHUNK);
    map(0, 5 * CHUNK);
    ck_assert_uint_eq(range.mapped_bytes, 5 * CHUNK);
    ck_assert_int_eq(byte_at(2 * CHUNK - 1), 7);
    fill(0, 2, 5 * CHUNK);
}
END_TEST

START_TEST(a_refusal_changes_nothing)
{
    map(CHUNK, 1);
    map(3 * CHUNK, 1);
    fill(CHUNK, 7, CHUNK);
    for (int successes = 0; successes < 3; successes++) {
        refuse_after = successes;
        ck_assert_int_eq(cx_mapped_range_map(&range, 0, 5 * CHUNK), CXU_OUT_OF_MEMORY);
        refuse_after = -1;
        ck_assert_uint_eq(range.mapped_bytes, 2 * CHUNK);
        ck_assert_uint_eq(cx_mapped_range_settle(&range), (size_t)successes * CHUNK);
        ck_assert_uint_eq(free_bytes(), GPU_BYTES - 2 * CHUNK);
        ck_assert_uint_eq(cx_mapped_range_lacks(&range, CHUNK, CHUNK), 0);
        ck_assert_uint_eq(cx_mapped_range_lacks(&range, 3 * CHUNK, CHUNK), 0);
        ck_assert_int_eq(byte_at(CHUNK), 7);
    }
    ck_assert_int_eq(cx_mapped_range_map(&range, 0, GPU_BYTES + 1), CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(cx_mapped_range_settle(&range), GPU_BYTES - 2 * CHUNK);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES - 2 * CHUNK);
}
END_TEST

START_TEST(memory_that_cannot_be_mapped_or_opened_is_not_lost)
{
    for (int which = 0; which < 2; which++) {
        refuse_map = which == 0;
        refuse_access = which == 1;
        ck_assert_int_eq(cx_mapped_range_map(&range, 0, 6 * CHUNK), CXU_UNKNOWN);
        refuse_map = refuse_access = false;
        ck_assert_uint_eq(range.mapped_bytes, 0);
        ck_assert_uint_eq(cx_mapped_range_lacks(&range, 0, 6 * CHUNK), 6 * CHUNK);
        (void)cx_mapped_range_settle(&range);
        ck_assert_uint_eq(free_bytes(), GPU_BYTES);
    }
    map(0, GPU_BYTES);
}
END_TEST

START_TEST(a_range_whose_addresses_are_refused_is_not_opened)
{
    cx_mapped_range other = {.bytes = 7};
    refuse_reserve = true;
    ck_assert_int_eq(cx_mapped_range_open(&other, &driver, 0, GPU_BYTES, 0), CXU_OUT_OF_MEMORY);
    refuse_reserve = false;
    ck_assert_uint_eq(other.bytes, 7);
}
END_TEST

/* Steps of the driver's are not powers of two times the least. */
START_TEST(chunks_are_whole_steps_of_about_the_size_that_was_asked_for)
{
    cx_mapped_range other;
    ck_assert_int_eq(cx_mapped_range_open(&other, &driver, 0, 9 * CHUNK, 4 * CHUNK - 1),
                     CXU_SUCCESS);
    ck_assert_uint_eq(other.chunk_bytes, 3 * CHUNK);
    ck_assert_uint_eq(other.bytes, 9 * CHUNK);
    ck_assert_int_eq(cx_mapped_range_map(&other, 3 * CHUNK - 1, 2), CXU_SUCCESS);
    ck_assert_uint_eq(other.mapped_bytes, 6 * CHUNK);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES - 6 * CHUNK);
    ck_assert_int_eq(driver.table.memset_d8(other.address, 1, 6 * CHUNK), CXU_SUCCESS);
    cx_mapped_range_close(&other);
}
END_TEST

static size_t find(size_t offset, size_t bytes, size_t wanted, size_t *out_offset)
{
    return cx_mapped_range_find(&range, offset, bytes, wanted, out_offset);
}

START_TEST(only_chunks_that_lie_in_a_part_altogether_are_found)
{
    size_t offset;
    map(0, 6 * CHUNK);
    ck_assert_uint_eq(find(1, 2 * CHUNK - 1, GPU_BYTES, &offset), CHUNK);
    ck_assert_uint_eq(offset, CHUNK);
    ck_assert_uint_eq(find(2 * CHUNK, CHUNK - 1, GPU_BYTES, &offset), 0);
    ck_assert_uint_eq(find(0, 6 * CHUNK, CHUNK + 1, &offset), 2 * CHUNK);
    cx_mapped_range_unmap(&range, 2 * CHUNK, 3 * CHUNK);
    ck_assert_uint_eq(find(2 * CHUNK, 4 * CHUNK, GPU_BYTES, &offset), CHUNK);
    ck_assert_uint_eq(offset, 5 * CHUNK);
    ck_assert_uint_eq(find(0, 6 * CHUNK, GPU_BYTES, &offset), 2 * CHUNK);
    ck_assert_uint_eq(range.mapped_bytes, 3 * CHUNK);
    ck_assert_uint_ne(cx_mapped_range_lacks(&range, 4 * CHUNK, 1), 0);
    ck_assert_uint_eq(cx_mapped_range_lacks(&range, 5 * CHUNK, CHUNK), 0);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES - 6 * CHUNK); /* three wait to be mapped again */
    ck_assert_uint_eq(cx_mapped_range_settle(&range), 3 * CHUNK);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES - 3 * CHUNK);
}
END_TEST

START_TEST(chunks_move_to_where_a_block_needs_them_in_a_row)
{
    for (size_t i = 0; i < 16; i++)
        map(2 * i * CHUNK, CHUNK);
    ck_assert_uint_eq(free_bytes(), 0);
    /* Every second block goes; none of the gaps is wide enough for what comes. */
    for (size_t i = 0; i < 16; i += 2)
        cx_mapped_range_unmap(&range, 2 * i * CHUNK, CHUNK);
    refuse_after = 0;
    map(40 * CHUNK, 8 * CHUNK);
    refuse_after = -1;
    fill(40 * CHUNK, 3, 8 * CHUNK);
    ck_assert_int_eq(byte_at(48 * CHUNK - 1), 3);
    ck_assert_uint_eq(free_bytes(), 0);
}
END_TEST

/* A process has only so many descriptors. */
START_TEST(memory_that_cannot_be_exportable_any_more_is_had_all_the_same)
{
    cxu_mem_properties properties = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED};
    map(0, CHUNK);
    ck_assert(range.exportable);
    ck_assert_int_eq(
        driver.table.mem_get_allocation_properties(&properties, range.chunks[0].handle),
        CXU_SUCCESS);
    ck_assert_int_eq(properties.handle_types, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    refuse_exportable = true;
    map(CHUNK, CHUNK);
    refuse_exportable = false;
    ck_assert(!range.exportable);
    ck_assert_int_eq(
        driver.table.mem_get_allocation_properties(&properties, range.chunks[1].handle),
        CXU_SUCCESS);
    ck_assert_int_eq(properties.handle_types, CXU_MEM_HANDLE_TYPE_NONE);
}
END_TEST

START_TEST(a_peer_reaches_what_is_mapped_and_what_will_be)
{
    CUcontext peer;
    map(0, CHUNK);
    map(2 * CHUNK, CHUNK);
    ck_assert_int_eq(driver.table.ctx_create_v2(&peer, 0, 1), CXU_SUCCESS);
    ck_assert_int_ne(driver.table.memset_d8(range.address, 1, 1), CXU_SUCCESS);
    ck_assert_int_eq(cx_mapped_range_share(&range, 1), CXU_SUCCESS);
    ck_assert_int_eq(cx_mapped_range_share(&range, 1), CXU_SUCCESS);
    ck_assert_int_eq(range.peer_count, 1);
    ck_assert_int_eq(cx_mapped_range_share(&range, 0), CXU_SUCCESS);
    ck_assert_int_eq(range.peer_count, 1);
    fill(0, 1, CHUNK);
    fill(2 * CHUNK, 1, CHUNK);
    map(0, 4 * CHUNK);
    fill(0, 2, 4 * CHUNK);
    ck_assert_int_eq(cx_mapped_range_share(&range, 9), CXU_INVALID_VALUE);
    ck_assert_int_eq(range.peer_count, 1);
    ck_assert_int_eq(cx_mapped_range_withdraw(&range, 1), CXU_SUCCESS);
    ck_assert_int_eq(cx_mapped_range_withdraw(&range, 1), CXU_SUCCESS);
    ck_assert_int_ne(driver.table.memset_d8(range.address, 1, 1), CXU_SUCCESS);
    map(5 * CHUNK, CHUNK);
    ck_assert_int_ne(driver.table.memset_d8(range.address + 5 * CHUNK, 1, 1), CXU_SUCCESS);
    ck_assert_int_eq(driver.table.ctx_destroy(peer), CXU_SUCCESS);
}
END_TEST

START_TEST(a_driver_without_virtual_memory_says_so)
{
    cx_mapped_range other;
    cx_driver without = driver;
    without.table.mem_get_allocation_granularity = cx_driver_missing.mem_get_allocation_granularity;
    ck_assert_int_eq(cx_mapped_range_open(&other, &without, 0, GPU_BYTES, 0), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(cx_mapped_range_open(&other, &driver, 7, GPU_BYTES, 0), CXU_NOT_SUPPORTED);
}
END_TEST

static Suite *range_suite(void)
{
    Suite *suite = suite_create("mapped range");
    TCase *tcase = tcase_create("range");
    tcase_add_checked_fixture(tcase, open_range, close_range);
    tcase_add_test(tcase, chunks_are_mapped_where_a_part_touches_them);
    tcase_add_test(tcase, what_was_mapped_before_keeps_its_contents);
    tcase_add_test(tcase, a_refusal_changes_nothing);
    tcase_add_test(tcase, memory_that_cannot_be_mapped_or_opened_is_not_lost);
    tcase_add_test(tcase, a_range_whose_addresses_are_refused_is_not_opened);
    tcase_add_test(tcase, chunks_are_whole_steps_of_about_the_size_that_was_asked_for);
    tcase_add_test(tcase, only_chunks_that_lie_in_a_part_altogether_are_found);
    tcase_add_test(tcase, memory_that_cannot_be_exportable_any_more_is_had_all_the_same);
    tcase_add_test(tcase, chunks_move_to_where_a_block_needs_them_in_a_row);
    tcase_add_test(tcase, a_peer_reaches_what_is_mapped_and_what_will_be);
    tcase_add_test(tcase, a_driver_without_virtual_memory_says_so);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(range_suite);
