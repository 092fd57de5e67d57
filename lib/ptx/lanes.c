/* Instructions for all lanes; CX_PTX_LANES is the name of what it defines. */
#include "ptx/lanes.h"

#include "ptx/approximate.h"
#include "ptx/bits.h"
#include "ptx/cell.h"
#include "ptx/direction.h"
#include "ptx/grid.h"
#include "ptx/halves.h"
#include "ptx/lane_loop.h"
#include "ptx/minifloat.h"

#include <fenv.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define COMPUTE(fd, fa, fb, fc, value)        \
    {                                         \
        TYPE_##fa a = (TYPE_##fa)row_a[lane]; \
        TYPE_##fb b = (TYPE_##fb)row_b[lane]; \
        TYPE_##fc c = (TYPE_##fc)row_c[lane]; \
                                              \
        (void)a, (void)b, (void)c;            \
        row_d[lane] = BITS_##fd(value);       \
    }

#define CX_PTX_OP(id, key, arity, fd, fa, fb, fc, value)                                  \
    static void whole_##id(void *d, const void *of_a, const void *of_b, const void *of_c) \
    {                                                                                     \
        CELL_##fd *row_d = d;                                                             \
        const CELL_##fa *row_a = of_a;                                                    \
        const CELL_##fb *row_b = of_b;                                                    \
        const CELL_##fc *row_c = of_c;                                                    \
                                                                                          \
        EACH_LANE (lane)                                                                  \
            COMPUTE(fd, fa, fb, fc, value)                                                \
    }
#define CX_PTX_OP_ROUNDED(id, key, arity, fd, fa, fb, fc, how, plain, value)              \
    static void whole_##id(void *d, const void *of_a, const void *of_b, const void *of_c) \
    {                                                                                     \
        CELL_##fd *row_d = d;                                                             \
        const CELL_##fa *row_a = of_a;                                                    \
        const CELL_##fb *row_b = of_b;                                                    \
        const CELL_##fc *row_c = of_c;                                                    \
        const cx_ptx_direction before = cx_ptx_direction_begin(how);                      \
                                                                                          \
        EACH_LANE (lane)                                                                  \
            COMPUTE(fd, fa, fb, fc, plain)                                                \
        cx_ptx_direction_end(before);                                                     \
    }
#define CX_PTX_OP_USUAL(id, key, arity, fd, fa, fb, fc, usual, plain, value)              \
    static void whole_##id(void *d, const void *of_a, const void *of_b, const void *of_c) \
    {                                                                                     \
        CELL_##fd *row_d = d;                                                             \
        const CELL_##fa *row_a = of_a;                                                    \
        const CELL_##fb *row_b = of_b;                                                    \
        const CELL_##fc *row_c = of_c;                                                    \
        uint32_t others = 0;                                                              \
                                                                                          \
        EACH_LANE (lane) {                                                                \
            const TYPE_##fa a = (TYPE_##fa)row_a[lane];                                   \
            others |= !(usual);                                                           \
        }                                                                                 \
        if (!others) {                                                                    \
            EACH_LANE (lane)                                                              \
                COMPUTE(fd, fa, fb, fc, plain)                                            \
        } else {                                                                          \
            EACH_LANE (lane)                                                              \
                COMPUTE(fd, fa, fb, fc, value)                                            \
        }                                                                                 \
    }
#include "ptx/ops.def"

/* ---- moves ---- */

/* Reads a row of words or longs as longs. */
static inline void widen(uint64_t out[CX_PTX_WARP_SIZE], const cx_ptx_rows *rows, uint32_t place)
{
    const void *row = cx_ptx_row(rows, place);

    if (cx_ptx_is_long(place)) {
        EACH_LANE (lane)
            out[lane] = ((const cx_ptx_long *)row)[lane];
    } else {
        EACH_LANE (lane)
            out[lane] = ((const cx_ptx_word *)row)[lane];
    }
}

static inline void extend(uint64_t values[CX_PTX_WARP_SIZE], cx_ptx_type type)
{
    unsigned shift = 64 - 8 * cx_ptx_type_bytes(type);

    if (shift == 0)
        return;
    if (cx_ptx_type_signed(type)) {
        EACH_LANE (lane)
            values[lane] = (uint64_t)((int64_t)(values[lane] << shift) >> shift);
    } else {
        EACH_LANE (lane)
            values[lane] = values[lane] << shift >> shift;
    }
}

static void pack(uint64_t *d, const cx_ptx_rows *rows, const cx_ptx_instruction *at)
{
    unsigned bits = at->size * 8u;
    uint64_t mask = UINT64_MAX >> (64 - bits), upper[CX_PTX_WARP_SIZE];

    widen(d, rows, at->a);
    widen(upper, rows, at->b);
    EACH_LANE (lane)
        d[lane] = (d[lane] & mask) | (upper[lane] & mask) << bits;
}

static void unpack(uint64_t *d, const cx_ptx_rows *rows, const cx_ptx_instruction *at)
{
    unsigned bits = at->size * 8u, shift = bits * at->mode;
    uint64_t mask = UINT64_MAX >> (64 - bits);

    widen(d, rows, at->a);
    EACH_LANE (lane)
        d[lane] = d[lane] >> shift & mask;
}

static void move(uint64_t *d, const cx_ptx_rows *rows, const cx_ptx_instruction *at)
{
    const uint64_t immediate = (uint64_t)at->immediate;

    switch ((cx_ptx_op)at->op) {
    case CX_PTX_PACK:
        pack(d, rows, at);
        break;
    case CX_PTX_UNPACK:
        unpack(d, rows, at);
        break;
    case CX_PTX_EXTEND:
        widen(d, rows, at->a);
        extend(d, (cx_ptx_type)at->from);
        extend(d, (cx_ptx_type)at->type);
        break;
    default:
        widen(d, rows, at->a);
        EACH_LANE (lane)
            d[lane] += immediate;
    }
}

/* ---- masks ---- */

/* By hand, since compilers make a reduction of 32 words of it. */
static uint32_t truths(const void *words)
{
#if defined __AVX512F__
    const __m512i low = _mm512_loadu_si512(words),
                  high = _mm512_loadu_si512((const cx_ptx_word *)words + 16);

    return _mm512_test_epi32_mask(low, low) |
           (uint32_t)_mm512_test_epi32_mask(high, high) << 16;
#elif defined __AVX2__
    uint32_t zeros = 0;

    for (unsigned first = 0; first < 32; first += 8) {
        const __m256i part =
            _mm256_loadu_si256((const void *)((const cx_ptx_word *)words + first));
        const __m256i is_zero = _mm256_cmpeq_epi32(part, _mm256_setzero_si256());

        zeros |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(is_zero)) << first;
    }
    return ~zeros;
#else
    const cx_ptx_word *row = words;
    uint32_t mask = 0;

    EACH_LANE (lane)
        mask |= (uint32_t)(row[lane] != 0) << lane;
    return mask;
#endif
}

static uint32_t common(const void *words, uint32_t active)
{
    const cx_ptx_word *row = words;
    uint32_t bits = UINT32_MAX;

    EACH_LANE (lane)
        bits &= row[lane] | ((active >> lane & 1) - 1);
    return bits;
}

static void copy_words(void *to, const void *from, uint32_t mask)
{
    cx_ptx_word *row = to;
    const cx_ptx_word *source = from;

#ifdef __AVX512F__
    for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane += 16)
        _mm512_storeu_si512(row + lane, _mm512_mask_loadu_epi32(_mm512_loadu_si512(row + lane),
                                                                (__mmask16)(mask >> lane),
                                                                source + lane));
#else
    EACH_LANE (lane)
        row[lane] = mask >> lane & 1 ? source[lane] : row[lane];
#endif
}

static void copy_longs(void *to, const void *from, uint32_t mask)
{
    cx_ptx_long *row = to;
    const cx_ptx_long *source = from;

#ifdef __AVX512F__
    for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane += 8)
        _mm512_storeu_si512(row + lane, _mm512_mask_loadu_epi64(_mm512_loadu_si512(row + lane),
                                                                (__mmask8)(mask >> lane),
                                                                source + lane));
#else
    EACH_LANE (lane)
        row[lane] = mask >> lane & 1 ? source[lane] : row[lane];
#endif
}

static void copy_halves(void *to, const void *from, uint32_t mask)
{
    cx_ptx_word *row = to;
    const cx_ptx_long *source = from;

    EACH_LANE (lane)
        row[lane] = mask >> lane & 1 ? (uint32_t)source[lane] : row[lane];
}

/* ---- shuffles ---- */

static inline void permute(uint32_t *to, const cx_ptx_word *from, const int32_t *sources)
{
#ifdef __AVX512F__
    const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 16);

    for (int half = 0; half < CX_PTX_WARP_SIZE; half += 16)
        _mm512_storeu_si512(to + half, _mm512_permutex2var_epi32(
                                           low, _mm512_loadu_si512(sources + half), high));
#else
    for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++)
        to[lane] = from[sources[lane]];
#endif
}

/* The operand c: lanes of a segment have the same bits of `mask`; the last one is `clamp`. */
#define SHUFFLE(condition, expression)                                            \
    EACH_LANE (lane) {                                                            \
        const int32_t mask = c[lane] >> 8 & 31, clamp = c[lane] & 31;             \
        const int32_t by = b[lane] & 31, most = (lane & mask) | (clamp & ~mask);  \
        const int32_t source = (expression);                                      \
                                                                                  \
        inside[lane] = (condition);                                               \
        sources[lane] = (condition) ? source & 31 : lane;                         \
    }

static void shuffle(cx_ptx_warp_mode mode, const void *row_b, const void *row_c, const void *from,
                    uint32_t active, void *to, void *row_inside)
{
    const cx_ptx_word *b = row_b, *c = row_c;
    int32_t sources[CX_PTX_WARP_SIZE];
    uint32_t found[CX_PTX_WARP_SIZE], inside[CX_PTX_WARP_SIZE];

    switch (mode) {
    case CX_PTX_WARP_SHUFFLE_UP:
        SHUFFLE(source >= most, lane - by)
        break;
    case CX_PTX_WARP_SHUFFLE_DOWN:
        SHUFFLE(source <= most, lane + by)
        break;
    case CX_PTX_WARP_SHUFFLE_BUTTERFLY:
        SHUFFLE(source <= most, lane ^ by)
        break;
    default:
        SHUFFLE(source <= most, (lane & mask) | (by & ~mask))
    }
    permute(found, from, sources);
    if (active != UINT32_MAX) {
        EACH_LANE (lane)
            found[lane] = active >> sources[lane] & 1 ? found[lane] : 0;
    }
    copy_words(to, found, active);
    if (row_inside)
        copy_words(row_inside, inside, active);
}

const cx_ptx_instruction *CX_PTX_LANES_COMPUTE(const cx_ptx_rows *cells,
                                               const cx_ptx_instruction *at,
                                               const cx_ptx_instruction *border,
                                               const cx_ptx_grid *grid, const cx_ptx_block *block);
bool CX_PTX_LANES_LOAD(const cx_ptx_grid *grid, const cx_ptx_block *block,
                       const cx_ptx_thread *threads, const cx_ptx_rows *rows,
                       const cx_ptx_instruction *at, uint32_t active);
bool CX_PTX_LANES_STORE(const cx_ptx_grid *grid, const cx_ptx_block *block,
                        const cx_ptx_thread *threads, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active);
bool CX_PTX_LANES_REACH(const cx_ptx_access *access, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active,
                        uint32_t offsets[CX_PTX_WARP_SIZE]);
void CX_PTX_LANES_MULTIPLY(const double *restrict a, const double *restrict b,
                           double *restrict c, unsigned rows, unsigned columns, unsigned depth);
extern const cx_ptx_lanes CX_PTX_LANES;

const cx_ptx_lanes CX_PTX_LANES = {
    .name = CX_PTX_LANES_NAME,
#define CX_PTX_OP(id, key, arity, fd, fa, fb, fc, value) .whole[CX_PTX_OP_##id] = whole_##id,
#include "ptx/ops.def"
    .compute = CX_PTX_LANES_COMPUTE,
    .shuffle = shuffle,
    .load = CX_PTX_LANES_LOAD,
    .store = CX_PTX_LANES_STORE,
    .reach = CX_PTX_LANES_REACH,
    .move = move,
    .multiply = CX_PTX_LANES_MULTIPLY,
    .truths = truths,
    .common = common,
    .copy_words = copy_words,
    .copy_longs = copy_longs,
    .copy_halves = copy_halves,
};
