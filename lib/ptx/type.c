#include "ptx/type.h"

#include <string.h>

cx_ptx_type cx_ptx_type_find(const char *text, size_t length)
{
    static const struct {
        const char *text;
        cx_ptx_type type;
    } words[] = {
        {"pred", CX_PTX_PRED}, {"b8", CX_PTX_B8},   {"u8", CX_PTX_U8},     {"s8", CX_PTX_S8},
        {"b16", CX_PTX_B16},   {"u16", CX_PTX_U16}, {"s16", CX_PTX_S16},   {"f16", CX_PTX_F16},
        {"b32", CX_PTX_B32},   {"u32", CX_PTX_U32}, {"s32", CX_PTX_S32},   {"f32", CX_PTX_F32},
        {"b64", CX_PTX_B64},   {"u64", CX_PTX_U64}, {"s64", CX_PTX_S64},   {"f64", CX_PTX_F64},
        {"bf16", CX_PTX_BF16}, {"f16x2", CX_PTX_B32}, {"bf16x2", CX_PTX_B32}, {"u16x2", CX_PTX_B32},
        {"s16x2", CX_PTX_B32}, {"b128", CX_PTX_B128},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i].text) == length && memcmp(words[i].text, text, length) == 0)
            return words[i].type;
    return CX_PTX_NO_TYPE;
}
