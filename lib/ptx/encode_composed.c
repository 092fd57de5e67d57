/* Arithmetic that other instructions are composed of: pairs of singles, sums of a single and
 * halves. */
#include "ptx/parser.h"

#include <string.h>

#define HALVES 2

static bool ends_with(const cx_ptx_token *opcode, const char *ending)
{
    size_t length = strlen(ending);

    return opcode->length > length &&
           memcmp(opcode->text + opcode->length - length, ending, length) == 0;
}

/* A temporary single. */
static bool make_single(cx_ptx_parser *self, cx_ptx_operand *out)
{
    *out = (cx_ptx_operand){.kind = CX_PTX_OPERAND_REGISTER,
                            .type = CX_PTX_F32,
                            .slot = cx_ptx_temp(self),
                            .second = CX_PTX_NO_SLOT};
    return out->slot != CX_PTX_NO_SLOT;
}

/* add.rn.f32x2 d, a, b: each half by itself. */
static bool encode_pair(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_operand parts[4], results[HALVES];
    uint32_t wholes[4], d;

    if (!cx_ptx_need(self, statement, 3, 4))
        return false;
    for (int i = 1; i < statement->count; i++)
        if ((wholes[i] = cx_ptx_value(self, &statement->operands[i], CX_PTX_B64)) == CX_PTX_NO_SLOT)
            return false;
    d = cx_ptx_result(self, &statement->operands[0], CX_PTX_B64);
    if (d == CX_PTX_NO_SLOT)
        return false;
    for (uint8_t half = 0; half < HALVES; half++) {
        cx_ptx_statement single = *statement;

        single.opcode.length -= strlen("x2");
        for (int i = 1; i < statement->count; i++) {
            if (!make_single(self, &parts[i]) ||
                !cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_UNPACK,
                                                        .size = 4,
                                                        .mode = half,
                                                        .d = parts[i].slot,
                                                        .a = wholes[i]}))
                return false;
            single.operands[i] = parts[i];
        }
        if (!make_single(self, &results[half]))
            return false;
        single.operands[0] = results[half];
        if (!cx_ptx_encode_computed(self, &single))
            return false;
    }
    return cx_ptx_emit(
        self,
        (cx_ptx_instruction){
            .op = CX_PTX_PACK, .size = 4, .d = d, .a = results[0].slot, .b = results[1].slot});
}

/* add.f32.f16 d, a, c; fma.f32.bf16 d, a, b, c: halves are widened first. */
static bool encode_widened(cx_ptx_parser *self, const cx_ptx_statement *statement,
                           const char *ending, cx_ptx_type type)
{
    cx_ptx_statement single = *statement;
    int halves = statement->count - 2;

    if (!cx_ptx_need(self, statement, 3, 4))
        return false;
    single.opcode.length -= strlen(ending);
    for (int i = 1; i <= halves; i++) {
        uint32_t half = cx_ptx_value(self, &statement->operands[i], type);

        if (half == CX_PTX_NO_SLOT || !make_single(self, &single.operands[i]) ||
            !cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_CONVERT,
                                                    .type = CX_PTX_F32,
                                                    .from = (uint8_t)type,
                                                    .d = single.operands[i].slot,
                                                    .a = half}))
            return false;
    }
    return cx_ptx_encode_computed(self, &single);
}

bool cx_ptx_is_composed(const cx_ptx_token *opcode)
{
    static const char *const pairs[] = {"add", "sub", "mul", "fma", NULL};
    static const char *const sums[] = {"add", "sub", "fma", NULL};

    if (ends_with(opcode, ".f32x2"))
        return cx_ptx_first_word_among(opcode, pairs) && !cx_ptx_has_word(opcode, "sat");
    return (ends_with(opcode, ".f32.f16") || ends_with(opcode, ".f32.bf16")) &&
           cx_ptx_first_word_among(opcode, sums) && !cx_ptx_has_word(opcode, "ftz");
}

bool cx_ptx_encode_composed(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    if (ends_with(&statement->opcode, ".f32x2"))
        return encode_pair(self, statement);
    return ends_with(&statement->opcode, ".bf16")
               ? encode_widened(self, statement, ".bf16", CX_PTX_BF16)
               : encode_widened(self, statement, ".f16", CX_PTX_F16);
}
