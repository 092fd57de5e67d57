/* Instructions on addresses: between state spaces, and policies of caches. */
#include "ptx/parser.h"

static uint64_t window_of(cx_ptx_space space)
{
    switch (space) {
    case CX_PTX_SHARED:
    case CX_PTX_CLUSTER:
        return CX_PTX_WINDOW_SHARED;
    case CX_PTX_LOCAL:
        return CX_PTX_WINDOW_LOCAL;
    case CX_PTX_PARAMETER:
        return CX_PTX_WINDOW_PARAMETER;
    default:
        return 0;
    }
}

bool cx_ptx_encode_cvta(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_space space = CX_PTX_GENERIC;
    cx_ptx_token word;
    cx_ptx_instruction done = {.op = CX_PTX_TO_WINDOW};
    bool to = false;
    uint64_t window;

    cx_ptx_next_word(&words, &word);
    while (cx_ptx_next_word(&words, &word)) {
        if (cx_ptx_token_is(&word, "to"))
            to = true;
        else if (!cx_ptx_read_space(&word, &space) && !cx_ptx_token_is(&word, "u64"))
            return cx_ptx_unknown(self, statement);
    }
    if (space == CX_PTX_GENERIC)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    window = window_of(space);
    done.immediate = (int64_t)(to ? 0 - window : window);
    done.a = cx_ptx_value(self, &statement->operands[1], CX_PTX_U64);
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_U64);
    return done.a != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

bool cx_ptx_encode_isspacep(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_space space = CX_PTX_GENERIC;
    cx_ptx_token word;
    cx_ptx_instruction done = {.op = CX_PTX_IS_WINDOW};

    cx_ptx_next_word(&words, &word);
    if (!cx_ptx_next_word(&words, &word) || !cx_ptx_read_space(&word, &space))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    if (space == CX_PTX_GLOBAL || space == CX_PTX_CONSTANT)
        done.op = space == CX_PTX_GLOBAL ? CX_PTX_IS_GLOBAL : CX_PTX_IS_CONSTANT;
    const cx_ptx_operand *address = &statement->operands[1];
    bool narrow = address->kind == CX_PTX_OPERAND_REGISTER && cx_ptx_type_bytes(address->type) == 4;
    done.immediate = (int64_t)window_of(space);
    done.space = (uint8_t)space;
    done.a = cx_ptx_value(self, address, narrow ? CX_PTX_U32 : CX_PTX_U64);
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_PRED);
    return done.a != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* createpolicy.fractional.L2::evict_last.b64 policy: no policy changes anything. */
bool cx_ptx_encode_policy(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_OP_mov_b64, .a = CX_PTX_SLOT_ZERO};

    if (!cx_ptx_need(self, statement, 1, 4))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_U64);
    return done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}
