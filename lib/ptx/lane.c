/* Operations of ops.def, loads and stores for one lane. */
#include "ptx/lanes.h"

#include "ptx/approximate.h"
#include "ptx/bits.h"
#include "ptx/cell.h"
#include "ptx/grid.h"
#include "ptx/halves.h"
#include "ptx/lane_loop.h"
#include "ptx/minifloat.h"

#include <fenv.h>

#define CELL(field, place) (*(CELL_##field *)cx_ptx_row(cells, place))

#define REACH(writes)                                                                        \
    memory = grid ? cx_ptx_resolve_shared(                                                   \
                        grid, block, at,                                                     \
                        cx_ptx_is_long(at->a) ? CELL(u64, at->a) : CELL(u32, at->a), writes) \
                  : NULL;                                                                    \
    if (!memory)                                                                             \
        return at;
#define LOAD(op, type)                                                                 \
    case op: {                                                                         \
        type value;                                                                    \
                                                                                       \
        REACH(false)                                                                   \
        value = __atomic_load_n((const type *)(const void *)memory, __ATOMIC_RELAXED); \
        if (cx_ptx_is_long(at->d))                                                     \
            CELL(u64, at->d) = (uint64_t)value;                                        \
        else                                                                           \
            CELL(u32, at->d) = (uint32_t)value;                                        \
        break;                                                                         \
    }
#define STORE(op, type)                                                                       \
    case op:                                                                                  \
        REACH(true)                                                                           \
        __atomic_store_n((type *)(void *)memory,                                              \
                         (type)(cx_ptx_is_long(at->d) ? CELL(u64, at->d) : CELL(u32, at->d)), \
                         __ATOMIC_RELAXED);                                                   \
        break;

const cx_ptx_instruction *CX_PTX_LANES_COMPUTE(const cx_ptx_rows *cells,
                                               const cx_ptx_instruction *at,
                                               const cx_ptx_instruction *border,
                                               const cx_ptx_grid *grid, const cx_ptx_block *block);
const cx_ptx_instruction *CX_PTX_LANES_COMPUTE(const cx_ptx_rows *cells,
                                               const cx_ptx_instruction *at,
                                               const cx_ptx_instruction *border,
                                               const cx_ptx_grid *grid, const cx_ptx_block *block)
{
    unsigned char *memory;

    for (; at != border; at++) {
        switch (at->op) {
#define CX_PTX_OP(id, key, arity, fd, fa, fb, fc, value) \
    case CX_PTX_OP_##id: {                               \
        TYPE_##fa a = (TYPE_##fa)CELL(fa, at->a);        \
        TYPE_##fb b = (TYPE_##fb)CELL(fb, at->b);        \
        TYPE_##fc c = (TYPE_##fc)CELL(fc, at->c);        \
                                                         \
        (void)a, (void)b, (void)c;                       \
        CELL(fd, at->d) = BITS_##fd(value);              \
        break;                                           \
    }
#include "ptx/ops.def"
            LOAD(CX_PTX_LOAD_U8, uint8_t)
            LOAD(CX_PTX_LOAD_S8, int8_t)
            LOAD(CX_PTX_LOAD_U16, uint16_t)
            LOAD(CX_PTX_LOAD_S16, int16_t)
            LOAD(CX_PTX_LOAD_U32, uint32_t)
            LOAD(CX_PTX_LOAD_S32, int32_t)
            LOAD(CX_PTX_LOAD_U64, uint64_t)
            STORE(CX_PTX_STORE_8, uint8_t)
            STORE(CX_PTX_STORE_16, uint16_t)
            STORE(CX_PTX_STORE_32, uint32_t)
            STORE(CX_PTX_STORE_64, uint64_t)
        default:
            return at;
        }
    }
    return at;
}
