/* Initial values of variables. */
#include "ptx/declaration.h"
#include "ptx/expression.h"
#include "ptx/growth.h"

#include <string.h>

static bool add_bytes(cx_ptx_parser *self, cx_ptx_content *out, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *grown = out->bytes;
        bool enough = cx_ptx_grow(&grown, out->count, &out->capacity, 1);

        out->bytes = grown;
        if (!enough)
            return cx_ptx_no_memory(self);
        out->bytes[out->count++] = ((const unsigned char *)bytes)[i];
    }
    return true;
}

static cx_ptx_part part_of(const cx_ptx_operand *symbol)
{
    if (symbol->slot == CX_PTX_SLOT_MANAGED)
        return CX_PTX_PART_MANAGED;
    return symbol->space == CX_PTX_CONSTANT ? CX_PTX_PART_CONSTANT : CX_PTX_PART_PLAIN;
}

static bool add_relocation(cx_ptx_parser *self, cx_ptx_content *out, const cx_ptx_operand *symbol)
{
    cx_ptx_module *module = self->module;
    void *relocations = module->relocations;
    bool grown = cx_ptx_grow(&relocations, module->relocation_count,
                             &module->relocation_capacity, sizeof *module->relocations);

    module->relocations = relocations;
    if (!grown)
        return cx_ptx_no_memory(self);
    module->relocations[module->relocation_count++] = 
        (cx_ptx_relocation){.offset = out->count,
                            .target = (uint64_t)symbol->offset,
                            .to_part = part_of(symbol)};
    return add_bytes(self, out, &(uint64_t){0}, sizeof(uint64_t));
}

/* A number as `element_bytes` of the type. */
static bool take_number(cx_ptx_parser *self, const cx_ptx_declaration *what, cx_ptx_content *out)
{
    cx_ptx_operand number;
    float narrow;
    double wide;
    uint64_t bits, wanted[2];

    if (!cx_ptx_parse_operand(self, &number))
        return false;
    bits = number.bits;
    memcpy(&wide, &bits, sizeof wide);
    if (what->type == CX_PTX_F32 && number.type == CX_PTX_F64) {
        narrow = (float)wide;
        memcpy(&bits, &narrow, sizeof narrow);
    }
    if (number.kind != CX_PTX_OPERAND_NUMBER)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' as what a variable begins with",
                           CX_PTX_QUOTE(&number.token));
    wanted[0] = bits;
    wanted[1] = (uint64_t)0 - (bits >> 63);
    return add_bytes(self, out, wanted, cx_ptx_type_bytes(what->type));
}

/* generic(name)+4, name+4, generic(name+4) */
static bool take_symbol(cx_ptx_parser *self, const cx_ptx_declaration *what, cx_ptx_content *out)
{
    bool generic = cx_ptx_take(self, "generic") && cx_ptx_expect(self, "(");
    cx_ptx_operand symbol;
    uint64_t address;

    if (!cx_ptx_parse_operand(self, &symbol))
        return false;
    if (generic &&
        (!cx_ptx_expect(self, ")") || !cx_ptx_take_offset(self, &symbol.offset)))
        return false;
    if (cx_ptx_function_address(self, &symbol, &address) && what->element_bytes == 8)
        return add_bytes(self, out, &address, sizeof address);
    if (symbol.kind != CX_PTX_OPERAND_VARIABLE ||
        (symbol.space != CX_PTX_GLOBAL && symbol.space != CX_PTX_CONSTANT) ||
        cx_ptx_type_bytes(what->type) != 8)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' as what a variable begins with",
                           CX_PTX_QUOTE(&symbol.token));
    return add_relocation(self, out, &symbol);
}

static bool take_value(cx_ptx_parser *self, const cx_ptx_declaration *what, cx_ptx_content *out)
{
    return cx_ptx_at_expression(self) ? take_number(self, what, out) : take_symbol(self, what, out);
}

/* The bytes of what a brace of that depth holds: all, a row, ..., the parts of a vector. */
static uint64_t bytes_in_braces(const cx_ptx_declaration *what, int depth)
{
    uint64_t bytes = what->element_bytes;

    for (int i = depth; i < what->dimensions; i++)
        bytes *= what->sizes[i];
    return bytes;
}

static int deepest_brace(const cx_ptx_declaration *what)
{
    return what->dimensions + (what->element_bytes > cx_ptx_type_bytes(what->type));
}

static bool fill_with_zeros(cx_ptx_parser *self, cx_ptx_content *out, size_t end)
{
    while (out->count < end)
        if (!add_bytes(self, out, "", 1))
            return false;
    return true;
}

/* A group of values in braces, with zeros at its end; a group in it begins where a row begins. */
static bool take_group(cx_ptx_parser *self, const cx_ptx_declaration *what, int depth,
                       cx_ptx_content *out)
{
    uint64_t bytes = bytes_in_braces(what, depth), inner = bytes_in_braces(what, depth + 1);
    size_t begin = out->count;
    bool open = depth == 0 && what->open;

    cx_ptx_advance(self);
    if (depth >= deepest_brace(what))
        return CX_PTX_INVALID_AT(self, "too many braces for '%.*s'", CX_PTX_QUOTE(&what->name));
    while (!cx_ptx_at(self, "}")) {
        if (cx_ptx_at(self, "{")) {
            size_t over = inner ? (out->count - begin) % inner : 0;

            if (!fill_with_zeros(self, out, out->count + (over ? inner - over : 0)) ||
                !take_group(self, what, depth + 1, out))
                return false;
        } else if (!take_value(self, what, out)) {
            return false;
        }
        if (!cx_ptx_take(self, ",") && !cx_ptx_at(self, "}"))
            return cx_ptx_expect(self, "}");
    }
    cx_ptx_advance(self);
    if (!open && out->count - begin > bytes)
        return CX_PTX_INVALID_AT(self, "more values than '%.*s' has room for",
                                 CX_PTX_QUOTE(&what->name));
    return depth == 0 || fill_with_zeros(self, out, begin + bytes);
}

bool cx_ptx_take_content(cx_ptx_parser *self, const cx_ptx_declaration *what, cx_ptx_content *out)
{
    return cx_ptx_at(self, "{") ? take_group(self, what, 0, out) : take_value(self, what, out);
}

bool cx_ptx_keep_content(cx_ptx_parser *self, cx_ptx_content *taken, size_t offset,
                         cx_ptx_part part)
{
    cx_ptx_module *module = self->module;
    void *images = module->images;
    bool grown = cx_ptx_grow(&images, module->image_count, &module->image_capacity,
                             sizeof *module->images);

    module->images = images;
    if (!grown)
        return cx_ptx_no_memory(self);
    module->images[module->image_count++] = 
        (cx_ptx_image){offset, taken->count, taken->bytes, part};
    for (size_t i = taken->relocations; i < module->relocation_count; i++) {
        module->relocations[i].offset += offset;
        module->relocations[i].part = part;
    }
    taken->bytes = NULL;
    return true;
}
