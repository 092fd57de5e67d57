#include "fit_check.h"
#include "alloc/fit.h"
#include "random.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define SEGMENTS 4
#define SEGMENT_UNITS 3000
#define OWNERS 4

/* A node and its user, and nothing else. */
static cx_fit_store store = {.stride = sizeof(cx_fit_node) + sizeof(void *)};
static cx_fit fit;

static void open_fit(void)
{
    cx_fit_open(&fit, &store, &store);
}

static void close_fit(void)
{
    cx_fit_close(&fit);
}

static cx_fit_node *node_at(uint32_t index)
{
    return cx_fit_at(&store, index);
}

static void check_fit(void)
{
    const char *wrong = NULL;
    ck_assert_msg(fit_check(&fit, &wrong), "%s", wrong);
}

/* ---- sizes ---- */

START_TEST(a_size_beyond_what_a_fit_can_name_is_no_units)
{
    ck_assert_uint_eq(cx_fit_units(1), 1);
    ck_assert_uint_eq(cx_fit_units(256), 1);
    ck_assert_uint_eq(cx_fit_units(257), 2);
    ck_assert_uint_eq(cx_fit_units(((size_t)UINT32_MAX << 8)), UINT32_MAX);
    ck_assert_uint_eq(cx_fit_units(((size_t)UINT32_MAX << 8) + 1), 0);
    ck_assert_uint_eq(cx_fit_units(SIZE_MAX), 0);
    ck_assert_uint_eq(cx_fit_units(SIZE_MAX - 254), 0);
}
END_TEST

START_TEST(a_segment_of_four_billion_units_is_served_to_the_last_one)
{
    ck_assert_uint_ne(cx_fit_add(&fit, 0, UINT32_MAX, 0), 0);
    uint32_t most = cx_fit_take(&fit, 1, UINT32_MAX - 1);
    ck_assert_uint_ne(most, 0);
    uint32_t last = cx_fit_take(&fit, 1, 1);
    ck_assert_uint_ne(last, 0);
    ck_assert_uint_eq(node_at(last)->offset_units, UINT32_MAX - 1);
    ck_assert_uint_eq(cx_fit_take(&fit, 1, 1), 0);
    check_fit();
    cx_fit_give(&fit, most);
    uint32_t whole = cx_fit_give(&fit, last);
    ck_assert(cx_fit_is_whole(&fit, whole));
    ck_assert_uint_eq(node_at(cx_fit_take(&fit, 1, UINT32_MAX))->units, UINT32_MAX);
    check_fit();
}
END_TEST

/* Every list boundary: the range must be found for a request of its own size and of one unit less,
 * and for none of one unit more. */
START_TEST(a_range_serves_every_size_up_to_its_own)
{
    for (uint64_t power = 1; power <= UINT32_MAX; power *= 2)
        for (int64_t more = -1; more <= 1; more++) {
            uint64_t units = power + (uint64_t)more;
            if (units == 0 || units >= UINT32_MAX)
                continue;
            open_fit();
            ck_assert_uint_ne(cx_fit_add(&fit, 0, (uint32_t)units, 0), 0);
            ck_assert_uint_eq(cx_fit_take(&fit, 0, (uint32_t)units + 1), 0);
            uint32_t taken = cx_fit_take(&fit, 0, (uint32_t)units);
            ck_assert_uint_ne(taken, 0);
            cx_fit_give(&fit, taken);
            if (units > 1)
                ck_assert_uint_ne(cx_fit_take(&fit, 0, (uint32_t)units - 1), 0);
            check_fit();
            close_fit();
        }
}
END_TEST

/* ---- owners ---- */

START_TEST(what_an_owner_freed_is_for_that_owner_until_it_is_moved)
{
    cx_fit_add(&fit, 0, 100, 0);
    uint32_t one = cx_fit_take(&fit, 1, 50), other = cx_fit_take(&fit, 2, 50);
    cx_fit_give(&fit, one);
    cx_fit_give(&fit, other);
    ck_assert_uint_eq(cx_fit_take(&fit, 3, 1), 0);
    ck_assert_uint_eq(cx_fit_take(&fit, 1, 51), 0);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 50);
    one = cx_fit_take(&fit, 1, 50);
    ck_assert_uint_ne(one, 0);
    ck_assert(cx_fit_move(&fit, 2, 0));
    check_fit();
    other = cx_fit_take(&fit, 3, 50);
    ck_assert_uint_ne(other, 0);
    cx_fit_give(&fit, other);
    cx_fit_give(&fit, one);
    ck_assert(cx_fit_move(&fit, 1, 0));
    ck_assert(cx_fit_move(&fit, 3, 0));
    check_fit();
    ck_assert_uint_ne(cx_fit_take(&fit, 4, 100), 0);
}
END_TEST

START_TEST(a_taken_range_can_be_handed_to_another_owner)
{
    cx_fit_add(&fit, 0, 10, 0);
    uint32_t taken = cx_fit_take(&fit, 1, 10);
    ck_assert(cx_fit_transfer(&fit, taken, 2));
    cx_fit_give(&fit, taken);
    ck_assert_uint_eq(cx_fit_take(&fit, 1, 10), 0);
    ck_assert_uint_ne(cx_fit_take(&fit, 2, 10), 0);
}
END_TEST

START_TEST(a_large_range_is_not_broken_for_a_request_that_an_exact_one_serves)
{
    cx_fit_add(&fit, 0, 1000, 0);
    uint32_t exact = cx_fit_take(&fit, 1, 40);
    uint32_t wall = cx_fit_take(&fit, 1, 1);
    ck_assert_uint_ne(wall, 0);
    uint32_t offset = node_at(exact)->offset_units;
    cx_fit_give(&fit, exact);
    ck_assert_uint_eq(node_at(cx_fit_take(&fit, 1, 40))->offset_units, offset);
}
END_TEST

START_TEST(before_a_request_is_refused_all_of_its_own_list_is_looked_at)
{
    uint32_t walls[64];
    cx_fit_add(&fit, 0, 64 * 1050, 0);
    uint32_t ranges[64];
    for (int i = 0; i < 63; i++) {
        ranges[i] = cx_fit_take(&fit, 1, i == 0 ? 1045 : 1030);
        walls[i] = cx_fit_take(&fit, 1, 1);
        ck_assert_uint_ne(walls[i], 0);
    }
    while (cx_fit_take(&fit, 1, 1) != 0)
        ;
    for (int i = 0; i < 63; i++)
        cx_fit_give(&fit, ranges[i]);
    ck_assert_uint_eq(cx_fit_take(&fit, 1, 1046), 0);
    ck_assert_uint_ne(cx_fit_take(&fit, 1, 1045), 0);
}
END_TEST

START_TEST(of_the_first_ranges_that_are_large_enough_the_smallest_is_taken)
{
    const uint32_t sizes[] = {1033, 1046, 1039, 1045, 1050};
    uint32_t ranges[5];
    cx_fit_add(&fit, 0, 5 * 1050 + 5, 0);
    for (int i = 0; i < 5; i++) {
        ranges[i] = cx_fit_take(&fit, 1, sizes[i]);
        ck_assert_uint_ne(cx_fit_take(&fit, 1, 1), 0);
    }
    for (int i = 0; i < 5; i++)
        cx_fit_give(&fit, ranges[i]);
    ck_assert_uint_eq(cx_fit_free_ranges(&fit, 1), 5);
    ck_assert_uint_eq(cx_fit_free_ranges(&fit, 2), 0);
    uint32_t taken = cx_fit_take(&fit, 1, 1040);
    ck_assert_uint_eq(taken, ranges[3]);
    ck_assert_uint_eq(cx_fit_free_ranges(&fit, 1), 5);
    ck_assert_uint_eq(cx_fit_take(&fit, 1, 1046), ranges[1]);
    ck_assert_uint_eq(cx_fit_free_ranges(&fit, 1), 4);
    check_fit();
}
END_TEST

/* The list of 1024 units ends at 1055: ranges of it do not stand before one of 1060, of which a
 * larger one is not broken off. */
START_TEST(a_list_holds_ranges_that_differ_by_one_of_32_at_most)
{
    uint32_t ranges[10];
    cx_fit_add(&fit, 0, 20000, 0);
    for (int i = 0; i < 10; i++) {
        ranges[i] = cx_fit_take(&fit, 0, i == 0 ? 1060 : 1055);
        ck_assert_uint_ne(cx_fit_take(&fit, 0, 1), 0);
    }
    for (int i = 0; i < 10; i++)
        cx_fit_give(&fit, ranges[i]);
    ck_assert_uint_eq(cx_fit_take(&fit, 0, 1056), ranges[0]);
}
END_TEST

/* Owner 1 has 50 units, nobody the units that are given, behind a wall. */
static uint32_t take_beside(uint32_t nobodys_units, uint32_t units)
{
    cx_fit_add(&fit, 0, 50, 1);
    cx_fit_add(&fit, 1, nobodys_units, 0);
    return node_at(cx_fit_take(&fit, 1, units))->segment;
}

START_TEST(nobodys_range_is_taken_if_it_fits_better)
{
    ck_assert_uint_eq(take_beside(45, 40), 1);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 0), 5);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 55);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 2), 5);
    check_fit();
}
END_TEST

START_TEST(an_owners_range_is_taken_if_nobodys_fits_no_better)
{
    ck_assert_uint_eq(take_beside(50, 40), 0);
}
END_TEST

START_TEST(an_owners_range_is_taken_if_nobodys_is_too_small)
{
    ck_assert_uint_eq(take_beside(39, 40), 0);
}
END_TEST

/* ---- parts ---- */

/* A segment of 100 units in a fit whose spare nodes had tags. */
static uint32_t add_after_tags(uint16_t segment)
{
    uint32_t taken[10];
    uint32_t whole = cx_fit_add(&fit, segment, 100, 1);
    for (int i = 0; i < 10; i++) {
        taken[i] = cx_fit_take(&fit, 1, 10);
        ck_assert_uint_eq(node_at(taken[i])->tag, 0);
        node_at(taken[i])->tag = 9;
    }
    for (int i = 0; i < 10; i++)
        cx_fit_give(&fit, taken[i]);
    ck_assert(cx_fit_is_whole(&fit, whole));
    return whole;
}

START_TEST(a_part_of_a_free_range_can_be_taken)
{
    uint32_t whole = add_after_tags(7);
    uint32_t middle = cx_fit_carve(&fit, whole, 30, 50);
    ck_assert_uint_eq(node_at(middle)->offset_units, 30);
    ck_assert_uint_eq(node_at(middle)->units, 50);
    ck_assert_uint_eq(node_at(middle)->owner, 1);
    ck_assert_uint_eq(node_at(middle)->segment, 7);
    ck_assert_int_eq(node_at(middle)->state, CX_FIT_TAKEN);
    ck_assert_uint_eq(node_at(middle)->tag, 0);
    ck_assert_uint_eq(cx_fit_free_ranges(&fit, 1), 2);
    check_fit();
    ck_assert_uint_eq(cx_fit_carve(&fit, whole, 0, 30), whole);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 20);
    check_fit();
    uint32_t last = cx_fit_next_free(&fit, 1, 0);
    ck_assert_uint_ne(last, 0);
    last = cx_fit_carve(&fit, last, 5, 15);
    ck_assert_uint_eq(node_at(last)->offset_units, 85);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 5);
    check_fit();
}
END_TEST

START_TEST(ranges_that_touch_can_be_made_one)
{
    uint32_t parts[4];
    cx_fit_add(&fit, 0, 100, 0);
    for (int i = 0; i < 4; i++)
        parts[i] = cx_fit_take(&fit, 1, 25);
    cx_fit_merge(&fit, parts[1], parts[2], 2);
    ck_assert_uint_eq(node_at(parts[1])->units, 50);
    ck_assert_uint_eq(node_at(parts[1])->owner, 2);
    ck_assert_uint_eq(node_at(parts[1])->after, parts[3]);
    check_fit();
    cx_fit_merge(&fit, parts[3], parts[3], 2);
    ck_assert_uint_eq(node_at(parts[3])->units, 25);
    ck_assert_uint_eq(node_at(parts[3])->owner, 2);
    cx_fit_merge(&fit, parts[0], parts[3], 1);
    ck_assert_uint_eq(node_at(parts[0])->units, 100);
    check_fit();
    cx_fit_give(&fit, parts[0]);
    uint32_t other = cx_fit_add(&fit, 1, 50, 2);
    cx_fit_remove(&fit, parts[0]);
    parts[0] = cx_fit_take(&fit, 2, 25);
    parts[1] = cx_fit_take(&fit, 2, 25);
    ck_assert_uint_eq(parts[0], other);
    ck_assert_uint_eq(parts[1], 1); /* the lowest index that there is */
    cx_fit_merge(&fit, parts[0], parts[1], 2);
    ck_assert_uint_eq(node_at(other)->units, 50);
    check_fit();
}
END_TEST

START_TEST(a_taken_range_can_be_made_narrower_on_either_side)
{
    (void)add_after_tags(3);
    uint32_t taken = cx_fit_take(&fit, 1, 100);
    ck_assert_uint_eq(node_at(taken)->tag, 0);
    ck_assert_uint_eq(cx_fit_narrow(&fit, taken, 0, 100), taken);
    ck_assert_uint_eq(cx_fit_free_ranges(&fit, 1), 0);
    ck_assert_uint_eq(cx_fit_narrow(&fit, taken, 0, 90), taken);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 10);
    check_fit();
    taken = cx_fit_narrow(&fit, taken, 20, 50);
    ck_assert_uint_eq(node_at(taken)->offset_units, 20);
    ck_assert_uint_eq(node_at(taken)->units, 50);
    ck_assert_uint_eq(node_at(taken)->segment, 3);
    ck_assert_uint_eq(node_at(taken)->tag, 0);
    ck_assert_int_eq(node_at(taken)->state, CX_FIT_TAKEN);
    ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 50);
    ck_assert_uint_eq(cx_fit_free_ranges(&fit, 1), 2);
    check_fit();
    ck_assert(cx_fit_is_whole(&fit, cx_fit_give(&fit, taken)));
    check_fit();
}
END_TEST

static void count_taken(uint32_t index, const cx_fit_node *node, void *argument)
{
    ck_assert_ptr_eq(node, node_at(index));
    *(uint64_t *)argument += node->units;
}

/* The two ranges are in chunks of their own. */
START_TEST(a_taken_range_is_found_by_its_first_unit_and_its_last_and_no_other)
{
    uint64_t units = 0;
    cx_fit_add(&fit, 0, 100, 0);
    cx_fit_add(&fit, 1, 2000, 0);
    uint32_t hole = cx_fit_take(&fit, 0, 30), first = cx_fit_take(&fit, 0, 50);
    uint32_t last = cx_fit_take(&fit, 0, 20);
    for (int i = 0; i < 2000; i++)
        last = cx_fit_take(&fit, 0, 1);
    ck_assert_uint_ne(first >> CX_FIT_CHUNK_BITS, last >> CX_FIT_CHUNK_BITS);
    cx_fit_each_taken(&fit, count_taken, &units);
    ck_assert_uint_eq(units, 2100);
    cx_fit_give(&fit, hole);
    units = 0;
    cx_fit_each_taken(&fit, count_taken, &units);
    ck_assert_uint_eq(units, 2070);
}
END_TEST

/* ---- what goes wrong ---- */

START_TEST(without_memory_for_nodes_nothing_is_done_and_nothing_changes)
{
    static cx_fit_store full = {.stride = sizeof(cx_fit_node), .used = CX_FIT_CHUNKS_MAX - 1};
    cx_fit tight, none;
    const char *wrong;
    uint32_t fourth = 0, last = 0;
    cx_fit_open(&tight, &full, NULL);
    cx_fit_open(&none, &full, NULL);
    uint32_t whole = cx_fit_add(&tight, 0, 100000, 1);
    ck_assert_uint_ne(whole, 0);
    ck_assert_uint_eq(cx_fit_add(&none, 0, 1, 1), 0);
    for (uint32_t i = 0; i < CX_FIT_CHUNK_NODES - 3; i++) {
        last = cx_fit_take(&tight, 1, 10);
        fourth = i == 3 ? last : fourth;
    }
    uint32_t rest = cx_fit_next_free(&tight, 1, 0);
    uint64_t units = cx_fit_free_units(&tight, 1);
    /* One node is left. */
    ck_assert_uint_eq(cx_fit_carve(&tight, rest, 1, 1), 0);
    ck_assert_uint_eq(cx_fit_narrow(&tight, fourth, 1, 8), 0);
    ck_assert_uint_eq(cx_fit_free_units(&tight, 1), units);
    ck_assert_uint_ne(cx_fit_take(&tight, 1, 10), 0);
    ck_assert_uint_eq(cx_fit_take(&tight, 1, 10), 0);
    ck_assert_uint_eq(cx_fit_carve(&tight, rest, 0, 1), 0);
    ck_assert_uint_eq(cx_fit_carve(&tight, rest, 1, (uint32_t)units - 11), 0);
    ck_assert_uint_eq(cx_fit_narrow(&tight, fourth, 0, 9), 0);
    ck_assert_uint_eq(cx_fit_add(&tight, 1, 1, 1), 0);
    ck_assert_uint_eq(cx_fit_free_units(&tight, 1), units - 10);
    ck_assert_uint_eq(full.used, CX_FIT_CHUNKS_MAX);
    ck_assert_msg(fit_check(&tight, &wrong), "%s", wrong);
    cx_fit_close(&none);
    cx_fit_close(&tight);
}
END_TEST

static void expect_wrong(const char *expected)
{
    const char *wrong = NULL;
    ck_assert(!fit_check(&fit, &wrong));
    ck_assert_str_eq(wrong, expected);
}

/* Two ranges of owner 1 that are free, one that is taken before, between and behind each. */
START_TEST(a_check_of_the_books_says_what_is_wrong)
{
    uint32_t all[5];
    cx_fit_add(&fit, 0, 50, 0);
    for (int i = 0; i < 5; i++)
        all[i] = cx_fit_take(&fit, 1, 10);
    cx_fit_give(&fit, all[1]);
    cx_fit_give(&fit, all[3]);
    check_fit();
    cx_fit_node *first = node_at(all[0]), *hole = node_at(all[3]), *last = node_at(all[4]);
    hole->state = CX_FIT_TAKEN;
    expect_wrong("a node in a list is not free");
    hole->state = CX_FIT_FREE;
    hole->owner = 2;
    expect_wrong("a node is in another owner's list");
    hole->owner = 1;
    hole->units = 0;
    expect_wrong("a free range is empty");
    hole->units = 10;
    last->before = all[0];
    expect_wrong("neighbours disagree");
    last->before = all[3];
    last->offset_units = 41;
    expect_wrong("there is a gap, or an overlap");
    last->offset_units = 40;
    last->state = CX_FIT_FREE;
    expect_wrong("two free ranges are not joined");
    last->state = CX_FIT_TAKEN;
    fit.bins[1]->units--;
    expect_wrong("free units are miscounted");
    fit.bins[1]->units++;
    first->offset_units = 1;
    expect_wrong("the first range of a segment does not begin at 0");
    first->offset_units = 0;
    first->after = all[2];
    expect_wrong("neighbours disagree");
    first->after = all[1];
    fit.units++;
    expect_wrong("units are lost");
    fit.units--;
    last->units++;
    expect_wrong("units are lost");
    last->units--;
    check_fit();
}
END_TEST

/* ---- a model ---- */

typedef struct model {
    unsigned char taken[SEGMENTS][SEGMENT_UNITS]; /* owner + 1 */
    bool there[SEGMENTS];
    uint32_t live[SEGMENTS * SEGMENT_UNITS];
    size_t live_count;
    uint64_t random;
} model;

static void mark(model *m, const cx_fit_node *node, unsigned char before, unsigned char after)
{
    ck_assert(m->there[node->segment]);
    ck_assert_uint_le((uint64_t)node->offset_units + node->units, SEGMENT_UNITS);
    bool good = true;
    for (uint32_t i = 0; i < node->units; i++) {
        good &= m->taken[node->segment][node->offset_units + i] == before;
        m->taken[node->segment][node->offset_units + i] = after;
    }
    ck_assert(good);
}

static void model_take(model *m)
{
    uint32_t owner = (uint32_t)(next_random(&m->random) % OWNERS);
    uint32_t units = 1u << next_random(&m->random) % 10;
    units += (uint32_t)(next_random(&m->random) % units);
    uint32_t index = cx_fit_take(&fit, owner, units);
    if (index == 0)
        return;
    ck_assert_uint_eq(node_at(index)->units, units);
    ck_assert_int_eq(node_at(index)->state, CX_FIT_TAKEN);
    mark(m, node_at(index), 0, (unsigned char)(owner + 1));
    m->live[m->live_count++] = index;
}

static void model_give(model *m)
{
    if (m->live_count == 0)
        return;
    size_t which = next_random(&m->random) % m->live_count;
    uint32_t index = m->live[which];
    m->live[which] = m->live[--m->live_count];
    mark(m, node_at(index), (unsigned char)(node_at(index)->owner + 1), 0);
    uint32_t range = cx_fit_give(&fit, index);
    uint16_t segment = node_at(range)->segment;
    if (!cx_fit_is_whole(&fit, range) || next_random(&m->random) % 4 != 0)
        return;
    cx_fit_remove(&fit, range);
    m->there[segment] = false;
}

static void model_add(model *m)
{
    uint16_t segment = (uint16_t)(next_random(&m->random) % SEGMENTS);
    if (m->there[segment])
        return;
    ck_assert_uint_ne(
        cx_fit_add(&fit, segment, SEGMENT_UNITS, (uint32_t)(next_random(&m->random) % OWNERS)), 0);
    m->there[segment] = true;
}

static void model_step(model *m)
{
    uint64_t what = next_random(&m->random) % 64;
    if (what == 0)
        ck_assert(cx_fit_move(&fit, (uint32_t)(next_random(&m->random) % OWNERS),
                              (uint32_t)(next_random(&m->random) % 2)));
    else if (what == 1)
        model_add(m);
    else if (what < 32)
        model_give(m);
    else
        model_take(m);
}

START_TEST(random_operations_never_overlap_and_always_join)
{
    static model m;
    m = (model){.random = 0x9e3779b97f4a7c15ULL * (uint64_t)(_i + 1)};
    for (int step = 0; step < 10000; step++) {
        model_step(&m);
        if (step % 64 == 0)
            check_fit();
    }
    while (m.live_count != 0)
        model_give(&m);
    for (uint32_t owner = 1; owner < OWNERS; owner++)
        ck_assert(cx_fit_move(&fit, owner, 0));
    check_fit();
    for (int segment = 0; segment < SEGMENTS; segment++)
        if (m.there[segment])
            ck_assert_uint_ne(cx_fit_take(&fit, 0, SEGMENT_UNITS), 0);
    check_fit();
}
END_TEST

/* ---- nodes ---- */

START_TEST(a_closed_fit_gives_its_nodes_to_the_next_one)
{
    uint32_t used = 0;
    for (int round = 0; round < 50; round++) {
        open_fit();
        cx_fit_add(&fit, 0, 5000, 0);
        for (int i = 0; i < 5000; i++)
            (void)cx_fit_take(&fit, 1, 1);
        ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 0);
        check_fit();
        close_fit();
        ck_assert_uint_eq(cx_fit_free_units(&fit, 1), 0);
        ck_assert_uint_eq(fit.units, 0);
        if (round == 0)
            used = store.used;
    }
    ck_assert_uint_eq(store.used, used);
}
END_TEST

START_TEST(the_nodes_of_removed_segments_are_used_again)
{
    open_fit();
    cx_fit_remove(&fit, cx_fit_add(&fit, 0, 1, 0));
    uint32_t used = store.used;
    for (uint32_t i = 0; i < 2 * CX_FIT_CHUNK_NODES; i++)
        cx_fit_remove(&fit, cx_fit_add(&fit, 0, 1, 0));
    ck_assert_uint_eq(store.used, used);
    close_fit();
}
END_TEST

static Suite *fit_suite(void)
{
    Suite *suite = suite_create("fit");
    TCase *alone = tcase_create("alone");
    tcase_add_test(alone, a_size_beyond_what_a_fit_can_name_is_no_units);
    tcase_add_test(alone, a_range_serves_every_size_up_to_its_own);
    tcase_add_test(alone, a_closed_fit_gives_its_nodes_to_the_next_one);
    tcase_add_test(alone, the_nodes_of_removed_segments_are_used_again);
    suite_add_tcase(suite, alone);
    TCase *tcase = tcase_create("fit");
    tcase_add_checked_fixture(tcase, open_fit, close_fit);
    tcase_add_test(tcase, a_segment_of_four_billion_units_is_served_to_the_last_one);
    tcase_add_test(tcase, what_an_owner_freed_is_for_that_owner_until_it_is_moved);
    tcase_add_test(tcase, a_taken_range_can_be_handed_to_another_owner);
    tcase_add_test(tcase, a_large_range_is_not_broken_for_a_request_that_an_exact_one_serves);
    tcase_add_test(tcase, before_a_request_is_refused_all_of_its_own_list_is_looked_at);
    tcase_add_test(tcase, of_the_first_ranges_that_are_large_enough_the_smallest_is_taken);
    tcase_add_test(tcase, a_list_holds_ranges_that_differ_by_one_of_32_at_most);
    tcase_add_test(tcase, nobodys_range_is_taken_if_it_fits_better);
    tcase_add_test(tcase, an_owners_range_is_taken_if_nobodys_fits_no_better);
    tcase_add_test(tcase, an_owners_range_is_taken_if_nobodys_is_too_small);
    tcase_add_test(tcase, a_part_of_a_free_range_can_be_taken);
    tcase_add_test(tcase, ranges_that_touch_can_be_made_one);
    tcase_add_test(tcase, a_taken_range_can_be_made_narrower_on_either_side);
    tcase_add_test(tcase, a_taken_range_is_found_by_its_first_unit_and_its_last_and_no_other);
    tcase_add_test(tcase, without_memory_for_nodes_nothing_is_done_and_nothing_changes);
    tcase_add_test(tcase, a_check_of_the_books_says_what_is_wrong);
    tcase_add_loop_test(tcase, random_operations_never_overlap_and_always_join, 0, 8);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(fit_suite);
