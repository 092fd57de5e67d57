#include "ptx/expression.h"
#include "ptx/parser.h"

#include <string.h>

/* ---- names ---- */

/* Finds %r7 of %r<10>. */
static const cx_ptx_name *find_numbered(const cx_ptx_parser *self, const cx_ptx_token *token,
                                        uint32_t *out_number)
{
    const cx_ptx_name *name;
    size_t begin = token->length;
    uint32_t number = 0;

    while (begin > 0 && token->text[begin - 1] >= '0' && token->text[begin - 1] <= '9')
        begin--;
    if (begin == token->length || token->length - begin > 7 ||
        (token->text[begin] == '0' && token->length - begin > 1))
        return NULL;
    for (size_t i = begin; i < token->length; i++)
        number = number * 10 + (uint32_t)(token->text[i] - '0');
    name = cx_ptx_names_find(&self->names, token->text, begin, 0);
    if (!name || name->kind != CX_PTX_NAME_REGISTERS || number >= name->count)
        return NULL;
    *out_number = number;
    return name;
}

/* `component`: of a vector register, or ALL_COMPONENTS. */
#define ALL_COMPONENTS UINT32_MAX
static void take_register(cx_ptx_operand *out, const cx_ptx_name *name, uint32_t number,
                          uint32_t component)
{
    uint32_t slots = name->components ? name->components : name->type == CX_PTX_B128 ? 2 : 1;

    out->kind = CX_PTX_OPERAND_REGISTER;
    out->type = name->type;
    out->slot = name->index + number * slots + (component == ALL_COMPONENTS ? 0 : component);
    if (!name->components || component != ALL_COMPONENTS)
        return;
    out->kind = CX_PTX_OPERAND_VECTOR;
    out->count = name->components;
    for (uint32_t i = 0; i < out->count; i++) {
        out->parts[i] = out->slot + i;
        out->part_types[i] = name->type;
    }
}

/* Finds v of v.x, or of v.r; the token becomes the name without the component. */
static const cx_ptx_name *find_component(const cx_ptx_parser *self, cx_ptx_token token,
                                         uint32_t *out_number, uint32_t *out_component)
{
    static const char letters[] = "xyzwrgba";
    const char *found;
    const cx_ptx_name *name;

    if (token.length < 3 || token.text[token.length - 2] != '.')
        return NULL;
    found = memchr(letters, token.text[token.length - 1], sizeof letters - 1);
    token.length -= 2;
    name = cx_ptx_names_find(&self->names, token.text, token.length, 0);
    if (!name || name->kind == CX_PTX_NAME_REGISTERS)
        name = find_numbered(self, &token, out_number);
    if (!found || !name ||
        (name->kind != CX_PTX_NAME_REGISTER && name->kind != CX_PTX_NAME_REGISTERS))
        return NULL;
    *out_component = (uint32_t)(found - letters) % 4;
    return *out_component < name->components ? name : NULL;
}

static void take_variable(cx_ptx_operand *out, const cx_ptx_name *name)
{
    static const uint32_t bases[] = {
        [CX_PTX_GENERIC] = CX_PTX_SLOT_ZERO,     [CX_PTX_GLOBAL] = CX_PTX_SLOT_GLOBAL,
        [CX_PTX_SHARED] = CX_PTX_SLOT_SHARED,    [CX_PTX_LOCAL] = CX_PTX_SLOT_LOCAL,
        [CX_PTX_PARAMETER] = CX_PTX_SLOT_ZERO,   [CX_PTX_DYNAMIC] = CX_PTX_SLOT_DYNAMIC,
        [CX_PTX_CONSTANT] = CX_PTX_SLOT_CONSTANT, [CX_PTX_MANAGED] = CX_PTX_SLOT_MANAGED,
    };

    out->kind = CX_PTX_OPERAND_VARIABLE;
    out->type = CX_PTX_U64;
    out->has_variable = true;
    out->space = name->space == CX_PTX_DYNAMIC   ? CX_PTX_SHARED
                 : name->space == CX_PTX_MANAGED ? CX_PTX_GLOBAL
                                                 : name->space;
    out->slot = bases[name->space];
    out->offset = (int64_t)name->offset;
    out->variable_bytes = name->bytes;
    out->element_bytes = name->element_bytes;
}

/* Finds %r1 of %r1.b0 or %r1.h10, as video instructions have it. */
static const cx_ptx_name *find_chosen(const cx_ptx_parser *self, cx_ptx_token token,
                                      uint32_t *out_number, cx_ptx_token *out_chosen)
{
    const char *dot = memchr(token.text, '.', token.length);
    const cx_ptx_name *name;

    if (!dot)
        return NULL;
    *out_chosen = token;
    out_chosen->text = dot + 1;
    out_chosen->length = token.length - (size_t)(dot + 1 - token.text);
    token.length = (size_t)(dot - token.text);
    if (out_chosen->length < 2 || out_chosen->length > 5 ||
        (*out_chosen->text != 'b' && *out_chosen->text != 'h') ||
        !cx_ptx_is_digits(out_chosen->text + 1, out_chosen->length - 1))
        return NULL;
    name = cx_ptx_names_find(&self->names, token.text, token.length, 0);
    if (!name || name->kind == CX_PTX_NAME_REGISTERS)
        name = find_numbered(self, &token, out_number);
    return name && !name->components &&
                   (name->kind == CX_PTX_NAME_REGISTER || name->kind == CX_PTX_NAME_REGISTERS)
               ? name
               : NULL;
}

/* In code a reference is its object, a constant. */
static bool take_reference(cx_ptx_parser *self, cx_ptx_operand *out, const cx_ptx_name *name)
{
    if (cx_ptx_is_outside(self))
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' as what a variable begins with",
                           CX_PTX_QUOTE(&out->token));
    out->kind = CX_PTX_OPERAND_REGISTER;
    out->type = CX_PTX_B64;
    out->slot = cx_ptx_constant(self, cx_ptx_reference_object(name->index));
    return out->slot != CX_PTX_NO_SLOT;
}

static bool take_name(cx_ptx_parser *self, cx_ptx_operand *out)
{
    const cx_ptx_token token = self->token;
    uint32_t number = 0, component = ALL_COMPONENTS;
    const cx_ptx_name *name = cx_ptx_names_find(&self->names, token.text, token.length, 0);

    if (!name || name->kind == CX_PTX_NAME_REGISTERS)
        name = find_numbered(self, &token, &number);
    if (!name)
        name = find_component(self, token, &number, &component);
    if (!name) {
        cx_ptx_token chosen;

        name = find_chosen(self, token, &number, &chosen);
        if (name)
            out->parts_chosen = chosen;
    }
    out->token = token;
    out->kind = CX_PTX_OPERAND_WORD;
    if (name && (name->kind == CX_PTX_NAME_REGISTER || name->kind == CX_PTX_NAME_REGISTERS))
        take_register(out, name, number, component);
    else if (name && name->kind == CX_PTX_NAME_VARIABLE) {
        take_variable(out, name);
        if (name->outside && name->space == CX_PTX_SHARED &&
            !cx_ptx_place_shared(self, name->index, &out->offset))
            return false;
        if (name->space == CX_PTX_SHARED)
            self->named = (cx_ptx_named){token, (uint64_t)out->offset, name->bytes,
                                         self->named.count + 1};
    }
    else if (name && name->kind == CX_PTX_NAME_REFERENCE) {
        if (!take_reference(self, out, name))
            return false;
    }
    else if (cx_ptx_token_is(&token, "_"))
        out->kind = CX_PTX_OPERAND_SINK;
    else if (token.text[0] == '%' && !cx_ptx_find_special(&token, out) &&
             !cx_ptx_find_special_vector(&token, out))
        return CX_PTX_INVALID_AT(self, "no register '%.*s' is known", CX_PTX_QUOTE(&token));
    cx_ptx_advance(self);
    return true;
}

/* ---- numbers ---- */

static bool take_number(cx_ptx_parser *self, cx_ptx_operand *out)
{
    cx_ptx_expression value;

    out->kind = CX_PTX_OPERAND_NUMBER;
    out->token = self->token;
    if (!cx_ptx_parse_expression(self, &value))
        return false;
    out->type = value.type == CX_PTX_U64 ? CX_PTX_S64 : value.type;
    out->bits = value.bits;
    return true;
}

static bool at_name(const cx_ptx_parser *self)
{
    return self->token.kind == CX_PTX_WORD && !cx_ptx_at_expression(self);
}

/* Takes + or - and a product of constants, any number of times: [a + -4 * 2]. */
bool cx_ptx_take_offset(cx_ptx_parser *self, int64_t *inout_offset)
{
    while (cx_ptx_at(self, "+") || cx_ptx_at(self, "-")) {
        bool minus = cx_ptx_take(self, "-") ? true : !cx_ptx_take(self, "+");
        cx_ptx_expression value;

        if (!cx_ptx_at_expression(self))
            return CX_PTX_INVALID_AT(self, "a number is missing before '%.*s'",
                                     CX_PTX_QUOTE(&self->token));
        if (!cx_ptx_parse_term(self, &value))
            return false;
        if (value.type != CX_PTX_S64 && value.type != CX_PTX_U64)
            return CX_PTX_INVALID_AT(self, "a float in an address");
        *inout_offset =
            (int64_t)((uint64_t)*inout_offset + (minus ? 0 - value.bits : value.bits));
    }
    return true;
}

/* ---- operands ---- */

static bool take_address(cx_ptx_parser *self, cx_ptx_operand *out)
{
    cx_ptx_advance(self);
    if (at_name(self)) {
        if (!take_name(self, out))
            return false;
        if (out->kind != CX_PTX_OPERAND_REGISTER && out->kind != CX_PTX_OPERAND_VARIABLE)
            return CX_PTX_INVALID_AT(self, "'%.*s' is no address", CX_PTX_QUOTE(&out->token));
    } else {
        if (!take_number(self, out))
            return false;
        out->slot = CX_PTX_SLOT_ZERO;
        out->offset = (int64_t)out->bits;
        out->type = CX_PTX_U64;
    }
    out->kind = CX_PTX_OPERAND_ADDRESS;
    if (!cx_ptx_take_offset(self, &out->offset))
        return false;
    if (cx_ptx_at(self, ","))
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "an address with coordinates");
    return cx_ptx_expect(self, "]");
}

static bool take_part(cx_ptx_parser *self, cx_ptx_operand *out)
{
    cx_ptx_operand part = {.second = CX_PTX_NO_SLOT};

    if (out->count == CX_PTX_VECTOR_MAX)
        return CX_PTX_INVALID_AT(self, "a vector of more than %d", CX_PTX_VECTOR_MAX);
    if (!(at_name(self) ? take_name(self, &part) : take_number(self, &part)))
        return false;
    switch (part.kind) {
    case CX_PTX_OPERAND_REGISTER:
        break;
    case CX_PTX_OPERAND_SINK:
        part.slot = cx_ptx_temp(self);
        break;
    case CX_PTX_OPERAND_NUMBER:
        part.slot = cx_ptx_constant(self, part.bits);
        break;
    default:
        return CX_PTX_INVALID_AT(self, "'%.*s' in a vector", CX_PTX_QUOTE(&part.token));
    }
    out->part_types[out->count] =
        part.kind == CX_PTX_OPERAND_REGISTER ? part.type : CX_PTX_NO_TYPE;
    out->parts[out->count++] = part.slot;
    return part.slot != CX_PTX_NO_SLOT;
}

static bool take_vector(cx_ptx_parser *self, cx_ptx_operand *out)
{
    out->kind = CX_PTX_OPERAND_VECTOR;
    out->token = self->token;
    cx_ptx_advance(self);
    do {
        if (!take_part(self, out))
            return false;
    } while (cx_ptx_take(self, ","));
    return cx_ptx_expect(self, "}");
}

/* Takes the second result: p|q. */
static bool take_second(cx_ptx_parser *self, cx_ptx_operand *out)
{
    cx_ptx_operand second = {.second = CX_PTX_NO_SLOT};

    if (!cx_ptx_take(self, "|"))
        return true;
    if (self->token.kind != CX_PTX_WORD || !take_name(self, &second))
        return CX_PTX_INVALID_AT(self, "a register is missing behind '|'");
    if (second.kind != CX_PTX_OPERAND_REGISTER && second.kind != CX_PTX_OPERAND_SINK)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no register", CX_PTX_QUOTE(&second.token));
    if (second.kind == CX_PTX_OPERAND_REGISTER && second.type != CX_PTX_PRED)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no predicate", CX_PTX_QUOTE(&second.token));
    if (second.kind == CX_PTX_OPERAND_REGISTER)
        out->second = second.slot;
    return true;
}

/* Adds index * bytes to the address that the slot has; the index is a register. */
static bool add_index(cx_ptx_parser *self, const cx_ptx_operand *index, uint64_t bytes,
                      uint32_t *inout_slot)
{
    uint32_t wide = cx_ptx_temp(self), scaled = cx_ptx_temp(self), sum = cx_ptx_temp(self);
    uint32_t factor = cx_ptx_constant(self, bytes);

    if (wide == CX_PTX_NO_SLOT || scaled == CX_PTX_NO_SLOT || sum == CX_PTX_NO_SLOT ||
        factor == CX_PTX_NO_SLOT)
        return false;
    if (!cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_EXTEND,
                                                .type = CX_PTX_B64,
                                                .from = (uint8_t)index->type,
                                                .d = wide,
                                                .a = index->slot}) ||
        !cx_ptx_emit(self, (cx_ptx_instruction){
                               .op = CX_PTX_OP_mul_lo_u64, .d = scaled, .a = wide, .b = factor}) ||
        !cx_ptx_emit(self, (cx_ptx_instruction){
                               .op = CX_PTX_OP_add_u64, .d = sum, .a = *inout_slot, .b = scaled}))
        return false;
    *inout_slot = sum;
    return true;
}

/* a[3], a[%r + 1] */
static bool take_element(cx_ptx_parser *self, uint64_t bytes, cx_ptx_operand *out)
{
    cx_ptx_operand index = {.second = CX_PTX_NO_SLOT};

    if (bytes == 0)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "an index of '%.*s'",
                           CX_PTX_QUOTE(&out->token));
    cx_ptx_advance(self);
    if (!(at_name(self) ? take_name(self, &index) : take_number(self, &index)))
        return false;
    if (index.kind == CX_PTX_OPERAND_NUMBER ? index.type != CX_PTX_S64
                                            : index.kind != CX_PTX_OPERAND_REGISTER ||
                                                  index.type < CX_PTX_B16 ||
                                                  cx_ptx_type_bytes(index.type) > 8 ||
                                                  cx_ptx_type_float(index.type))
        return CX_PTX_INVALID_AT(self, "'%.*s' is no index", CX_PTX_QUOTE(&index.token));
    index.offset = (int64_t)index.bits;
    if (!cx_ptx_take_offset(self, &index.offset) || !cx_ptx_expect(self, "]") ||
        (index.kind == CX_PTX_OPERAND_REGISTER && !add_index(self, &index, bytes, &out->slot)))
        return false;
    out->offset = (int64_t)((uint64_t)out->offset + (uint64_t)index.offset * bytes);
    out->is_element = true;
    return true;
}

bool cx_ptx_parse_operand(cx_ptx_parser *self, cx_ptx_operand *out)
{
    cx_ptx_token next;

    *out = (cx_ptx_operand){.token = self->token, .second = CX_PTX_NO_SLOT};
    if (cx_ptx_at(self, "["))
        return take_address(self, out);
    if (cx_ptx_at(self, "{"))
        return take_vector(self, out);
    next = cx_ptx_peek(self);
    if (cx_ptx_at(self, "!") && next.kind == CX_PTX_WORD && !cx_ptx_token_is(&next, "WARP_SZ"))
        out->negated = cx_ptx_take(self, "!");
    else if (cx_ptx_at(self, "-") && next.kind == CX_PTX_WORD &&
             !cx_ptx_token_is(&next, "WARP_SZ"))
        out->minus = cx_ptx_take(self, "-");
    if (!at_name(self))
        return take_number(self, out);
    if (!take_name(self, out))
        return false;
    if (out->kind == CX_PTX_OPERAND_VARIABLE && cx_ptx_at(self, "["))
        return take_element(self, out->element_bytes, out);
    if (out->kind == CX_PTX_OPERAND_VARIABLE)
        return cx_ptx_take_offset(self, &out->offset);
    return take_second(self, out);
}

/* ---- values ---- */

static uint64_t bits_as(const cx_ptx_operand *number, cx_ptx_type type)
{
    double wide;
    float narrow;
    uint32_t bits;
    uint64_t result = 0;

    if (number->type == CX_PTX_F64 && type == CX_PTX_F32) {
        memcpy(&wide, &number->bits, sizeof wide);
        narrow = (float)wide;
        memcpy(&result, &narrow, sizeof narrow);
        return result;
    }
    if (number->type == CX_PTX_F32 && type == CX_PTX_F64) {
        bits = (uint32_t)number->bits;
        memcpy(&narrow, &bits, sizeof narrow);
        wide = narrow;
        memcpy(&result, &wide, sizeof wide);
        return result;
    }
    return type == CX_PTX_PRED ? number->bits != 0 : number->bits;
}

static uint32_t emit_to_temp(cx_ptx_parser *self, cx_ptx_instruction instruction)
{
    instruction.d = cx_ptx_temp(self);
    if (instruction.d == CX_PTX_NO_SLOT || !cx_ptx_emit(self, instruction))
        return CX_PTX_NO_SLOT;
    return instruction.d;
}

bool cx_ptx_function_address(const cx_ptx_parser *self, const cx_ptx_operand *operand,
                             uint64_t *out_address)
{
    const cx_ptx_name *name =
        operand->kind == CX_PTX_OPERAND_WORD
            ? cx_ptx_names_find(&self->names, operand->token.text, operand->token.length, 0)
            : NULL;

    if (!name || name->kind != CX_PTX_NAME_FUNCTION)
        return false;
    *out_address = CX_PTX_WINDOW_CODE | ((uint64_t)name->index + 1) * 16;
    return true;
}

static bool is_bits(cx_ptx_type type)
{
    return type == CX_PTX_B8 || type == CX_PTX_B16 || type == CX_PTX_B32 || type == CX_PTX_B64 ||
           type == CX_PTX_B128;
}

/* PTX relaxes the sizes of ld, st and cvt: a register may be wider than the type. */
static bool type_fits(cx_ptx_type registered, cx_ptx_type type, bool may_be_wider)
{
    unsigned bytes = cx_ptx_type_bytes(registered), wanted = cx_ptx_type_bytes(type);
    bool is_float = cx_ptx_type_float(registered);

    if (registered == CX_PTX_PRED || type == CX_PTX_PRED || registered == CX_PTX_NO_TYPE)
        return registered == type || registered == CX_PTX_NO_TYPE;
    if (type == CX_PTX_NO_TYPE)
        return true;
    if (bytes != wanted && !(may_be_wider && bytes > wanted))
        return false;
    if (is_bits(registered) || is_bits(type))
        return true;
    return is_float == cx_ptx_type_float(type) && (!is_float || bytes == wanted);
}

static bool check_register(cx_ptx_parser *self, const cx_ptx_operand *operand, cx_ptx_type type,
                           bool may_be_wider)
{
    /* A special register is a word; PTX of old versions read it with 16 bits. */
    bool special = operand->slot < CX_PTX_SLOTS_FIXED && type != CX_PTX_PRED;

    if (operand->minus || operand->parts_chosen.length)
        return CX_PTX_INVALID_AT(self, "'%.*s' with a sign or with parts, here",
                                 CX_PTX_QUOTE(&operand->token));
    if (operand->type == CX_PTX_B128 && may_be_wider)
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' of 128 bits for a narrower value",
                           CX_PTX_QUOTE(&operand->token));
    if (operand->negated && type != CX_PTX_PRED)
        return CX_PTX_INVALID_AT(self, "'!' before '%.*s', which is read as a number",
                                 CX_PTX_QUOTE(&operand->token));
    if (special || type_fits(operand->type, type, may_be_wider))
        return true;
    if (type == CX_PTX_PRED)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no predicate", CX_PTX_QUOTE(&operand->token));
    if (operand->type == CX_PTX_PRED)
        return CX_PTX_INVALID_AT(self, "'%.*s' is a predicate, not a number",
                                 CX_PTX_QUOTE(&operand->token));
    return CX_PTX_INVALID_AT(self, "the type of '%.*s' does not fit the instruction",
                             CX_PTX_QUOTE(&operand->token));
}

bool cx_ptx_check_part(cx_ptx_parser *self, const cx_ptx_operand *vector, unsigned part,
                       cx_ptx_type type, bool may_be_wider)
{
    cx_ptx_type registered = vector->part_types[part];

    /* A vector's halves may be numbers of any kind: ld.v2.u16 of .f16 registers. */
    if (registered == CX_PTX_F16)
        registered = CX_PTX_B16;
    return type_fits(registered, type, may_be_wider) ||
           CX_PTX_INVALID_AT(self, "the type of part %u does not fit the instruction", part + 1);
}

static uint32_t value_of(cx_ptx_parser *self, const cx_ptx_operand *operand, cx_ptx_type type,
                         bool may_be_wider)
{
    uint32_t slot = operand->slot;
    uint64_t address;

    switch (operand->kind) {
    case CX_PTX_OPERAND_REGISTER:
        if (!check_register(self, operand, type, may_be_wider))
            return CX_PTX_NO_SLOT;
        break;
    case CX_PTX_OPERAND_NUMBER:
        return cx_ptx_constant(self, bits_as(operand, type));
    case CX_PTX_OPERAND_SPECIAL:
        return emit_to_temp(self, (cx_ptx_instruction){.op = (uint16_t)operand->special,
                                                       .mode = operand->special_mode});
    case CX_PTX_OPERAND_VARIABLE:
        return emit_to_temp(self, (cx_ptx_instruction){.op = CX_PTX_ADD_ADDRESS,
                                                       .a = slot,
                                                       .immediate = operand->offset});
    default:
        if (cx_ptx_function_address(self, operand, &address))
            return cx_ptx_constant(self, address);
        CX_PTX_INVALID_AT(self, "'%.*s' cannot be an operand here", CX_PTX_QUOTE(&operand->token));
        return CX_PTX_NO_SLOT;
    }
    if (operand->negated)
        return emit_to_temp(self, (cx_ptx_instruction){.op = CX_PTX_OP_not_pred, .a = slot});
    return slot;
}

uint32_t cx_ptx_value(cx_ptx_parser *self, const cx_ptx_operand *operand, cx_ptx_type type)
{
    return value_of(self, operand, type, false);
}

uint32_t cx_ptx_value_or_wider(cx_ptx_parser *self, const cx_ptx_operand *operand,
                               cx_ptx_type type)
{
    return value_of(self, operand, type, true);
}

static uint32_t result_of(cx_ptx_parser *self, const cx_ptx_operand *operand, cx_ptx_type type,
                          bool may_be_wider)
{
    if (operand->kind == CX_PTX_OPERAND_SINK)
        return cx_ptx_temp(self);
    if (operand->kind != CX_PTX_OPERAND_REGISTER || operand->slot < CX_PTX_SLOTS_FIXED ||
        operand->slot & CX_PTX_CONSTANT_BIT) {
        CX_PTX_INVALID_AT(self, "'%.*s' cannot be written", CX_PTX_QUOTE(&operand->token));
        return CX_PTX_NO_SLOT;
    }
    return check_register(self, operand, type, may_be_wider) ? operand->slot : CX_PTX_NO_SLOT;
}

uint32_t cx_ptx_result(cx_ptx_parser *self, const cx_ptx_operand *operand, cx_ptx_type type)
{
    return result_of(self, operand, type, false);
}

uint32_t cx_ptx_result_or_wider(cx_ptx_parser *self, const cx_ptx_operand *operand,
                                cx_ptx_type type)
{
    return result_of(self, operand, type, true);
}

/*
 * The address of an instruction. A variable brings its own space if the opcode names none; the
 * parameters of a call are in the frame.
 */
bool cx_ptx_take_address(cx_ptx_parser *self, const cx_ptx_statement *statement,
                         const cx_ptx_operand *operand, cx_ptx_space space, bool writes,
                         cx_ptx_instruction *out)
{
    if (operand->kind != CX_PTX_OPERAND_ADDRESS && !operand->is_element)
        return cx_ptx_wrong(self, statement, "an address in brackets is missing");
    if (operand->has_variable) {
        bool suits = (space == CX_PTX_PARAMETER && operand->space == CX_PTX_LOCAL) ||
                     (space == CX_PTX_CLUSTER && operand->space == CX_PTX_SHARED);

        if (space != CX_PTX_GENERIC && space != operand->space && !suits)
            return cx_ptx_wrong(self, statement, "the variable lies in another space");
        space = operand->space;
    } else if (space == CX_PTX_PARAMETER && !cx_ptx_current(self)->kernel) {
        space = CX_PTX_LOCAL; /* the address of a function's parameter lies in a register */
    } else if ((space == CX_PTX_GLOBAL || space == CX_PTX_GENERIC || space == CX_PTX_CONSTANT) &&
               operand->slot >= CX_PTX_SLOTS_FIXED && cx_ptx_type_bytes(operand->type) != 8) {
        return cx_ptx_wrong(self, statement, "an address has 64 bits");
    }
    if (writes && space == CX_PTX_CONSTANT)
        return cx_ptx_wrong(self, statement, "constant memory is only read");
    if (operand->type == CX_PTX_B64 && operand->slot & CX_PTX_CONSTANT_BIT)
        return cx_ptx_wrong(self, statement, "a reference to a texture or surface is no memory");
    out->space = (uint8_t)(space == CX_PTX_CONSTANT ? CX_PTX_GLOBAL : space);
    out->a = operand->slot;
    out->immediate = operand->offset;
    return true;
}
