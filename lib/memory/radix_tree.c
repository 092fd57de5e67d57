#include "memory/radix_tree.h"

#include <stddef.h>
#include <stdlib.h>

enum { BITS = 4, SLOTS = 1 << BITS };

/* A place of the tree has a node's address, or an item's with IS_ITEM, or 0. */
#define IS_ITEM ((uintptr_t)1)

/* All addresses below the node are `prefix` followed by any `shift` + BITS bits. */
struct cx_radix_node {
    _Atomic uintptr_t prefix;
    _Atomic uint32_t shift;
    _Atomic uint32_t used; /* a bit for each slot in use */
    _Atomic uintptr_t slots[SLOTS];
    cx_radix_node *next_spare;
};

static cx_radix_item *item_of(uintptr_t place)
{
    return (place & IS_ITEM) != 0 ? (cx_radix_item *)(place - IS_ITEM) : NULL;
}

static cx_radix_node *node_of(uintptr_t place)
{
    return (cx_radix_node *)place;
}

static uint32_t shift_of(const cx_radix_node *node)
{
    return atomic_load_explicit(&node->shift, memory_order_acquire);
}

static uint32_t used_of(const cx_radix_node *node)
{
    return atomic_load_explicit(&node->used, memory_order_acquire);
}

static uintptr_t prefix_of(const cx_radix_node *node)
{
    return atomic_load_explicit(&node->prefix, memory_order_acquire);
}

static uintptr_t address_of(const cx_radix_item *item)
{
    return atomic_load_explicit(&item->address, memory_order_acquire);
}

static uintptr_t slot_at(const cx_radix_node *node, unsigned int index)
{
    return atomic_load_explicit(&node->slots[index], memory_order_acquire);
}

static uintptr_t prefix_at(uintptr_t address, uint32_t shift)
{
    return address >> shift >> BITS; /* in two steps: shift + BITS may be all the bits */
}

static unsigned int index_at(uintptr_t address, uint32_t shift)
{
    return (unsigned int)(address >> shift) & (SLOTS - 1);
}

static unsigned int highest_bit(uint32_t bits)
{
    return 31 - (unsigned int)__builtin_clz(bits);
}

/* ---- finding ---- */

/* The item with the greatest address below a place. `above`: the shift of the node with the
 * place. A reader that meets a change may see nodes in any order: it stops where they do not get
 * smaller. */
static cx_radix_item *last_below(uintptr_t place, uint32_t above)
{
    while (place != 0 && (place & IS_ITEM) == 0) {
        const cx_radix_node *node = node_of(place);
        uint32_t shift = shift_of(node), used = used_of(node);
        if (shift >= above || used == 0)
            return NULL;
        above = shift;
        place = slot_at(node, highest_bit(used));
    }
    return item_of(place);
}

cx_radix_item *cx_radix_tree_floor(const cx_radix_tree *tree, uintptr_t address)
{
    uintptr_t place = atomic_load_explicit(&tree->root, memory_order_acquire), lower = 0;
    uint32_t above = UINT32_MAX, lower_above = 0;
    while (place != 0 && (place & IS_ITEM) == 0) {
        const cx_radix_node *node = node_of(place);
        uint32_t shift = shift_of(node), used = used_of(node);
        uintptr_t prefix = prefix_of(node);
        if (shift >= above)
            return NULL;
        if (prefix_at(address, shift) != prefix)
            return prefix_at(address, shift) > prefix ? last_below(place, above)
                                                      : last_below(lower, lower_above);
        unsigned int index = index_at(address, shift);
        uint32_t before = used & ((1u << index) - 1);
        above = shift;
        if (before != 0) {
            lower = slot_at(node, highest_bit(before));
            lower_above = shift;
        }
        place = (used >> index & 1) != 0 ? slot_at(node, index) : 0;
    }
    cx_radix_item *item = item_of(place);
    return item != NULL && address_of(item) <= address ? item : last_below(lower, lower_above);
}

int cx_radix_tree_depth(const cx_radix_tree *tree, uintptr_t address)
{
    int depth = 0;
    uintptr_t place = atomic_load(&tree->root);
    for (; place != 0 && (place & IS_ITEM) == 0; depth++)
        place = slot_at(node_of(place), index_at(address, shift_of(node_of(place))));
    return depth;
}

/* ---- changes ---- */

static cx_radix_node *take_node(cx_radix_tree *tree)
{
    cx_radix_node *node = tree->spare;
    if (node == NULL)
        return calloc(1, sizeof *node);
    tree->spare = node->next_spare;
    return node;
}

static void set_slot(cx_radix_node *node, unsigned int index, uintptr_t place)
{
    atomic_store_explicit(&node->slots[index], place, memory_order_release);
    atomic_store_explicit(&node->used, used_of(node) | 1u << index, memory_order_release);
}

/* An address below a place. */
static uintptr_t some_address(uintptr_t place)
{
    const cx_radix_item *item = item_of(place);
    return item != NULL ? address_of(item)
                        : prefix_of(node_of(place)) << BITS << shift_of(node_of(place));
}

/* Puts a node into a place, above what is there and the item. */
static bool part_place(cx_radix_tree *tree, _Atomic uintptr_t *place, cx_radix_item *item)
{
    uintptr_t below = atomic_load(place), address = address_of(item), other = some_address(below);
    unsigned int differing = 63 - (unsigned int)__builtin_clzll((uint64_t)(address ^ other));
    cx_radix_node *node = take_node(tree);
    if (node == NULL)
        return false;
    uint32_t shift = differing / BITS * BITS;
    atomic_store_explicit(&node->shift, shift, memory_order_release);
    atomic_store_explicit(&node->prefix, prefix_at(address, shift), memory_order_release);
    atomic_store_explicit(&node->used, 0, memory_order_release);
    set_slot(node, index_at(other, shift), below);
    set_slot(node, index_at(address, shift), (uintptr_t)item | IS_ITEM);
    atomic_store_explicit(place, (uintptr_t)node, memory_order_release);
    return true;
}

bool cx_radix_tree_add(cx_radix_tree *tree, cx_radix_item *item)
{
    _Atomic uintptr_t *place = &tree->root;
    uintptr_t below, address = address_of(item);
    while ((below = atomic_load(place)) != 0 && (below & IS_ITEM) == 0) {
        cx_radix_node *node = node_of(below);
        uint32_t shift = shift_of(node);
        unsigned int index = index_at(address, shift);
        if (prefix_at(address, shift) != prefix_of(node))
            break;
        if ((used_of(node) >> index & 1) == 0) {
            set_slot(node, index, (uintptr_t)item | IS_ITEM);
            return true;
        }
        place = &node->slots[index];
    }
    if (below != 0)
        return part_place(tree, place, item);
    atomic_store_explicit(place, (uintptr_t)item | IS_ITEM, memory_order_release);
    return true;
}

void cx_radix_tree_remove(cx_radix_tree *tree, const cx_radix_item *item)
{
    _Atomic uintptr_t *place = &tree->root, *above = NULL;
    uintptr_t address = address_of(item);
    unsigned int index = 0;
    cx_radix_node *node = NULL;
    while (item_of(atomic_load(place)) == NULL) {
        node = node_of(atomic_load(place));
        index = index_at(address, shift_of(node));
        above = place;
        place = &node->slots[index];
    }
    if (node == NULL) {
        atomic_store_explicit(place, 0, memory_order_release);
        return;
    }
    uint32_t left = used_of(node) & ~(1u << index);
    atomic_store_explicit(&node->used, left, memory_order_release);
    if ((left & (left - 1)) != 0)
        return;
    atomic_store_explicit(above, slot_at(node, highest_bit(left)), memory_order_release);
    node->next_spare = tree->spare;
    tree->spare = node;
}
