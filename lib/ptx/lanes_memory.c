/* Loads and stores of all lanes, or of the active ones. */
#include "ptx/lanes.h"

#include "ptx/lane_loop.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif
#include <string.h>

/*
 * Other threads may use the same memory at the same time. A lane's value is aligned, and processors
 * with vectors load and store each of them at once; ThreadSanitizer must be told.
 */
#if defined(__SANITIZE_THREAD__)
#define READ(from) __atomic_load_n(from, __ATOMIC_RELAXED)
#define WRITE(to, value) __atomic_store_n(to, value, __ATOMIC_RELAXED)
#else
#define READ(from) (*(from))
#define WRITE(to, value) (*(to) = (value))
#endif

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll_count(8)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

#define HALF (CX_PTX_WARP_SIZE / 2)
#define INLINED inline __attribute__((always_inline))

typedef uint8_t cell_u8 __attribute__((may_alias));
typedef int8_t cell_s8 __attribute__((may_alias));
typedef uint16_t cell_u16 __attribute__((may_alias));
typedef int16_t cell_s16 __attribute__((may_alias));
typedef int32_t cell_s32 __attribute__((may_alias));

/* HALVES: two runs of half a warp each; TWO: two places, one for each half: rows and columns of
 * tiles of 16. PARTLY: of the active lanes alone. */
typedef enum pattern {
    OUTSIDE,
    SCATTERED,
    UNIFORM,
    CONSECUTIVE,
    HALVES,
    TWO,
    PARTLY_SCATTERED,
    PARTLY_CONSECUTIVE
} pattern;

/* The places of all lanes in the access's memory. */
typedef struct places {
    uint64_t first;                     /* the place of the first active lane */
    uint64_t second;                    /* of HALVES: the place of lane 16 */
    uint32_t offsets[CX_PTX_WARP_SIZE]; /* if they are SCATTERED */
} places;

static inline bool has(uint32_t lanes, int lane)
{
    return lanes >> lane & 1;
}

/* True if the rows differ; `bytes` is a multiple of 64. */
static inline bool differ(const void *one, const void *other, size_t bytes)
{
#if defined(__AVX512F__)
    __mmask16 found = 0;

    for (size_t i = 0; i < bytes; i += 64)
        found |= _mm512_cmpneq_epi32_mask(_mm512_loadu_si512((const char *)one + i),
                                          _mm512_loadu_si512((const char *)other + i));
    return found;
#elif defined(__AVX2__)
    __m256i found = _mm256_setzero_si256();

    for (size_t i = 0; i < bytes; i += 32)
        found = _mm256_or_si256(
            found,
            _mm256_xor_si256(
                _mm256_loadu_si256((const __m256i *)(const void *)((const char *)one + i)),
                _mm256_loadu_si256((const __m256i *)(const void *)((const char *)other + i))));
    return !_mm256_testz_si256(found, found);
#else
    return memcmp(one, other, bytes) != 0;
#endif
}

/* All bits, if the lane is active. */
#define ALL_OR_NONE(type, lane) ((type)0 - ((type)active >> (type)(lane) & 1))

/* The pattern of places in memory that may begin at `end` - 1 at most. Only a pattern that the
 * places of some lanes allow is compared with all. */
#define FILL_EXPECTED(type, expression) \
    EACH_LANE (lane)                    \
        expected[lane] = (type)(expression);
#define DEFINE_FIND(type)                                                                         \
    static INLINED pattern find_among_##type(const cx_ptx_access *access, const type *at_lane,    \
                                            const type step, places *out)                         \
    {                                                                                             \
        const type first = at_lane[0], second = at_lane[HALF], middle = at_lane[HALF - 1];        \
        const type last = at_lane[CX_PTX_WARP_SIZE - 1];                                          \
        const type limit = (type)access->end, low = (type)access->begin;                          \
        const type unaligned = access->unaligned;                                                 \
        const bool are_inside = first < limit && last < limit && !((first + low) & unaligned);    \
        const bool are_even = are_inside && !(step & unaligned);                                  \
        const size_t bytes = sizeof(type) * CX_PTX_WARP_SIZE;                                     \
        type expected[CX_PTX_WARP_SIZE], wrong = 0;                                               \
                                                                                                  \
        out->first = first;                                                                       \
        out->second = second;                                                                     \
        if (last >= first && last - first == step * 31) {                                         \
            FILL_EXPECTED(type, first + step * (type)lane)                                        \
            if (!differ(expected, at_lane, bytes))                                                \
                return are_even ? CONSECUTIVE : OUTSIDE;                                          \
        }                                                                                         \
        if (last == first && middle == first) {                                                   \
            FILL_EXPECTED(type, first)                                                            \
            if (!differ(expected, at_lane, bytes))                                                \
                return are_inside ? UNIFORM : OUTSIDE;                                            \
        }                                                                                         \
        if (middle >= first && last >= second && middle - first == step * 15 &&                   \
            last - second == step * 15) {                                                         \
            FILL_EXPECTED(type, (lane < HALF ? first : second) + step * (type)(lane % HALF))      \
            if (!differ(expected, at_lane, bytes))                                                \
                return are_even && middle < limit && second < limit &&                            \
                               !((second + low) & unaligned)                                      \
                           ? HALVES                                                               \
                           : OUTSIDE;                                                             \
        }                                                                                         \
        if (middle == first && last == second) {                                                  \
            FILL_EXPECTED(type, lane < HALF ? first : second)                                     \
            if (!differ(expected, at_lane, bytes))                                                \
                return are_inside && second < limit && !((second + low) & unaligned) ? TWO        \
                                                                                     : OUTSIDE;   \
        }                                                                                         \
        EACH_LANE (lane)                                                                          \
            wrong |= (type)(at_lane[lane] >= limit) | ((at_lane[lane] + low) & unaligned);        \
        return wrong ? OUTSIDE : SCATTERED;                                                       \
    }                                                                                             \
                                                                                                  \
    /* The same of some lanes. */                                                                 \
    static INLINED pattern find_some_among_##type(const cx_ptx_access *access,                    \
                                                 const type *at_lane, const type step,            \
                                                 uint32_t active, places *out)                    \
    {                                                                                             \
        const int begins_at = __builtin_ctz(active);                                              \
        const type first = at_lane[begins_at], last = at_lane[31 - __builtin_clz(active)];        \
        const type limit = (type)access->end, low = (type)access->begin;                          \
        const type unaligned = access->unaligned;                                                 \
        type wrong = 0, uneven = step & unaligned;                                                \
                                                                                                  \
        out->first = first;                                                                       \
        EACH_LANE (lane)                                                                          \
            uneven |= ALL_OR_NONE(type, lane) &                                                   \
                      (at_lane[lane] ^ (first + step * (type)(lane - begins_at)));                \
        if (!uneven && last >= first && last < limit && !((first + low) & unaligned))             \
            return PARTLY_CONSECUTIVE;                                                            \
        EACH_LANE (lane)                                                                          \
            wrong |= ALL_OR_NONE(type, lane) &                                                    \
                     ((type)(at_lane[lane] >= limit) | ((at_lane[lane] + low) & unaligned));      \
        return wrong ? OUTSIDE : PARTLY_SCATTERED;                                                \
    }

DEFINE_FIND(uint32_t)
DEFINE_FIND(uint64_t)

/* The row's words are offsets into shared memory or parameters. */
static pattern find_words(const cx_ptx_access *access, const cx_ptx_word *row,
                          const cx_ptx_instruction *at, uint32_t active, places *out)
{
    const uint32_t plus = (uint32_t)access->immediate;

    EACH_LANE (lane)
        out->offsets[lane] = row[lane] + plus;
    return active == UINT32_MAX
               ? find_among_uint32_t(access, out->offsets, at->size, out)
               : find_some_among_uint32_t(access, out->offsets, at->size, active, out);
}

static inline void find_offsets(const cx_ptx_access *access, const cx_ptx_rows *rows,
                                const cx_ptx_instruction *at, uint64_t offsets[CX_PTX_WARP_SIZE],
                                places *out)
{
    const uint64_t mask = access->mask, begin = access->begin, plus = access->immediate;
    const void *row = cx_ptx_row(rows, at->a);

    if (cx_ptx_is_long(at->a)) {
        EACH_LANE (lane)
            offsets[lane] = ((((const cx_ptx_long *)row)[lane] + plus) & mask) - begin;
    } else {
        EACH_LANE (lane)
            offsets[lane] = ((((const cx_ptx_word *)row)[lane] + plus) & mask) - begin;
    }
    EACH_LANE (lane)
        out->offsets[lane] = (uint32_t)offsets[lane];
}

/* Most memory has less than 4 GiB: then only the lower halves count. */
static pattern find_longs(const cx_ptx_access *access, const cx_ptx_rows *rows,
                          const cx_ptx_instruction *at, places *out)
{
    uint64_t offsets[CX_PTX_WARP_SIZE], high = 0;

    find_offsets(access, rows, at, offsets, out);
    EACH_LANE (lane)
        high |= offsets[lane];
    return high >> 32 == 0 && access->end <= UINT32_MAX
               ? find_among_uint32_t(access, out->offsets, at->size, out)
               : find_among_uint64_t(access, offsets, at->size, out);
}

static pattern find_longs_of_some(const cx_ptx_access *access, const cx_ptx_rows *rows,
                                  const cx_ptx_instruction *at, uint32_t active, places *out)
{
    uint64_t offsets[CX_PTX_WARP_SIZE], high = 0;

    find_offsets(access, rows, at, offsets, out);
    EACH_LANE (lane)
        high |= ALL_OR_NONE(uint64_t, lane) & offsets[lane];
    return high >> 32 == 0 && access->end <= UINT32_MAX
               ? find_some_among_uint32_t(access, out->offsets, at->size, active, out)
               : find_some_among_uint64_t(access, offsets, at->size, active, out);
}

/* Each lane has memory of its own. */
static pattern find_own(const cx_ptx_access *access, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active, places *out)
{
    const uint64_t end = access->end, unaligned = access->unaligned;
    const uint32_t stride = access->stride;
    uint64_t offsets[CX_PTX_WARP_SIZE], wrong = 0;

    find_offsets(access, rows, at, offsets, out);
    EACH_LANE (lane)
        wrong |= ALL_OR_NONE(uint64_t, lane) &
                 ((uint64_t)(offsets[lane] >= end) | (offsets[lane] & unaligned));
    EACH_LANE (lane)
        out->offsets[lane] += stride * (uint32_t)lane;
    out->first = 0;
    return wrong ? OUTSIDE : active == UINT32_MAX ? SCATTERED : PARTLY_SCATTERED;
}

static pattern find_places(const cx_ptx_access *access, const cx_ptx_rows *rows,
                           const cx_ptx_instruction *at, uint32_t active, bool stores, places *out)
{
    bool words = !cx_ptx_is_long(at->a) && access->mask == UINT32_MAX && access->begin == 0 &&
                 access->end <= UINT32_MAX;
    const cx_ptx_word *row = cx_ptx_row(rows, at->a);
    pattern how;

    if (access->stride)
        return find_own(access, rows, at, active, out);
    if (words)
        how = find_words(access, row, at, active, out);
    else if (active == UINT32_MAX)
        how = find_longs(access, rows, at, out);
    else
        how = find_longs_of_some(access, rows, at, active, out);
    if (stores && (how == UNIFORM || how == HALVES || how == TWO)) /* lanes may have one place */
        how = SCATTERED;
    return (how == SCATTERED || how == PARTLY_SCATTERED) && access->end > UINT32_MAX ? OUTSIDE
                                                                                      : how;
}

#define LOAD_AS(row_type, type)                                                          \
    {                                                                                    \
        row_type *to = cx_ptx_row(rows, at->d);                                          \
        const type *first = (const void *)(access->memory + found.first);                \
                                                                                         \
        if (how == CONSECUTIVE) {                                                        \
            EACH_LANE (lane)                                                             \
                to[lane] = (row_type)READ(first + lane);                                 \
        } else if (how == HALVES) {                                                      \
            const type *second = (const void *)(access->memory + found.second);          \
            CX_PTX_NO_CARRIED for (int lane = 0; lane < HALF; lane++)                    \
            {                                                                            \
                to[lane] = (row_type)READ(first + lane);                                 \
                to[lane + HALF] = (row_type)READ(second + lane);                         \
            }                                                                            \
        } else if (how == UNIFORM) {                                                     \
            const row_type value = (row_type)READ(first);                                \
            EACH_LANE (lane)                                                             \
                to[lane] = value;                                                        \
        } else if (how == TWO) {                                                         \
            const type *second = (const void *)(access->memory + found.second);          \
            const row_type one = (row_type)READ(first), other = (row_type)READ(second);  \
            EACH_LANE (lane)                                                             \
                to[lane] = lane < HALF ? one : other;                                    \
        } else {                                                                         \
            UNROLLED for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++) to[lane] =      \
                (row_type)READ(                                                          \
                    (const type *)(const void *)(access->memory + found.offsets[lane])); \
        }                                                                                \
        return true;                                                                     \
    }
#define LOAD_SOME_AS(row_type, type)                                                     \
    {                                                                                    \
        row_type *to = cx_ptx_row(rows, at->d);                                          \
        const int begins_at = __builtin_ctz(active);                                     \
        const type *first = (const void *)(access->memory + found.first);                \
                                                                                         \
        if (how == PARTLY_CONSECUTIVE) {                                                 \
            EACH_LANE (lane)                                                             \
                if (has(active, lane))                                                   \
                    to[lane] = (row_type)READ(first + (lane - begins_at));               \
        } else {                                                                         \
            for (uint32_t left = active; left; left &= left - 1) {                       \
                const int lane = __builtin_ctz(left);                                    \
                to[lane] = (row_type)READ(                                               \
                    (const type *)(const void *)(access->memory + found.offsets[lane])); \
            }                                                                            \
        }                                                                                \
        return true;                                                                     \
    }
#define ROW(how_many, op, type)             \
    case op:                                \
        if (cx_ptx_is_long(at->d))          \
            how_many##_AS(cx_ptx_long, type) \
        else                                \
            how_many##_AS(cx_ptx_word, type)
#define LOADS(how_many)                           \
    switch ((cx_ptx_op)at->op) {                  \
        ROW(how_many, CX_PTX_LOAD_U8, cell_u8)   \
        ROW(how_many, CX_PTX_LOAD_S8, cell_s8)   \
        ROW(how_many, CX_PTX_LOAD_U16, cell_u16) \
        ROW(how_many, CX_PTX_LOAD_S16, cell_s16) \
        ROW(how_many, CX_PTX_LOAD_U32, cx_ptx_word) \
        ROW(how_many, CX_PTX_LOAD_S32, cell_s32) \
        ROW(how_many, CX_PTX_LOAD_U64, cx_ptx_long) \
    default:                                      \
        return false;                             \
    }

static bool load_some(const cx_ptx_access *access, const cx_ptx_rows *rows,
                      const cx_ptx_instruction *at, uint32_t active)
{
    places found;
    pattern how = find_places(access, rows, at, active, false, &found);

    if (how == OUTSIDE)
        return false;
    LOADS(LOAD_SOME)
}

bool CX_PTX_LANES_LOAD(const cx_ptx_access *access, const cx_ptx_rows *rows,
                       const cx_ptx_instruction *at, uint32_t active);
bool CX_PTX_LANES_LOAD(const cx_ptx_access *access, const cx_ptx_rows *rows,
                       const cx_ptx_instruction *at, uint32_t active)
{
    places found;
    pattern how;

    if (active != UINT32_MAX)
        return load_some(access, rows, at, active);
    how = find_places(access, rows, at, UINT32_MAX, false, &found);
    if (how == OUTSIDE)
        return false;
    LOADS(LOAD)
}

/* If lanes have the same address, the value of the last one stays. */
#define STORE_AS(row_type, type)                                                                 \
    {                                                                                            \
        const row_type *from = cx_ptx_row(rows, at->d);                                          \
        type *first = (void *)(access->memory + found.first);                                    \
                                                                                                 \
        if (how == CONSECUTIVE) {                                                                \
            EACH_LANE (lane)                                                                     \
                WRITE(first + lane, (type)from[lane]);                                           \
        } else {                                                                                 \
            UNROLLED for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane++)                         \
                WRITE((type *)(void *)(access->memory + found.offsets[lane]), (type)from[lane]); \
        }                                                                                        \
        return true;                                                                             \
    }
#define STORE_SOME_AS(row_type, type)                                                            \
    {                                                                                            \
        const row_type *from = cx_ptx_row(rows, at->d);                                          \
        const int begins_at = __builtin_ctz(active);                                             \
        type *first = (void *)(access->memory + found.first);                                    \
                                                                                                 \
        if (how == PARTLY_CONSECUTIVE) {                                                         \
            EACH_LANE (lane)                                                                     \
                if (has(active, lane))                                                           \
                    WRITE(first + (lane - begins_at), (type)from[lane]);                         \
        } else {                                                                                 \
            for (uint32_t left = active; left; left &= left - 1) {                               \
                const int lane = __builtin_ctz(left);                                            \
                WRITE((type *)(void *)(access->memory + found.offsets[lane]), (type)from[lane]); \
            }                                                                                    \
        }                                                                                        \
        return true;                                                                             \
    }
#define STORES(how_many)                           \
    switch ((cx_ptx_op)at->op) {                   \
        ROW(how_many, CX_PTX_STORE_8, cell_u8)    \
        ROW(how_many, CX_PTX_STORE_16, cell_u16)  \
        ROW(how_many, CX_PTX_STORE_32, cx_ptx_word) \
        ROW(how_many, CX_PTX_STORE_64, cx_ptx_long) \
    default:                                       \
        return false;                              \
    }

static bool store_some(const cx_ptx_access *access, const cx_ptx_rows *rows,
                       const cx_ptx_instruction *at, uint32_t active)
{
    places found;
    pattern how = find_places(access, rows, at, active, true, &found);

    if (how == OUTSIDE)
        return false;
    STORES(STORE_SOME)
}

bool CX_PTX_LANES_STORE(const cx_ptx_access *access, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active);
bool CX_PTX_LANES_STORE(const cx_ptx_access *access, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active)
{
    places found;
    pattern how;

    if (active != UINT32_MAX)
        return store_some(access, rows, at, active);
    how = find_places(access, rows, at, UINT32_MAX, true, &found);
    if (how == OUTSIDE)
        return false;
    STORES(STORE)
}

bool CX_PTX_LANES_REACH(const cx_ptx_access *access, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active,
                        uint32_t offsets[CX_PTX_WARP_SIZE]);
bool CX_PTX_LANES_REACH(const cx_ptx_access *access, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active,
                        uint32_t offsets[CX_PTX_WARP_SIZE])
{
    places found;

    if (access->end > UINT32_MAX ||
        find_places(access, rows, at, active, true, &found) == OUTSIDE)
        return false;
    memcpy(offsets, found.offsets, sizeof found.offsets);
    return true;
}
