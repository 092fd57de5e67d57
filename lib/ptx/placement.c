/* Where variables lie in memory of a size that a kernel or a function needs. */
#include "ptx/growth.h"
#include "ptx/parser.h"

#include <string.h>

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

/* ---- which variable an instruction names ---- */

enum { LOOK_BACK = 16 }; /* a kernel has few of them */

static bool is_named(const cx_ptx_array *array, const cx_ptx_named *named)
{
    return array->begin == named->begin && array->bytes == named->bytes &&
           strlen(array->name) == named->name.length &&
           memcmp(array->name, named->name.text, named->name.length) == 0;
}

/* CX_PTX_NO_ARRAY: out of memory. */
static uint32_t find_array(cx_ptx_module *module, const cx_ptx_named *named)
{
    const size_t count = module->array_count;
    void *arrays = module->arrays;
    bool grown;
    char *name;

    for (size_t i = count; i > 0 && count - i < LOOK_BACK; i--)
        if (is_named(&module->arrays[i - 1], named))
            return (uint32_t)(i - 1);
    grown = cx_ptx_grow(&arrays, count, &module->array_capacity, sizeof *module->arrays);
    module->arrays = arrays;
    name = grown ? strndup(named->name.text, named->name.length) : NULL;
    if (!name)
        return CX_PTX_NO_ARRAY;
    module->arrays[module->array_count++] =
        (cx_ptx_array){name, (uint32_t)named->begin, (uint32_t)named->bytes};
    return (uint32_t)count;
}

bool cx_ptx_note_array(cx_ptx_parser *self)
{
    cx_ptx_module *module = self->module;
    const bool known = self->named.count == 1 && self->named.bytes > 0;
    void *uses = module->array_uses;
    bool grown = cx_ptx_grow(&uses, module->array_use_count, &module->array_use_capacity,
                             sizeof *module->array_uses);
    uint32_t array = CX_PTX_NO_ARRAY;

    module->array_uses = uses;
    if (!grown || (known && (array = find_array(module, &self->named)) == CX_PTX_NO_ARRAY))
        return cx_ptx_no_memory(self);
    module->array_uses[module->array_use_count++] =
        (cx_ptx_array_use){module->code_count, array};
    return true;
}
