/* Atomic operations. They are atomic for other grids too, and for the host. */
#include "ptx/bits.h"
#include "ptx/grid.h"
#include "ptx/minifloat.h"

#include <string.h>

static uint64_t float_sum(cx_ptx_type type, uint64_t old, uint64_t operand, bool flushes)
{
    float narrow, narrow_operand;
    double wide, wide_operand;

    if (type == CX_PTX_F64) {
        memcpy(&wide, &old, sizeof wide);
        memcpy(&wide_operand, &operand, sizeof wide);
        wide += wide_operand;
        memcpy(&old, &wide, sizeof wide);
        return old;
    }
    memcpy(&narrow, &old, sizeof narrow);
    memcpy(&narrow_operand, &operand, sizeof narrow);
    if (flushes)
        narrow = cx_ptx_flush(cx_ptx_flush(narrow) + cx_ptx_flush(narrow_operand));
    else
        narrow += narrow_operand;
    narrow = cx_ptx_number(narrow);
    old = 0;
    memcpy(&old, &narrow, sizeof narrow);
    return old;
}

static const cx_ptx_minifloat *small_of(uint8_t type)
{
    return type == CX_PTX_F16 ? &cx_ptx_f16 : type == CX_PTX_BF16 ? &cx_ptx_bf16 : NULL;
}

static uint64_t sum_of(const cx_ptx_instruction *what, uint64_t old, uint64_t operand, bool flushes)
{
    const cx_ptx_minifloat *small = small_of(what->type), *pairs = small_of(what->from);
    uint32_t a = (uint32_t)old, b = (uint32_t)operand;

    if (small)
        return cx_ptx_minifloat_add(small, a & 0xffff, b & 0xffff, 0);
    if (pairs)
        return cx_ptx_minifloat_pair(cx_ptx_minifloat_add, pairs, a, b, 0);
    return cx_ptx_type_float((cx_ptx_type)what->type)
               ? float_sum((cx_ptx_type)what->type, old, operand, flushes)
               : old + operand;
}

static bool is_less(cx_ptx_type type, uint64_t a, uint64_t b)
{
    a = cx_ptx_extend(type, a);
    b = cx_ptx_extend(type, b);
    return cx_ptx_type_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t result_of(const cx_ptx_instruction *what, uint64_t old, uint64_t operand,
                          bool flushes)
{
    cx_ptx_type type = (cx_ptx_type)what->type;

    switch ((cx_ptx_atomic)what->mode) {
    case CX_PTX_ATOMIC_ADD:
        return sum_of(what, old, operand, flushes);
    case CX_PTX_ATOMIC_MIN:
        return is_less(type, operand, old) ? operand : old;
    case CX_PTX_ATOMIC_MAX:
        return is_less(type, old, operand) ? operand : old;
    case CX_PTX_ATOMIC_AND:
        return old & operand;
    case CX_PTX_ATOMIC_OR:
        return old | operand;
    case CX_PTX_ATOMIC_XOR:
        return old ^ operand;
    case CX_PTX_ATOMIC_INC:
        return old >= (uint32_t)operand ? 0 : old + 1;
    case CX_PTX_ATOMIC_DEC:
        return old == 0 || old > (uint32_t)operand ? operand : old - 1;
    default:
        return operand;
    }
}

uint64_t cx_ptx_atomic_result(const cx_ptx_instruction *what, uint64_t old, uint64_t operand,
                              uint64_t other, bool flushes)
{
    uint64_t mask = UINT64_MAX >> (64 - 8 * what->size);

    if (what->mode == CX_PTX_ATOMIC_SWAP)
        return old == (operand & mask) ? other : old;
    return result_of(what, old, operand, flushes);
}

uint64_t cx_ptx_atomic_load(const cx_ptx_instruction *what, const void *memory)
{
    switch (what->size) {
    case 2:
        return __atomic_load_n((const uint16_t *)memory, __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n((const uint32_t *)memory, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const uint64_t *)memory, __ATOMIC_RELAXED);
    }
}

void cx_ptx_atomic_store(const cx_ptx_instruction *what, void *memory, uint64_t value)
{
    switch (what->size) {
    case 2:
        __atomic_store_n((uint16_t *)memory, (uint16_t)value, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)memory, (uint32_t)value, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)memory, value, __ATOMIC_RELAXED);
    }
}

bool cx_ptx_atomic_exchange(const cx_ptx_instruction *what, void *memory, uint64_t *inout_old,
                            uint64_t value)
{
    uint16_t half = (uint16_t)*inout_old;
    uint32_t word = (uint32_t)*inout_old;
    bool done;

    switch (what->size) {
    case 2:
        done = __atomic_compare_exchange_n((uint16_t *)memory, &half, (uint16_t)value, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        *inout_old = half;
        return done;
    case 4:
        done = __atomic_compare_exchange_n((uint32_t *)memory, &word, (uint32_t)value, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        *inout_old = word;
        return done;
    default:
        return __atomic_compare_exchange_n((uint64_t *)memory, inout_old, value, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
}

/* Processors have this one. */
static bool adds_words(const cx_ptx_instruction *what)
{
    return what->mode == CX_PTX_ATOMIC_ADD && what->size == 4 &&
           (what->type == CX_PTX_U32 || what->type == CX_PTX_S32);
}

uint64_t cx_ptx_atomic_do(const cx_ptx_instruction *what, void *memory, uint64_t operand,
                          uint64_t other, bool flushes)
{
    uint64_t old;

    if (adds_words(what))
        return __atomic_fetch_add((uint32_t *)memory, (uint32_t)operand, __ATOMIC_SEQ_CST);
    old = cx_ptx_atomic_load(what, memory);
    while (!cx_ptx_atomic_exchange(what, memory, &old,
                                   cx_ptx_atomic_result(what, old, operand, other, flushes)))
        continue;
    return old;
}
