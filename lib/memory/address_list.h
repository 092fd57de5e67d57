/* Lists in the order of addresses. No lock: one thread at a time uses a list. */
#ifndef CX_MEMORY_ADDRESS_LIST_H
#define CX_MEMORY_ADDRESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Pointers to items that begin with an address, whether that is a pointer or a number. */
typedef struct cx_address_list {
    const void **items;
    size_t count, capacity;
} cx_address_list;

static inline uintptr_t cx_address_of_item(const void *item)
{
    uintptr_t address;
    memcpy(&address, item, sizeof address);
    return address;
}

/* The place of the first item above an address. */
static inline size_t cx_address_list_above(const cx_address_list *list, uintptr_t address)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cx_address_of_item(list->items[middle]) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* False: no memory. */
static inline bool cx_address_list_insert(cx_address_list *list, const void *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity != 0 ? 2 * list->capacity : 64;
        const void **grown = realloc(list->items, capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        list->items = grown;
        list->capacity = capacity;
    }
    size_t place = cx_address_list_above(list, cx_address_of_item(item));
    memmove(&list->items[place + 1], &list->items[place],
            (list->count++ - place) * sizeof *list->items);
    list->items[place] = item;
    return true;
}

static inline void cx_address_list_remove(cx_address_list *list, size_t place)
{
    memmove(&list->items[place], &list->items[place + 1],
            (--list->count - place) * sizeof *list->items);
}

#endif
