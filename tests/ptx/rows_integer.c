/* Edge values of the instructions on integers and bits. */
#include "exact.h"

#define KU16(x) ((uint16_t)(x))
#define KS16(x) ((int16_t)(x))
#define KU32(x) ((uint32_t)(x))
#define KS32(x) ((int32_t)(x))
#define KU64(x) ((uint64_t)(x))
#define KS64(x) ((int64_t)(x))

/* ---- the reference: bit by bit ---- */

static uint64_t cut_to(uint64_t value, unsigned bits)
{
    return bits == 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

static uint64_t high(__int128 a, __int128 b, unsigned bits)
{
    if (bits == 64 && a >= 0 && b >= 0) {
        uint64_t x1 = (uint64_t)a >> 32, x0 = (uint32_t)a, y1 = (uint64_t)b >> 32, y0 = (uint32_t)b;
        uint64_t middle = x1 * y0 + (x0 * y0 >> 32);

        return x1 * y1 + (middle >> 32) + (((uint32_t)middle + x0 * y1) >> 32);
    }
    return (uint64_t)(a * b >> bits);
}

static uint64_t shifted(__int128 a, uint64_t count)
{
    return (uint64_t)(a >> (count > 100 ? 100 : count));
}

static uint64_t clamped(int64_t value)
{
    return value > 2147483647 ? 2147483647
           : value < -2147483647 - 1 ? (uint64_t)(-2147483647 - 1)
                                     : (uint64_t)value;
}

static int64_t bits24(uint64_t value)
{
    int64_t low = (int64_t)(value % 16777216);

    return low >= 8388608 ? low - 16777216 : low;
}

static uint64_t ones(uint64_t value)
{
    uint64_t count = 0;

    for (; value; value /= 2)
        count += value % 2;
    return count;
}

/* The number of the highest bit that is set; -1: none. */
static uint64_t found_top(uint64_t value)
{
    uint64_t top = UINT64_MAX;

    for (; value; value /= 2)
        top++;
    return top;
}

static uint64_t lifted(uint64_t value, uint64_t last)
{
    return value ? last - found_top(value) : UINT64_MAX;
}

static uint64_t turned(uint64_t value, unsigned bits)
{
    uint64_t result = 0;

    for (unsigned i = 0; i < bits; i++)
        result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}

/* As the PTX ISA writes bfe down. */
static uint64_t cut_field(uint64_t value, uint64_t position, uint64_t length, unsigned bits,
                          bool is_signed)
{
    unsigned first = position & 0xff, count = length & 0xff, last = bits - 1;
    uint64_t result = 0, fill = 0;

    if (is_signed && count > 0)
        fill = value >> (first + count - 1 < last ? first + count - 1 : last) & 1;
    for (unsigned i = 0; i < bits; i++)
        result |= (i < count && first + i <= last ? value >> (first + i) & 1 : fill) << i;
    return result;
}

static uint64_t put_field(uint64_t a, uint64_t b, uint64_t position, uint64_t length, unsigned bits)
{
    unsigned first = position & 0xff, count = length & 0xff;

    for (unsigned i = 0; i < count && first + i < bits; i++)
        b = (b & ~((uint64_t)1 << (first + i))) | (a >> i & 1) << (first + i);
    return b;
}

static uint64_t mask_of(uint64_t a, uint64_t b, bool wraps)
{
    uint64_t first = wraps ? a & 31 : a, count = wraps ? b & 31 : b, result = 0;

    for (uint64_t i = 0; i < 32; i++)
        if (i >= first && i - first < count)
            result |= (uint64_t)1 << i;
    return result;
}

static uint64_t widened(uint64_t value, uint64_t count, bool wraps, bool is_signed)
{
    uint64_t bits = wraps ? count & 31 : count > 32 ? 32 : count, fill, result = 0;

    fill = is_signed && bits > 0 ? value >> (bits - 1) & 1 : 0;
    for (uint64_t i = 0; i < 32; i++)
        result |= (i < bits ? value >> i & 1 : fill) << i;
    return result;
}

/* The nth bit that is set, from `base` on, upwards or downwards; 0: the bit at `base`. */
static uint64_t nth_set(uint64_t mask, uint64_t base, int nth)
{
    int step = nth < 0 ? -1 : 1, left = nth == 0 ? 1 : nth < 0 ? -nth : nth;

    for (int i = (int)base; i >= 0 && i < 32; i += step) {
        if (mask >> i & 1 && --left == 0)
            return (uint64_t)i;
        if (nth == 0)
            break;
    }
    return UINT32_MAX;
}

static uint64_t funnel(uint64_t a, uint64_t b, uint64_t count)
{
    return (b << 32 | a) << count;
}

static uint64_t table_of(unsigned table, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t result = 0;

    for (int i = 0; i < 32; i++)
        result |= (uint64_t)(table >> ((a >> i & 1) * 4 + (b >> i & 1) * 2 + (c >> i & 1)) & 1)
                  << i;
    return result;
}

static uint64_t picked(uint64_t a, uint64_t b, uint64_t selection)
{
    uint64_t result = 0;

    for (int i = 0; i < 4; i++) {
        unsigned nibble = selection >> (4 * i) & 15, number = nibble % 8;
        uint64_t byte = (number < 4 ? a >> (8 * number) : b >> (8 * (number - 4))) & 255;

        if (nibble > 7)
            byte = byte > 127 ? 255 : 0;
        result |= byte << (8 * i);
    }
    return result;
}

static int64_t byte_of(uint64_t value, int at, bool is_signed)
{
    int64_t byte = (int64_t)(value >> (8 * at) & 255);

    return is_signed && byte > 127 ? byte - 256 : byte;
}

static int64_t half_of(uint64_t value, int at, bool is_signed)
{
    int64_t half = (int64_t)(value >> (16 * at) & 65535);

    return is_signed && half > 32767 ? half - 65536 : half;
}

static uint64_t dot4(uint64_t a, uint64_t b, bool a_signed, bool b_signed)
{
    int64_t result = 0;

    for (int i = 0; i < 4; i++)
        result += byte_of(a, i, a_signed) * byte_of(b, i, b_signed);
    return (uint64_t)result;
}

static uint64_t dot2(uint64_t a, uint64_t b, bool a_signed, bool b_signed)
{
    return (uint64_t)(half_of(a, 0, a_signed) * byte_of(b, 0, b_signed) +
                      half_of(a, 1, a_signed) * byte_of(b, 1, b_signed));
}

static uint64_t carry_of(uint64_t a, uint64_t b, uint64_t carry, unsigned bits)
{
    return (uint64_t)(((unsigned __int128)a + b + carry) >> bits) & 1;
}

static uint64_t borrow_of(uint64_t a, uint64_t b, uint64_t borrow)
{
    return (unsigned __int128)a < (unsigned __int128)b + borrow;
}

/* Part number i of a word, by division. */
static int64_t video_part(uint64_t word, int i, int parts, bool is_signed)
{
    int64_t size = parts == 4 ? 256 : parts == 2 ? 65536 : 4294967296;
    int64_t part = (int64_t)(word & UINT32_MAX);

    for (; i > 0; i--)
        part /= size;
    part %= size;
    return is_signed && part >= size / 2 ? part - size : part;
}

static int64_t video_clamp(int64_t value, int parts, bool is_signed)
{
    int64_t size = parts == 4 ? 256 : parts == 2 ? 65536 : 4294967296;
    int64_t least = is_signed ? -size / 2 : 0;

    return value < least ? least : value > least + size - 1 ? least + size - 1 : value;
}

/* `parts` negative: the sum of all. */
#define VIDEO(parts, d_signed, a_signed, b_signed, clamps, value)                            \
    ({                                                                                       \
        int n = (parts) < 0 ? -(parts) : (parts);                                            \
        uint64_t all = 0;                                                                    \
        for (int i = 0; i < n; i++) {                                                        \
            int64_t x = video_part(a, i, n, a_signed), y = video_part(b, i, n, b_signed);    \
            int64_t r = value;                                                               \
            if (clamps)                                                                      \
                r = video_clamp(r, n, d_signed);                                             \
            all += (parts) < 0 ? (uint64_t)r                                                 \
                               : ((uint64_t)r & (UINT64_MAX >> (64 - 32 / n))) << (32 / n * i); \
        }                                                                                    \
        all;                                                                                 \
    })

/* ---- the rows ---- */

#define EDGE_ROWS "edges_integer.def"
#define EDGE_EXACT
#define EDGE_LOCALS
#define EDGE_TABLE integer_rows
#include "edge_rows.h"
