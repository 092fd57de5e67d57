/* Places in a mapped range: without memory, with some beside them, and out of what is free. */
#include "fit_check.h"
#include "memory/mapped_heap.h"

#include "emu/emu.h"
#include "heap_bytes.h"
#include "test.h"

#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define CHUNK (2 * MIB)
#define GPU_BYTES (32 * CHUNK)
#define UNITS(bytes) ((uint32_t)((bytes) >> CX_FIT_UNIT_BITS))

static cx_driver driver;
static cx_fit_store store = {.stride = sizeof(cx_fit_node)};
static cx_heap heap;
static cx_mapped_range range;

static void open_heap(void)
{
    const cx_emu_config config = {
        .gpus = 1, .gpu_memory_bytes = GPU_BYTES, .driver_version = CX_EMU_DRIVER_VERSION};
    ck_assert(cx_emu_configure(&config));
    ck_assert(cx_driver_adopt("embedded", &cx_emu_table, &driver));
    ck_assert_int_eq(cx_mapped_range_open(&range, &driver, 0, 4 * GPU_BYTES, 0), CXU_SUCCESS);
    cx_heap_open(&heap, &store, NULL);
    ck_assert(cx_mapped_heap_add(&heap, &range));
}

static void check_heap(void)
{
    const char *wrong = NULL;
    ck_assert_msg(fit_check(&heap.large, &wrong), "%s", wrong);
    ck_assert_uint_eq(reserved_bytes(&heap), range.mapped_bytes);
}

static void close_heap(void)
{
    check_heap();
    cx_heap_close(&heap);
    cx_mapped_range_close(&range);
}

static cx_mapped_place find(uint32_t owner, size_t bytes, bool densely)
{
    cx_mapped_place place;
    ck_assert(cx_mapped_heap_find(&heap, &range, owner, UNITS(bytes), densely, &place));
    return place;
}

static uint32_t settle(const cx_mapped_place *place, uint32_t owner)
{
    ck_assert_int_eq(cx_mapped_place_map(&range, place), CXU_SUCCESS);
    uint32_t index = cx_mapped_heap_settle(&heap, place, owner);
    ck_assert_uint_ne(index, 0);
    check_heap();
    return index;
}

static uint32_t map(uint32_t owner, size_t bytes)
{
    cx_mapped_place place = find(owner, bytes, false);
    return settle(&place, owner);
}

static size_t offset_of(uint32_t index)
{
    return cx_heap_address(&heap, index) - range.address;
}

START_TEST(addresses_without_memory_serve_no_request)
{
    ck_assert_uint_eq(cx_heap_take(&heap, 1, UNITS(MIB)), 0);
    uint32_t index = map(1, 3 * MIB);
    ck_assert_uint_eq(range.mapped_bytes, 4 * MIB);
    ck_assert_uint_eq(cx_heap_take(&heap, 1, UNITS(2 * MIB)), 0);
    uint32_t rest = cx_heap_take(&heap, 1, UNITS(MIB));
    ck_assert_uint_eq(offset_of(rest), 3 * MIB);
    cx_heap_give(&heap, rest);
    cx_heap_give(&heap, index);
    ck_assert_uint_eq(offset_of(cx_heap_take(&heap, 1, UNITS(4 * MIB))), 0);
}
END_TEST

START_TEST(free_memory_beside_a_place_is_part_of_it)
{
    (void)map(1, 3 * MIB);
    cx_mapped_place place = find(1, 5 * MIB, false);
    ck_assert_uint_eq(cx_mapped_place_lacks(&range, &place), 2 * CHUNK);
    ck_assert_uint_eq(offset_of(settle(&place, 1)), 3 * MIB);
    ck_assert_uint_eq(range.mapped_bytes, 4 * CHUNK);
}
END_TEST

START_TEST(free_memory_of_another_owner_is_no_part_of_it)
{
    (void)map(1, 3 * MIB);
    cx_mapped_place place = find(2, MIB, false);
    ck_assert_uint_eq(offset_of(settle(&place, 2)), CHUNK * 2);
    ck_assert_uint_eq(offset_of(cx_heap_take(&heap, 1, UNITS(MIB))), 3 * MIB);
}
END_TEST

/* Another thread may end the owner's lists while the driver maps the place: they are empty. */
START_TEST(a_place_is_settled_for_an_owner_that_was_forgotten_meanwhile)
{
    cx_mapped_place place = find(3, 3 * MIB, false);
    cx_heap_forget(&heap, 3);
    ck_assert_uint_eq(offset_of(settle(&place, 3)), 0);
    ck_assert_uint_eq(offset_of(cx_heap_take(&heap, 3, UNITS(MIB))), 3 * MIB);
}
END_TEST

START_TEST(what_is_given_up_is_as_before)
{
    uint32_t kept = map(1, 3 * MIB);
    uint32_t gap = map(1, 6 * MIB);
    (void)map(1, 3 * MIB);
    cx_heap_give(&heap, gap);
    for (size_t bytes = MIB; bytes < 12 * MIB; bytes += MIB) {
        cx_mapped_place place = find(1, bytes, bytes % CHUNK == 0);
        cx_mapped_heap_give_up(&heap, &place);
        check_heap();
    }
    ck_assert_uint_eq(offset_of(cx_heap_take(&heap, 1, UNITS(6 * MIB))), 3 * MIB);
    ck_assert_uint_eq(offset_of(kept), 0);
}
END_TEST

/* 10 MiB free between live blocks, whose ends share their chunks: a block of 4 MiB in the middle
 * would touch three. */
START_TEST(a_block_is_placed_where_it_touches_the_fewest_free_chunks)
{
    (void)map(1, 3 * MIB);
    uint32_t gap = map(1, 10 * MIB);
    (void)map(1, 3 * MIB);
    cx_heap_give(&heap, gap);
    cx_mapped_place place = find(1, 5 * MIB, true);
    ck_assert_uint_eq(cx_mapped_place_lacks(&range, &place), 0);
    ck_assert_uint_eq(offset_of(settle(&place, 1)), 3 * MIB);
    place = find(1, MIB, true);
    ck_assert_uint_eq(offset_of(settle(&place, 1)), 12 * MIB);
    place = find(1, 4 * MIB, true);
    ck_assert_uint_eq(offset_of(settle(&place, 1)) % CHUNK, 0);
}
END_TEST

START_TEST(only_memory_of_nobody_is_spare)
{
    cx_mapped_place place;
    uint32_t first = map(1, 3 * MIB), second = map(1, 9 * MIB);
    cx_heap_give(&heap, second);
    ck_assert(!cx_mapped_heap_find_spare(&heap, &range, GPU_BYTES, &place));
    ck_assert(cx_heap_move(&heap, 1, 0));
    ck_assert(cx_mapped_heap_find_spare(&heap, &range, 1, &place));
    ck_assert_uint_eq(place.units, UNITS(CHUNK));
    cx_mapped_place_unmap(&range, &place);
    cx_mapped_heap_remove(&heap, &place);
    check_heap();
    ck_assert(cx_mapped_heap_find_spare(&heap, &range, GPU_BYTES, &place));
    cx_mapped_place_unmap(&range, &place);
    cx_mapped_heap_remove(&heap, &place);
    ck_assert(!cx_mapped_heap_find_spare(&heap, &range, 1, &place));
    ck_assert_uint_eq(range.mapped_bytes, 2 * CHUNK);
    cx_heap_give(&heap, first);
}
END_TEST

typedef struct stretches {
    int count;
    uint64_t bytes;
    uintptr_t last;
} stretches;

static void count_stretch(uintptr_t address, uint64_t bytes, void *argument)
{
    stretches *self = argument;
    self->count++;
    self->bytes += bytes;
    self->last = address - range.address;
}

START_TEST(stretches_of_memory_are_told)
{
    cx_mapped_place place;
    stretches seen = {0};
    uint32_t gap = map(1, 8 * MIB);
    uint32_t behind = map(1, 4 * MIB);
    cx_heap_give(&heap, gap);
    ck_assert(cx_heap_move(&heap, 1, 0));
    ck_assert(cx_mapped_heap_find_spare(&heap, &range, 8 * MIB, &place));
    cx_mapped_place_unmap(&range, &place);
    cx_mapped_heap_remove(&heap, &place);
    cx_mapped_heap_each(&heap, count_stretch, &seen);
    ck_assert_int_eq(seen.count, 1);
    ck_assert_uint_eq(seen.bytes, 4 * MIB);
    ck_assert_uint_eq(seen.last, offset_of(behind));
}
END_TEST

/* Random sizes, owners and moves beside a device that is nearly full: the heap agrees with the
 * range, and no two blocks overlap, since every range is counted once. */
START_TEST(any_order_of_requests_keeps_heap_and_range_in_step)
{
    uint32_t held[24] = {0};
    unsigned int seed = 7;
    for (int round = 0; round < 3000; round++) {
        seed = seed * 1103515245 + 12345;
        uint32_t *slot = &held[(seed >> 16) % 24], owner = 1 + (seed >> 8) % 2;
        cx_mapped_place place;
        if (*slot != 0)
            cx_heap_give(&heap, *slot);
        *slot = 0;
        if (round % 7 == 0 && cx_heap_move(&heap, owner, 0) &&
            cx_mapped_heap_find_spare(&heap, &range, CHUNK * (seed >> 20 & 7), &place)) {
            cx_mapped_place_unmap(&range, &place);
            cx_mapped_heap_remove(&heap, &place);
        }
        if (!cx_mapped_heap_find(&heap, &range, owner, UNITS(64 * 1024 + (seed >> 5) % (6 * MIB)),
                                 round % 3 != 0, &place))
            continue;
        if (cx_mapped_place_map(&range, &place) == CXU_SUCCESS)
            *slot = cx_mapped_heap_settle(&heap, &place, owner);
        else
            cx_mapped_heap_give_up(&heap, &place);
        check_heap();
    }
}
END_TEST

static Suite *heap_suite(void)
{
    Suite *suite = suite_create("mapped heap");
    TCase *tcase = tcase_create("places");
    tcase_add_checked_fixture(tcase, open_heap, close_heap);
    tcase_add_test(tcase, addresses_without_memory_serve_no_request);
    tcase_add_test(tcase, free_memory_beside_a_place_is_part_of_it);
    tcase_add_test(tcase, free_memory_of_another_owner_is_no_part_of_it);
    tcase_add_test(tcase, a_place_is_settled_for_an_owner_that_was_forgotten_meanwhile);
    tcase_add_test(tcase, what_is_given_up_is_as_before);
    tcase_add_test(tcase, a_block_is_placed_where_it_touches_the_fewest_free_chunks);
    tcase_add_test(tcase, only_memory_of_nobody_is_spare);
    tcase_add_test(tcase, stretches_of_memory_are_told);
    tcase_add_test(tcase, any_order_of_requests_keeps_heap_and_range_in_step);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(heap_suite);
