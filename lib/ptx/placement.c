/* Where variables lie in memory of a size that a kernel or a function needs. */
#include "ptx/parser.h"

bool cx_ptx_place_bytes(cx_ptx_parser *self, const cx_ptx_token *name, uint64_t align,
                        uint64_t bytes, uint64_t limit, size_t *inout_bytes, uint64_t *out_offset)
{
    uint64_t offset = (*inout_bytes + align - 1) & ~(align - 1);

    if (bytes > limit || offset > limit - bytes)
        return CX_PTX_INVALID_AT(self, "too much memory: '%.*s'", CX_PTX_QUOTE(name));
    *out_offset = offset;
    *inout_bytes = offset + bytes;
    return true;
}

bool cx_ptx_is_outside(const cx_ptx_parser *self)
{
    return self->function >= self->module->function_count;
}

size_t *cx_ptx_shared_bytes_of(cx_ptx_parser *self)
{
    return cx_ptx_current(self)->kernel ? &cx_ptx_current(self)->shared_bytes
                                        : &self->callee_shared;
}

bool cx_ptx_place_shared(cx_ptx_parser *self, size_t index, int64_t *out_offset)
{
    if (cx_ptx_is_outside(self))
        return true;
    cx_ptx_shared *what = &self->shared[index];
    bool kernel = cx_ptx_current(self)->kernel;
    bool placed = kernel ? what->common || what->kernel == self->function + 1 : what->placed;
    if (!placed &&
        !cx_ptx_place_bytes(self, &self->token, what->align, what->bytes, CX_PTX_SHARED_STATIC_MAX,
                            cx_ptx_shared_bytes_of(self), &what->offset))
        return false;
    if (kernel)
        what->kernel = self->function + 1;
    else
        what->common = what->placed = true;
    *out_offset = (int64_t)what->offset;
    return true;
}
