#include "ptx/moves.h"

/* Of no more than 32 bits, in words. */
static uint16_t op_of_narrow(cx_ptx_type type)
{
    bool is_signed = cx_ptx_type_signed(type);

    switch (cx_ptx_type_bytes(type)) {
    case 1:
        return is_signed ? CX_PTX_OP_move_s32_s8 : CX_PTX_OP_move_u32_u8;
    case 2:
        return is_signed ? CX_PTX_OP_move_s32_s16 : CX_PTX_OP_move_u32_u16;
    case 4:
    case 8:
        return CX_PTX_OP_mov_b32;
    default:
        return CX_PTX_NO_OP;
    }
}

/* From a word to a word: the narrower type counts, unless the wider one cuts off its signs. */
static uint16_t op_of_words(cx_ptx_type from, cx_ptx_type to)
{
    unsigned narrow = cx_ptx_type_bytes(from), wide = cx_ptx_type_bytes(to);

    if (wide <= narrow)
        return op_of_narrow(to);
    if (wide < 4 && cx_ptx_type_signed(from) && !cx_ptx_type_signed(to))
        return CX_PTX_NO_OP;
    return op_of_narrow(from);
}

/* From a word to a long of 64 bits. */
static uint16_t op_of_widening(cx_ptx_type from)
{
    bool is_signed = cx_ptx_type_signed(from);

    switch (cx_ptx_type_bytes(from)) {
    case 2:
        return is_signed ? CX_PTX_OP_move_s64_s16 : CX_PTX_OP_move_u64_u16;
    case 4:
        return is_signed ? CX_PTX_OP_move_s64_s32 : CX_PTX_OP_move_u64_u32;
    case 8:
        return CX_PTX_OP_move_u64_u32; /* the register has no more */
    default:
        return CX_PTX_NO_OP;
    }
}

static uint16_t op_of_extension(const cx_ptx_instruction *at, cx_ptx_type from, cx_ptx_type to)
{
    if (from == CX_PTX_PRED || to == CX_PTX_PRED)
        return CX_PTX_NO_OP;
    if (!cx_ptx_is_long(at->a) && !cx_ptx_is_long(at->d))
        return op_of_words(from, to);
    if (!cx_ptx_is_long(at->a))
        return cx_ptx_type_bytes(to) == 8 ? op_of_widening(from) : CX_PTX_NO_OP;
    if (!cx_ptx_is_long(at->d))
        return cx_ptx_type_bytes(from) >= 4 && cx_ptx_type_bytes(to) >= 4 ? CX_PTX_OP_move_u32_u64
                                                                          : CX_PTX_NO_OP;
    return cx_ptx_type_bytes(from) == 8 && cx_ptx_type_bytes(to) == 8 ? CX_PTX_OP_mov_b64
                                                                      : CX_PTX_NO_OP;
}

static uint16_t op_of_part(const cx_ptx_instruction *at)
{
    if (cx_ptx_is_long(at->d))
        return CX_PTX_NO_OP;
    if (at->size == 4 && cx_ptx_is_long(at->a))
        return at->mode == 0   ? CX_PTX_OP_move_u32_u64
               : at->mode == 1 ? CX_PTX_OP_move_upper_u64
                               : CX_PTX_NO_OP;
    if (at->size == 2 && !cx_ptx_is_long(at->a))
        return at->mode == 0   ? CX_PTX_OP_move_u32_u16
               : at->mode == 1 ? CX_PTX_OP_move_upper_u32
                               : CX_PTX_NO_OP;
    return CX_PTX_NO_OP;
}

static uint16_t op_of_pair(const cx_ptx_instruction *at)
{
    if (cx_ptx_is_long(at->a) || cx_ptx_is_long(at->b))
        return CX_PTX_NO_OP;
    if (at->size == 4 && cx_ptx_is_long(at->d))
        return CX_PTX_OP_pack_u64;
    return at->size == 2 && !cx_ptx_is_long(at->d) ? CX_PTX_OP_pack_u32 : CX_PTX_NO_OP;
}

static uint16_t op_of(const cx_ptx_instruction *at)
{
    switch ((cx_ptx_op)at->op) {
    case CX_PTX_EXTEND:
        return op_of_extension(at, (cx_ptx_type)at->from, (cx_ptx_type)at->type);
    case CX_PTX_ADD_ADDRESS:
    case CX_PTX_TO_WINDOW:
        return at->immediate == 0 ? op_of_extension(at, CX_PTX_B64, CX_PTX_B64) : CX_PTX_NO_OP;
    case CX_PTX_UNPACK:
        return op_of_part(at);
    case CX_PTX_PACK:
        return op_of_pair(at);
    default:
        return CX_PTX_NO_OP;
    }
}

void cx_ptx_moves_find(cx_ptx_module *module)
{
    for (size_t i = 0; i < module->code_count; i++) {
        cx_ptx_instruction *at = &module->code[i];
        uint16_t op = op_of(at);

        if (op != CX_PTX_NO_OP)
            at->op = op;
    }
}
