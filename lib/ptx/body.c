/* The body of a function: scopes, registers, labels, instructions. */
#include "ptx/growth.h"
#include "ptx/parser.h"

#include <string.h>

#define SCOPES_MAX 64

/* ---- instructions ---- */

static cx_ptx_encoder encoder_of(const cx_ptx_token *opcode)
{
    static const struct {
        const char *word;
        cx_ptx_encoder encode;
    } rows[] = {
        {"ld", cx_ptx_encode_ld},           {"ldu", cx_ptx_encode_ld},
        {"st", cx_ptx_encode_st},           {"mov", cx_ptx_encode_mov},
        {"add", cx_ptx_encode_carry},       {"sub", cx_ptx_encode_carry},
        {"addc", cx_ptx_encode_carry},      {"subc", cx_ptx_encode_carry},
        {"mad", cx_ptx_encode_carry},       {"madc", cx_ptx_encode_carry},
        {"setp", cx_ptx_encode_setp},       {"set", cx_ptx_encode_set},
        {"cvt", cx_ptx_encode_cvt},         {"cvta", cx_ptx_encode_cvta},
        {"bfi", cx_ptx_encode_bfi},         {"lop3", cx_ptx_encode_lop3},
        {"atom", cx_ptx_encode_atom},       {"red", cx_ptx_encode_red},
        {"isspacep", cx_ptx_encode_isspacep}, {"membar", cx_ptx_encode_fence},
        {"fence", cx_ptx_encode_fence},     {"prefetch", cx_ptx_encode_nothing},
        {"prefetchu", cx_ptx_encode_nothing}, {"pmevent", cx_ptx_encode_nothing},
        {"brkpt", cx_ptx_encode_nothing},   {"cp", cx_ptx_encode_cp},
        {"ret", cx_ptx_encode_ret},         {"exit", cx_ptx_encode_exit},
        {"trap", cx_ptx_encode_trap},       {"nanosleep", cx_ptx_encode_pause},
        {"bar", cx_ptx_encode_bar},         {"barrier", cx_ptx_encode_bar},
        {"shfl", cx_ptx_encode_shfl},       {"vote", cx_ptx_encode_vote},
        {"match", cx_ptx_encode_match},     {"redux", cx_ptx_encode_redux},
        {"activemask", cx_ptx_encode_activemask}, {"elect", cx_ptx_encode_elect},
        {"alloca", cx_ptx_encode_alloca},   {"stacksave", cx_ptx_encode_stack},
        {"stackrestore", cx_ptx_encode_stack}, {"mbarrier", cx_ptx_encode_mbarrier},
        {"createpolicy", cx_ptx_encode_policy}, {"discard", cx_ptx_encode_nothing},
        {"applypriority", cx_ptx_encode_nothing}, {"setmaxnreg", cx_ptx_encode_nothing},
        {"griddepcontrol", cx_ptx_encode_nothing}, {"mapa", cx_ptx_encode_mapa},
        {"getctarank", cx_ptx_encode_getctarank}, {"mma", cx_ptx_encode_mma},
        {"wmma", cx_ptx_encode_wmma},       {"ldmatrix", cx_ptx_encode_matrix_rows},
        {"stmatrix", cx_ptx_encode_matrix_rows}, {"movmatrix", cx_ptx_encode_movmatrix},
        {"txq", cx_ptx_encode_texture_query},
        {"suq", cx_ptx_encode_texture_query}, {"istypep", cx_ptx_encode_istypep},
    };
    cx_ptx_token first = cx_ptx_first_word(opcode);

    if (cx_ptx_is_composed(opcode))
        return cx_ptx_encode_composed;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (cx_ptx_token_is(&first, rows[i].word))
            return rows[i].encode;
    if (first.text[0] == 'v')
        return cx_ptx_encode_video;
    return cx_ptx_encode_computed;
}

static bool first_word_is(const cx_ptx_token *opcode, const char *word)
{
    cx_ptx_token first = cx_ptx_first_word(opcode);

    return cx_ptx_token_is(&first, word);
}

static bool take_operands(cx_ptx_parser *self, cx_ptx_statement *statement)
{
    if (cx_ptx_take(self, ";"))
        return true;
    do {
        if (statement->count == CX_PTX_OPERANDS_MAX)
            return cx_ptx_wrong(self, statement, "too many operands");
        if (!cx_ptx_parse_operand(self, &statement->operands[statement->count]))
            return false;
        statement->count++;
    } while (cx_ptx_take(self, ","));
    return cx_ptx_expect(self, ";");
}

/* The policy of a cache changes nothing: it is the last operand of ld.global.L2::cache_hint.u32. */
static bool drop_policy(cx_ptx_statement *statement)
{
    if (memchr(statement->opcode.text, ':', statement->opcode.length) &&
        cx_ptx_has_word(&statement->opcode, "L2::cache_hint") && statement->count > 0)
        statement->count--;
    return true;
}

static bool is_known(const cx_ptx_token *opcode)
{
    cx_ptx_token first = cx_ptx_first_word(opcode);

    if (cx_ptx_token_is(&first, "cp"))
        return !cx_ptx_has_word(opcode, "tensor");
    return encoder_of(opcode) != cx_ptx_encode_computed ||
           cx_ptx_op_family(first.text, first.length);
}

static bool parse_opcode(cx_ptx_parser *self, uint32_t guard, bool unless)
{
    cx_ptx_statement statement = {.count = 0};

    if (!cx_ptx_expect_word(self, &statement.opcode))
        return false;
    if (first_word_is(&statement.opcode, "bra") || first_word_is(&statement.opcode, "brx"))
        return cx_ptx_parse_branch(self, &statement.opcode, guard, unless);
    if (first_word_is(&statement.opcode, "call"))
        return cx_ptx_parse_call(self);
    if (cx_ptx_is_texture(&statement.opcode))
        return cx_ptx_parse_texture(self, &statement.opcode);
    if (take_operands(self, &statement) && drop_policy(&statement))
        return encoder_of(&statement.opcode)(self, &statement);
    /* Operands that nothing here knows belong to an instruction that is not known either. */
    if (self->status != CX_PTX_NO_MEMORY && !is_known(&statement.opcode)) {
        self->status = CX_PTX_SUCCESS;
        return cx_ptx_unknown(self, &statement);
    }
    return false;
}

/* A guarded instruction gets a jump around it; a branch is a guarded jump by itself. */
static bool parse_guarded(cx_ptx_parser *self)
{
    cx_ptx_operand guard;
    size_t jump;
    bool unless;

    cx_ptx_advance(self);
    if (!cx_ptx_parse_operand(self, &guard))
        return false;
    unless = guard.negated;
    if (guard.kind != CX_PTX_OPERAND_REGISTER || guard.type != CX_PTX_PRED)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no predicate", CX_PTX_QUOTE(&guard.token));
    if (first_word_is(&self->token, "bra"))
        return parse_opcode(self, guard.slot, unless);
    jump = self->module->code_count;
    if (!cx_ptx_emit(self, (cx_ptx_instruction){
                               .op = unless ? CX_PTX_BRANCH_IF : CX_PTX_BRANCH_UNLESS,
                               .a = guard.slot}) ||
        !parse_opcode(self, CX_PTX_NO_SLOT, false))
        return false;
    self->module->code[jump].immediate = (int64_t)self->module->code_count;
    return true;
}

bool cx_ptx_parse_instruction(cx_ptx_parser *self)
{
    cx_ptx_begin_temps(self);
    self->line = self->token.line;
    if (cx_ptx_at(self, "@"))
        return parse_guarded(self);
    return parse_opcode(self, CX_PTX_NO_SLOT, false);
}

/* ---- registers ---- */

/* A register of 128 bits takes two slots. */
static uint32_t declare_slots(cx_ptx_parser *self, cx_ptx_type type, uint32_t count)
{
    unsigned bytes = cx_ptx_type_bytes(type);

    if (bytes == 16)
        count = count > UINT32_MAX / 2 ? UINT32_MAX : 2 * count;
    return cx_ptx_register(self, count, bytes >= 8);
}

static bool declare_register(cx_ptx_parser *self, cx_ptx_type type, uint32_t components,
                             size_t scope)
{
    cx_ptx_name name = {
        .kind = CX_PTX_NAME_REGISTER, .type = type, .count = 1, .components = components};
    cx_ptx_token word;
    uint64_t count = 1;

    if (!cx_ptx_expect_word(self, &word))
        return false;
    if (cx_ptx_names_find(&self->names, word.text, word.length, scope))
        return CX_PTX_INVALID_AT(self, "'%.*s' is there twice", CX_PTX_QUOTE(&word));
    if (cx_ptx_take(self, "<")) {
        if (!cx_ptx_expect_number(self, &count) || !cx_ptx_expect(self, ">"))
            return false;
        name.kind = CX_PTX_NAME_REGISTERS;
    }
    name.text = word.text;
    name.length = (uint32_t)word.length;
    name.count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
    if (components && name.count > UINT32_MAX / components)
        name.count = UINT32_MAX / components;
    name.index = declare_slots(self, type, components ? name.count * components : name.count);
    if (name.index == CX_PTX_NO_SLOT)
        return false;
    if (type == CX_PTX_PRED)
        cx_ptx_mark_predicates(self, name.index, name.count);
    return cx_ptx_names_add(&self->names, &name) || cx_ptx_no_memory(self);
}

static bool parse_registers(cx_ptx_parser *self, size_t scope)
{
    uint32_t components = cx_ptx_take(self, ".v2") ? 2 : cx_ptx_take(self, ".v4") ? 4 : 0;
    cx_ptx_type type = cx_ptx_token_type(&self->token);

    if (type == CX_PTX_NO_TYPE || (components && (type == CX_PTX_PRED || type == CX_PTX_B128)))
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "registers of the type '%.*s'",
                           CX_PTX_QUOTE(&self->token));
    cx_ptx_advance(self);
    do {
        if (!declare_register(self, type, components, scope))
            return false;
    } while (cx_ptx_take(self, ","));
    return cx_ptx_expect(self, ";");
}

/* ---- labels ---- */

static bool add_target(cx_ptx_parser *self)
{
    cx_ptx_module *module = self->module;
    void *targets = module->targets, *jumps = self->jumps;
    bool grown = cx_ptx_grow(&targets, module->target_count, &module->target_capacity,
                             sizeof *module->targets);

    module->targets = targets;
    grown = grown &&
            cx_ptx_grow(&jumps, self->jump_count, &self->jump_capacity, sizeof *self->jumps);
    self->jumps = jumps;
    if (!grown)
        return cx_ptx_no_memory(self);
    self->jumps[self->jump_count++] = (cx_ptx_jump){module->target_count, true, self->token};
    module->targets[module->target_count++] = 0;
    cx_ptx_advance(self);
    return true;
}

/* Parses `name: .branchtargets A, B;`. A table begins with the number of its targets. */
static bool parse_targets(cx_ptx_parser *self, uint32_t *out_index)
{
    size_t first = self->module->target_count;

    cx_ptx_advance(self);
    *out_index = (uint32_t)first;
    do {
        if (!add_target(self))
            return false;
        if (self->module->target_count == first + 1) {
            /* The first place is for the count: its jump belongs to the next one. */
            void *targets = self->module->targets;
            if (!cx_ptx_grow(&targets, self->module->target_count,
                             &self->module->target_capacity, sizeof *self->module->targets))
                return cx_ptx_no_memory(self);
            self->module->targets = targets;
            self->module->targets[self->module->target_count++] = 0;
            self->jumps[self->jump_count - 1].code = first + 1;
        }
    } while (cx_ptx_take(self, ","));
    self->module->targets[first] = (uint32_t)(self->module->target_count - first - 1);
    return cx_ptx_expect(self, ";");
}

static bool parse_label(cx_ptx_parser *self, size_t scope)
{
    cx_ptx_name name = {.text = self->token.text,
                        .length = (uint32_t)self->token.length,
                        .kind = CX_PTX_NAME_LABEL,
                        .index = (uint32_t)self->module->code_count};

    self->line = self->token.line;
    if (cx_ptx_names_find(&self->names, name.text, name.length, scope))
        return CX_PTX_INVALID_AT(self, "'%.*s' is there twice", CX_PTX_QUOTE(&self->token));
    cx_ptx_advance(self);
    cx_ptx_advance(self);
    if (cx_ptx_at(self, ".branchtargets")) {
        name.kind = CX_PTX_NAME_TARGETS;
        if (!parse_targets(self, &name.index))
            return false;
    } else if (cx_ptx_at(self, ".callprototype") || cx_ptx_at(self, ".calltargets")) {
        name.kind = CX_PTX_NAME_PROTOTYPE;
        if (!cx_ptx_parse_callees(self, &name.index))
            return false;
    }
    return cx_ptx_names_add(&self->names, &name) || cx_ptx_no_memory(self);
}

/* ---- directives ---- */

static bool parse_directive(cx_ptx_parser *self, size_t scope)
{
    static const struct {
        const char *word;
        cx_ptx_space space;
    } spaces[] = {{".local", CX_PTX_LOCAL},   {".param", CX_PTX_LOCAL},
                  {".shared", CX_PTX_SHARED}, {".global", CX_PTX_GLOBAL},
                  {".const", CX_PTX_CONSTANT}};

    self->line = self->token.line;
    if (cx_ptx_at(self, ".loc") || cx_ptx_at(self, ".file"))
        return cx_ptx_parse_source(self);
    if (cx_ptx_take(self, ".reg"))
        return parse_registers(self, scope);
    if (cx_ptx_take(self, ".pragma")) {
        while (self->token.kind == CX_PTX_STRING || cx_ptx_at(self, ","))
            cx_ptx_advance(self);
        return cx_ptx_expect(self, ";");
    }
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++)
        if (cx_ptx_take(self, spaces[i].word))
            return cx_ptx_parse_variables(self, (cx_ptx_placement){.space = spaces[i].space});
    return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "'%.*s' in a function",
                       CX_PTX_QUOTE(&self->token));
}

static bool parse_statement(cx_ptx_parser *self, size_t scope)
{
    cx_ptx_token next;

    if (cx_ptx_take(self, ";"))
        return true;
    if (self->token.kind == CX_PTX_WORD && self->token.text[0] == '.')
        return parse_directive(self, scope);
    if (self->token.kind == CX_PTX_WORD) {
        next = cx_ptx_peek(self);
        if (cx_ptx_token_is(&next, ":"))
            return parse_label(self, scope);
    }
    return cx_ptx_parse_instruction(self);
}

/* ---- scopes ---- */

typedef struct scope {
    size_t names, jumps;
} scope;

static bool close_scope(cx_ptx_parser *self, const scope *closed)
{
    if (!cx_ptx_resolve_jumps(self, closed->names, closed->jumps))
        return false;
    cx_ptx_names_cut(&self->names, closed->names);
    return true;
}

bool cx_ptx_parse_body(cx_ptx_parser *self)
{
    scope scopes[SCOPES_MAX];
    int depth = 0;

    do {
        if (self->token.kind == CX_PTX_END)
            return CX_PTX_INVALID_AT(self, "the text ends inside a function");
        if (cx_ptx_take(self, "{")) {
            if (depth == SCOPES_MAX)
                return CX_PTX_INVALID_AT(self, "too many braces inside each other");
            scopes[depth++] = (scope){self->names.count, self->jump_count};
        } else if (cx_ptx_at(self, "}")) {
            if (!close_scope(self, &scopes[--depth]))
                return false;
            cx_ptx_advance(self);
        } else if (!parse_statement(self, scopes[depth - 1].names)) {
            return false;
        }
    } while (depth > 0);
    if (self->jump_count == 0)
        return true;
    self->line = self->jumps[0].label.line;
    return CX_PTX_INVALID_AT(self, "no label '%.*s' is known",
                             CX_PTX_QUOTE(&self->jumps[0].label));
}
