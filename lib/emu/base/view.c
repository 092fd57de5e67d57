#include "emu/base/view.h"

typedef RB_HEAD(view_tree, cx_emu_view) view_tree;

static int address_compare(const cx_emu_view *left, const cx_emu_view *right)
{
    if (left->begin == right->begin)
        return 0;
    return left->begin < right->begin ? -1 : 1;
}

RB_GENERATE_INTERNAL(view_tree, cx_emu_view, by_address, address_compare,
                     __attribute__((unused)) static)

static view_tree views = RB_INITIALIZER(&views);

void cx_emu_view_open(cx_emu_view *view, const void *begin, size_t bytes)
{
    view->begin = (uintptr_t)begin;
    view->bytes = bytes;
    RB_INSERT(view_tree, &views, view);
}

void cx_emu_view_close(cx_emu_view *view)
{
    if (view->bytes != 0)
        RB_REMOVE(view_tree, &views, view);
    view->bytes = 0;
}

bool cx_emu_views_overlap(uintptr_t address, size_t bytes)
{
    const uintptr_t last = address + (bytes - 1);
    const cx_emu_view *floor = NULL, *node = RB_ROOT(&views);
    while (node != NULL) {
        if (node->begin <= last)
            floor = node;
        node = node->begin <= last ? RB_RIGHT(node, by_address) : RB_LEFT(node, by_address);
    }
    return floor != NULL && (floor->begin >= address || address - floor->begin < floor->bytes);
}
