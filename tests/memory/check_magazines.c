/* Magazines by themselves: classes of sizes, pieces that fit a request, how much may be kept. */
#include "memory/magazine.h"
#include "random.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define PIECES 20000

static cx_magazine *magazine;
static cx_keep keep;

static void open_magazines(void)
{
    magazine = cx_magazine_new();
    ck_assert_ptr_nonnull(magazine);
    atomic_store(&keep.units, UINT64_MAX / 4);
    atomic_store(&keep.units_each, CX_MAGAZINE_UNITS_MAX);
}

static void close_magazines(void)
{
    cx_magazine_free(magazine);
}

static uint32_t random_units(uint64_t *state, uint32_t bits)
{
    return 1 + (uint32_t)(next_random(state) % ((uint32_t)1 << next_random(state) % (bits + 1)));
}

/* A full magazine takes no piece, and thinning would lose pieces. */
static bool put(uint32_t piece, uint32_t units)
{
    uint32_t over[CX_MAGAZINE_BLOCKS];
    const cx_kept_block kept = {units, piece};
    if (cx_magazine_put(magazine, &keep, kept))
        return true;
    if (magazine->shelves[cx_magazine_class(units)] != NULL)
        return false;
    ck_assert_uint_eq(cx_magazine_thin(magazine, units, over), 0);
    return cx_magazine_put(magazine, &keep, kept);
}

static uint32_t take(uint32_t units, uint32_t slack, uint32_t *out_piece)
{
    const cx_kept_block taken = cx_magazine_take(magazine, units, slack);
    if (taken.units != 0)
        *out_piece = taken.cached;
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

START_TEST(of_what_is_kept_any_piece_that_fits_is_found)
{
    uint64_t state = 2463534242u;
    for (int round = 0; round < 2000; round++) {
        uint32_t piece, units = random_units(&state, 18);
        uint32_t slack = units >> 3;
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
        ck_assert_uint_eq(magazine->units, 0);
    }
}
END_TEST

START_TEST(a_piece_that_does_not_fit_is_not_taken)
{
    uint32_t piece;
    ck_assert(put(1, 100));
    ck_assert_uint_eq(take(101, 12, &piece), 0);
    ck_assert_uint_eq(take(90, 9, &piece), 0);
    ck_assert_uint_eq(take(100, 0, &piece), 100);
    ck_assert_uint_eq(take(100, 0, &piece), 0);
}
END_TEST

START_TEST(a_piece_below_others_of_its_class_is_found)
{
    uint32_t piece;
    /* of one class: 1600 to 1663 */
    ck_assert_uint_eq(cx_magazine_class(1600), cx_magazine_class(1663));
    ck_assert(put(999, 1663));
    for (uint32_t i = 0; i + 1 < CX_MAGAZINE_BLOCKS; i++)
        ck_assert(put(i, 1600 + i % 60));
    ck_assert_uint_eq(take(1661, 10, &piece), 1663);
    ck_assert_uint_eq(piece, 999);
    for (uint32_t i = 0; i + 1 < CX_MAGAZINE_BLOCKS; i++)
        ck_assert_uint_ne(take(1600, 63, &piece), 0);
    ck_assert_uint_eq(magazine->units, 0);
}
END_TEST

START_TEST(the_large_piece_serves_what_it_fits_and_once)
{
    uint32_t piece;
    magazine->large = (cx_kept_block){5000, 9};
    ck_assert(put(1, 4600));
    ck_assert_uint_eq(take(4000, 500, &piece), 0);
    ck_assert_uint_eq(take(4600, 500, &piece), 4600);
    ck_assert_uint_eq(take(4600, 399, &piece), 0);
    ck_assert_uint_eq(take(4600, 400, &piece), 5000);
    ck_assert_uint_eq(piece, 9);
    ck_assert_uint_eq(take(4600, 400, &piece), 0);
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

START_TEST(no_more_is_kept_than_may_be_but_for_small_pieces)
{
    uint32_t piece = 0;
    uint64_t most = (uint64_t)1 << 20;
    atomic_store(&keep.units, most);
    for (uint32_t units = 5000; units < 5000 * 16; units += units / 16)
        while (put(++piece, units))
            ;
    ck_assert_uint_le(magazine->units, most);
    ck_assert(!put(++piece, 5000));
    uint64_t before = magazine->units;
    for (piece = 0; put(++piece, 3);)
        ;
    ck_assert_uint_eq(magazine->units, before + (uint64_t)3 * CX_MAGAZINE_BLOCKS);
}
END_TEST

START_TEST(thinning_takes_the_half_that_was_put_first_and_makes_room)
{
    uint32_t pieces[CX_MAGAZINE_BLOCKS], half = CX_MAGAZINE_BLOCKS / 2;
    const cx_kept_block more = {5000, 99};
    for (uint32_t i = 0; i < CX_MAGAZINE_BLOCKS; i++)
        ck_assert(put(i, 5000));
    ck_assert(!cx_magazine_put(magazine, &keep, more));
    ck_assert_uint_eq(cx_magazine_thin(magazine, 5000, pieces), half);
    for (uint32_t i = 0; i < half; i++)
        ck_assert_uint_eq(pieces[i], i);
    ck_assert_uint_eq(magazine->units, 5000 * (CX_MAGAZINE_BLOCKS - half));
    ck_assert(cx_magazine_put(magazine, &keep, more));
}
END_TEST

/* ---- at random ---- */

static uint32_t sizes[PIECES]; /* of what is kept; 0: it is not */

static void take_at_random(uint64_t *state)
{
    uint32_t piece, units = random_units(state, 18), slack = units >> 3;
    uint32_t taken = take(units, slack, &piece);
    if (taken == 0)
        return;
    if (piece >= PIECES || taken != sizes[piece] || taken < units || taken - units > slack)
        ck_abort_msg("piece %u of %u units for %u", piece, taken, units);
    sizes[piece] = 0;
}

static uint64_t empty_all(void)
{
    uint32_t pieces[CX_MAGAZINE_BLOCKS], count;
    uint64_t units = 0;
    for (uint32_t class = 0; class < CX_MAGAZINE_CLASSES; class++)
        if ((count = cx_magazine_empty(magazine, class, pieces)) != 0)
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
    uint64_t units = magazine->units;
    ck_assert_uint_ne(units, 0);
    ck_assert_uint_eq(empty_all(), units);
    ck_assert_uint_eq(magazine->units, 0);
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
    tcase_add_test(tcase, sizes_of_a_class_differ_by_less_than_a_sixteenth);
    tcase_add_test(tcase, of_what_is_kept_any_piece_that_fits_is_found);
    tcase_add_test(tcase, a_piece_that_does_not_fit_is_not_taken);
    tcase_add_test(tcase, a_piece_below_others_of_its_class_is_found);
    tcase_add_test(tcase, the_large_piece_serves_what_it_fits_and_once);
    tcase_add_test(tcase, a_piece_larger_than_each_may_be_is_not_kept);
    tcase_add_test(tcase, no_more_is_kept_than_may_be_but_for_small_pieces);
    tcase_add_test(tcase, thinning_takes_the_half_that_was_put_first_and_makes_room);
    tcase_add_loop_test(tcase, every_piece_comes_back_once_as_it_was, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(magazines_suite);
