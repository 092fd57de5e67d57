/* Magazines by themselves: classes of sizes, what fits a request, what may be kept. */
#include "memory/stash.h"
#include "random.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define PIECES 20000

cx_fit_store cx_pieces = {.stride = sizeof(cx_piece), .apart = sizeof(cx_piece_head)};

static cx_magazines *magazines;
static cx_keep keep;

static void open_magazines(void)
{
    magazines = aligned_alloc(_Alignof(cx_magazines), sizeof *magazines);
    ck_assert_ptr_nonnull(magazines);
    /* Slots without a piece may hold anything. */
    memset(magazines, 0x5a, sizeof *magazines);
    memset(magazines, 0, offsetof(cx_magazines, classes));
    atomic_store(&keep.units, UINT64_MAX / 4);
    atomic_store(&keep.units_each, CX_MAGAZINE_UNITS_MAX);
}

static void close_magazines(void)
{
    cx_magazines_free(magazines);
}

static uint32_t random_units(uint64_t *state, uint32_t bits)
{
    return 1 + (uint32_t)(next_random(state) % ((uint32_t)1 << next_random(state) % (bits + 1)));
}

static uint32_t slack_of(uint32_t units)
{
    return units >> 3 < CX_MAGAZINE_SLACK_MAX ? units >> 3 : CX_MAGAZINE_SLACK_MAX;
}

static bool put(uint32_t piece, uint32_t units)
{
    const cx_magazine_slot slot = {piece, ~piece};
    return cx_magazines_put(magazines, &keep, units, slot) ||
           (cx_magazines_set_aside(magazines, &keep, cx_magazine_class(units)) &&
            cx_magazines_put(magazines, &keep, units, slot));
}

static uint32_t take(uint32_t units, uint32_t slack, uint32_t *out_piece)
{
    const cx_taken taken = cx_magazines_take(magazines, units, slack);
    if (taken.units != 0)
        *out_piece = taken.slot.generation == ~taken.slot.piece ? taken.slot.piece : UINT32_MAX;
    return taken.units;
}

/* ---- classes ---- */

START_TEST(classes_rise_with_sizes_and_end_with_the_largest)
{
    uint32_t before = 0, wrong = 0;
    ck_assert_uint_eq(cx_magazine_class(1), 0);
    for (uint32_t units = 1; units <= CX_MAGAZINE_UNITS_MAX; units++) {
        uint32_t class = cx_magazine_class(units);
        wrong += class != before && class != before + 1;
        before = class;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_eq(before, CX_MAGAZINE_CLASSES - 1);
    ck_assert_uint_eq(
        cx_magazine_class(CX_MAGAZINE_UNITS_MAX +
                          (CX_MAGAZINE_UNITS_MAX >> CX_MAGAZINE_AHEAD_SHIFT)),
        CX_MAGAZINE_CLASSES - 1);
}
END_TEST

START_TEST(a_class_begins_with_its_least_size)
{
    uint32_t before = CX_MAGAZINE_CLASSES, wrong = 0;
    for (uint32_t units = 1; units <= CX_MAGAZINE_UNITS_MAX; units++) {
        uint32_t class = cx_magazine_class(units), least = cx_magazine_least(class);
        wrong += (class != before) != (units == least);
        wrong += cx_magazine_units((uint16_t)units, least) != units;
        before = class;
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(sizes_of_a_class_differ_by_less_than_a_sixteenth)
{
    uint32_t least = 1, wrong = 0;
    for (uint32_t units = 2; units <= CX_MAGAZINE_UNITS_MAX; units++) {
        if (cx_magazine_class(units) != cx_magazine_class(least))
            least = units;
        wrong += (uint64_t)(units - least) * 16 >= least;
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* ---- what fits ---- */

START_TEST(a_match_says_of_each_size_whether_it_fits)
{
    _Alignas(16) uint16_t sizes[CX_MAGAZINE_PROBES];
    uint64_t state = 88172645463325252u;
    uint32_t wrong = 0;
    for (int round = 0; round < 100000; round++) {
        uint32_t expected = 0, units = 0x8000 + random_units(&state, 18);
        uint32_t slack = CX_MAGAZINE_SLACK_MAX >> next_random(&state) % 8;
        for (uint32_t i = 0; i < CX_MAGAZINE_PROBES; i++) {
            uint32_t size = next_random(&state) % 2
                                ? units - 2 + (uint32_t)(next_random(&state) % 5)
                                : units - 0x7fff + (uint32_t)(next_random(&state) % 0xffff);
            if (next_random(&state) % 4 == 0)
                size = units + slack - 1 + (uint32_t)(next_random(&state) % 3);
            expected |= (uint32_t)(size >= units && size - units <= slack) << i;
            sizes[i] = (uint16_t)size;
        }
        wrong += cx_magazine_match(sizes, units, slack) != expected;
    }
    ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(of_what_is_kept_any_piece_that_fits_is_found)
{
    uint64_t state = 2463534242u;
    for (int round = 0; round < 2000; round++) {
        uint32_t piece, units = random_units(&state, 18);
        uint32_t slack = slack_of(units);
        uint32_t kept = units + (uint32_t)(next_random(&state) % (slack + 1));
        if (kept > CX_MAGAZINE_UNITS_MAX)
            continue;
        ck_assert(put(7, kept));
        ck_assert_uint_eq(take(units, slack, &piece), kept);
        ck_assert_uint_eq(piece, 7);
        ck_assert(put(8, units - 1 + (units == 1)));
        ck_assert_uint_eq(take(units, 0, &piece), units == 1 ? 1 : 0);
        if (units > 1)
            ck_assert_uint_eq(take(units - 1, 0, &piece), units - 1);
        ck_assert_uint_eq(magazines->units, 0);
    }
}
END_TEST

START_TEST(what_does_not_fit_is_not_taken_from_a_slot_that_is_empty)
{
    uint32_t piece;
    ck_assert(put(1, 100));
    ck_assert_uint_eq(take(100, 0, &piece), 100);
    ck_assert_uint_eq(take(100, 0, &piece), 0);
    ck_assert_uint_eq(take(0x5a5a5a5a >> 14, 0x5a5a5a5a >> 14, &piece), 0);
}
END_TEST

START_TEST(a_piece_beyond_the_first_slots_and_in_a_spare_magazine_is_found)
{
    uint32_t piece;
    /* of one class: 1600 to 1663 */
    for (uint32_t i = 0; i < 2 * CX_MAGAZINE_PIECES + 40; i++)
        ck_assert(put(i, 1600 + i % 60));
    ck_assert_uint_eq(cx_magazine_class(1600), cx_magazine_class(1663));
    ck_assert(put(999, 1663));
    ck_assert_uint_eq(take(1661, 10, &piece), 1663);
    ck_assert_uint_eq(piece, 999);
    for (uint32_t i = 0; i < 2 * CX_MAGAZINE_PIECES + 40; i++)
        ck_assert_uint_ne(take(1600, 63, &piece), 0);
    ck_assert_uint_eq(magazines->units, 0);
    ck_assert_ptr_null(magazines->spares[cx_magazine_class(1600)]);
}
END_TEST

START_TEST(a_spare_magazine_is_gone_when_its_last_piece_is_taken)
{
    bool seen[CX_MAGAZINE_PIECES] = {false};
    uint32_t piece, class = cx_magazine_class(1600);
    for (uint32_t i = 0; i < CX_MAGAZINE_PIECES; i++)
        ck_assert(put(i, 1650));
    ck_assert(put(100, 1600));
    ck_assert_ptr_nonnull(magazines->spares[class]);
    ck_assert_uint_eq(take(1652, 5, &piece), 0);
    for (uint32_t i = 0; i < CX_MAGAZINE_PIECES; i++) {
        ck_assert_uint_eq(take(1649, 1, &piece), 1650);
        ck_assert_uint_lt(piece, CX_MAGAZINE_PIECES);
        ck_assert(!seen[piece]);
        seen[piece] = true;
    }
    ck_assert_ptr_null(magazines->spares[class]);
    ck_assert_uint_eq(take(1600, 0, &piece), 1600);
    ck_assert_uint_eq(magazines->units, 0);
}
END_TEST

/* ---- what may be kept ---- */

START_TEST(a_piece_larger_than_each_may_be_is_not_kept)
{
    atomic_store(&keep.units_each, 100);
    ck_assert(put(1, 100));
    ck_assert(!put(2, 101));
}
END_TEST

START_TEST(no_more_is_kept_than_may_be_but_of_small_pieces_twice_as_much)
{
    uint32_t piece = 0;
    uint64_t most = (uint64_t)1 << 20;
    atomic_store(&keep.units, most);
    while (put(++piece, 5000))
        ;
    ck_assert_uint_le(magazines->units, most);
    ck_assert_uint_gt(magazines->units, most - 5000);
    for (piece = 0; put(++piece, 3);)
        ;
    ck_assert_uint_le(magazines->units, 2 * most + 3 * CX_MAGAZINE_PIECES);
    ck_assert_uint_gt(magazines->units, 2 * most - 3 * CX_MAGAZINE_PIECES);
}
END_TEST

START_TEST(thinning_takes_half_and_makes_room)
{
    uint32_t pieces[CX_MAGAZINE_PIECES], class = cx_magazine_class(5000);
    atomic_store(&keep.units, 5000 * CX_MAGAZINE_PIECES);
    for (uint32_t i = 0; i < CX_MAGAZINE_PIECES; i++)
        ck_assert(put(i, 5000));
    ck_assert(!cx_magazines_put(magazines, &keep, 5000, (cx_magazine_slot){99, 0}));
    ck_assert_uint_eq(cx_magazines_thin(magazines, class, pieces), CX_MAGAZINE_PIECES / 2);
    ck_assert_uint_eq(magazines->units, 5000 * (CX_MAGAZINE_PIECES - CX_MAGAZINE_PIECES / 2));
    ck_assert(cx_magazines_put(magazines, &keep, 5000, (cx_magazine_slot){99, 0}));
}
END_TEST

START_TEST(only_a_full_magazine_is_set_aside)
{
    uint32_t class = cx_magazine_class(77);
    ck_assert(!cx_magazines_set_aside(magazines, &keep, class));
    for (uint32_t i = 0; i + 1 < CX_MAGAZINE_PIECES; i++)
        ck_assert(cx_magazines_put(magazines, &keep, 77, (cx_magazine_slot){i, 0}));
    ck_assert(!cx_magazines_set_aside(magazines, &keep, class));
    ck_assert(cx_magazines_put(magazines, &keep, 77, (cx_magazine_slot){99, 0}));
    ck_assert(cx_magazines_set_aside(magazines, &keep, class));
    ck_assert_uint_eq(magazines->units, 77 * CX_MAGAZINE_PIECES);
}
END_TEST

/* ---- at random ---- */

static uint32_t sizes[PIECES]; /* of what is kept; 0: it is not */

static void take_at_random(uint64_t *state)
{
    uint32_t piece, units = random_units(state, 18), slack = slack_of(units);
    uint32_t taken = take(units, slack, &piece);
    if (taken == 0)
        return;
    if (piece >= PIECES || taken != sizes[piece] || taken < units || taken - units > slack)
        ck_abort_msg("piece %u of %u units for %u", piece, taken, units);
    sizes[piece] = 0;
}

static uint64_t empty_all(void)
{
    uint32_t pieces[CX_MAGAZINE_PIECES], count;
    uint64_t units = 0;
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        while ((count = cx_magazines_empty(magazines, class, pieces)) != 0)
            for (uint32_t i = 0; i < count; i++) {
                ck_assert_uint_eq(cx_magazine_class(sizes[pieces[i]]), class);
                units += sizes[pieces[i]];
                sizes[pieces[i]] = 0;
            }
    return units;
}

START_TEST(every_piece_comes_back_once_as_it_was)
{
    uint64_t state = 0x9e3779b97f4a7c15u + (uint64_t)_i;
    memset(sizes, 0, sizeof sizes);
    for (int round = 0; round < 20000; round++) {
        uint32_t piece = (uint32_t)(next_random(&state) % PIECES);
        uint32_t units = random_units(&state, 18);
        if (sizes[piece] != 0 || next_random(&state) % 3 == 0)
            take_at_random(&state);
        else if (put(piece, units))
            sizes[piece] = units;
    }
    uint64_t units = magazines->units;
    ck_assert_uint_ne(units, 0);
    ck_assert_uint_eq(empty_all(), units);
    ck_assert_uint_eq(magazines->units, 0);
    for (uint32_t i = 0; i < PIECES; i++)
        ck_assert_uint_eq(sizes[i], 0);
}
END_TEST

static Suite *magazines_suite(void)
{
    Suite *suite = suite_create("magazines");
    TCase *tcase = tcase_create("magazines");
    tcase_add_checked_fixture(tcase, open_magazines, close_magazines);
    tcase_add_test(tcase, classes_rise_with_sizes_and_end_with_the_largest);
    tcase_add_test(tcase, a_class_begins_with_its_least_size);
    tcase_add_test(tcase, sizes_of_a_class_differ_by_less_than_a_sixteenth);
    tcase_add_test(tcase, a_match_says_of_each_size_whether_it_fits);
    tcase_add_test(tcase, of_what_is_kept_any_piece_that_fits_is_found);
    tcase_add_test(tcase, what_does_not_fit_is_not_taken_from_a_slot_that_is_empty);
    tcase_add_test(tcase, a_piece_beyond_the_first_slots_and_in_a_spare_magazine_is_found);
    tcase_add_test(tcase, a_spare_magazine_is_gone_when_its_last_piece_is_taken);
    tcase_add_test(tcase, a_piece_larger_than_each_may_be_is_not_kept);
    tcase_add_test(tcase, no_more_is_kept_than_may_be_but_of_small_pieces_twice_as_much);
    tcase_add_test(tcase, thinning_takes_half_and_makes_room);
    tcase_add_test(tcase, only_a_full_magazine_is_set_aside);
    tcase_add_loop_test(tcase, every_piece_comes_back_once_as_it_was, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    static Suite *(*const suites[])(void) = {magazines_suite, NULL};
    return cx_test_run(suites);
}
