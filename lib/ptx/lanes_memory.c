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
    PARTLY_UNIFORM,
    PARTLY_CONSECUTIVE
} pattern;

/* The places of all lanes in the access's memory. */
typedef struct places {
    uint64_t first;                     /* the place of the first active lane */
    uint64_t second;                    /* of HALVES and TWO: the place of lane 16 */
    uint32_t offsets[CX_PTX_WARP_SIZE]; /* if they are SCATTERED */
} places;

static inline bool has(uint32_t lanes, int lane)
{
    return lanes >> lane & 1;
}

/* All bits, if the lane is active. */
#define ALL_OR_NONE(type, lane) ((type)0 - ((type)active >> (type)(lane) & 1))

/* ---- patterns of registers ---- */

/* True if each value of a row is `first` + `step` * lane; of the active lanes alone. For halves of
 * a row: if each half is so with its own first value. */
#ifdef __AVX512F__
#define WORDS_FROM(first, step)                                          \
    _mm512_add_epi32(_mm512_set1_epi32((int)(first)),                    \
                     _mm512_mullo_epi32(_mm512_set1_epi32((int)(step)),  \
                                        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, \
                                                         3, 2, 1, 0)))
#define LONGS_FROM(first, step)                                                  \
    _mm512_add_epi64(_mm512_set1_epi64((long long)(first)),                      \
                     _mm512_mul_epu32(_mm512_set1_epi64((long long)(step)),      \
                                      _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0)))

static INLINED bool halves_step_uint32_t(const cx_ptx_word *row, uint32_t step)
{
    const __mmask16 one = _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(row),
                                                   WORDS_FROM(row[0], step));
    const __mmask16 two = _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(row + HALF),
                                                   WORDS_FROM(row[HALF], step));

    return _kortestz_mask16_u8(one, two);
}

static INLINED bool halves_step_uint64_t(const cx_ptx_long *row, uint64_t step)
{
    __mmask8 wrong = 0;

    for (int i = 0; i < CX_PTX_WARP_SIZE; i += 8)
        wrong |= _mm512_cmpneq_epi64_mask(
            _mm512_loadu_si512(row + i),
            LONGS_FROM(row[i & HALF] + step * (uint64_t)(i % HALF), step));
    return wrong == 0;
}

static INLINED bool active_step_uint32_t(const cx_ptx_word *row, uint32_t first, uint32_t step,
                                         uint32_t active)
{
    const __mmask16 one = _mm512_mask_cmpneq_epi32_mask(
        (__mmask16)active, _mm512_loadu_si512(row), WORDS_FROM(first, step));
    const __mmask16 two =
        _mm512_mask_cmpneq_epi32_mask((__mmask16)(active >> HALF), _mm512_loadu_si512(row + HALF),
                                      WORDS_FROM(first + step * HALF, step));

    return _kortestz_mask16_u8(one, two);
}

static INLINED bool active_step_uint64_t(const cx_ptx_long *row, uint64_t first, uint64_t step,
                                         uint32_t active)
{
    __mmask8 wrong = 0;

    for (int i = 0; i < CX_PTX_WARP_SIZE; i += 8)
        wrong |= _mm512_mask_cmpneq_epi64_mask((__mmask8)(active >> i),
                                               _mm512_loadu_si512(row + i),
                                               LONGS_FROM(first + step * (uint64_t)i, step));
    return wrong == 0;
}
#else
#define DEFINE_STEPS(type, row_type)                                                           \
    static INLINED bool halves_step_##type(const row_type *row, type step)                     \
    {                                                                                          \
        const type first = row[0], second = row[HALF];                                         \
        type wrong = 0;                                                                        \
                                                                                               \
        EACH_LANE (lane)                                                                       \
            wrong |= row[lane] ^ ((lane < HALF ? first : second) + step * (type)(lane % HALF)); \
        return wrong == 0;                                                                     \
    }                                                                                          \
                                                                                               \
    static INLINED bool active_step_##type(const row_type *row, type first, type step,         \
                                           uint32_t active)                                    \
    {                                                                                          \
        type wrong = 0;                                                                        \
                                                                                               \
        EACH_LANE (lane)                                                                       \
            wrong |= ALL_OR_NONE(type, lane) & (row[lane] ^ (first + step * (type)lane));      \
        return wrong == 0;                                                                     \
    }

DEFINE_STEPS(uint32_t, cx_ptx_word)
DEFINE_STEPS(uint64_t, cx_ptx_long)
#endif

/* The pattern of a row. Only one that the values of some lanes allow is compared with all. */
#define DEFINE_PATTERN(type, row_type)                                                       \
    static INLINED pattern pattern_of_##type(const row_type *row, type step)                 \
    {                                                                                        \
        if (row[1] - row[0] == step && halves_step_##type(row, step))                        \
            return row[HALF] - row[0] == step * HALF ? CONSECUTIVE : HALVES;                 \
        if (row[1] == row[0] && halves_step_##type(row, 0))                                  \
            return row[HALF] == row[0] ? UNIFORM : TWO;                                      \
        return SCATTERED;                                                                    \
    }                                                                                        \
                                                                                             \
    static INLINED pattern pattern_of_some_##type(const row_type *row, type step,            \
                                                  uint32_t active)                           \
    {                                                                                        \
        const int begins_at = __builtin_ctz(active);                                         \
                                                                                             \
        if (active_step_##type(row, row[begins_at] - step * (type)begins_at, step, active))  \
            return PARTLY_CONSECUTIVE;                                                       \
        return active_step_##type(row, row[begins_at], 0, active) ? PARTLY_UNIFORM           \
                                                                  : PARTLY_SCATTERED;        \
    }

DEFINE_PATTERN(uint32_t, cx_ptx_word)
DEFINE_PATTERN(uint64_t, cx_ptx_long)

/* ---- places ---- */

/* The place of a lane whose address is in `value`. */
static inline uint64_t place_of(const cx_ptx_access *access, uint64_t value)
{
    return ((value + access->immediate) & access->mask) - access->begin;
}

static inline bool fits(const cx_ptx_access *access, uint64_t place)
{
    return place < access->end && !((place + access->begin) & access->unaligned);
}

/* The places lie anywhere in memory below 4 GiB. `active` is a constant where it is all lanes. */
#ifdef __AVX512F__
static INLINED bool find_offsets_of(const cx_ptx_access *access, const void *row, bool is_long,
                                    const uint32_t active, places *out)
{
    const __m512i mask = _mm512_set1_epi64((long long)access->mask);
    const __m512i begin = _mm512_set1_epi64((long long)access->begin);
    const __m512i end = _mm512_set1_epi64((long long)access->end);
    const __m512i plus = _mm512_set1_epi64((long long)access->immediate);
    const __m512i unaligned = _mm512_set1_epi64(access->unaligned);
    const uint32_t stride = access->stride;
    uint32_t wrong = 0;

    out->first = 0;
    if (access->end > UINT32_MAX)
        return false;
    for (int i = 0; i < CX_PTX_WARP_SIZE; i += 16) {
        __m256i halves[2];

        for (int half = 0; half < 2; half++) {
            const int lane = i + 8 * half;
            const __m512i value =
                is_long ? _mm512_loadu_si512((const cx_ptx_long *)row + lane)
                        : _mm512_cvtepu32_epi64(_mm256_loadu_si256(
                              (const __m256i *)(const void *)((const cx_ptx_word *)row + lane)));
            const __m512i address = _mm512_and_si512(_mm512_add_epi64(value, plus), mask);
            const __m512i place = _mm512_sub_epi64(address, begin);

            wrong |= (uint32_t)(_mm512_cmpge_epu64_mask(place, end) |
                                _mm512_test_epi64_mask(address, unaligned))
                     << lane;
            halves[half] = _mm512_cvtepi64_epi32(place);
        }
        /* One store: it may be read as a whole, too. */
        _mm512_storeu_si512(out->offsets + i,
                            _mm512_inserti64x4(_mm512_castsi256_si512(halves[0]), halves[1], 1));
    }
    if (stride) { /* each lane has memory of its own */
        EACH_LANE (lane)
            out->offsets[lane] += stride * (uint32_t)lane;
    }
    return (wrong & active) == 0;
}
#else
static INLINED bool find_offsets_of(const cx_ptx_access *access, const void *row, bool is_long,
                                    const uint32_t active, places *out)
{
    const uint64_t mask = access->mask, begin = access->begin, plus = access->immediate;
    const uint32_t limit = (uint32_t)access->end, low = (uint32_t)begin;
    const uint32_t unaligned = access->unaligned, stride = access->stride;
    const cx_ptx_word *words = row;
    const cx_ptx_long *longs = row;
    uint64_t high = 0;
    uint32_t wrong = 0;

    out->first = 0;
    if (access->end > UINT32_MAX)
        return false;
    if (is_long) {
        EACH_LANE (lane) {
            const uint64_t place = ((longs[lane] + plus) & mask) - begin;

            high |= ALL_OR_NONE(uint64_t, lane) & place;
            out->offsets[lane] = (uint32_t)place;
        }
    } else if (mask == UINT32_MAX && begin == 0) {
        EACH_LANE (lane)
            out->offsets[lane] = words[lane] + (uint32_t)plus;
    } else {
        EACH_LANE (lane) {
            const uint64_t place = ((words[lane] + plus) & mask) - begin;

            high |= ALL_OR_NONE(uint64_t, lane) & place;
            out->offsets[lane] = (uint32_t)place;
        }
    }
    EACH_LANE (lane)
        wrong |= ALL_OR_NONE(uint32_t, lane) &
                 ((uint32_t)(out->offsets[lane] >= limit) |
                  ((out->offsets[lane] + low) & unaligned));
    if (stride) { /* each lane has memory of its own */
        EACH_LANE (lane)
            out->offsets[lane] += stride * (uint32_t)lane;
    }
    return high >> 32 == 0 && wrong == 0;
}
#endif

static bool find_offsets(const cx_ptx_access *access, const void *row, bool is_long,
                         uint32_t active, places *out)
{
    return active == UINT32_MAX ? find_offsets_of(access, row, is_long, UINT32_MAX, out)
                                : find_offsets_of(access, row, is_long, active, out);
}

/* A register that wraps within the row has no pattern of places: the last place shows that. */
static INLINED pattern find_all(const cx_ptx_access *access, const cx_ptx_rows *rows,
                                const cx_ptx_instruction *at, bool stores, places *out)
{
    const bool is_long = cx_ptx_is_long(at->a);
    const void *row = cx_ptx_row(rows, at->a);
    const cx_ptx_word *words = row;
    const cx_ptx_long *longs = row;
    const unsigned step = at->size;
    pattern how = is_long ? pattern_of_uint64_t(longs, step) : pattern_of_uint32_t(words, step);
    uint64_t last, middle;

    if (how == SCATTERED || access->stride || (stores && how != CONSECUTIVE))
        return find_offsets(access, row, is_long, UINT32_MAX, out) ? SCATTERED : OUTSIDE;
    out->first = place_of(access, is_long ? longs[0] : words[0]);
    last = place_of(access, is_long ? longs[CX_PTX_WARP_SIZE - 1] : words[CX_PTX_WARP_SIZE - 1]);
    if (how == UNIFORM)
        return fits(access, out->first) ? how : OUTSIDE;
    if (how == CONSECUTIVE)
        return fits(access, out->first) && last < access->end &&
                       last - out->first == step * 31 && !(step & access->unaligned)
                   ? how
                   : OUTSIDE;
    out->second = place_of(access, is_long ? longs[HALF] : words[HALF]);
    if (!fits(access, out->first) || !fits(access, out->second))
        return OUTSIDE;
    if (how == TWO)
        return how;
    middle = place_of(access, is_long ? longs[HALF - 1] : words[HALF - 1]);
    return middle < access->end && middle - out->first == step * 15 && last < access->end &&
                   last - out->second == step * 15 && !(step & access->unaligned)
               ? how
               : OUTSIDE;
}

static INLINED pattern find_some(const cx_ptx_access *access, const cx_ptx_rows *rows,
                                 const cx_ptx_instruction *at, uint32_t active, bool stores,
                                 places *out)
{
    const bool is_long = cx_ptx_is_long(at->a);
    const void *row = cx_ptx_row(rows, at->a);
    const cx_ptx_word *words = row;
    const cx_ptx_long *longs = row;
    const unsigned step = at->size;
    const int begins_at = __builtin_ctz(active), ends_at = 31 - __builtin_clz(active);
    const pattern how = is_long ? pattern_of_some_uint64_t(longs, step, active)
                                : pattern_of_some_uint32_t(words, step, active);
    uint64_t last;

    if (how == PARTLY_SCATTERED || access->stride || (stores && how != PARTLY_CONSECUTIVE))
        return find_offsets(access, row, is_long, active, out) ? PARTLY_SCATTERED : OUTSIDE;
    out->first = place_of(access, is_long ? longs[begins_at] : words[begins_at]);
    last = place_of(access, is_long ? longs[ends_at] : words[ends_at]);
    if (!fits(access, out->first))
        return OUTSIDE;
    if (how == PARTLY_UNIFORM)
        return how;
    return last < access->end && last - out->first == step * (unsigned)(ends_at - begins_at) &&
                   (begins_at == ends_at || !(step & access->unaligned))
               ? how
               : OUTSIDE;
}

static INLINED cx_ptx_access begin(const cx_ptx_grid *grid, const cx_ptx_block *block,
                                   const cx_ptx_thread *threads, const cx_ptx_rows *rows,
                                   const cx_ptx_instruction *at, uint32_t active, bool writes)
{
    return cx_ptx_access_begin(
        grid, block, threads, at,
        cx_ptx_get(rows, at->a, (uint32_t)__builtin_ctz(active)) + (uint64_t)at->immediate, writes);
}

/* Words from anywhere. Single stores to the row would delay the next instruction, which reads it
 * by vectors. The instruction takes signed offsets. */
#ifdef __AVX512F__
#define GATHERS true
static INLINED void gather(void *to, const unsigned char *memory,
                           const uint32_t offsets[CX_PTX_WARP_SIZE])
{
    const __m512i middle = _mm512_set1_epi32(INT32_MIN);

    for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane += HALF)
        _mm512_storeu_si512(
            (cx_ptx_word *)to + lane,
            _mm512_i32gather_epi32(
                _mm512_xor_si512(_mm512_loadu_si512(offsets + lane), middle),
                (const void *)((uintptr_t)memory + (UINT32_C(1) << 31)), 1));
}
#else
#define GATHERS false
static INLINED void gather(void *to, const unsigned char *memory,
                           const uint32_t offsets[CX_PTX_WARP_SIZE])
{
    (void)to, (void)memory, (void)offsets;
}
#endif

/* Active lanes that lie side by side. Vectors leave out the others, also where no memory is for
 * them. `first` is the place of the first active lane. */
#if defined(__AVX512F__) && !defined(__SANITIZE_THREAD__)
#define MASKS true
static INLINED void load_masked(void *row, const void *first, unsigned bytes, uint32_t active)
{
    const uintptr_t begin = (uintptr_t)first - (uintptr_t)__builtin_ctz(active) * bytes;

    for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane += 64 / (int)bytes) {
        unsigned char *to = (unsigned char *)row + (unsigned)lane * bytes;
        const void *from = (const void *)(begin + (uintptr_t)lane * bytes);
        const __m512i old = _mm512_loadu_si512(to);

        _mm512_storeu_si512(
            to, bytes == 4 ? _mm512_mask_loadu_epi32(old, (__mmask16)(active >> lane), from)
                           : _mm512_mask_loadu_epi64(old, (__mmask8)(active >> lane), from));
    }
}

static INLINED void store_masked(const void *row, void *first, unsigned bytes, uint32_t active)
{
    const uintptr_t begin = (uintptr_t)first - (uintptr_t)__builtin_ctz(active) * bytes;

    for (int lane = 0; lane < CX_PTX_WARP_SIZE; lane += 64 / (int)bytes) {
        const __m512i value =
            _mm512_loadu_si512((const unsigned char *)row + (unsigned)lane * bytes);
        void *to = (void *)(begin + (uintptr_t)lane * bytes);

        if (bytes == 4)
            _mm512_mask_storeu_epi32(to, (__mmask16)(active >> lane), value);
        else
            _mm512_mask_storeu_epi64(to, (__mmask8)(active >> lane), value);
    }
}
#else
#define MASKS false
static INLINED void load_masked(void *row, const void *first, unsigned bytes, uint32_t active)
{
    (void)row, (void)first, (void)bytes, (void)active;
}

static INLINED void store_masked(const void *row, void *first, unsigned bytes, uint32_t active)
{
    (void)row, (void)first, (void)bytes, (void)active;
}
#endif

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
        } else if (sizeof(row_type) == 4 && sizeof(type) == 4 && GATHERS) {              \
            gather(to, access->memory, found.offsets);                                   \
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
        if (how == PARTLY_CONSECUTIVE && MASKS && sizeof(type) == sizeof(row_type)) {    \
            load_masked(to, first, sizeof(type), active);                                \
        } else if (how == PARTLY_CONSECUTIVE) {                                          \
            EACH_LANE (lane)                                                             \
                if (has(active, lane))                                                   \
                    to[lane] = (row_type)READ(first + (lane - begins_at));               \
        } else if (how == PARTLY_UNIFORM) {                                              \
            const row_type value = (row_type)READ(first);                                \
            EACH_LANE (lane)                                                             \
                to[lane] = has(active, lane) ? value : to[lane];                         \
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
    const pattern how = find_some(access, rows, at, active, false, &found);

    if (how == OUTSIDE)
        return false;
    LOADS(LOAD_SOME)
}

bool CX_PTX_LANES_LOAD(const cx_ptx_grid *grid, const cx_ptx_block *block,
                       const cx_ptx_thread *threads, const cx_ptx_rows *rows,
                       const cx_ptx_instruction *at, uint32_t active);
bool CX_PTX_LANES_LOAD(const cx_ptx_grid *grid, const cx_ptx_block *block,
                       const cx_ptx_thread *threads, const cx_ptx_rows *rows,
                       const cx_ptx_instruction *at, uint32_t active)
{
    const cx_ptx_access found_last = begin(grid, block, threads, rows, at, active, false);
    const cx_ptx_access *access = &found_last;
    places found;
    pattern how;

    if (active != UINT32_MAX)
        return access->end > 0 && load_some(access, rows, at, active);
    how = find_all(access, rows, at, false, &found);
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
        if (how == PARTLY_CONSECUTIVE && MASKS && sizeof(type) == sizeof(row_type)) {            \
            store_masked(from, first, sizeof(type), active);                                     \
        } else if (how == PARTLY_CONSECUTIVE) {                                                  \
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
    const pattern how = find_some(access, rows, at, active, true, &found);

    if (how == OUTSIDE)
        return false;
    STORES(STORE_SOME)
}

bool CX_PTX_LANES_STORE(const cx_ptx_grid *grid, const cx_ptx_block *block,
                        const cx_ptx_thread *threads, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active);
bool CX_PTX_LANES_STORE(const cx_ptx_grid *grid, const cx_ptx_block *block,
                        const cx_ptx_thread *threads, const cx_ptx_rows *rows,
                        const cx_ptx_instruction *at, uint32_t active)
{
    const cx_ptx_access found_last = begin(grid, block, threads, rows, at, active, true);
    const cx_ptx_access *access = &found_last;
    places found;
    pattern how;

    if (active != UINT32_MAX)
        return access->end > 0 && store_some(access, rows, at, active);
    how = find_all(access, rows, at, true, &found);
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

    if (!find_offsets(access, cx_ptx_row(rows, at->a), cx_ptx_is_long(at->a), active, &found))
        return false;
    memcpy(offsets, found.offsets, sizeof found.offsets);
    return true;
}
