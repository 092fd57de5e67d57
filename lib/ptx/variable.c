/* Variables and parameters. */
#include "ptx/declaration.h"
#include "ptx/growth.h"
#include "ptx/parser.h"

#include <string.h>

#define LOCAL_BYTES_MAX ((uint64_t)512 << 10)
#define OLD_PARAMETER_BYTES_MAX 4096

/* ---- variables ---- */

/* `offset`: of a shared variable outside functions, its index. */
static bool add_name(cx_ptx_parser *self, const cx_ptx_declaration *what, cx_ptx_space space,
                     uint64_t offset)
{
    const cx_ptx_name name = {.text = what->name.text,
                              .length = (uint32_t)what->name.length,
                              .kind = CX_PTX_NAME_VARIABLE,
                              .type = what->type,
                              .space = space,
                              .outside = cx_ptx_is_outside(self),
                              .index = (uint32_t)offset,
                              .offset = offset,
                              .bytes = cx_ptx_declared_bytes(what),
                              .element_bytes = what->dimensions == 1 ? what->element_bytes : 0};

    return cx_ptx_names_add(&self->names, &name) || cx_ptx_no_memory(self);
}

static bool publish_variable(cx_ptx_parser *self, const cx_ptx_declaration *what,
                             cx_ptx_placement placement, uint64_t offset)
{
    cx_ptx_module *module = self->module;
    void *variables = module->variables;
    char *name;
    bool grown = cx_ptx_grow(&variables, module->variable_count, &module->variable_capacity,
                             sizeof *module->variables);

    module->variables = variables;
    name = grown ? strndup(what->name.text, what->name.length) : NULL;
    if (!name)
        return cx_ptx_no_memory(self);
    module->variables[module->variable_count++] =
        (cx_ptx_variable){name, offset, what->element_bytes * what->count, placement.exported,
                          placement.space == CX_PTX_CONSTANT, what->managed};
    return true;
}

/* An array whose first size is left out is as long as its values. */
static bool close_size(cx_ptx_parser *self, cx_ptx_declaration *what, const cx_ptx_content *taken)
{
    uint64_t row = what->element_bytes * what->count;

    if (what->open && row > 0)
        what->count *= (taken->count + row - 1) / row;
    return taken->count <= what->element_bytes * what->count ||
           CX_PTX_INVALID_AT(self, "more values than '%.*s' has room for",
                             CX_PTX_QUOTE(&what->name));
}

/* The name of a variable that is declared and not yet defined, or NULL. */
static cx_ptx_name *find_reserved(const cx_ptx_parser *self, const cx_ptx_declaration *what)
{
    cx_ptx_name *name = cx_ptx_names_find(&self->names, what->name.text, what->name.length, 0);

    return name && name->kind == CX_PTX_NAME_VARIABLE && name->reserved ? name : NULL;
}

/* Defines it where it is. */
static bool take_reserved(cx_ptx_parser *self, const cx_ptx_declaration *what,
                          cx_ptx_placement placement, cx_ptx_space space, uint64_t *out_offset)
{
    cx_ptx_name *name = find_reserved(self, what);
    cx_ptx_module *module = self->module;

    if (name->space != space || name->bytes != what->element_bytes * what->count)
        return CX_PTX_INVALID_AT(self, "'%.*s' is declared otherwise", CX_PTX_QUOTE(&what->name));
    name->reserved = false;
    *out_offset = name->offset;
    for (size_t i = 0; i < module->variable_count; i++)
        if (strncmp(module->variables[i].name, what->name.text, what->name.length) == 0 &&
            module->variables[i].name[what->name.length] == '\0')
            module->variables[i].exported = placement.exported;
    return true;
}

static size_t *bytes_of_part(cx_ptx_module *module, cx_ptx_part part)
{
    switch (part) {
    case CX_PTX_PART_MANAGED:
        return &module->managed_bytes;
    case CX_PTX_PART_CONSTANT:
        return &module->constant_space;
    default:
        return &module->memory_bytes;
    }
}

/* Places a variable whose values come later. */
static bool reserve_global(cx_ptx_parser *self, const cx_ptx_declaration *what,
                           cx_ptx_placement placement)
{
    cx_ptx_part part = what->managed                        ? CX_PTX_PART_MANAGED
                       : placement.space == CX_PTX_CONSTANT ? CX_PTX_PART_CONSTANT
                                                            : CX_PTX_PART_PLAIN;
    uint64_t offset;

    if (!cx_ptx_place_declared(self, what, CX_PTX_VARIABLE_BYTES_MAX,
                               bytes_of_part(self->module, part), &offset) ||
        !publish_variable(self, what, placement, offset) ||
        !add_name(self, what, what->managed ? CX_PTX_MANAGED : placement.space, offset))
        return false;
    self->names.all[self->names.count - 1].reserved = true;
    return true;
}

static bool define_global(cx_ptx_parser *self, cx_ptx_declaration *what, cx_ptx_placement placement)
{
    cx_ptx_module *module = self->module;
    bool constant = placement.space == CX_PTX_CONSTANT;
    cx_ptx_part part = what->managed ? CX_PTX_PART_MANAGED
                       : constant    ? CX_PTX_PART_CONSTANT
                                     : CX_PTX_PART_PLAIN;
    size_t *bytes = bytes_of_part(module, part);
    cx_ptx_content taken = {.relocations = module->relocation_count};
    cx_ptx_space space = what->managed ? CX_PTX_MANAGED : placement.space;
    uint64_t offset;
    bool done;

    if (cx_ptx_take(self, "="))
        done = cx_ptx_take_content(self, what, &taken) && close_size(self, what, &taken);
    else
        done = !what->open ||
               CX_PTX_INVALID_AT(self, "'%.*s' has no size", CX_PTX_QUOTE(&what->name));
    if (done && find_reserved(self, what))
        done = take_reserved(self, what, placement, space, &offset);
    else
        done = done &&
               cx_ptx_place_declared(self, what, CX_PTX_VARIABLE_BYTES_MAX, bytes, &offset) &&
               publish_variable(self, what, placement, offset) &&
               add_name(self, what, space, offset);
    done = done && (taken.count == 0 || cx_ptx_keep_content(self, &taken, offset, part));
    if (done && constant)
        module->constant_bytes += what->element_bytes * what->count;
    free(taken.bytes);
    return done;
}

/* ---- variables that are declared before they are defined ---- */

/* Skips an initial value up to the comma or semicolon behind it; counts the values of its outermost
 * braces. */
static uint64_t skip_content(cx_ptx_parser *self)
{
    uint64_t values = 0;
    int depth = 0;

    while (self->token.kind != CX_PTX_END && (depth > 0 || !cx_ptx_at(self, ";"))) {
        if (depth == 0 && cx_ptx_at(self, ","))
            break;
        depth -= cx_ptx_at(self, "}");
        values += depth == 1 && cx_ptx_at(self, ",");
        depth += cx_ptx_at(self, "{");
        cx_ptx_advance(self);
    }
    return values + 1;
}

/* Reads declarations of one type up to that of the name. */
static bool find_in_declarations(cx_ptx_parser *self, const cx_ptx_token *name,
                                 cx_ptx_declaration *out)
{
    if (!cx_ptx_take_attributes(self, out) || !cx_ptx_take_align(self, out) ||
        !cx_ptx_take_type(self, out))
        return false;
    do {
        uint64_t values = 1;
        bool found;

        if (!cx_ptx_expect_word(self, &out->name) || !cx_ptx_take_sizes(self, out))
            return false;
        found = out->name.length == name->length &&
                memcmp(out->name.text, name->text, name->length) == 0;
        if (cx_ptx_take(self, "="))
            values = skip_content(self);
        if (found) {
            out->count *= out->open ? values : 1;
            return true;
        }
    } while (cx_ptx_take(self, ","));
    return false;
}

/* Looks for the definition behind the current token. */
static bool find_definition(const cx_ptx_parser *self, const cx_ptx_token *name,
                            cx_ptx_space *out_space, cx_ptx_declaration *out)
{
    cx_ptx_error unused = {0};
    cx_ptx_parser ahead = *self;
    bool external = false;
    int depth = 0;

    ahead.error = &unused;
    while (ahead.token.kind != CX_PTX_END) {
        bool constant = cx_ptx_at(&ahead, ".const");
        bool variable = depth == 0 && !external && (constant || cx_ptx_at(&ahead, ".global"));

        external = cx_ptx_at(&ahead, ".extern");
        depth += cx_ptx_at(&ahead, "{");
        depth -= cx_ptx_at(&ahead, "}");
        cx_ptx_advance(&ahead);
        *out = (cx_ptx_declaration){0};
        if (variable && find_in_declarations(&ahead, name, out)) {
            *out_space = constant ? CX_PTX_CONSTANT : CX_PTX_GLOBAL;
            return true;
        }
        ahead.status = CX_PTX_SUCCESS;
    }
    return false;
}

/* Gives the variable its place, where its definition will put the values. One that the text does
 * not define is defined by its declaration, as the assembler does it. */
static bool declare_external(cx_ptx_parser *self, const cx_ptx_declaration *what,
                             cx_ptx_placement placement)
{
    const cx_ptx_name *known =
        cx_ptx_names_find(&self->names, what->name.text, what->name.length, 0);
    cx_ptx_declaration definition;
    cx_ptx_space space;

    if (known && known->kind == CX_PTX_NAME_VARIABLE)
        return true;
    if (!find_definition(self, &what->name, &space, &definition)) {
        cx_ptx_declaration alone = *what;

        if (what->open)
            return CX_PTX_INVALID_AT(self, "unresolved extern variable '%.*s'",
                                     CX_PTX_QUOTE(&what->name));
        placement.external = false;
        return define_global(self, &alone, placement);
    }
    if (space != placement.space)
        return CX_PTX_INVALID_AT(self, "'%.*s' is defined in another space",
                                 CX_PTX_QUOTE(&what->name));
    return reserve_global(self, &definition, placement);
}

/* It has no place before a function names it: nvcc -rdc=true writes the shared variables of all
 * kernels outside of them. */
static bool add_shared(cx_ptx_parser *self, const cx_ptx_declaration *what)
{
    size_t index = self->shared_count;
    void *shared = self->shared;
    bool grown = cx_ptx_grow(&shared, index, &self->shared_capacity, sizeof *self->shared);

    self->shared = shared;
    if (!grown)
        return cx_ptx_no_memory(self);
    if (cx_ptx_declared_bytes(what) > CX_PTX_SHARED_STATIC_MAX)
        return CX_PTX_INVALID_AT(self, "too much memory: '%.*s'", CX_PTX_QUOTE(&what->name));
    self->shared[self->shared_count++] =
        (cx_ptx_shared){.align = cx_ptx_declared_align(what),
                        .bytes = cx_ptx_declared_bytes(what),
                        .offset = self->known ? self->known[index].offset : 0,
                        .common = self->known && self->known[index].common};
    return add_name(self, what, CX_PTX_SHARED, index);
}

static bool define_shared(cx_ptx_parser *self, const cx_ptx_declaration *what, bool external)
{
    uint64_t offset = 0;

    if (external || what->open)
        return add_name(self, what, CX_PTX_DYNAMIC, 0);
    if (cx_ptx_is_outside(self))
        return add_shared(self, what);
    return cx_ptx_place_declared(self, what, CX_PTX_SHARED_STATIC_MAX, cx_ptx_shared_bytes_of(self),
                          &offset) &&
           add_name(self, what, CX_PTX_SHARED, offset);
}

static bool define_local(cx_ptx_parser *self, const cx_ptx_declaration *what)
{
    uint64_t offset;

    if (cx_ptx_is_outside(self))
        return CX_PTX_INVALID_AT(self, ".local outside a function");
    if (what->open)
        return CX_PTX_INVALID_AT(self, "'%.*s' has no size", CX_PTX_QUOTE(&what->name));
    return cx_ptx_place_declared(self, what, LOCAL_BYTES_MAX, &cx_ptx_current(self)->frame_bytes,
                          &offset) &&
           add_name(self, what, CX_PTX_LOCAL, offset);
}

/* ---- references to textures and surfaces ---- */

static bool add_reference(cx_ptx_parser *self, const cx_ptx_token *word, bool is_surface)
{
    cx_ptx_module *module = self->module;
    const cx_ptx_name name = {.text = word->text,
                              .length = (uint32_t)word->length,
                              .kind = CX_PTX_NAME_REFERENCE,
                              .outside = true,
                              .index = (uint32_t)module->reference_count};
    void *references = module->references;
    bool grown = cx_ptx_grow(&references, module->reference_count, &module->reference_capacity,
                             sizeof *module->references);
    char *copy;

    module->references = references;
    copy = grown ? strndup(word->text, word->length) : NULL;
    if (!copy)
        return cx_ptx_no_memory(self);
    module->references[module->reference_count++] = (cx_ptx_reference){copy, is_surface};
    return cx_ptx_names_add(&self->names, &name) || cx_ptx_no_memory(self);
}

static bool parse_reference(cx_ptx_parser *self, bool is_surface)
{
    const cx_ptx_name *known;
    cx_ptx_token word;

    if (!cx_ptx_is_outside(self))
        return CX_PTX_INVALID_AT(self, "a reference to a texture or surface in a function");
    if (!cx_ptx_expect_word(self, &word))
        return false;
    if (cx_ptx_at(self, "[") || cx_ptx_at(self, "="))
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s': arrays and contents of references",
                           CX_PTX_QUOTE(&word));
    known = cx_ptx_names_find(&self->names, word.text, word.length, 0);
    if (!known)
        return add_reference(self, &word, is_surface);
    return (known->kind == CX_PTX_NAME_REFERENCE &&
            self->module->references[known->index].is_surface == is_surface) ||
           CX_PTX_INVALID_AT(self, "'%.*s' is there twice", CX_PTX_QUOTE(&word));
}

/* .texref a, b; behind the space. */
static bool parse_references(cx_ptx_parser *self)
{
    bool is_surface = cx_ptx_at(self, ".surfref");

    do {
        cx_ptx_advance(self);
        if (!parse_reference(self, is_surface))
            return false;
    } while (cx_ptx_at(self, ","));
    return cx_ptx_expect(self, ";");
}

bool cx_ptx_parse_variables(cx_ptx_parser *self, cx_ptx_placement placement)
{
    cx_ptx_declaration what = {0};

    if (placement.space == CX_PTX_GLOBAL &&
        (cx_ptx_at(self, ".texref") || cx_ptx_at(self, ".surfref")))
        return parse_references(self);

    if (!cx_ptx_take_attributes(self, &what) || !cx_ptx_take_align(self, &what) ||
        !cx_ptx_take_type(self, &what))
        return false;
    do {
        bool done;

        if (!cx_ptx_expect_word(self, &what.name) || !cx_ptx_take_sizes(self, &what))
            return false;
        if (placement.space == CX_PTX_SHARED)
            done = define_shared(self, &what, placement.external);
        else if (placement.space == CX_PTX_LOCAL)
            done = define_local(self, &what);
        else if (placement.external)
            done = declare_external(self, &what, placement);
        else
            done = define_global(self, &what, placement);
        if (!done)
            return false;
    } while (cx_ptx_take(self, ","));
    return cx_ptx_expect(self, ";");
}

/* ---- parameters ---- */

/* Skips the attributes of a pointer: .ptr .global .align 16 */
static bool skip_pointer(cx_ptx_parser *self)
{
    cx_ptx_declaration unused;

    if (!cx_ptx_take(self, ".ptr"))
        return true;
    if (!cx_ptx_take(self, ".global") && !cx_ptx_take(self, ".const") &&
        !cx_ptx_take(self, ".shared"))
        cx_ptx_take(self, ".local");
    return cx_ptx_take_align(self, &unused);
}

static uint64_t parameter_limit(const cx_ptx_module *module)
{
    return module->version >= 81 && module->target >= 70 ? CX_PTX_PARAMETER_BYTES_MAX
                                                         : OLD_PARAMETER_BYTES_MAX;
}

/* A parameter that is a register lies in memory all the same: the function loads it at its
 * beginning. In prototypes it has no name. */
static bool add_register(cx_ptx_parser *self, const cx_ptx_declaration *what, uint64_t offset)
{
    cx_ptx_name name = {.text = what->name.text,
                        .length = (uint32_t)what->name.length,
                        .kind = CX_PTX_NAME_REGISTER,
                        .type = what->type,
                        .count = 1,
                        .offset = offset};

    if (what->count != 1 || what->element_bytes != cx_ptx_type_bytes(what->type) ||
        what->element_bytes > 8)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "a parameter in several registers");
    if (cx_ptx_token_is(&what->name, "_"))
        return true;
    name.index = cx_ptx_register(self, 1, what->element_bytes == 8);
    return name.index != CX_PTX_NO_SLOT &&
           (cx_ptx_names_add(&self->names, &name) || cx_ptx_no_memory(self));
}

static bool take_parameter(cx_ptx_parser *self, cx_ptx_function *function, size_t *inout_capacity,
                           cx_ptx_space space, size_t *inout_bytes)
{
    uint64_t limit = space == CX_PTX_PARAMETER ? parameter_limit(self->module) : LOCAL_BYTES_MAX;
    void *parameters = function->parameters;
    cx_ptx_declaration what = {0};
    uint64_t offset;
    bool grown;
    bool in_register = space == CX_PTX_LOCAL && cx_ptx_take(self, ".reg");

    if ((!in_register && !cx_ptx_expect(self, ".param")) || !cx_ptx_take_align(self, &what) ||
        !cx_ptx_take_type(self, &what) || !skip_pointer(self) ||
        !cx_ptx_expect_word(self, &what.name) ||
        !cx_ptx_take_sizes(self, &what) ||
        !cx_ptx_place_declared(self, &what, limit, inout_bytes, &offset) ||
        !(in_register ? add_register(self, &what, offset) : add_name(self, &what, space, offset)))
        return false;
    if (what.open)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "a parameter without a size");
    grown = cx_ptx_grow(&parameters, function->parameter_count, inout_capacity,
                        sizeof *function->parameters);
    function->parameters = parameters;
    if (!grown)
        return cx_ptx_no_memory(self);
    function->parameters[function->parameter_count++] =
        (cx_ptx_parameter){(uint32_t)offset, (uint32_t)(what.element_bytes * what.count),
                           in_register ? (uint8_t)what.type : 0};
    return true;
}

bool cx_ptx_parse_parameters(cx_ptx_parser *self, cx_ptx_function *function, cx_ptx_space space,
                             size_t *inout_bytes)
{
    size_t capacity = function->parameter_count;

    if (cx_ptx_take(self, ")"))
        return true;
    do {
        if (!take_parameter(self, function, &capacity, space, inout_bytes))
            return false;
    } while (cx_ptx_take(self, ","));
    return cx_ptx_expect(self, ")");
}
