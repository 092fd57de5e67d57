#include "emu/base/driver_mapping.h"

typedef RB_HEAD(mapping_tree, cx_emu_driver_mapping) mapping_tree;

static int address_compare(const cx_emu_driver_mapping *left, const cx_emu_driver_mapping *right)
{
    if (left->begin == right->begin)
        return 0;
    return left->begin < right->begin ? -1 : 1;
}

RB_GENERATE_INTERNAL(mapping_tree, cx_emu_driver_mapping, by_address, address_compare,
                     __attribute__((unused)) static)

static mapping_tree mappings = RB_INITIALIZER(&mappings);

void cx_emu_driver_mapping_open(cx_emu_driver_mapping *mapping, const void *begin, size_t bytes)
{
    mapping->begin = (uintptr_t)begin;
    mapping->bytes = bytes;
    RB_INSERT(mapping_tree, &mappings, mapping);
}

void cx_emu_driver_mapping_close(cx_emu_driver_mapping *mapping)
{
    if (mapping->bytes != 0)
        RB_REMOVE(mapping_tree, &mappings, mapping);
    mapping->bytes = 0;
}

bool cx_emu_driver_mappings_overlap(uintptr_t address, size_t bytes)
{
    const uintptr_t last = address + (bytes - 1);
    const cx_emu_driver_mapping *floor = NULL, *node = RB_ROOT(&mappings);
    while (node != NULL) {
        if (node->begin <= last)
            floor = node;
        node = node->begin <= last ? RB_RIGHT(node, by_address) : RB_LEFT(node, by_address);
    }
    return floor != NULL && (floor->begin >= address || address - floor->begin < floor->bytes);
}
