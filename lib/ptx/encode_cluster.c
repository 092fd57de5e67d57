/* Instructions for clusters of blocks. */
#include "ptx/cluster.h"
#include "ptx/parser.h"

/* barrier.cluster.arrive{.release, .relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}:
 * each access is ordered already. */
bool cx_ptx_encode_cluster_barrier(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_instruction done = {.op = CX_PTX_CLUSTER_ARRIVE};
    cx_ptx_token word;
    bool waits;

    if (!cx_ptx_next_word(&words, &word) || !cx_ptx_token_is(&word, "barrier") ||
        !cx_ptx_next_word(&words, &word) || !cx_ptx_next_word(&words, &word))
        return cx_ptx_unknown(self, statement);
    waits = cx_ptx_token_is(&word, "wait");
    if (!waits && !cx_ptx_token_is(&word, "arrive"))
        return cx_ptx_unknown(self, statement);
    while (cx_ptx_next_word(&words, &word))
        if (!cx_ptx_token_is(&word, "aligned") &&
            !cx_ptx_token_is(&word, waits ? "acquire" : "release") &&
            (waits || !cx_ptx_token_is(&word, "relaxed")))
            return cx_ptx_unknown(self, statement);
    if (waits)
        done.op = CX_PTX_CLUSTER_WAIT;
    return cx_ptx_need(self, statement, 0, 0) && cx_ptx_emit(self, done);
}

/* The type of the address: .u32 or .u64, in each space. */
static cx_ptx_type address_type(const cx_ptx_statement *statement)
{
    cx_ptx_type type = cx_ptx_last_type(&statement->opcode);

    return type == CX_PTX_U32 || type == CX_PTX_U64 ? type : CX_PTX_NO_TYPE;
}

/* mapa{.shared::cluster}.u64 d, a, rank */
bool cx_ptx_encode_mapa(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_MAP_SHARED};
    cx_ptx_type type = address_type(statement);

    if (type == CX_PTX_NO_TYPE)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 3, 3))
        return false;
    done.a = cx_ptx_value(self, &statement->operands[1], type);
    done.b = cx_ptx_value(self, &statement->operands[2], CX_PTX_U32);
    done.d = cx_ptx_result(self, &statement->operands[0], type);
    return done.a != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, done);
}

/* getctarank{.shared::cluster}.u64 rank, a */
bool cx_ptx_encode_getctarank(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_RANK_OF_SHARED};
    cx_ptx_type type = address_type(statement);

    if (type == CX_PTX_NO_TYPE)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    done.a = cx_ptx_value(self, &statement->operands[1], type);
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_U32);
    return done.a != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}
