#include "play/value.h"

#include <stdlib.h>
#include <string.h>

static const struct built_in {
    cx_kind kind; /* CX_KIND_COUNT: all */
    const char *name;
    uint64_t bits;
} built_ins[] = {
    {CX_KIND_COUNT, "none", 0},
    {CX_KIND_STREAM, "legacy", 1},
    {CX_KIND_STREAM, "per_thread", 2},
};
#define BUILT_INS (sizeof built_ins / sizeof built_ins[0])

static cx_value *find_value(cx_value *from, const char *name)
{
    while (from != NULL && strcmp(from->name, name) != 0)
        from = from->older;
    return from;
}

static cx_value *add_value(cx_value **to, cx_kind kind, const char *name, cx_cell cell)
{
    cx_value *value = malloc(sizeof *value);
    if (value == NULL)
        return NULL;
    *value = (cx_value){name, kind, cell, *to};
    return *to = value;
}

static void take_out(cx_value **from, cx_value *value)
{
    while (*from != value)
        from = &(*from)->older;
    *from = value->older;
    free(value);
}

bool cx_value_bind(cx_values *values, cx_kind kind, const char *name, cx_cell cell)
{
    cx_value *before = find_value(values->things, name);
    if (before != NULL)
        take_out(&values->things, before);
    return add_value(&values->things, kind, name, cell) != NULL;
}

bool cx_value_find(const cx_values *values, cx_kind kind, const char *name, cx_cell *out_cell)
{
    for (size_t i = 0; i < BUILT_INS; i++)
        if ((built_ins[i].kind == CX_KIND_COUNT || built_ins[i].kind == kind) &&
            strcmp(built_ins[i].name, name) == 0) {
            *out_cell = (cx_cell){.bits = built_ins[i].bits};
            return true;
        }
    const cx_value *value = find_value(values->things, name);
    if (value == NULL || value->kind != kind)
        return false;
    *out_cell = value->cell;
    return true;
}

const char *cx_value_name(const cx_values *values, cx_kind kind, cx_cell cell)
{
    for (size_t i = 0; i < BUILT_INS; i++)
        if ((built_ins[i].kind == CX_KIND_COUNT || built_ins[i].kind == kind) &&
            built_ins[i].bits == cell.bits)
            return built_ins[i].name;
    for (const cx_value *each = values->things; each != NULL; each = each->older)
        if (each->kind == kind && each->cell.bits == cell.bits)
            return each->name;
    return NULL;
}

bool cx_value_see(cx_values *values, const char *name, cx_cell cell)
{
    const cx_value *before = find_value(values->seen, name);
    if (before == NULL)
        before = add_value(&values->seen, CX_KIND_WIDE, name, cell);
    return before != NULL && before->cell.bits == cell.bits;
}

bool cx_value_seen(const cx_values *values, const char *name, cx_cell *out_cell)
{
    const cx_value *value = find_value(values->seen, name);
    if (value != NULL)
        *out_cell = value->cell;
    return value != NULL;
}
