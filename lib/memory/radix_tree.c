#include "memory/radix_tree.h"

#include <stddef.h>
#include <stdlib.h>

enum { BITS = 4, SLOTS = 1 << BITS };

/* A place of the tree has a node's address, or an item's with IS_ITEM, or 0. */
#define IS_ITEM ((uintptr_t)1)

/* All addresses below the node are `prefix` followed by any `shift` + BITS bits. */
typedef struct cx_radix_node {
    uintptr_t prefix;
    uint32_t shift;
    uint32_t used; /* a bit for each slot in use */
    uintptr_t slots[SLOTS];
} cx_radix_node;

static cx_radix_item *item_of(uintptr_t place)
{
    return (place & IS_ITEM) != 0 ? (cx_radix_item *)(place - IS_ITEM) : NULL;
}

static cx_radix_node *node_of(uintptr_t place)
{
    return (cx_radix_node *)place;
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

/* The item with the greatest address below a place. */
static cx_radix_item *last_below(uintptr_t place)
{
    while (place != 0 && (place & IS_ITEM) == 0)
        place = node_of(place)->slots[highest_bit(node_of(place)->used)];
    return item_of(place);
}

cx_radix_item *cx_radix_tree_floor(const cx_radix_tree *tree, uintptr_t address)
{
    uintptr_t place = tree->root, lower = 0;
    while (place != 0 && (place & IS_ITEM) == 0) {
        const cx_radix_node *node = node_of(place);
        if (prefix_at(address, node->shift) != node->prefix)
            return last_below(prefix_at(address, node->shift) > node->prefix ? place : lower);
        unsigned int index = index_at(address, node->shift);
        uint32_t before = node->used & ((1u << index) - 1);
        if (before != 0)
            lower = node->slots[highest_bit(before)];
        place = (node->used >> index & 1) != 0 ? node->slots[index] : 0;
    }
    cx_radix_item *item = item_of(place);
    return item != NULL && item->address <= address ? item : last_below(lower);
}

int cx_radix_tree_depth(const cx_radix_tree *tree, uintptr_t address)
{
    int depth = 0;
    uintptr_t place = tree->root;
    for (; place != 0 && (place & IS_ITEM) == 0; depth++)
        place = node_of(place)->slots[index_at(address, node_of(place)->shift)];
    return depth;
}

/* ---- changes ---- */

static void set_slot(cx_radix_node *node, unsigned int index, uintptr_t place)
{
    node->slots[index] = place;
    node->used |= 1u << index;
}

/* An address below a place. */
static uintptr_t some_address(uintptr_t place)
{
    const cx_radix_item *item = item_of(place);
    return item != NULL ? item->address : node_of(place)->prefix << BITS << node_of(place)->shift;
}

/* Puts a node into a place, above what is there and the item. */
static bool part_place(uintptr_t *place, cx_radix_item *item)
{
    uintptr_t below = *place, other = some_address(below);
    unsigned int differing = 63 - (unsigned int)__builtin_clzll((uint64_t)(item->address ^ other));
    cx_radix_node *node = calloc(1, sizeof *node);
    if (node == NULL)
        return false;
    node->shift = differing / BITS * BITS;
    node->prefix = prefix_at(item->address, node->shift);
    set_slot(node, index_at(other, node->shift), below);
    set_slot(node, index_at(item->address, node->shift), (uintptr_t)item | IS_ITEM);
    *place = (uintptr_t)node;
    return true;
}

bool cx_radix_tree_add(cx_radix_tree *tree, cx_radix_item *item)
{
    uintptr_t *place = &tree->root;
    while (*place != 0 && (*place & IS_ITEM) == 0) {
        cx_radix_node *node = node_of(*place);
        unsigned int index = index_at(item->address, node->shift);
        if (prefix_at(item->address, node->shift) != node->prefix)
            break;
        if ((node->used >> index & 1) == 0) {
            set_slot(node, index, (uintptr_t)item | IS_ITEM);
            return true;
        }
        place = &node->slots[index];
    }
    if (*place != 0)
        return part_place(place, item);
    *place = (uintptr_t)item | IS_ITEM;
    return true;
}

void cx_radix_tree_remove(cx_radix_tree *tree, const cx_radix_item *item)
{
    uintptr_t *place = &tree->root, *above = NULL;
    unsigned int index = 0;
    cx_radix_node *node = NULL;
    while (item_of(*place) == NULL) {
        node = node_of(*place);
        index = index_at(item->address, node->shift);
        above = place;
        place = &node->slots[index];
    }
    if (node == NULL) {
        *place = 0;
        return;
    }
    node->used &= ~(1u << index);
    if ((node->used & (node->used - 1)) != 0)
        return;
    *above = node->slots[highest_bit(node->used)];
    free(node);
}
