/* Segments, and spans of small blocks within them. */
#include "fit_check.h"
#include "alloc/heap.h"

#include "heap_bytes.h"
#include "test.h"

#define MIB ((size_t)1 << 20)
#define UNITS(bytes) ((uint32_t)((bytes) >> CX_FIT_UNIT_BITS))
#define SEGMENT ((uintptr_t)1 << 32)
#define SPAN CX_HEAP_SPAN_UNITS
#define SMALL CX_HEAP_SMALL_UNITS

static cx_fit_store store = {.stride = 64};
static cx_heap heap;

static void open_heap(void)
{
    cx_heap_open(&heap, &store, &heap);
}

static void close_heap(void)
{
    const char *wrong = NULL;
    ck_assert_msg(fit_check(&heap.large, &wrong), "%s", wrong);
    ck_assert_msg(fit_check(&heap.small, &wrong), "%s", wrong);
    cx_heap_close(&heap);
}

static uint32_t take(uint32_t owner, uint32_t units)
{
    uint32_t index = cx_heap_take(&heap, owner, units);
    ck_assert_uint_ne(index, 0);
    return index;
}

typedef struct search {
    uintptr_t address;
    uint32_t found;
} search;

static void look_at_block(uint32_t index, uintptr_t address, void *argument)
{
    search *self = argument;
    const cx_fit_node *node = cx_fit_at(&store, index);
    if (self->address - address < (uintptr_t)node->units << CX_FIT_UNIT_BITS)
        self->found = index;
}

/* The block that contains an address; 0: none. */
static uint32_t find_block(uintptr_t address)
{
    search self = {.address = address};
    cx_heap_each_block(&heap, look_at_block, &self);
    return self.found;
}

static uintptr_t offset_of(uint32_t index)
{
    return cx_heap_address(&heap, index) - SEGMENT;
}

START_TEST(blocks_up_to_a_size_share_spans_and_larger_ones_have_none)
{
    ck_assert(cx_heap_add(&heap, SEGMENT, 4 * SPAN, 0));
    uint32_t large = take(1, SMALL + 1), small = take(1, SMALL), next = take(1, 1);
    ck_assert_uint_eq(offset_of(large), 0);
    ck_assert_uint_eq(offset_of(small), (SMALL + 1) << CX_FIT_UNIT_BITS);
    ck_assert_uint_eq(offset_of(next), offset_of(small) + (SMALL << CX_FIT_UNIT_BITS));
    ck_assert_uint_eq(offset_of(take(1, SMALL + 1)),
                      offset_of(small) + ((size_t)SPAN << CX_FIT_UNIT_BITS));
}
END_TEST

START_TEST(a_span_goes_back_with_its_last_block)
{
    uintptr_t address;
    ck_assert(cx_heap_add(&heap, SEGMENT, 2 * SPAN, 1));
    uint32_t first = take(1, 1), second = take(1, 2);
    ck_assert_uint_eq(cx_heap_free_count(&heap), 2);
    cx_heap_give(&heap, first);
    ck_assert_uint_eq(cx_heap_take(&heap, 1, 2 * SPAN), 0);
    ck_assert_uint_eq(cx_heap_remove_free(&heap, &address), 0);
    cx_heap_give(&heap, second);
    ck_assert_uint_eq(cx_heap_free_count(&heap), 1);
    cx_heap_give(&heap, take(1, 2 * SPAN));
    ck_assert_uint_eq(cx_heap_remove_free(&heap, &address), 2 * SPAN);
    ck_assert_uint_eq(address, SEGMENT);
    ck_assert_uint_eq(reserved_bytes(&heap), 0);
    ck_assert(!cx_heap_has(&heap, SEGMENT));
    ck_assert(!cx_heap_has(&heap, CX_FIT_UNIT_BYTES));
}
END_TEST

/* Blocks of owner 1 make the span; the whole of it is owner 2's in the end. */
START_TEST(a_span_that_is_moved_goes_back_as_the_other_owners)
{
    ck_assert(cx_heap_add(&heap, SEGMENT, SPAN, 1));
    uint32_t first = take(1, 1), second = take(1, SMALL);
    ck_assert(cx_fit_transfer(&heap.small, second, 2));
    cx_heap_give(&heap, first);
    cx_heap_give(&heap, second);
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 1), SPAN - SMALL);
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 2), SMALL);
    ck_assert(cx_heap_move(&heap, 1, 2));
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 1), 0);
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 2), SPAN);
    ck_assert_uint_eq(cx_heap_free_count(&heap), 1);
    ck_assert_uint_eq(cx_heap_take(&heap, 1, SPAN), 0);
    cx_heap_give(&heap, take(2, SPAN));
}
END_TEST

/* A span with a block that stays is passed over: its free range is the smaller one. */
START_TEST(all_free_spans_of_an_owner_go_back_when_it_is_moved)
{
    enum { COUNT = 3 * SPAN / SMALL };
    uint32_t blocks[COUNT];
    ck_assert(cx_heap_add(&heap, SEGMENT, 3 * SPAN, 0));
    for (uint32_t i = 0; i < COUNT; i++)
        blocks[i] = take(1, SMALL);
    for (uint32_t i = 0; i < COUNT; i += 2)
        ck_assert(cx_fit_transfer(&heap.small, blocks[i], 2));
    for (uint32_t i = 1; i < COUNT; i++)
        cx_heap_give(&heap, blocks[i]);
    ck_assert(cx_heap_move(&heap, 2, 0));
    ck_assert_uint_eq(cx_heap_take(&heap, 3, SPAN), 0);
    ck_assert(cx_heap_move(&heap, 1, 0));
    ck_assert_uint_eq(cx_heap_free_count(&heap), 2);
    cx_heap_give(&heap, take(3, 2 * SPAN));
    cx_heap_give(&heap, blocks[0]);
}
END_TEST

START_TEST(a_small_block_needs_no_span_where_none_has_room)
{
    ck_assert(cx_heap_add(&heap, SEGMENT, SPAN - 1, 0));
    uint32_t small = take(1, 2);
    ck_assert_uint_eq(offset_of(small), 0);
    ck_assert_uint_eq(find_block(SEGMENT), small);
    ck_assert_uint_eq(cx_heap_take(&heap, 1, SPAN), 0);
    cx_heap_give(&heap, small);
    cx_heap_give(&heap, take(1, SPAN - 1));
}
END_TEST

enum { COUNT = 40 };

/* Each segment is all span: another does not fit, and small blocks fill it. */
static void add_span_at(uintptr_t address, uint32_t *out_block)
{
    ck_assert(cx_heap_add(&heap, address, SPAN, 0));
    *out_block = take(1, SMALL);
    ck_assert_uint_eq(cx_heap_address(&heap, *out_block), address);
    ck_assert_uint_eq(find_block(address), *out_block);
    ck_assert_uint_eq(cx_heap_take(&heap, 1, SMALL + 1), 0);
    for (uint32_t i = 1; i < SPAN / SMALL; i++)
        (void)take(1, SMALL);
    ck_assert_uint_eq(cx_heap_take(&heap, 1, 1), 0);
}

static void replace(uint32_t *block, uintptr_t address, uintptr_t by)
{
    uintptr_t removed;
    for (uint32_t i = 0; i < SPAN / SMALL; i++)
        cx_heap_give(&heap, find_block(address + i * 16 * 1024));
    ck_assert_uint_eq(cx_heap_remove_free(&heap, &removed), SPAN);
    ck_assert_uint_eq(removed, address);
    ck_assert_uint_eq(cx_heap_remove_free(&heap, &removed), 0);
    add_span_at(by, block);
}

/* More than tables begin with: they grow, and what is given back is numbered again, the first, one
 * between and the last. */
START_TEST(any_number_of_segments_and_spans_come_and_go)
{
    uint32_t blocks[COUNT], used = 0;
    uintptr_t address;
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < COUNT; i++)
            add_span_at(SEGMENT * (i + 1), &blocks[i]);
        ck_assert_uint_eq(reserved_bytes(&heap), COUNT * 2 * MIB);
        replace(&blocks[0], SEGMENT, SEGMENT * 100);
        replace(&blocks[7], SEGMENT * 8, SEGMENT * 101);
        replace(&blocks[COUNT - 1], SEGMENT * COUNT, SEGMENT * 102);
        ck_assert_uint_eq(heap.segment_count, COUNT);
        ck_assert_uint_le(heap.span_count, COUNT + 1);
        for (uint32_t i = 0; i < COUNT; i++)
            ck_assert_uint_eq(cx_heap_remove_any(&heap, &address), SPAN);
        ck_assert_uint_eq(address, SEGMENT * 100);
        ck_assert_uint_eq(cx_heap_remove_any(&heap, &address), 0);
        close_heap();
        used = round == 0 ? store.used : used;
        ck_assert_uint_eq(store.used, used);
        open_heap();
    }
}
END_TEST

START_TEST(any_segment_can_be_removed_but_none_twice)
{
    uintptr_t address;
    ck_assert(cx_heap_add(&heap, SEGMENT, SPAN, 0));
    ck_assert(cx_heap_add(&heap, 2 * SEGMENT, 3 * SPAN, 0));
    (void)take(1, SPAN);
    ck_assert_uint_eq(cx_heap_remove_free(&heap, &address), 3 * SPAN);
    ck_assert_uint_eq(address, 2 * SEGMENT);
    ck_assert_uint_eq(cx_heap_remove_any(&heap, &address), SPAN);
    ck_assert_uint_eq(address, SEGMENT);
    ck_assert_uint_eq(cx_heap_remove_any(&heap, &address), 0);
}
END_TEST

/* ---- abandoning ---- */

static void note_gone(uint32_t index, void *argument)
{
    uint32_t *const gone = argument;
    gone[++gone[0]] = index;
}

START_TEST(an_abandoned_heap_keeps_blocks_without_memory_until_they_are_dropped)
{
    uint32_t gone[8] = {0};
    ck_assert(cx_heap_add(&heap, SEGMENT, 4 * SPAN, 0));
    uint32_t large = take(1, SPAN), small = take(1, 3), other = take(2, 5);
    cx_heap_give(&heap, other);
    cx_heap_abandon(&heap, note_gone, gone);
    ck_assert_uint_eq(gone[0], 2);
    ck_assert((gone[1] == large && gone[2] == small) || (gone[1] == small && gone[2] == large));
    ck_assert_uint_eq(cx_heap_take(&heap, 1, 1), 0);
    ck_assert_uint_eq(cx_heap_free_count(&heap), 0);
    ck_assert(!cx_heap_has(&heap, SEGMENT));
    ck_assert_uint_eq(find_block(SEGMENT), 0);
    ck_assert(cx_heap_add(&heap, 2 * SEGMENT, 2 * SPAN, 0));
    uint32_t newer = take(1, 3);
    ck_assert_uint_ne(newer, small);
    ck_assert_uint_ne(newer, large);
    cx_heap_drop(&heap, small);
    cx_heap_drop(&heap, large);
    cx_heap_give(&heap, newer);
    cx_heap_give(&heap, take(1, 2 * SPAN));
}
END_TEST

/* ---- looking ---- */

START_TEST(a_block_is_found_by_any_address_in_it)
{
    ck_assert(cx_heap_add(&heap, 2 * SEGMENT, SPAN, 6));
    ck_assert(cx_heap_add(&heap, SEGMENT, 4 * SPAN, 5));
    uint32_t large = take(5, SPAN), small = take(5, 3), next = take(5, 2);
    const uintptr_t from = cx_heap_address(&heap, small), behind = from + 3 * CX_FIT_UNIT_BYTES;
    ck_assert_uint_eq(find_block(SEGMENT), large);
    ck_assert_uint_eq(find_block(SEGMENT + 2 * MIB - 1), large);
    ck_assert_uint_eq(find_block(from), small);
    ck_assert_uint_eq(find_block(behind - 1), small);
    ck_assert_uint_eq(find_block(behind), next);
    ck_assert_uint_eq(find_block(behind + 2 * CX_FIT_UNIT_BYTES), 0);
    ck_assert_uint_eq(find_block(SEGMENT + 7 * MIB), 0);
    ck_assert_uint_eq(find_block(SEGMENT - 1), 0);
    ck_assert_uint_eq(find_block(SEGMENT + 8 * MIB), 0);
    ck_assert(!cx_heap_has(&heap, SEGMENT - 1));
    ck_assert(cx_heap_has(&heap, SEGMENT));
    ck_assert(cx_heap_has(&heap, SEGMENT + 8 * MIB - 1));
    ck_assert(!cx_heap_has(&heap, SEGMENT + 8 * MIB));
    ck_assert(cx_heap_has(&heap, 2 * SEGMENT + 2 * MIB - 1));
    ck_assert(!cx_heap_has(&heap, 2 * SEGMENT + 2 * MIB));
    ck_assert(!cx_heap_has(&heap, 0));
}
END_TEST

typedef struct seen {
    int blocks;
    uint64_t addresses; /* their sum */
} seen;

static void see_block(uint32_t index, uintptr_t address, void *argument)
{
    seen *all = argument;
    ck_assert_uint_eq(address, cx_heap_address(&heap, index));
    all->blocks++;
    all->addresses += address;
}

/* A block that is as large as a span is none. */
START_TEST(every_block_is_told_once_and_no_span)
{
    seen blocks = {0};
    ck_assert(cx_heap_add(&heap, SEGMENT, 8 * SPAN, 0));
    const uint32_t all[] = {take(1, 1), take(2, SPAN), take(1, SPAN + 1), take(1, SMALL),
                            take(1, 2)};
    uint64_t addresses = 0;
    for (int i = 0; i < 4; i++)
        addresses += cx_heap_address(&heap, all[i]);
    cx_heap_give(&heap, all[4]);
    cx_heap_each_block(&heap, see_block, &blocks);
    ck_assert_int_eq(blocks.blocks, 4);
    ck_assert_uint_eq(blocks.addresses, addresses);
}
END_TEST

/* In no block, spans' included, whoever freed it. */
static uint64_t free_bytes(const cx_heap *self)
{
    uint64_t units = cx_fit_free_units(&self->large, 0) + cx_fit_free_units(&self->small, 0);
    uint32_t limit = self->large.owner_limit > self->small.owner_limit ? self->large.owner_limit
                                                                       : self->small.owner_limit;
    for (uint32_t owner = 1; owner < limit; owner++)
        units += cx_heap_owned_units(self, owner);
    return units << CX_FIT_UNIT_BITS;
}

START_TEST(small_blocks_of_all_owners_share_the_spans_of_memory_that_is_nobodys)
{
    ck_assert(cx_heap_add(&heap, SEGMENT, 4 * SPAN, 0));
    for (uint32_t owner = 1; owner <= 100; owner++)
        (void)take(owner, 16);
    ck_assert_uint_eq(cx_fit_free_units(&heap.large, 0), 3 * SPAN);
    ck_assert_uint_eq(heap.span_count, 1);
}
END_TEST

START_TEST(figures_count_free_memory_in_spans_and_outside_of_them_of_all_owners)
{
    ck_assert(cx_heap_add(&heap, SEGMENT, 4 * SPAN, 0));
    ck_assert_uint_eq(reserved_bytes(&heap), 8 * MIB);
    ck_assert_uint_eq(free_bytes(&heap), 8 * MIB);
    uint32_t small = take(1, 1), large = take(3, SPAN), more = take(2, SMALL);
    ck_assert_uint_eq(free_bytes(&heap), 6 * MIB - 16 * 1024 - 256);
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 1), 0);
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 2), 0);
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 3), 0);
    cx_heap_give(&heap, large);
    ck_assert_uint_eq(cx_heap_owned_units(&heap, 3), 3 * SPAN);
    ck_assert_uint_eq(free_bytes(&heap), 8 * MIB - 16 * 1024 - 256);
    cx_heap_give(&heap, small);
    cx_heap_give(&heap, more);
    ck_assert_uint_eq(free_bytes(&heap), 8 * MIB);
    ck_assert_uint_eq(reserved_bytes(&heap), 8 * MIB);
    ck_assert(cx_fit_transfer(&heap.large, large = take(3, SPAN), CX_FIT_NOWHERE));
    cx_heap_give(&heap, large);
    ck_assert_uint_eq(reserved_bytes(&heap), 6 * MIB);
    ck_assert_uint_eq(free_bytes(&heap), 6 * MIB);
}
END_TEST

/* One chunk is left to the store: the small fit, which needs its own, has no nodes. */
START_TEST(a_span_that_cannot_be_made_leaves_the_heap_as_it_was)
{
    static cx_fit_store full = {.stride = sizeof(cx_fit_node), .used = CX_FIT_CHUNKS_MAX - 1};
    cx_heap tight;
    cx_heap_open(&tight, &full, NULL);
    ck_assert(cx_heap_add(&tight, SEGMENT, 2 * SPAN, 1));
    uint32_t small = cx_heap_take(&tight, 1, 1);
    ck_assert_uint_ne(small, 0);
    ck_assert_uint_eq(cx_heap_address(&tight, small), SEGMENT);
    ck_assert_uint_eq(free_bytes(&tight), 4 * MIB - CX_FIT_UNIT_BYTES);
    cx_heap_give(&tight, small);
    ck_assert_uint_eq(cx_heap_take(&tight, 1, 2 * SPAN), small);
    cx_heap_close(&tight);
}
END_TEST

static Suite *heap_suite(void)
{
    Suite *suite = suite_create("heap");
    TCase *tcase = tcase_create("heap");
    tcase_add_checked_fixture(tcase, open_heap, close_heap);
    tcase_add_test(tcase, blocks_up_to_a_size_share_spans_and_larger_ones_have_none);
    tcase_add_test(tcase, a_span_goes_back_with_its_last_block);
    tcase_add_test(tcase, a_span_that_is_moved_goes_back_as_the_other_owners);
    tcase_add_test(tcase, all_free_spans_of_an_owner_go_back_when_it_is_moved);
    tcase_add_test(tcase, a_small_block_needs_no_span_where_none_has_room);
    tcase_add_test(tcase, any_number_of_segments_and_spans_come_and_go);
    tcase_add_test(tcase, any_segment_can_be_removed_but_none_twice);
    tcase_add_test(tcase, an_abandoned_heap_keeps_blocks_without_memory_until_they_are_dropped);
    tcase_add_test(tcase, a_block_is_found_by_any_address_in_it);
    tcase_add_test(tcase, every_block_is_told_once_and_no_span);
    tcase_add_test(tcase, small_blocks_of_all_owners_share_the_spans_of_memory_that_is_nobodys);
    tcase_add_test(tcase, figures_count_free_memory_in_spans_and_outside_of_them_of_all_owners);
    tcase_add_test(tcase, a_span_that_cannot_be_made_leaves_the_heap_as_it_was);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(heap_suite);
