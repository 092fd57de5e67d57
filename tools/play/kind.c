#include "play/kind.h"

const char *cx_kind_word(cx_kind kind)
{
    static const char *const words[] = {
#define CX_KIND(kind, field, word) [CX_KIND_##kind] = word,
        CX_KINDS(CX_KIND)
#undef CX_KIND
    };
    return words[kind];
}

cx_cell cx_cell_of(cx_kind kind, int64_t number)
{
    cx_cell cell = {.bits = 0};
    switch (kind) {
    case CX_KIND_FILE:
    case CX_KIND_INTEGER:
        cell.integer = (int)number;
        break;
    case CX_KIND_FLAGS:
        cell.flags = (unsigned int)number;
        break;
    case CX_KIND_SIZE:
        cell.size = (size_t)number;
        break;
    default:
        cell.wide = (unsigned long long)number;
        break;
    }
    return cell;
}

int64_t cx_cell_number(cx_kind kind, cx_cell cell)
{
    switch (kind) {
    case CX_KIND_FILE:
    case CX_KIND_INTEGER:
        return cell.integer;
    case CX_KIND_FLAGS:
        return cell.flags;
    case CX_KIND_SIZE:
        return (int64_t)cell.size;
    default:
        return (int64_t)cell.wide;
    }
}

cx_cell cx_cell_settle(cx_kind kind, cx_cell cell)
{
    return cx_cell_of(kind, cx_cell_number(kind, cell));
}
