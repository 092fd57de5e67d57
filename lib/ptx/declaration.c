/* Declarations of variables and parameters: the words before the name, and the size. */
#include "ptx/declaration.h"

/* .attribute(.managed) */
bool cx_ptx_take_attributes(cx_ptx_parser *self, cx_ptx_declaration *out)
{
    if (!cx_ptx_take(self, ".attribute"))
        return true;
    if (!cx_ptx_expect(self, "("))
        return false;
    if (!cx_ptx_at(self, ".managed"))
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "the attribute '%.*s' of a variable",
                           CX_PTX_QUOTE(&self->token));
    cx_ptx_advance(self);
    out->managed = true;
    return cx_ptx_expect(self, ")");
}

bool cx_ptx_take_align(cx_ptx_parser *self, cx_ptx_declaration *out)
{
    if (!cx_ptx_take(self, ".align"))
        return true;
    if (!cx_ptx_expect_number(self, &out->align))
        return false;
    if (out->align == 0 || out->align > 4096 || (out->align & (out->align - 1)))
        return CX_PTX_INVALID_AT(self, "an alignment must be a power of two");
    return true;
}

bool cx_ptx_take_type(cx_ptx_parser *self, cx_ptx_declaration *out)
{
    unsigned count = 1;

    if (cx_ptx_take(self, ".v2"))
        count = 2;
    else if (cx_ptx_take(self, ".v4"))
        count = 4;
    out->type = cx_ptx_token_type(&self->token);
    if (out->type == CX_PTX_NO_TYPE || out->type == CX_PTX_PRED)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "a variable of the type '%.*s'",
                           CX_PTX_QUOTE(&self->token));
    cx_ptx_advance(self);
    out->element_bytes = (uint64_t)count * cx_ptx_type_bytes(out->type);
    return true;
}

bool cx_ptx_take_sizes(cx_ptx_parser *self, cx_ptx_declaration *out)
{
    uint64_t size;

    out->count = 1;
    out->open = false;
    out->dimensions = 0;
    while (cx_ptx_take(self, "[")) {
        if (out->dimensions == CX_PTX_DIMENSIONS_MAX)
            return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "more than %d dimensions",
                               CX_PTX_DIMENSIONS_MAX);
        out->sizes[out->dimensions++] = 0;
        if (cx_ptx_take(self, "]")) {
            out->open = true;
            continue;
        }
        if (!cx_ptx_expect_number(self, &size) || !cx_ptx_expect(self, "]"))
            return false;
        if (__builtin_mul_overflow(out->count, size, &out->count) ||
            out->count > CX_PTX_VARIABLE_BYTES_MAX / 64)
            return CX_PTX_INVALID_AT(self, "a variable is too large");
        out->sizes[out->dimensions - 1] = size;
    }
    return true;
}

uint64_t cx_ptx_declared_align(const cx_ptx_declaration *what)
{
    return what->align ? what->align : what->element_bytes;
}

uint64_t cx_ptx_declared_bytes(const cx_ptx_declaration *what)
{
    return what->element_bytes * what->count;
}

bool cx_ptx_place_declared(cx_ptx_parser *self, const cx_ptx_declaration *what, uint64_t limit,
                           size_t *inout_bytes, uint64_t *out_offset)
{
    return cx_ptx_place_bytes(self, &what->name, cx_ptx_declared_align(what),
                              cx_ptx_declared_bytes(what), limit, inout_bytes, out_offset);
}
