/* Matrix instructions: mma, wmma, ldmatrix, stmatrix, movmatrix. */
#include "ptx/growth.h"
#include "ptx/matrix.h"
#include "ptx/parser.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

/* The words of an opcode. */
typedef struct matrix_words {
    unsigned m, n, k;
    cx_ptx_element elements[4];
    unsigned element_count;
    bool columns[2]; /* .col, where .row might be */
    unsigned layout_count;
    cx_ptx_space space;
    unsigned matrices; /* .x4 */
    bool transposed, saturated, by_and, counts;
    int rounding;
    char part; /* a, b, c, d of wmma.load and wmma.store */
} matrix_words;

/* ---- words ---- */

static cx_ptx_element element_of(const cx_ptx_token *word)
{
    static const struct {
        const char *text;
        cx_ptx_element element;
    } rows[] = {
        {"f16", CX_PTX_ELEMENT_F16},   {"bf16", CX_PTX_ELEMENT_BF16}, {"tf32", CX_PTX_ELEMENT_TF32},
        {"f32", CX_PTX_ELEMENT_F32},   {"f64", CX_PTX_ELEMENT_F64},   {"e4m3", CX_PTX_ELEMENT_E4M3},
        {"e5m2", CX_PTX_ELEMENT_E5M2}, {"s32", CX_PTX_ELEMENT_S32},   {"s8", CX_PTX_ELEMENT_S8},
        {"u8", CX_PTX_ELEMENT_U8},     {"s4", CX_PTX_ELEMENT_S4},     {"u4", CX_PTX_ELEMENT_U4},
        {"b1", CX_PTX_ELEMENT_B1}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (cx_ptx_token_is(word, rows[i].text))
            return rows[i].element;
    return CX_PTX_ELEMENT_NONE;
}

/* Reads the number behind a letter. */
static bool read_size(const char **text, const char *end, char letter, unsigned *out)
{
    unsigned size = 0;

    if (*text == end || *(*text)++ != letter)
        return false;
    for (; *text < end && **text >= '0' && **text <= '9' && size < 1000; ++*text)
        size = size * 10 + (unsigned)(**text - '0');
    *out = size;
    return size > 0;
}

/* m16n8k16, m8n8 */
static bool read_shape(const cx_ptx_token *word, matrix_words *out)
{
    const char *text = word->text, *end = text + word->length;
    unsigned m, n, k = 0;

    if (!read_size(&text, end, 'm', &m) || !read_size(&text, end, 'n', &n) ||
        (text < end && !read_size(&text, end, 'k', &k)) || text != end)
        return false;
    out->m = m;
    out->n = n;
    out->k = k;
    return true;
}

static bool read_flag(const cx_ptx_token *word, matrix_words *out)
{
    static const struct {
        const char *text;
        int rounding;
    } roundings[] = {
        {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

    for (size_t i = 0; i < sizeof roundings / sizeof roundings[0]; i++)
        if (cx_ptx_token_is(word, roundings[i].text)) {
            out->rounding = roundings[i].rounding;
            return true;
        }
    if (cx_ptx_token_is(word, "trans"))
        out->transposed = true;
    else if (cx_ptx_token_is(word, "satfinite"))
        out->saturated = true;
    else if (cx_ptx_token_is(word, "and"))
        out->by_and = true;
    else if (cx_ptx_token_is(word, "popc"))
        out->counts = true;
    else if (cx_ptx_token_is(word, "global"))
        out->space = CX_PTX_GLOBAL;
    else if (cx_ptx_token_is(word, "shared") || cx_ptx_token_is(word, "shared::cta"))
        out->space = CX_PTX_SHARED;
    else
        return cx_ptx_token_is(word, "xor") || cx_ptx_token_is(word, "sync") ||
               cx_ptx_token_is(word, "aligned") || cx_ptx_token_is(word, "b16");
    return true;
}

static bool read_word(const cx_ptx_token *word, matrix_words *out)
{
    cx_ptx_element element = element_of(word);

    if (element != CX_PTX_ELEMENT_NONE) {
        if (out->element_count == 4)
            return false;
        out->elements[out->element_count++] = element;
        return true;
    }
    if (cx_ptx_token_is(word, "row") || cx_ptx_token_is(word, "col")) {
        if (out->layout_count == 2)
            return false;
        out->columns[out->layout_count++] = word->text[0] == 'c';
        return true;
    }
    if (word->length == 1 && *word->text >= 'a' && *word->text <= 'd') {
        out->part = *word->text;
        return true;
    }
    if (word->length == 2 && *word->text == 'x') {
        out->matrices = (unsigned)(word->text[1] - '0');
        return out->matrices == 1 || out->matrices == 2 || out->matrices == 4;
    }
    return read_shape(word, out) || read_flag(word, out);
}

/* The words behind the first one, or the first two. */
static bool read_words(const cx_ptx_token *opcode, int skipped, matrix_words *out)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;

    *out = (matrix_words){.space = CX_PTX_GENERIC, .rounding = FE_TONEAREST};
    for (int i = 0; i < skipped; i++)
        cx_ptx_next_word(&words, &word);
    while (cx_ptx_next_word(&words, &word))
        if (!read_word(&word, out))
            return false;
    return cx_ptx_has_word(opcode, "sync") && cx_ptx_has_word(opcode, "aligned") && out->m > 0;
}

/* ---- operands ---- */

static cx_ptx_type register_type(cx_ptx_element element)
{
    switch (element) {
    case CX_PTX_ELEMENT_F32:
        return CX_PTX_F32;
    case CX_PTX_ELEMENT_F64:
        return CX_PTX_F64;
    default:
        return CX_PTX_B32;
    }
}

/* Takes so many registers. */
static bool take_fragment(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          const cx_ptx_operand *operand, unsigned count, bool writes,
                          cx_ptx_fragment *out)
{
    cx_ptx_type type = register_type((cx_ptx_element)out->element);

    if (operand->kind != CX_PTX_OPERAND_VECTOR) {
        out->places[0] =
            writes ? cx_ptx_result(self, operand, type) : cx_ptx_value(self, operand, type);
        out->count = 1;
        if (count != 1 && out->places[0] != CX_PTX_NO_SLOT)
            return cx_ptx_wrong(self, statement, "wrong number of registers");
        return out->places[0] != CX_PTX_NO_SLOT;
    }
    if (operand->count != count)
        return cx_ptx_wrong(self, statement, "wrong number of registers");
    out->count = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        uint32_t slot = operand->parts[i];

        if (writes && (slot < CX_PTX_SLOTS_FIXED || (slot & CX_PTX_CONSTANT_BIT)))
            return cx_ptx_wrong(self, statement, "a part cannot be written");
        if (!cx_ptx_check_part(self, operand, i, type, false))
            return false;
        out->places[i] = slot;
    }
    return true;
}

static bool emit_matrix(cx_ptx_parser *self, const cx_ptx_matrix *what, cx_ptx_instruction done)
{
    cx_ptx_module *module = self->module;
    void *matrices = module->matrices;
    bool grown = cx_ptx_grow(&matrices, module->matrix_count, &module->matrix_capacity,
                             sizeof *module->matrices);

    module->matrices = matrices;
    if (!grown)
        return cx_ptx_no_memory(self);
    done.op = CX_PTX_MATRIX;
    done.c = (uint32_t)module->matrix_count;
    done.e = cx_ptx_constant(self, UINT32_MAX);
    module->matrices[module->matrix_count++] = *what;
    return done.e != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* ---- shapes ---- */

/* The shapes that multiply elements of so many bits. */
typedef struct shape {
    uint16_t m, n, k;
    uint8_t bits;
    bool floats;
} shape;

static bool is_float(cx_ptx_element element)
{
    return element <= CX_PTX_ELEMENT_E5M2;
}

static bool is_among(const shape *shapes, size_t count, const matrix_words *what,
                     cx_ptx_element element)
{
    for (size_t i = 0; i < count; i++)
        if (shapes[i].m == what->m && shapes[i].n == what->n && shapes[i].k == what->k &&
            shapes[i].bits == cx_ptx_element_bits(element) && shapes[i].floats == is_float(element))
            return true;
    return false;
}

static bool is_mma_shape(const matrix_words *what, cx_ptx_element element)
{
    static const shape shapes[] = {
        {8, 8, 4, 16, true},    {16, 8, 8, 16, true},  {16, 8, 16, 16, true},
        {16, 8, 4, 32, true},   {16, 8, 8, 32, true},  {8, 8, 4, 64, true},
        {16, 8, 4, 64, true},   {16, 8, 8, 64, true},  {16, 8, 16, 64, true},
        {16, 8, 16, 8, true},   {16, 8, 32, 8, true},  {8, 8, 16, 8, false},
        {16, 8, 16, 8, false},  {16, 8, 32, 8, false}, {8, 8, 32, 4, false},
        {16, 8, 32, 4, false},  {16, 8, 64, 4, false}, {8, 8, 128, 1, false},
        {16, 8, 128, 1, false}, {16, 8, 256, 1, false}};

    if (what->m == 8 && element == CX_PTX_ELEMENT_BF16)
        return false;
    return is_among(shapes, sizeof shapes / sizeof shapes[0], what, element);
}

static bool is_wmma_shape(const matrix_words *what, cx_ptx_element element)
{
    static const shape shapes[] = {{16, 16, 16, 16, true}, {32, 8, 16, 16, true},
                                   {8, 32, 16, 16, true},  {16, 16, 16, 8, false},
                                   {32, 8, 16, 8, false},  {8, 32, 16, 8, false},
                                   {16, 16, 8, 32, true},  {8, 8, 4, 64, true},
                                   {8, 8, 32, 4, false},   {8, 8, 128, 1, false}};

    return is_among(shapes, sizeof shapes / sizeof shapes[0], what, element);
}

/* True if products of A's and B's elements are summed up in C's and D's. */
static bool fits(const cx_ptx_matrix *what)
{
    cx_ptx_element a = (cx_ptx_element)what->parts[CX_PTX_MATRIX_A].element;
    cx_ptx_element b = (cx_ptx_element)what->parts[CX_PTX_MATRIX_B].element;
    cx_ptx_element c = (cx_ptx_element)what->parts[CX_PTX_MATRIX_C].element;
    cx_ptx_element d = (cx_ptx_element)what->parts[CX_PTX_MATRIX_D].element;

    switch (a) {
    case CX_PTX_ELEMENT_F16:
        return b == a && (c == CX_PTX_ELEMENT_F16 || c == CX_PTX_ELEMENT_F32) &&
               (d == CX_PTX_ELEMENT_F16 || d == CX_PTX_ELEMENT_F32);
    case CX_PTX_ELEMENT_E4M3:
    case CX_PTX_ELEMENT_E5M2:
        return (b == CX_PTX_ELEMENT_E4M3 || b == CX_PTX_ELEMENT_E5M2) && c == d &&
               (c == CX_PTX_ELEMENT_F16 || c == CX_PTX_ELEMENT_F32);
    case CX_PTX_ELEMENT_BF16:
    case CX_PTX_ELEMENT_TF32:
        return b == a && c == CX_PTX_ELEMENT_F32 && d == c;
    case CX_PTX_ELEMENT_F64:
        return b == a && c == a && d == a;
    case CX_PTX_ELEMENT_F32:
    case CX_PTX_ELEMENT_S32:
    case CX_PTX_ELEMENT_NONE:
        return false;
    default:
        return cx_ptx_element_bits(a) == cx_ptx_element_bits(b) && !is_float(b) &&
               c == CX_PTX_ELEMENT_S32 && d == c;
    }
}

/* Registers of a part in each lane. */
static unsigned registers_of(const cx_ptx_matrix *what, cx_ptx_matrix_part part, bool wmma)
{
    cx_ptx_element element = (cx_ptx_element)what->parts[part].element;
    unsigned rows = part == CX_PTX_MATRIX_B ? what->k : what->m;
    unsigned columns = part == CX_PTX_MATRIX_A ? what->k : what->n;
    unsigned lanes = what->in_quads ? 8 : CX_PTX_WARP_SIZE;

    /* wmma's fragments of halves have room for the largest shape. */
    if (wmma && element == CX_PTX_ELEMENT_F16 &&
        (part == CX_PTX_MATRIX_A || part == CX_PTX_MATRIX_B))
        return 8;
    return rows * columns / lanes / cx_ptx_element_packed(element);
}

/* ---- products ---- */

/* Types are those of D, A, B and C; wmma with halves names those of D and C only. */
static bool read_types(const matrix_words *words, bool wmma, cx_ptx_matrix *out)
{
    const cx_ptx_element *types = words->elements;
    cx_ptx_element a = CX_PTX_ELEMENT_F16, b = a, c;

    if (words->element_count == 2 && wmma) {
        c = types[1];
    } else if (words->element_count == 4) {
        a = types[1];
        b = types[2];
        c = types[3];
    } else {
        return false;
    }
    out->parts[CX_PTX_MATRIX_D].element = (uint8_t)types[0];
    out->parts[CX_PTX_MATRIX_A].element = (uint8_t)a;
    out->parts[CX_PTX_MATRIX_B].element = (uint8_t)b;
    out->parts[CX_PTX_MATRIX_C].element = (uint8_t)c;
    return fits(out) && (wmma ? is_wmma_shape(words, a) : is_mma_shape(words, a));
}

/* True if the other words suit the types. */
static bool suits(const matrix_words *words, const cx_ptx_matrix *what, bool wmma)
{
    cx_ptx_element a = (cx_ptx_element)what->parts[CX_PTX_MATRIX_A].element;
    bool bits = a == CX_PTX_ELEMENT_B1;
    bool integers = !is_float(a) && !bits;

    if (words->counts != bits || (words->by_and && !bits) || words->layout_count != 2 ||
        words->matrices || words->transposed || words->part ||
        (words->rounding != FE_TONEAREST && a != CX_PTX_ELEMENT_F64) ||
        (words->saturated && !integers && !(wmma && a == CX_PTX_ELEMENT_F16)))
        return false;
    /* Only products of halves, and wmma's of bytes, take matrices in all orders. */
    return what->in_quads || (wmma && cx_ptx_element_bits(a) >= 8) ||
           (!words->columns[0] && words->columns[1]);
}

static bool encode_product(cx_ptx_parser *self, const cx_ptx_statement *statement, bool wmma,
                           int skipped)
{
    static const cx_ptx_matrix_part parts[] = {CX_PTX_MATRIX_D, CX_PTX_MATRIX_A, CX_PTX_MATRIX_B,
                                               CX_PTX_MATRIX_C};
    cx_ptx_matrix what = {0};
    matrix_words words;

    if (!read_words(&statement->opcode, skipped, &words) || !read_types(&words, wmma, &what))
        return cx_ptx_unknown(self, statement);
    what.m = (uint16_t)words.m;
    what.n = (uint16_t)words.n;
    what.k = (uint16_t)words.k;
    what.in_quads =
        !wmma && what.m == 8 && what.parts[CX_PTX_MATRIX_A].element == CX_PTX_ELEMENT_F16;
    if (!suits(&words, &what, wmma))
        return cx_ptx_unknown(self, statement);
    what.saturated = words.saturated;
    what.by_and = words.by_and;
    what.rounding = words.rounding;
    what.parts[CX_PTX_MATRIX_A].by_columns = words.columns[0];
    what.parts[CX_PTX_MATRIX_B].by_columns = words.columns[1];
    if (!cx_ptx_need(self, statement, 4, 4))
        return false;
    for (int i = 0; i < 4; i++)
        if (!take_fragment(self, statement, &statement->operands[i],
                           registers_of(&what, parts[i], wmma), i == 0, &what.parts[parts[i]]))
            return false;
    return emit_matrix(self, &what, (cx_ptx_instruction){.mode = CX_PTX_MATRIX_MULTIPLY});
}

bool cx_ptx_encode_mma(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    return encode_product(self, statement, false, 1);
}

/* ---- memory ---- */

/* The lines of a part lie one behind the other unless the instruction has a stride. */
static uint64_t line_of(const matrix_words *words, cx_ptx_matrix_part part)
{
    unsigned rows = part == CX_PTX_MATRIX_B ? words->k : words->m;
    unsigned columns = part == CX_PTX_MATRIX_A ? words->k : words->n;

    return words->columns[0] ? rows : columns;
}

static bool part_exists(const matrix_words *words, cx_ptx_matrix_part part)
{
    cx_ptx_element element = words->elements[0];
    matrix_words with = *words;

    if (words->element_count != 1 || words->layout_count != 1 || words->transposed ||
        words->matrices || words->saturated || words->counts)
        return false;
    if (part == CX_PTX_MATRIX_A || part == CX_PTX_MATRIX_B)
        return is_wmma_shape(&with, element) && (cx_ptx_element_bits(element) >= 8 ||
                                                 words->columns[0] == (part == CX_PTX_MATRIX_B));
    switch (element) {
    case CX_PTX_ELEMENT_F16:
        return is_wmma_shape(&with, CX_PTX_ELEMENT_F16);
    case CX_PTX_ELEMENT_F32:
        return is_wmma_shape(&with, CX_PTX_ELEMENT_F16) ||
               is_wmma_shape(&with, CX_PTX_ELEMENT_TF32);
    case CX_PTX_ELEMENT_F64:
        return is_wmma_shape(&with, CX_PTX_ELEMENT_F64);
    case CX_PTX_ELEMENT_S32:
        return is_wmma_shape(&with, CX_PTX_ELEMENT_S8) || is_wmma_shape(&with, CX_PTX_ELEMENT_S4) ||
               is_wmma_shape(&with, CX_PTX_ELEMENT_B1);
    default:
        return false;
    }
}

/* wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {...}, [address] {, stride} */
static bool encode_fragment_access(cx_ptx_parser *self, const cx_ptx_statement *statement,
                                   bool stores)
{
    cx_ptx_instruction done = {.mode = stores ? CX_PTX_MATRIX_STORE : CX_PTX_MATRIX_LOAD};
    const cx_ptx_operand *operands = statement->operands;
    cx_ptx_matrix what = {0};
    cx_ptx_matrix_part part;
    cx_ptx_fragment *fragment;
    matrix_words words;

    if (!read_words(&statement->opcode, 2, &words) || words.part == 0 ||
        (words.part == 'd') != stores)
        return cx_ptx_unknown(self, statement);
    part = words.part == 'a'   ? CX_PTX_MATRIX_A
           : words.part == 'b' ? CX_PTX_MATRIX_B
           : words.part == 'c' ? CX_PTX_MATRIX_C
                               : CX_PTX_MATRIX_D;
    if (!part_exists(&words, part))
        return cx_ptx_unknown(self, statement);
    what.m = (uint16_t)words.m;
    what.n = (uint16_t)words.n;
    what.k = (uint16_t)words.k;
    what.part = (uint8_t)part;
    fragment = &what.parts[part];
    fragment->element = (uint8_t)words.elements[0];
    fragment->by_columns = words.columns[0];
    if (!cx_ptx_need(self, statement, 2, 3) ||
        !take_fragment(self, statement, &operands[stores], registers_of(&what, part, true), !stores,
                       fragment) ||
        !cx_ptx_take_address(self, statement, &operands[!stores], words.space, stores, &done))
        return false;
    done.b = statement->count == 3 ? cx_ptx_value(self, &operands[2], CX_PTX_U32)
                                   : cx_ptx_constant(self, line_of(&words, part));
    done.size = (uint8_t)(line_of(&words, part) *
                          cx_ptx_element_bits((cx_ptx_element)fragment->element) / 8);
    done.align = (uint8_t)((cx_ptx_element_bits((cx_ptx_element)fragment->element) + 7) / 8);
    done.site = self->module->sites++;
    return done.b != CX_PTX_NO_SLOT && emit_matrix(self, &what, done);
}

bool cx_ptx_encode_wmma(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_token word;

    cx_ptx_next_word(&words, &word);
    if (!cx_ptx_next_word(&words, &word))
        return cx_ptx_unknown(self, statement);
    if (cx_ptx_token_is(&word, "mma"))
        return encode_product(self, statement, true, 2);
    if (cx_ptx_token_is(&word, "load") || cx_ptx_token_is(&word, "store"))
        return encode_fragment_access(self, statement, word.text[0] == 's');
    return cx_ptx_unknown(self, statement);
}

/* ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {...}, [address] */
bool cx_ptx_encode_matrix_rows(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    bool stores = statement->opcode.text[0] == 's';
    cx_ptx_instruction done = {.mode = stores ? CX_PTX_MATRIX_STORE_ROWS : CX_PTX_MATRIX_LOAD_ROWS,
                               .size = 16,
                               .align = 16};
    cx_ptx_matrix what = {.m = 8, .n = 8};
    cx_ptx_fragment *rows = &what.parts[CX_PTX_MATRIX_D];
    matrix_words words;

    if (!read_words(&statement->opcode, 1, &words) || words.m != 8 || words.n != 8 || words.k ||
        words.matrices == 0 || words.element_count || words.layout_count ||
        words.space == CX_PTX_GLOBAL || !cx_ptx_has_word(&statement->opcode, "b16"))
        return cx_ptx_unknown(self, statement);
    rows->element = CX_PTX_ELEMENT_F16;
    what.transposed = words.transposed;
    done.site = self->module->sites++;
    return cx_ptx_need(self, statement, 2, 2) &&
           take_fragment(self, statement, &statement->operands[stores], words.matrices, !stores,
                         rows) &&
           cx_ptx_take_address(self, statement, &statement->operands[!stores], words.space, stores,
                               &done) &&
           emit_matrix(self, &what, done);
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a */
bool cx_ptx_encode_movmatrix(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_matrix what = {.m = 8, .n = 8};
    matrix_words words;

    if (!read_words(&statement->opcode, 1, &words) || words.m != 8 || words.n != 8 || words.k ||
        words.element_count || words.layout_count || !words.transposed ||
        !cx_ptx_has_word(&statement->opcode, "b16"))
        return cx_ptx_unknown(self, statement);
    what.parts[CX_PTX_MATRIX_D].element = what.parts[CX_PTX_MATRIX_A].element = CX_PTX_ELEMENT_F16;
    return cx_ptx_need(self, statement, 2, 2) &&
           take_fragment(self, statement, &statement->operands[0], 1, true,
                         &what.parts[CX_PTX_MATRIX_D]) &&
           take_fragment(self, statement, &statement->operands[1], 1, false,
                         &what.parts[CX_PTX_MATRIX_A]) &&
           emit_matrix(self, &what, (cx_ptx_instruction){.mode = CX_PTX_MATRIX_TRANSPOSE});
}
