#include "ptx/matrix.h"

#include "ptx/address_resolve.h"
#include "ptx/bits.h"
#include "ptx/lanes.h"
#include "ptx/matrix_element.h"
#include "ptx/shadow.h"

#include <fenv.h>
#include <string.h>

#define SIDE_MAX 32 /* rows of A and C, columns of B and C */
#define ELEMENTS_MAX 1024

typedef struct work {
    cx_ptx_grid *grid;
    cx_ptx_block *block;
    cx_ptx_thread *lanes;
    const cx_ptx_rows *rows;
    uint32_t mask;
    const cx_ptx_instruction *at;
    const cx_ptx_matrix *what;
} work;

/* The place of an element in its matrix. */
typedef struct spot {
    unsigned row, column;
} spot;

static bool is_present(const work *self, unsigned lane)
{
    return self->mask >> lane & 1;
}

static unsigned rows_of(const cx_ptx_matrix *what, cx_ptx_matrix_part part)
{
    return part == CX_PTX_MATRIX_B ? what->k : what->m;
}

static unsigned columns_of(const cx_ptx_matrix *what, cx_ptx_matrix_part part)
{
    return part == CX_PTX_MATRIX_A ? what->k : what->n;
}

/* ---- where a lane's elements are ---- */

/* Eight lanes, two quads of which the second is 16 lanes behind, have a matrix of their own. */
static spot spot_in_quads(const cx_ptx_matrix *what, cx_ptx_matrix_part part, unsigned lane,
                          unsigned element)
{
    unsigned own = lane % 4 + (lane < 16 ? 0 : 4);
    const cx_ptx_fragment *fragment = &what->parts[part];

    switch (part) {
    case CX_PTX_MATRIX_A:
        return fragment->by_columns ? (spot){element % 4 + (lane < 16 ? 0 : 4), lane % 4}
                                    : (spot){own, element};
    case CX_PTX_MATRIX_B:
        return fragment->by_columns ? (spot){element, own}
                                    : (spot){lane % 4, element + (lane < 16 ? 0 : 4)};
    default:
        if (fragment->element == CX_PTX_ELEMENT_F16)
            return (spot){own, element};
        return (spot){(lane & 1) + (element & 2) + (lane < 16 ? 0 : 4),
                      (element & 4) + (lane & 2) + (element & 1)};
    }
}

/* The places of a register's elements: number `row * columns + column` grows by these steps. */
typedef struct steps {
    unsigned first, group, own, element;
} steps;

static steps steps_of(const cx_ptx_matrix *what, cx_ptx_matrix_part part, unsigned number)
{
    unsigned packed = cx_ptx_element_packed((cx_ptx_element)what->parts[part].element);
    unsigned columns = columns_of(what, part), width = 4 * packed, blocks, block;

    if (what->in_quads)
        return (steps){0};
    switch (part) {
    case CX_PTX_MATRIX_A:
        blocks = what->m / 8;
        block = number % (blocks * (what->k / width));
        return (steps){8 * (block % blocks) * columns + width * (block / blocks), columns, packed,
                       1};
    case CX_PTX_MATRIX_B:
        blocks = what->k / width;
        block = number % (blocks * (what->n / 8));
        return (steps){width * (block % blocks) * columns + 8 * (block / blocks), 1,
                       packed * columns, columns};
    default:
        blocks = what->m / 8;
        block = number * packed / 2;
        return (steps){8 * (block % blocks) * columns + 8 * (block / blocks) + number * packed % 2,
                       columns, 2, 1};
    }
}

/* The number of a lane's element in its matrix. */
static unsigned place_of(const cx_ptx_matrix *what, cx_ptx_matrix_part part, const steps *along,
                         unsigned lane, unsigned number, unsigned i)
{
    unsigned packed;
    spot found;

    if (!what->in_quads)
        return along->first + lane / 4 * along->group + lane % 4 * along->own + i * along->element;
    packed = cx_ptx_element_packed((cx_ptx_element)what->parts[part].element);
    found = spot_in_quads(what, part, lane, number * packed + i);
    return found.row * columns_of(what, part) + found.column;
}

/* ---- fragments ---- */

#define EACH_LANE_OF(self, lane)                             \
    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) \
        if (is_present(self, lane))

/* The lanes of one product; all lanes have one together unless they multiply in quads. */
static bool is_in_quad(const cx_ptx_matrix *what, unsigned lane, unsigned quad)
{
    return !what->in_quads || lane / 4 % 4 == quad;
}

/* The most frequent elements, without a choice for each of them. */
static void gather_halves(const work *self, uint32_t place, const steps *along, double *out)
{
    EACH_LANE_OF(self, lane)
    {
        uint32_t word = (uint32_t)cx_ptx_get(self->rows, place, lane);
        double *to = out + along->first + lane / 4 * along->group + lane % 4 * along->own;

        to[0] = cx_ptx_half_of(word & 0xffff);
        to[along->element] = cx_ptx_half_of(word >> 16);
    }
}

static void gather_register(const work *self, cx_ptx_matrix_part part, unsigned number,
                            unsigned quad, double *out)
{
    const cx_ptx_fragment *fragment = &self->what->parts[part];
    const steps along = steps_of(self->what, part, number);
    cx_ptx_element kind = (cx_ptx_element)fragment->element;
    unsigned packed = cx_ptx_element_packed(kind);

    if (kind == CX_PTX_ELEMENT_F16 && !self->what->in_quads) {
        gather_halves(self, fragment->places[number], &along, out);
        return;
    }
    EACH_LANE_OF(self, lane)
    {
        uint64_t whole = cx_ptx_get(self->rows, fragment->places[number], lane);

        if (!is_in_quad(self->what, lane, quad))
            continue;
        for (unsigned i = 0; i < packed; i++)
            out[place_of(self->what, part, &along, lane, number, i)] =
                cx_ptx_float_element(kind, cx_ptx_element_at(whole, kind, i));
    }
}

/* Registers that repeat others are left out. */
static unsigned distinct_registers(const cx_ptx_matrix *what, cx_ptx_matrix_part part)
{
    const cx_ptx_fragment *fragment = &what->parts[part];
    unsigned elements = rows_of(what, part) * columns_of(what, part);
    unsigned distinct =
        elements / CX_PTX_WARP_SIZE / cx_ptx_element_packed((cx_ptx_element)fragment->element);

    return what->in_quads || distinct > fragment->count ? fragment->count : distinct;
}

static void gather_floats(const work *self, cx_ptx_matrix_part part, unsigned quad, double *out)
{
    unsigned count = distinct_registers(self->what, part);

    memset(out, 0, rows_of(self->what, part) * columns_of(self->what, part) * sizeof *out);
    for (unsigned number = 0; number < count; number++)
        gather_register(self, part, number, quad, out);
}

static void gather_integers(const work *self, cx_ptx_matrix_part part, int32_t *out)
{
    const cx_ptx_fragment *fragment = &self->what->parts[part];
    cx_ptx_element kind = (cx_ptx_element)fragment->element;
    unsigned packed = cx_ptx_element_packed(kind), count = distinct_registers(self->what, part);

    memset(out, 0, rows_of(self->what, part) * columns_of(self->what, part) * sizeof *out);
    for (unsigned number = 0; number < count; number++) {
        const steps along = steps_of(self->what, part, number);

        EACH_LANE_OF(self, lane)
        {
            uint64_t whole = cx_ptx_get(self->rows, fragment->places[number], lane);

            for (unsigned i = 0; i < packed; i++)
                out[place_of(self->what, part, &along, lane, number, i)] =
                    cx_ptx_integer_element(kind, (uint32_t)cx_ptx_element_at(whole, kind, i));
        }
    }
}

/* Writes D: `bits` gives the bits of element number `at`. */
#define SCATTER(self, quad, bits)                                                         \
    {                                                                                     \
        const cx_ptx_fragment *fragment = &(self)->what->parts[CX_PTX_MATRIX_D];          \
        cx_ptx_element kind = (cx_ptx_element)fragment->element;                          \
        unsigned packed = cx_ptx_element_packed(kind), width = 32 / packed;               \
                                                                                          \
        for (unsigned number = 0; number < fragment->count; number++) {                   \
            const steps along = steps_of((self)->what, CX_PTX_MATRIX_D, number);          \
                                                                                          \
            EACH_LANE_OF(self, lane)                                                      \
            {                                                                             \
                uint64_t whole = 0;                                                       \
                                                                                          \
                if (!is_in_quad((self)->what, lane, quad))                                \
                    continue;                                                             \
                for (unsigned i = 0; i < packed; i++) {                                   \
                    unsigned at =                                                         \
                        place_of((self)->what, CX_PTX_MATRIX_D, &along, lane, number, i); \
                                                                                          \
                    whole |= (uint64_t)(bits) << i * width;                               \
                }                                                                         \
                cx_ptx_put((self)->rows, fragment->places[number], lane, whole);          \
            }                                                                             \
        }                                                                                 \
    }

/* ---- products ---- */

/* Products of small floats are exact, their sum is a double, and it is rounded once. */
static void multiply_floats(const work *self, unsigned quad)
{
    const cx_ptx_matrix *what = self->what;
    double a[ELEMENTS_MAX], b[ELEMENTS_MAX], c[SIDE_MAX * SIDE_MAX];

    gather_floats(self, CX_PTX_MATRIX_A, quad, a);
    gather_floats(self, CX_PTX_MATRIX_B, quad, b);
    gather_floats(self, CX_PTX_MATRIX_C, quad, c);
    self->grid->lanes->multiply(a, b, c, what->m, what->n, what->k);
    SCATTER(self, quad, cx_ptx_float_bits(kind, c[at]))
}

/* Each step is one fused operation, in the order of k. */
static void multiply_doubles(const work *self)
{
    const cx_ptx_matrix *what = self->what;
    double a[ELEMENTS_MAX], b[ELEMENTS_MAX], c[SIDE_MAX * SIDE_MAX];

    gather_floats(self, CX_PTX_MATRIX_A, 0, a);
    gather_floats(self, CX_PTX_MATRIX_B, 0, b);
    gather_floats(self, CX_PTX_MATRIX_C, 0, c);
    for (unsigned row = 0; row < what->m; row++)
        for (unsigned k = 0; k < what->k; k++)
            for (unsigned column = 0; column < what->n; column++) {
                double *sum = &c[row * what->n + column];
                double x = a[row * what->k + k], y = b[k * what->n + column];

                *sum = what->rounding == FE_TONEAREST
                           ? fma(x, y, *sum)
                           : cx_ptx_round_f64(CX_PTX_FUSED, what->rounding, x, y, *sum);
            }
    SCATTER(self, 0, cx_ptx_float_bits(kind, c[at]))
}

static int32_t sum_of(const cx_ptx_matrix *what, int64_t sum)
{
    return what->saturated ? cx_ptx_saturate(sum) : (int32_t)(uint32_t)(uint64_t)sum;
}

static void multiply_integers(const work *self)
{
    const cx_ptx_matrix *what = self->what;
    int32_t a[ELEMENTS_MAX], b[ELEMENTS_MAX], c[SIDE_MAX * SIDE_MAX], sums[SIDE_MAX];

    gather_integers(self, CX_PTX_MATRIX_A, a);
    gather_integers(self, CX_PTX_MATRIX_B, b);
    gather_integers(self, CX_PTX_MATRIX_C, c);
    for (unsigned row = 0; row < what->m; row++) {
        memset(sums, 0, sizeof sums);
        for (unsigned k = 0; k < what->k; k++)
            for (unsigned column = 0; column < what->n; column++)
                sums[column] += a[row * what->k + k] * b[k * what->n + column];
        for (unsigned column = 0; column < what->n; column++) {
            int32_t *sum = &c[row * what->n + column];

            *sum = sum_of(what, (int64_t)*sum + sums[column]);
        }
    }
    SCATTER(self, 0, (uint32_t)c[at])
}

/* Words of 32 bits, each of a row of A or of a column of B. */
static void gather_bits(const work *self, cx_ptx_matrix_part part, uint32_t *out)
{
    const cx_ptx_fragment *fragment = &self->what->parts[part];
    unsigned words = self->what->k / 32, columns = columns_of(self->what, part);

    memset(out, 0, SIDE_MAX * words * sizeof *out);
    for (unsigned number = 0; number < fragment->count; number++) {
        const steps along = steps_of(self->what, part, number);

        EACH_LANE_OF(self, lane)
        {
            unsigned at = place_of(self->what, part, &along, lane, number, 0);
            unsigned row = at / columns, column = at % columns;
            unsigned line = part == CX_PTX_MATRIX_A ? row : column;

            out[line * words + (part == CX_PTX_MATRIX_A ? column : row) / 32] =
                (uint32_t)cx_ptx_get(self->rows, fragment->places[number], lane);
        }
    }
}

static void multiply_bits(const work *self)
{
    const cx_ptx_matrix *what = self->what;
    uint32_t a[SIDE_MAX * 8], b[SIDE_MAX * 8];
    int32_t c[SIDE_MAX * SIDE_MAX];
    unsigned words = what->k / 32;

    gather_bits(self, CX_PTX_MATRIX_A, a);
    gather_bits(self, CX_PTX_MATRIX_B, b);
    gather_integers(self, CX_PTX_MATRIX_C, c);
    for (unsigned row = 0; row < what->m; row++)
        for (unsigned column = 0; column < what->n; column++)
            for (unsigned i = 0; i < words; i++) {
                uint32_t x = a[row * words + i], y = b[column * words + i];
                uint32_t *sum = (uint32_t *)&c[row * what->n + column];

                *sum += (uint32_t)__builtin_popcount(what->by_and ? x & y : x ^ y);
            }
    SCATTER(self, 0, (uint32_t)c[at])
}

static void multiply(const work *self)
{
    switch ((cx_ptx_element)self->what->parts[CX_PTX_MATRIX_A].element) {
    case CX_PTX_ELEMENT_F64:
        multiply_doubles(self);
        break;
    case CX_PTX_ELEMENT_B1:
        multiply_bits(self);
        break;
    case CX_PTX_ELEMENT_S8:
    case CX_PTX_ELEMENT_U8:
    case CX_PTX_ELEMENT_S4:
    case CX_PTX_ELEMENT_U4:
        multiply_integers(self);
        break;
    default:
        for (unsigned quad = 0; quad < (self->what->in_quads ? 4 : 1); quad++)
            multiply_floats(self, quad);
    }
}

/* ---- memory ---- */

static unsigned char *reach(const work *self, unsigned lane, uint64_t base, const void *value)
{
    unsigned char *memory = cx_ptx_resolve_lane(self->grid, self->block, &self->lanes[lane],
                                                self->at, base, value);

    if (memory && self->grid->shadow)
        cx_ptx_shadow_piece(self->grid, self->block,
                            &(cx_ptx_piece){.at = self->at,
                                            .thread = &self->lanes[lane],
                                            .space = (cx_ptx_space)self->at->space,
                                            .address = base + (uint64_t)self->at->immediate,
                                            .bytes = self->at->size,
                                            .memory = memory,
                                            .value = value});
    return memory;
}

static void copy_bits(unsigned char *to, unsigned to_bit, const unsigned char *from,
                      unsigned from_bit, unsigned bits)
{
    if (bits % 8 == 0) {
        memcpy(to + to_bit / 8, from + from_bit / 8, bits / 8);
        return;
    }
    unsigned value = from[from_bit / 8] >> from_bit % 8 & ((1u << bits) - 1);
    unsigned mask = ((1u << bits) - 1) << to_bit % 8;

    to[to_bit / 8] = (unsigned char)((to[to_bit / 8] & ~mask) | value << to_bit % 8);
}

/* The lines of a matrix in memory, rows or columns, lie `stride` elements apart, at the address
 * that the first lane has. False: it has failed. */
static bool access_lines(const work *self, unsigned char *lines, unsigned count, bool stores)
{
    const cx_ptx_fragment *fragment = &self->what->parts[self->what->part];
    unsigned lane = (unsigned)__builtin_ctz(self->mask), bytes = self->at->size;
    uint64_t stride = cx_ptx_get(self->rows, self->at->b, lane);
    uint64_t base = cx_ptx_get(self->rows, self->at->a, lane);

    for (unsigned i = 0; i < count; i++) {
        unsigned char *line = lines + (size_t)i * bytes;
        uint64_t offset = i * stride * cx_ptx_element_bits((cx_ptx_element)fragment->element) / 8;
        unsigned char *memory = reach(self, lane, base + offset, stores ? line : NULL);

        if (!memory)
            return false;
        if (stores)
            memcpy(memory, line, bytes);
        else
            memcpy(line, memory, bytes);
    }
    return true;
}

/* Copies between a fragment and lines. */
static void spread_lines(const work *self, unsigned char *lines, bool stores)
{
    cx_ptx_matrix_part part = (cx_ptx_matrix_part)self->what->part;
    const cx_ptx_fragment *fragment = &self->what->parts[part];
    cx_ptx_element kind = (cx_ptx_element)fragment->element;
    unsigned packed = cx_ptx_element_packed(kind), bits = cx_ptx_element_bits(kind);
    unsigned columns = columns_of(self->what, part);

    for (unsigned number = 0; number < fragment->count; number++) {
        const steps along = steps_of(self->what, part, number);

        EACH_LANE_OF(self, lane)
        {
            uint64_t whole = stores ? cx_ptx_get(self->rows, fragment->places[number], lane) : 0;

            for (unsigned i = 0; i < packed; i++) {
                unsigned at = place_of(self->what, part, &along, lane, number, i);
                unsigned row = at / columns, column = at % columns;
                unsigned line = fragment->by_columns ? column : row;
                unsigned first = (fragment->by_columns ? row : column) * bits;
                unsigned char *memory = lines + (size_t)line * self->at->size;

                if (stores)
                    copy_bits(memory, first, (unsigned char *)&whole, i * bits, bits);
                else
                    copy_bits((unsigned char *)&whole, i * bits, memory, first, bits);
            }
            if (!stores)
                cx_ptx_put(self->rows, fragment->places[number], lane, whole);
        }
    }
}

static void move_fragment(const work *self, bool stores)
{
    const cx_ptx_matrix *what = self->what;
    cx_ptx_matrix_part part = (cx_ptx_matrix_part)what->part;
    unsigned char lines[ELEMENTS_MAX * sizeof(float)] = {0};
    unsigned count = what->parts[part].by_columns ? columns_of(what, part) : rows_of(what, part);

    if (stores)
        spread_lines(self, lines, true);
    if (access_lines(self, lines, count, stores) && !stores)
        spread_lines(self, lines, false);
}

/* ---- matrices of 8 rows with 8 halves ---- */

#define ROW_BYTES 16
#define ROWS 8

/* The half `along` of line `line`, where a lane has two neighbours. */
static void spread_rows(const work *self, const cx_ptx_fragment *fragment, unsigned number,
                        uint16_t halves[ROWS][ROWS], bool transposed, bool stores)
{
    for (unsigned lane = 0; lane < CX_PTX_WARP_SIZE; lane++) {
        unsigned line = lane / 4, along = lane % 4 * 2;
        uint16_t *low = transposed ? &halves[along][line] : &halves[line][along];
        uint16_t *high = transposed ? &halves[along + 1][line] : &halves[line][along + 1];
        uint32_t word = 0;

        if (!is_present(self, lane))
            continue;
        if (!stores) {
            cx_ptx_put(self->rows, fragment->places[number], lane, *low | (uint32_t)*high << 16);
            continue;
        }
        word = (uint32_t)cx_ptx_get(self->rows, fragment->places[number], lane);
        *low = (uint16_t)word;
        *high = (uint16_t)(word >> 16);
    }
}

/* Lanes 8 i to 8 i + 7 have the addresses of the rows of matrix i. */
static bool access_rows(const work *self, unsigned number, uint16_t halves[ROWS][ROWS], bool stores)
{
    for (unsigned row = 0; row < ROWS; row++) {
        unsigned lane = number * ROWS + row;
        unsigned char *memory;

        if (!is_present(self, lane))
            continue;
        memory = reach(self, lane, cx_ptx_get(self->rows, self->at->a, lane),
                       stores ? halves[row] : NULL);
        if (!memory)
            return false;
        if (stores)
            memcpy(memory, halves[row], ROW_BYTES);
        else
            memcpy(halves[row], memory, ROW_BYTES);
    }
    return true;
}

/* The address may be one of the loaded registers: all matrices are read before one is written. */
static void load_rows(const work *self)
{
    const cx_ptx_fragment *fragment = &self->what->parts[CX_PTX_MATRIX_D];
    uint16_t all[4][ROWS][ROWS] = {{{0}}};

    for (unsigned i = 0; i < fragment->count; i++)
        if (!access_rows(self, i, all[i], false))
            return;
    for (unsigned i = 0; i < fragment->count; i++)
        spread_rows(self, fragment, i, all[i], self->what->transposed, false);
}

static void store_rows(const work *self)
{
    const cx_ptx_fragment *fragment = &self->what->parts[CX_PTX_MATRIX_D];

    for (unsigned i = 0; i < fragment->count; i++) {
        uint16_t halves[ROWS][ROWS] = {{0}};

        spread_rows(self, fragment, i, halves, self->what->transposed, true);
        if (!access_rows(self, i, halves, true))
            return;
    }
}

static void transpose(const work *self)
{
    uint16_t halves[ROWS][ROWS] = {{0}};

    spread_rows(self, &self->what->parts[CX_PTX_MATRIX_A], 0, halves, false, true);
    spread_rows(self, &self->what->parts[CX_PTX_MATRIX_D], 0, halves, true, false);
}

void cx_ptx_matrix_do(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *lanes,
                      const cx_ptx_rows *rows, uint32_t mask, const cx_ptx_instruction *at)
{
    const work self = {grid, block, lanes, rows, mask, at, &grid->module->matrices[at->c]};

    if (grid->shadow)
        cx_ptx_shadow_join(grid, block, lanes, mask);
    switch ((cx_ptx_matrix_mode)at->mode) {
    case CX_PTX_MATRIX_MULTIPLY:
        multiply(&self);
        break;
    case CX_PTX_MATRIX_LOAD:
    case CX_PTX_MATRIX_STORE:
        move_fragment(&self, at->mode == CX_PTX_MATRIX_STORE);
        break;
    case CX_PTX_MATRIX_LOAD_ROWS:
        load_rows(&self);
        break;
    case CX_PTX_MATRIX_STORE_ROWS:
        store_rows(&self);
        break;
    case CX_PTX_MATRIX_TRANSPOSE:
        transpose(&self);
        break;
    }
    if (grid->shadow)
        cx_ptx_shadow_matrix_end(grid, block, lanes, mask, at);
}
