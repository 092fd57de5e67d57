/* Control flow, and joint operations of threads. */
#include "ptx/growth.h"
#include "ptx/parser.h"

/* ---- branches ---- */

static bool add_jump(cx_ptx_parser *self, size_t code, bool in_table)
{
    void *jumps = self->jumps;
    bool grown =
        cx_ptx_grow(&jumps, self->jump_count, &self->jump_capacity, sizeof *self->jumps);

    self->jumps = jumps;
    if (!grown)
        return cx_ptx_no_memory(self);
    self->jumps[self->jump_count++] = (cx_ptx_jump){code, in_table, self->token};
    cx_ptx_advance(self);
    return true;
}

static bool parse_indexed(cx_ptx_parser *self)
{
    cx_ptx_operand index;
    cx_ptx_instruction done = {.op = CX_PTX_BRANCH_INDEX};

    if (!cx_ptx_parse_operand(self, &index) || !cx_ptx_expect(self, ","))
        return false;
    done.a = cx_ptx_value(self, &index, CX_PTX_U32);
    if (done.a == CX_PTX_NO_SLOT || !cx_ptx_emit(self, done))
        return false;
    if (self->token.kind != CX_PTX_WORD)
        return CX_PTX_INVALID_AT(self, "the name of a list of targets is missing");
    return add_jump(self, self->module->code_count - 1, false) && cx_ptx_expect(self, ";");
}

bool cx_ptx_parse_branch(cx_ptx_parser *self, const cx_ptx_token *opcode, uint32_t guard,
                         bool unless)
{
    cx_ptx_instruction done = {.op = CX_PTX_BRANCH, .a = guard};

    if (cx_ptx_has_word(opcode, "brx"))
        return parse_indexed(self);
    if (guard != CX_PTX_NO_SLOT)
        done.op = unless ? CX_PTX_BRANCH_UNLESS : CX_PTX_BRANCH_IF;
    if (self->token.kind != CX_PTX_WORD)
        return CX_PTX_INVALID_AT(self, "a label is missing before '%.*s'",
                                 CX_PTX_QUOTE(&self->token));
    return cx_ptx_emit(self, done) && add_jump(self, self->module->code_count - 1, false) &&
           cx_ptx_expect(self, ";");
}

static uint16_t backwards(uint16_t op)
{
    switch (op) {
    case CX_PTX_BRANCH:
        return CX_PTX_BRANCH_BACK;
    case CX_PTX_BRANCH_IF:
        return CX_PTX_BRANCH_IF_BACK;
    case CX_PTX_BRANCH_UNLESS:
        return CX_PTX_BRANCH_UNLESS_BACK;
    default:
        return op;
    }
}

static bool resolve_jump(cx_ptx_parser *self, const cx_ptx_jump *jump, const cx_ptx_name *label)
{
    cx_ptx_instruction *code = self->module->code;

    if (jump->in_table) {
        self->module->targets[jump->code] = label->index;
        return label->kind == CX_PTX_NAME_LABEL;
    }
    if ((code[jump->code].op == CX_PTX_BRANCH_INDEX) != (label->kind == CX_PTX_NAME_TARGETS))
        return false;
    code[jump->code].immediate = label->index;
    if (label->kind == CX_PTX_NAME_LABEL && label->index <= jump->code)
        code[jump->code].op = backwards(code[jump->code].op);
    return true;
}

/* Keeps jumps to unknown labels: an outer scope may still define them. */
bool cx_ptx_resolve_jumps(cx_ptx_parser *self, size_t from, size_t first_jump)
{
    size_t kept = first_jump;

    for (size_t i = first_jump; i < self->jump_count; i++) {
        const cx_ptx_jump *jump = &self->jumps[i];
        const cx_ptx_name *label =
            cx_ptx_names_find(&self->names, jump->label.text, jump->label.length, from);

        if (!label || (label->kind != CX_PTX_NAME_LABEL && label->kind != CX_PTX_NAME_TARGETS))
            self->jumps[kept++] = *jump;
        else if (!resolve_jump(self, jump, label))
            return CX_PTX_INVALID_AT(self, "'%.*s' cannot be jumped to",
                                     CX_PTX_QUOTE(&jump->label));
    }
    self->jump_count = kept;
    return true;
}

/* ---- endings ---- */

bool cx_ptx_encode_ret(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    uint16_t op = cx_ptx_current(self)->kernel ? CX_PTX_EXIT : CX_PTX_RETURN;

    return cx_ptx_need(self, statement, 0, 0) && cx_ptx_emit(self, (cx_ptx_instruction){.op = op});
}

bool cx_ptx_encode_exit(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    return cx_ptx_need(self, statement, 0, 0) &&
           cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_EXIT});
}

bool cx_ptx_encode_trap(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    return cx_ptx_need(self, statement, 0, 0) &&
           cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_TRAPPED});
}

bool cx_ptx_encode_pause(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    if (cx_ptx_last_type(&statement->opcode) != CX_PTX_U32)
        return cx_ptx_unknown(self, statement);
    return cx_ptx_need(self, statement, 1, 1) &&
           cx_ptx_value(self, &statement->operands[0], CX_PTX_U32) != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PAUSE});
}

/* ---- barriers ---- */

/* bar.warp.sync mask */
static bool encode_warp_barrier(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_WARP, .mode = CX_PTX_WARP_SYNC, .site = CX_PTX_NO_SLOT};

    if (!cx_ptx_need(self, statement, 1, 1))
        return false;
    done.e = cx_ptx_value(self, &statement->operands[0], CX_PTX_U32);
    return done.e != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* bar.red.and.pred p, a {, b}, q */
static bool encode_reduction(cx_ptx_parser *self, const cx_ptx_statement *statement,
                             cx_ptx_instruction done)
{
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    int last = statement->count - 1;

    if (!cx_ptx_need(self, statement, 3, 4))
        return false;
    if (cx_ptx_has_word(&statement->opcode, "popc"))
        done.mode = CX_PTX_REDUCE_COUNT;
    else if (cx_ptx_has_word(&statement->opcode, "and"))
        done.mode = CX_PTX_REDUCE_AND;
    else if (cx_ptx_has_word(&statement->opcode, "or"))
        done.mode = CX_PTX_REDUCE_OR;
    else
        return cx_ptx_unknown(self, statement);
    if (type != (done.mode == CX_PTX_REDUCE_COUNT ? CX_PTX_U32 : CX_PTX_PRED))
        return cx_ptx_unknown(self, statement);
    done.d = cx_ptx_result(self, &statement->operands[0], type);
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_U32);
    done.b = last == 3 ? cx_ptx_value(self, &statement->operands[2], CX_PTX_U32)
                       : CX_PTX_SLOT_ZERO;
    done.c = cx_ptx_value(self, &statement->operands[last], CX_PTX_PRED);
    return done.d != CX_PTX_NO_SLOT && done.a != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT &&
           done.c != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

bool cx_ptx_encode_bar(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_token *opcode = &statement->opcode;
    cx_ptx_instruction done = {.op = CX_PTX_BARRIER, .mode = CX_PTX_REDUCE_NONE};

    done.from = cx_ptx_has_word(opcode, "barrier") && !cx_ptx_has_word(opcode, "aligned");
    if (cx_ptx_has_word(opcode, "cluster"))
        return cx_ptx_encode_cluster_barrier(self, statement);
    if (cx_ptx_has_word(opcode, "warp"))
        return encode_warp_barrier(self, statement);
    if (cx_ptx_has_word(opcode, "red"))
        return encode_reduction(self, statement, done);
    if (cx_ptx_has_word(opcode, "arrive"))
        done.op = CX_PTX_BARRIER_ARRIVE;
    else if (!cx_ptx_has_word(opcode, "sync"))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, done.op == CX_PTX_BARRIER ? 1 : 2, 2))
        return false;
    done.a = cx_ptx_value(self, &statement->operands[0], CX_PTX_U32);
    done.b = statement->count == 2 ? cx_ptx_value(self, &statement->operands[1], CX_PTX_U32)
                                   : CX_PTX_SLOT_ZERO;
    return done.a != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* ---- warps ---- */

/* Without .sync, in older PTX: the lanes that are present (size: 1). */
static uint32_t mask_of(cx_ptx_parser *self, const cx_ptx_statement *statement, int at,
                        cx_ptx_instruction *out)
{
    out->size = !cx_ptx_has_word(&statement->opcode, "sync");
    if (out->size)
        return cx_ptx_constant(self, UINT32_MAX);
    return cx_ptx_value(self, &statement->operands[at], CX_PTX_U32);
}

static bool emit_warp(cx_ptx_parser *self, const cx_ptx_statement *statement,
                      cx_ptx_instruction done)
{
    done.op = CX_PTX_WARP;
    done.site = statement->operands[0].second;
    if (done.d == CX_PTX_NO_SLOT || done.a == CX_PTX_NO_SLOT || done.b == CX_PTX_NO_SLOT ||
        done.c == CX_PTX_NO_SLOT || done.e == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit(self, done);
}

bool cx_ptx_encode_shfl(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_token *opcode = &statement->opcode;
    int operands = cx_ptx_has_word(opcode, "sync") ? 5 : 4;
    cx_ptx_instruction done = {.mode = CX_PTX_WARP_SYNC};

    if (cx_ptx_has_word(opcode, "up"))
        done.mode = CX_PTX_WARP_SHUFFLE_UP;
    else if (cx_ptx_has_word(opcode, "down"))
        done.mode = CX_PTX_WARP_SHUFFLE_DOWN;
    else if (cx_ptx_has_word(opcode, "bfly"))
        done.mode = CX_PTX_WARP_SHUFFLE_BUTTERFLY;
    else if (cx_ptx_has_word(opcode, "idx"))
        done.mode = CX_PTX_WARP_SHUFFLE_INDEX;
    else
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, operands, operands))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_B32);
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_B32);
    done.b = cx_ptx_value(self, &statement->operands[2], CX_PTX_B32);
    done.c = cx_ptx_value(self, &statement->operands[3], CX_PTX_B32);
    done.e = mask_of(self, statement, 4, &done);
    return emit_warp(self, statement, done);
}

bool cx_ptx_encode_vote(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_token *opcode = &statement->opcode;
    int operands = cx_ptx_has_word(opcode, "sync") ? 3 : 2;
    cx_ptx_instruction done = {.mode = CX_PTX_WARP_SYNC};
    cx_ptx_type type = cx_ptx_has_word(opcode, "ballot") ? CX_PTX_B32 : CX_PTX_PRED;

    if (cx_ptx_last_type(opcode) != type)
        return cx_ptx_unknown(self, statement);
    if (cx_ptx_has_word(opcode, "all"))
        done.mode = CX_PTX_WARP_ALL;
    else if (cx_ptx_has_word(opcode, "any"))
        done.mode = CX_PTX_WARP_ANY;
    else if (cx_ptx_has_word(opcode, "uni"))
        done.mode = CX_PTX_WARP_UNIFORM;
    else if (cx_ptx_has_word(opcode, "ballot"))
        done.mode = CX_PTX_WARP_BALLOT;
    else
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, operands, operands))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], type);
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_PRED);
    done.e = mask_of(self, statement, 2, &done);
    return emit_warp(self, statement, done);
}

bool cx_ptx_encode_match(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    cx_ptx_instruction done = {.type = (uint8_t)type};

    if (type != CX_PTX_B32 && type != CX_PTX_B64)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 3, 3))
        return false;
    if (cx_ptx_has_word(&statement->opcode, "all"))
        done.mode = CX_PTX_WARP_MATCH_ALL;
    else if (cx_ptx_has_word(&statement->opcode, "any"))
        done.mode = CX_PTX_WARP_MATCH_ANY;
    else
        return cx_ptx_unknown(self, statement);
    if (done.mode == CX_PTX_WARP_MATCH_ANY && statement->operands[0].second != CX_PTX_NO_SLOT)
        return cx_ptx_wrong(self, statement, "only match.all has a second result");
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_B32);
    done.a = cx_ptx_value(self, &statement->operands[1], type);
    done.e = cx_ptx_value(self, &statement->operands[2], CX_PTX_U32);
    return emit_warp(self, statement, done);
}

bool cx_ptx_encode_redux(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    static const struct {
        const char *word;
        cx_ptx_warp_mode mode;
    } words[] = {{"add", CX_PTX_WARP_REDUCE_ADD}, {"min", CX_PTX_WARP_REDUCE_MIN},
                 {"max", CX_PTX_WARP_REDUCE_MAX}, {"and", CX_PTX_WARP_REDUCE_AND},
                 {"or", CX_PTX_WARP_REDUCE_OR},   {"xor", CX_PTX_WARP_REDUCE_XOR}};
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);
    cx_ptx_instruction done = {.type = (uint8_t)type};
    bool of_bits;

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (cx_ptx_has_word(&statement->opcode, words[i].word))
            done.mode = (uint8_t)words[i].mode;
    if (type == CX_PTX_F32) {
        bool absolute = cx_ptx_has_word(&statement->opcode, "abs");
        bool keeps_nan = cx_ptx_has_word(&statement->opcode, "NaN");

        done.from = (uint8_t)((absolute ? CX_PTX_REDUCE_ABSOLUTE : 0) |
                              (keeps_nan ? CX_PTX_REDUCE_KEEPS_NAN : 0));
        if (done.mode != CX_PTX_WARP_REDUCE_MIN && done.mode != CX_PTX_WARP_REDUCE_MAX)
            return cx_ptx_unknown(self, statement);
    }
    of_bits = done.mode == CX_PTX_WARP_REDUCE_AND || done.mode == CX_PTX_WARP_REDUCE_OR ||
              done.mode == CX_PTX_WARP_REDUCE_XOR;
    if (done.mode == CX_PTX_WARP_SYNC ||
        (of_bits ? type != CX_PTX_B32
                 : type != CX_PTX_U32 && type != CX_PTX_S32 && type != CX_PTX_F32))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 3, 3))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], type);
    done.a = cx_ptx_value(self, &statement->operands[1], type);
    done.e = cx_ptx_value(self, &statement->operands[2], CX_PTX_U32);
    return emit_warp(self, statement, done);
}

bool cx_ptx_encode_elect(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.mode = CX_PTX_WARP_ELECT};

    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_B32);
    done.e = cx_ptx_value(self, &statement->operands[1], CX_PTX_U32);
    return emit_warp(self, statement, done);
}

/* alloca.u64 address, bytes {, alignment} */
bool cx_ptx_encode_alloca(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_ALLOCATE, .align = 16};
    uint64_t align = statement->count == 3 ? statement->operands[2].bits : 8;

    if (cx_ptx_last_type(&statement->opcode) != CX_PTX_U64 || align > 128)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 2, 3))
        return false;
    if (align == 0 || (align & (align - 1)))
        return cx_ptx_wrong(self, statement, "an alignment must be a power of two");
    done.align = (uint8_t)(align < 16 ? 16 : align);
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_U64);
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_U64);
    cx_ptx_current(self)->allocates = true;
    return done.d != CX_PTX_NO_SLOT && done.a != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* stacksave.u64 d, stackrestore.u64 a */
bool cx_ptx_encode_stack(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_OP_mov_b64, .a = CX_PTX_SLOT_TOP};

    if (cx_ptx_last_type(&statement->opcode) != CX_PTX_U64)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 1, 1))
        return false;
    if (statement->opcode.text[5] == 's') {
        done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_U64);
    } else {
        done.op = CX_PTX_RESTORE;
        done.a = cx_ptx_value(self, &statement->operands[0], CX_PTX_U64);
    }
    return done.d != CX_PTX_NO_SLOT && done.a != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

bool cx_ptx_encode_activemask(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_ACTIVE_MASK};

    if (!cx_ptx_need(self, statement, 1, 1))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_B32);
    return done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}
