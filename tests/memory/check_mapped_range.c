/* A mapped range over the embedded driver: what is mapped, what moves, and that a refusal changes nothing. */
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

static cxu_result refusing_create(CUmemGenericAllocationHandle *out_handle, size_t bytes,
                                  const cxu_mem_properties *properties, unsigned long long flags)
{
    if (refuse_after == 0)
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
    ck_assert_int_eq(driver.table.ctx_create_v2(&context, 0, 0), CXU_SUCCESS);
    ck_assert_int_eq(cx_mapped_range_open(&range, &driver, 0, 4 * GPU_BYTES - 5), CXU_SUCCESS);
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
    ck_assert(cx_mapped_range_has(&range, offset, bytes));
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
    ck_assert(!cx_mapped_range_has(&range, 2 * CHUNK, 1));
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
        ck_assert_uint_eq(free_bytes(), GPU_BYTES - 2 * CHUNK);
        ck_assert(cx_mapped_range_has(&range, CHUNK, CHUNK) && cx_mapped_range_has(&range, 3 * CHUNK, CHUNK));
        ck_assert_int_eq(byte_at(CHUNK), 7);
    }
    ck_assert_int_eq(cx_mapped_range_map(&range, 0, GPU_BYTES + 1), CXU_OUT_OF_MEMORY);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES - 2 * CHUNK);
}
END_TEST

START_TEST(only_chunks_that_are_free_altogether_are_unmapped)
{
    map(0, 6 * CHUNK);
    fill(0, 9, 6 * CHUNK);
    ck_assert_uint_eq(cx_mapped_range_unmap(&range, 1, 2 * CHUNK - 1, GPU_BYTES), CHUNK);
    ck_assert(cx_mapped_range_has(&range, 0, CHUNK) && !cx_mapped_range_has(&range, CHUNK, 1));
    ck_assert_uint_eq(cx_mapped_range_unmap(&range, 2 * CHUNK, CHUNK - 1, GPU_BYTES), 0);
    ck_assert_uint_eq(cx_mapped_range_unmap(&range, 0, 6 * CHUNK, 1), CHUNK);
    ck_assert_uint_eq(cx_mapped_range_unmap(&range, 4 * CHUNK, 2 * CHUNK, 0), 0);
    ck_assert_uint_eq(free_bytes(), GPU_BYTES - 4 * CHUNK);
    ck_assert_int_eq(byte_at(2 * CHUNK), 9);
}
END_TEST

START_TEST(chunks_move_to_where_a_block_needs_them_in_a_row)
{
    for (size_t i = 0; i < 16; i++)
        map(2 * i * CHUNK, CHUNK);
    ck_assert_uint_eq(free_bytes(), 0);
    /* Every second block goes; none of the gaps is wide enough for what comes. */
    for (size_t i = 0; i < 16; i += 2)
        ck_assert_uint_eq(cx_mapped_range_unmap(&range, 2 * i * CHUNK, CHUNK, CHUNK), CHUNK);
    map(40 * CHUNK, 8 * CHUNK);
    fill(40 * CHUNK, 3, 8 * CHUNK);
    ck_assert_int_eq(byte_at(48 * CHUNK - 1), 3);
    ck_assert_uint_eq(free_bytes(), 0);
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
    ck_assert_int_eq(cx_mapped_range_share(&range, 9), CXU_INVALID_DEVICE);
    ck_assert_int_eq(range.peer_count, 1);
    ck_assert_int_eq(driver.table.ctx_destroy(peer), CXU_SUCCESS);
}
END_TEST

START_TEST(a_driver_without_virtual_memory_says_so)
{
    cx_mapped_range other;
    cx_driver without = driver;
    without.table.mem_get_allocation_granularity = cx_driver_missing.mem_get_allocation_granularity;
    ck_assert_int_eq(cx_mapped_range_open(&other, &without, 0, GPU_BYTES), CXU_NOT_SUPPORTED);
    ck_assert_int_eq(cx_mapped_range_open(&other, &driver, 7, GPU_BYTES), CXU_NOT_SUPPORTED);
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
    tcase_add_test(tcase, only_chunks_that_are_free_altogether_are_unmapped);
    tcase_add_test(tcase, chunks_move_to_where_a_block_needs_them_in_a_row);
    tcase_add_test(tcase, a_peer_reaches_what_is_mapped_and_what_will_be);
    tcase_add_test(tcase, a_driver_without_virtual_memory_says_so);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    Suite *(*const suites[])(void) = {range_suite, NULL};
    return cx_test_run(suites);
}
