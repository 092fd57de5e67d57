/*
 * A radix tree over addresses: finds the item with the greatest address up to a given one, by at
 * most 16 steps, however many items there are.
 *
 * A node tells the items of an aligned piece of the address space apart by four bits of their
 * addresses. Only nodes with two items or more exist, so a path is as long as the addresses need.
 *
 * No lock: one thread at a time uses a tree.
 */
#ifndef CX_MEMORY_RADIX_TREE_H
#define CX_MEMORY_RADIX_TREE_H

#include <stdbool.h>
#include <stdint.h>

/* Put it first into an item. */
typedef struct cx_radix_item {
    uintptr_t address;
} cx_radix_item;

/* All zero: an empty tree. */
typedef struct cx_radix_tree {
    uintptr_t root; /* 0: empty */
} cx_radix_tree;

/* Adds an item whose address no other item of the tree has. False: no memory, nothing changed. */
bool cx_radix_tree_add(cx_radix_tree *tree, cx_radix_item *item);

/* Removes an item of the tree. */
void cx_radix_tree_remove(cx_radix_tree *tree, const cx_radix_item *item);

/* The item with the greatest address that is not above `address`; NULL: none. */
cx_radix_item *cx_radix_tree_floor(const cx_radix_tree *tree, uintptr_t address);

/* The number of nodes above the item with this address; for tests. */
int cx_radix_tree_depth(const cx_radix_tree *tree, uintptr_t address);

#endif
