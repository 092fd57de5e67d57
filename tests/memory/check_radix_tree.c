/* The radix tree that finds ranges by their addresses. */
#include "memory/radix_tree.h"
#include "random.h"
#include "test.h"

#include <stddef.h>
#include <stdlib.h>

enum { PAGE = 4096, DEPTH_MAX = 16 };

static cx_radix_item *make_items(size_t count)
{
    cx_radix_item *items = calloc(count, sizeof *items);
    ck_assert_ptr_nonnull(items);
    return items;
}

static uintptr_t address_of(const cx_radix_item *item)
{
    return item->address;
}

static void add(cx_radix_tree *tree, cx_radix_item *item, uintptr_t address)
{
    item->address = address;
    ck_assert(cx_radix_tree_add(tree, item));
}

/* ---- against a plain array ---- */

/* A test leaves its tree empty, which frees the nodes. */

enum { ITEMS = 300, ROUNDS = 30000, SHAPES = 4 };

/* Addresses side by side, far apart, of all sizes, and of both ends of the address space. */
static uintptr_t draw_address(int shape, uint64_t *state)
{
    uint64_t bits = next_random(state);
    switch (shape) {
    case 0:
        return bits % 1000;
    case 1:
        return 0x7f0000000000 + bits % 500 * PAGE;
    case 2:
        return bits >> bits % 61;
    default:
        return bits % 2 == 0 ? bits % 64 : UINTPTR_MAX - bits % 64;
    }
}

static cx_radix_item *plain_floor(cx_radix_item *items, const bool *there, uintptr_t address)
{
    cx_radix_item *found = NULL;
    for (int i = 0; i < ITEMS; i++)
        if (there[i] && address_of(&items[i]) <= address &&
            (found == NULL || address_of(&items[i]) > address_of(found)))
            found = &items[i];
    return found;
}

static void turn(cx_radix_tree *tree, cx_radix_item *items, bool *there, int i, uintptr_t address)
{
    const cx_radix_item *same = plain_floor(items, there, address);
    if (there[i])
        cx_radix_tree_remove(tree, &items[i]);
    else if (same != NULL && address_of(same) == address)
        return;
    else
        add(tree, &items[i], address);
    there[i] = !there[i];
}

START_TEST(the_last_item_up_to_an_address_is_found)
{
    uint64_t state = 11;
    bool there[ITEMS] = {false};
    static cx_radix_tree tree;
    cx_radix_item *items = make_items(ITEMS);
    for (int round = 0; round < ROUNDS; round++) {
        int i = (int)(next_random(&state) % ITEMS);
        turn(&tree, items, there, i, draw_address(_i, &state));
        uintptr_t address = draw_address(_i, &state);
        ck_assert_ptr_eq(cx_radix_tree_floor(&tree, address), plain_floor(items, there, address));
    }
    for (int i = 0; i < ITEMS; i++)
        if (there[i])
            cx_radix_tree_remove(&tree, &items[i]);
    ck_assert_ptr_null(cx_radix_tree_floor(&tree, UINTPTR_MAX));
    free(items);
}
END_TEST

START_TEST(an_empty_tree_has_no_item)
{
    cx_radix_item item;
    static cx_radix_tree tree;
    ck_assert_ptr_null(cx_radix_tree_floor(&tree, UINTPTR_MAX));
    add(&tree, &item, 7);
    ck_assert_ptr_null(cx_radix_tree_floor(&tree, 6));
    ck_assert_ptr_eq(cx_radix_tree_floor(&tree, 7), &item);
    cx_radix_tree_remove(&tree, &item);
    ck_assert_ptr_null(cx_radix_tree_floor(&tree, UINTPTR_MAX));
}
END_TEST

/* ---- the work of a search ---- */

static int deepest(const cx_radix_tree *tree, const cx_radix_item *items, size_t count)
{
    int most = 0;
    for (size_t i = 0; i < count; i++) {
        int depth = cx_radix_tree_depth(tree, address_of(&items[i]));
        most = depth > most ? depth : most;
    }
    return most;
}

/* Blocks side by side, as an allocator places them: each further node tells 16 times as many
 * apart. */
START_TEST(a_million_items_are_three_steps_deeper_than_a_hundred)
{
    enum { FEW = 100, MANY = 1000000 };
    static cx_radix_tree tree;
    cx_radix_item *items = make_items(MANY);
    for (size_t i = 0; i < FEW; i++)
        add(&tree, &items[i], 0x7f0000000000 + i * PAGE);
    ck_assert_int_eq(deepest(&tree, items, FEW), 2);
    for (size_t i = FEW; i < MANY; i++)
        add(&tree, &items[i], 0x7f0000000000 + i * PAGE);
    ck_assert_int_eq(deepest(&tree, items, MANY), 5);
    for (size_t i = 0; i < MANY; i += 1001)
        ck_assert_ptr_eq(cx_radix_tree_floor(&tree, address_of(&items[i]) + PAGE - 1), &items[i]);
    for (size_t i = 0; i < MANY; i++)
        cx_radix_tree_remove(&tree, &items[i]);
    free(items);
}
END_TEST

START_TEST(no_path_is_longer_than_the_bits_of_an_address)
{
    enum { MANY = 64 };
    static cx_radix_tree tree;
    cx_radix_item items[MANY];
    for (unsigned int i = 0; i < MANY; i++)
        add(&tree, &items[i], (uintptr_t)1 << i);
    ck_assert_int_eq(deepest(&tree, items, MANY), DEPTH_MAX);
    for (unsigned int i = 0; i < MANY; i++)
        ck_assert_ptr_eq(cx_radix_tree_floor(&tree, address_of(&items[i])), &items[i]);
    for (unsigned int i = 0; i < MANY; i++)
        cx_radix_tree_remove(&tree, &items[i]);
}
END_TEST

static Suite *radix_tree_suite(void)
{
    Suite *suite = suite_create("radix_tree");
    TCase *tcase = tcase_create("radix_tree");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, the_last_item_up_to_an_address_is_found, 0, SHAPES);
    tcase_add_test(tcase, an_empty_tree_has_no_item);
    tcase_add_test(tcase, a_million_items_are_three_steps_deeper_than_a_hundred);
    tcase_add_test(tcase, no_path_is_longer_than_the_bits_of_an_address);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(radix_tree_suite);
