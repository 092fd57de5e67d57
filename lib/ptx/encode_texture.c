/*
 * Instructions on textures and surfaces. Their operands are copied to words that lie in a row, and
 * the results from such words: each function has some for all of them.
 */
#include "ptx/parser.h"
#include "ptx/texture.h"

#include <string.h>

/* The words of an opcode such as tex.level.a2d.v4.f32.s32. */
typedef struct texture_words {
    cx_ptx_texture_operation operation;
    cx_ptx_texture_code code;
    cx_ptx_type types[2];
    unsigned type_count, vector;
} texture_words;

/* ---- opcodes ---- */

typedef struct named {
    const char *word;
    uint8_t value;
} named;

#define COUNT_OF(list) (sizeof(list) / sizeof(list)[0])

static bool find_word(const named *list, size_t count, const cx_ptx_token *word, uint8_t *out)
{
    for (size_t i = 0; i < count; i++)
        if (cx_ptx_token_is(word, list[i].word)) {
            *out = list[i].value;
            return true;
        }
    return false;
}

static bool read_geometry(const cx_ptx_token *word, cx_ptx_texture_code *out)
{
    static const struct {
        const char *word;
        uint8_t coordinates, flags;
    } rows[] = {{"1d", 1, 0},
                {"2d", 2, 0},
                {"3d", 3, 0},
                {"a1d", 1, CX_PTX_TEXTURE_LAYERED},
                {"a2d", 2, CX_PTX_TEXTURE_LAYERED},
                {"cube", 3, CX_PTX_TEXTURE_CUBE},
                {"acube", 3, CX_PTX_TEXTURE_CUBE | CX_PTX_TEXTURE_LAYERED}};

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (cx_ptx_token_is(word, rows[i].word)) {
            out->coordinates = rows[i].coordinates;
            out->flags |= rows[i].flags;
            return true;
        }
    return false;
}

static bool read_level(const cx_ptx_token *word, cx_ptx_texture_code *out)
{
    static const named levels[] = {{"base", CX_PTX_LEVEL_BASE},
                                   {"level", CX_PTX_LEVEL_NAMED},
                                   {"grad", CX_PTX_LEVEL_BY_GRADIENT}};

    return find_word(levels, COUNT_OF(levels), word, &out->level);
}

static bool read_channel(const cx_ptx_token *word, cx_ptx_texture_code *out)
{
    static const named channels[] = {{"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}};

    return find_word(channels, COUNT_OF(channels), word, &out->part);
}

static bool read_outside(const cx_ptx_token *word, cx_ptx_texture_code *out)
{
    static const named modes[] = {{"trap", CX_PTX_OUTSIDE_TRAPS},
                                  {"clamp", CX_PTX_OUTSIDE_CLAMPS},
                                  {"zero", CX_PTX_OUTSIDE_IS_ZERO}};

    return find_word(modes, COUNT_OF(modes), word, &out->outside);
}

static bool read_reduction(const cx_ptx_token *word, cx_ptx_texture_code *out)
{
    static const named operations[] = {{"add", CX_PTX_ATOMIC_ADD},
                                       {"min", CX_PTX_ATOMIC_MIN},
                                       {"max", CX_PTX_ATOMIC_MAX},
                                       {"and", CX_PTX_ATOMIC_AND},
                                       {"or", CX_PTX_ATOMIC_OR}};

    return find_word(operations, COUNT_OF(operations), word, &out->part);
}

/* Words about caching change nothing. */
static bool is_idle(const cx_ptx_token *word)
{
    static const char *const words[] = {"ca", "cg", "cs", "cv", "wb", "wt", "b"};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (cx_ptx_token_is(word, words[i]))
            return true;
    return false;
}

static bool read_word(const cx_ptx_token *word, texture_words *out)
{
    bool is_surface = out->operation >= CX_PTX_SURFACE_LOAD;
    cx_ptx_type type;

    if (read_geometry(word, &out->code))
        return true;
    if (!is_surface && read_level(word, &out->code))
        return out->operation == CX_PTX_TEXTURE_FETCH;
    if (out->operation == CX_PTX_TEXTURE_GATHER && read_channel(word, &out->code))
        return true;
    if (is_surface && cx_ptx_token_is(word, "p")) {
        if (out->operation == CX_PTX_SURFACE_STORE)
            out->operation = CX_PTX_SURFACE_STORE_FORMATTED;
        return out->operation == CX_PTX_SURFACE_STORE_FORMATTED;
    }
    if (is_surface && (read_outside(word, &out->code) || is_idle(word)))
        return true;
    if (out->operation == CX_PTX_SURFACE_REDUCE && read_reduction(word, &out->code))
        return true;
    if (cx_ptx_token_is(word, "v2") || cx_ptx_token_is(word, "v4")) {
        out->vector = (unsigned)word->text[1] - '0';
        return true;
    }
    if (cx_ptx_token_is(word, "f16x2") && !is_surface) {
        out->code.flags |= CX_PTX_TEXTURE_HALVES;
        type = CX_PTX_B32;
    } else {
        type = cx_ptx_type_find(word->text, word->length);
    }
    if (type == CX_PTX_NO_TYPE || out->type_count == COUNT_OF(out->types))
        return false;
    out->types[out->type_count++] = type;
    return true;
}

static bool read_operation(const cx_ptx_token *word, cx_ptx_texture_operation *out)
{
    static const named operations[] = {{"tex", CX_PTX_TEXTURE_FETCH},
                                       {"tld4", CX_PTX_TEXTURE_GATHER},
                                       {"suld", CX_PTX_SURFACE_LOAD},
                                       {"sust", CX_PTX_SURFACE_STORE},
                                       {"sured", CX_PTX_SURFACE_REDUCE}};
    uint8_t found = 0;

    if (!find_word(operations, COUNT_OF(operations), word, &found))
        return false;
    *out = (cx_ptx_texture_operation)found;
    return true;
}

/* The coordinates are those of the last type. */
static bool check_texture(texture_words *self)
{
    if (self->type_count != 2 || (self->vector != 4 && self->vector != 2) ||
        (self->vector == 2) != ((self->code.flags & CX_PTX_TEXTURE_HALVES) != 0) ||
        cx_ptx_type_bytes(self->types[0]) != 4)
        return false;
    if (self->types[1] == CX_PTX_S32)
        self->code.flags |= CX_PTX_TEXTURE_INTEGERS;
    else if (self->types[1] != CX_PTX_F32)
        return false;
    if (self->operation == CX_PTX_TEXTURE_GATHER)
        return self->types[1] == CX_PTX_F32 && self->code.coordinates >= 2 &&
               (self->code.coordinates == 2 || self->code.flags & CX_PTX_TEXTURE_CUBE);
    return self->types[1] == CX_PTX_F32 || !(self->code.flags & CX_PTX_TEXTURE_CUBE);
}

static bool check_surface(texture_words *self)
{
    unsigned bytes = cx_ptx_type_bytes(self->types[0]);

    self->vector = self->vector ? self->vector : 1;
    self->code.element_bytes = (uint8_t)bytes;
    self->code.elements = (uint8_t)self->vector;
    if (self->type_count != 1 || self->code.flags & CX_PTX_TEXTURE_CUBE ||
        bytes * self->vector > 16)
        return false;
    if (self->operation == CX_PTX_SURFACE_STORE_FORMATTED)
        return bytes == 4;
    return self->operation != CX_PTX_SURFACE_REDUCE || (self->vector == 1 && bytes >= 4);
}

static bool read_words(const cx_ptx_token *opcode, texture_words *out)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;

    *out = (texture_words){.vector = 0};
    if (!cx_ptx_next_word(&words, &word) || !read_operation(&word, &out->operation))
        return false;
    while (cx_ptx_next_word(&words, &word))
        if (!read_word(&word, out))
            return false;
    if (out->code.coordinates == 0)
        return false;
    return out->operation >= CX_PTX_SURFACE_LOAD ? check_surface(out) : check_texture(out);
}

/* ---- operands ---- */

enum { WORDS = CX_PTX_TEXTURE_INPUTS_MAX + CX_PTX_TEXTURE_RESULTS };

static uint32_t first_input(cx_ptx_parser *self)
{
    if (self->texture_words == CX_PTX_NO_SLOT)
        self->texture_words = cx_ptx_register(self, WORDS, false);
    return self->texture_words;
}

static bool move_word(cx_ptx_parser *self, uint32_t to, uint32_t from)
{
    return from != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_OP_mov_b32, .d = to, .a = from});
}

static bool unpack_word(cx_ptx_parser *self, uint32_t to, uint32_t from, uint8_t part)
{
    return cx_ptx_emit(self,
                       (cx_ptx_instruction){
                           .op = CX_PTX_UNPACK, .size = 4, .mode = part, .d = to, .a = from});
}

/* Adds a value to the words; one of 8 bytes takes two. */
static bool add_input(cx_ptx_parser *self, cx_ptx_texture_code *code, uint32_t slot, bool is_long)
{
    uint32_t first = first_input(self), place = first + code->inputs;

    if (first == CX_PTX_NO_SLOT)
        return false;
    if (code->inputs + is_long >= CX_PTX_TEXTURE_INPUTS_MAX)
        return CX_PTX_INVALID_AT(self, "too many operands of a texture");
    code->inputs = (uint8_t)(code->inputs + 1 + is_long);
    return is_long ? unpack_word(self, place, slot, 0) && unpack_word(self, place + 1, slot, 1)
                   : move_word(self, place, slot);
}

/* The parts of a vector, or one value; those behind the first `count` mean nothing. */
static bool add_inputs(cx_ptx_parser *self, cx_ptx_texture_code *code,
                       const cx_ptx_operand *operand, unsigned count, cx_ptx_type type)
{
    bool is_long = cx_ptx_type_bytes(type) == 8;

    if (operand->kind != CX_PTX_OPERAND_VECTOR && count == 1) {
        uint32_t slot = cx_ptx_value(self, operand, type);

        return slot != CX_PTX_NO_SLOT && add_input(self, code, slot, is_long);
    }
    if (operand->kind != CX_PTX_OPERAND_VECTOR || operand->count < count)
        return CX_PTX_INVALID_AT(self, "'%.*s' has too few parts", CX_PTX_QUOTE(&operand->token));
    for (unsigned i = 0; i < count; i++)
        if (!add_input(self, code, operand->parts[i], is_long))
            return false;
    return true;
}

/* The object: a register, or a variable that holds it. */
static bool take_object(cx_ptx_parser *self, const cx_ptx_operand *operand, uint32_t *out)
{
    cx_ptx_instruction load = {.op = CX_PTX_LOAD_U64,
                               .space = CX_PTX_GLOBAL,
                               .size = 8,
                               .align = 8,
                               .type = CX_PTX_U64,
                               .a = operand->slot,
                               .immediate = operand->offset};

    if (operand->kind == CX_PTX_OPERAND_REGISTER && cx_ptx_type_bytes(operand->type) == 8) {
        *out = operand->slot;
        return true;
    }
    if (!operand->has_variable)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no texture or surface",
                                 CX_PTX_QUOTE(&operand->token));
    load.space = operand->space;
    load.site = self->module->sites++;
    load.d = *out = cx_ptx_temp(self);
    return *out != CX_PTX_NO_SLOT && cx_ptx_emit(self, load);
}

/* [object, {coordinates}]; layered coordinates begin with the layer. */
static bool take_place(cx_ptx_parser *self, texture_words *words, uint32_t *out_object)
{
    unsigned count = words->code.coordinates + ((words->code.flags & CX_PTX_TEXTURE_LAYERED) != 0);
    cx_ptx_operand object, coordinates;

    if (!cx_ptx_expect(self, "[") || !cx_ptx_parse_operand(self, &object) ||
        !cx_ptx_expect(self, ",") || !cx_ptx_parse_operand(self, &coordinates))
        return false;
    if (cx_ptx_at(self, ","))
        return cx_ptx_fail(self, CX_PTX_UNSUPPORTED,
                           "a texture with a sampler of its own is not supported");
    return cx_ptx_expect(self, "]") && take_object(self, &object, out_object) &&
           add_inputs(self, &words->code, &coordinates, count, CX_PTX_B32);
}

/* , {parts} */
static bool take_more(cx_ptx_parser *self, cx_ptx_texture_code *code, unsigned count)
{
    cx_ptx_operand operand;

    return cx_ptx_expect(self, ",") && cx_ptx_parse_operand(self, &operand) &&
           add_inputs(self, code, &operand, count, CX_PTX_B32);
}

/* ---- results ---- */

/* Copies results to their registers. */
static bool give_results(cx_ptx_parser *self, const cx_ptx_operand *result, uint32_t first,
                         unsigned bytes)
{
    for (unsigned i = 0; i < result->count; i++) {
        uint32_t to = result->parts[i];
        bool done = bytes == 8 ? cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_PACK,
                                                                        .size = 4,
                                                                        .d = to,
                                                                        .a = first + 2 * i,
                                                                        .b = first + 2 * i + 1})
                               : move_word(self, to, first + i);

        if (!done)
            return false;
    }
    /* Everything of a texture is there. */
    return result->second == CX_PTX_NO_SLOT ||
           move_word(self, result->second, cx_ptx_constant(self, 1));
}

/* A register may be wider than a part of 8 bits. */
static bool take_result(cx_ptx_parser *self, const texture_words *words, cx_ptx_operand *out)
{
    cx_ptx_operand second;

    if (!cx_ptx_parse_operand(self, out))
        return false;
    if (out->kind == CX_PTX_OPERAND_REGISTER || out->kind == CX_PTX_OPERAND_SINK) {
        out->parts[0] = cx_ptx_result_or_wider(self, out, words->types[0]);
        out->count = 1;
        if (out->parts[0] == CX_PTX_NO_SLOT)
            return false;
    } else if (out->kind != CX_PTX_OPERAND_VECTOR || out->count < words->vector) {
        return CX_PTX_INVALID_AT(self, "'%.*s' is no result", CX_PTX_QUOTE(&out->token));
    }
    for (unsigned i = 0; i < out->count; i++)
        if ((out->parts[i] & CX_PTX_CONSTANT_BIT) || out->parts[i] < CX_PTX_SLOTS_FIXED)
            return CX_PTX_INVALID_AT(self, "'%.*s' has a part that cannot be written",
                                     CX_PTX_QUOTE(&out->token));
    out->count = words->vector;
    if (!cx_ptx_take(self, "|"))
        return true;
    if (!cx_ptx_parse_operand(self, &second))
        return false;
    if (second.kind != CX_PTX_OPERAND_REGISTER || second.type != CX_PTX_PRED)
        return CX_PTX_INVALID_AT(self, "'%.*s' is no predicate", CX_PTX_QUOTE(&second.token));
    out->second = second.slot;
    return true;
}

/* ---- instructions ---- */

static bool emit_texture(cx_ptx_parser *self, const texture_words *words, uint32_t object)
{
    cx_ptx_instruction done = {.op = CX_PTX_TEXTURE,
                               .mode = (uint8_t)words->operation,
                               .type = (uint8_t)words->types[0],
                               .size = words->code.element_bytes,
                               .a = object,
                               .b = first_input(self),
                               .d = first_input(self) + CX_PTX_TEXTURE_INPUTS_MAX};

    memcpy(&done.immediate, &words->code, sizeof words->code);
    self->module->uses_textures = true;
    return cx_ptx_emit(self, done);
}

static bool compares_depths(cx_ptx_parser *self)
{
    return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "a texture that compares depths is not supported");
}

/* Behind the place: the level or the gradients, offsets. */
static bool take_rest_of_fetch(cx_ptx_parser *self, texture_words *words)
{
    cx_ptx_texture_code *code = &words->code;

    if (code->level == CX_PTX_LEVEL_NAMED && !take_more(self, code, 1))
        return false;
    if (code->level == CX_PTX_LEVEL_BY_GRADIENT &&
        !(take_more(self, code, code->coordinates) && take_more(self, code, code->coordinates)))
        return false;
    if (cx_ptx_at(self, ",")) {
        cx_ptx_token next = cx_ptx_peek(self);

        if (next.length != 1 || next.text[0] != '{')
            return compares_depths(self);
        code->flags |= CX_PTX_TEXTURE_OFFSETS;
        if (!take_more(self, code, code->coordinates))
            return false;
    }
    return !cx_ptx_at(self, ",") || compares_depths(self);
}

static bool parse_reading(cx_ptx_parser *self, texture_words *words)
{
    bool is_texture = words->operation < CX_PTX_SURFACE_LOAD;
    cx_ptx_operand result;
    uint32_t object = CX_PTX_NO_SLOT;

    return take_result(self, words, &result) && cx_ptx_expect(self, ",") &&
           take_place(self, words, &object) &&
           (!is_texture || take_rest_of_fetch(self, words)) && cx_ptx_expect(self, ";") &&
           emit_texture(self, words, object) &&
           give_results(self, &result, first_input(self) + CX_PTX_TEXTURE_INPUTS_MAX,
                        cx_ptx_type_bytes(words->types[0]));
}

static bool parse_writing(cx_ptx_parser *self, texture_words *words)
{
    cx_ptx_operand value;
    uint32_t object = CX_PTX_NO_SLOT;

    if (!take_place(self, words, &object) || !cx_ptx_expect(self, ",") ||
        !cx_ptx_parse_operand(self, &value) || !cx_ptx_expect(self, ";"))
        return false;
    if (value.kind != CX_PTX_OPERAND_VECTOR) {
        value.parts[0] = cx_ptx_value_or_wider(self, &value, words->types[0]);
        value.kind = CX_PTX_OPERAND_VECTOR;
        value.count = 1;
    }
    return value.parts[0] != CX_PTX_NO_SLOT &&
           add_inputs(self, &words->code, &value, words->vector, words->types[0]) &&
           emit_texture(self, words, object);
}

bool cx_ptx_parse_texture(cx_ptx_parser *self, const cx_ptx_token *opcode)
{
    const cx_ptx_statement statement = {.opcode = *opcode};
    texture_words words;

    if (!read_words(opcode, &words))
        return cx_ptx_unknown(self, &statement);
    return words.operation == CX_PTX_SURFACE_STORE ||
                   words.operation == CX_PTX_SURFACE_STORE_FORMATTED ||
                   words.operation == CX_PTX_SURFACE_REDUCE
               ? parse_writing(self, &words)
               : parse_reading(self, &words);
}

bool cx_ptx_is_texture(const cx_ptx_token *opcode)
{
    const cx_ptx_token first = cx_ptx_first_word(opcode);
    cx_ptx_texture_operation operation;

    return read_operation(&first, &operation);
}

/* ---- questions ---- */

static bool read_query(const cx_ptx_token *opcode, texture_words *out)
{
    static const named queries[] = {{"width", CX_PTX_QUERY_WIDTH},
                                    {"height", CX_PTX_QUERY_HEIGHT},
                                    {"depth", CX_PTX_QUERY_DEPTH},
                                    {"channel_data_type", CX_PTX_QUERY_CHANNEL_TYPE},
                                    {"channel_order", CX_PTX_QUERY_CHANNEL_ORDER},
                                    {"normalized_coords", CX_PTX_QUERY_NORMALIZED},
                                    {"force_unnormalized_coords", CX_PTX_QUERY_UNNORMALIZED},
                                    {"filter_mode", CX_PTX_QUERY_FILTER},
                                    {"addr_mode_0", CX_PTX_QUERY_ADDRESS_0},
                                    {"addr_mode_1", CX_PTX_QUERY_ADDRESS_1},
                                    {"addr_mode_2", CX_PTX_QUERY_ADDRESS_2},
                                    {"array_size", CX_PTX_QUERY_LAYERS},
                                    {"num_mipmap_levels", CX_PTX_QUERY_LEVELS},
                                    {"num_samples", CX_PTX_QUERY_SAMPLES},
                                    {"memory_layout", CX_PTX_QUERY_LAYOUT}};
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;
    bool found = false;

    *out = (texture_words){.operation = CX_PTX_TEXTURE_QUERY, .types = {CX_PTX_B32}};
    cx_ptx_next_word(&words, &word);
    if (cx_ptx_token_is(&word, "suq"))
        out->operation = CX_PTX_SURFACE_QUERY;
    while (cx_ptx_next_word(&words, &word)) {
        if (cx_ptx_token_is(&word, "level"))
            out->code.level = CX_PTX_LEVEL_NAMED;
        else if (find_word(queries, COUNT_OF(queries), &word, &out->code.part))
            found = true;
        else if (!cx_ptx_token_is(&word, "b32"))
            return false;
    }
    return found;
}

/* txq.width.b32 d, [object]; txq.level.width.b32 d, [object], level */
bool cx_ptx_encode_texture_query(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_operand *operands = statement->operands;
    texture_words words;
    cx_ptx_operand object = operands[1];
    uint32_t handle = CX_PTX_NO_SLOT, d;

    if (!read_query(&statement->opcode, &words))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, words.code.level ? 3 : 2, words.code.level ? 3 : 2))
        return false;
    if (object.kind != CX_PTX_OPERAND_ADDRESS)
        return cx_ptx_wrong(self, statement, "an address in brackets is missing");
    if (!object.has_variable)
        object.kind = CX_PTX_OPERAND_REGISTER;
    d = cx_ptx_result(self, &operands[0], CX_PTX_B32);
    return d != CX_PTX_NO_SLOT && take_object(self, &object, &handle) &&
           (!words.code.level || add_inputs(self, &words.code, &operands[2], 1, CX_PTX_B32)) &&
           emit_texture(self, &words, handle) &&
           move_word(self, d, first_input(self) + CX_PTX_TEXTURE_INPUTS_MAX);
}

/* istypep.texref p, a */
bool cx_ptx_encode_istypep(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    texture_words words = {.operation = CX_PTX_TEXTURE_IS_TYPE, .types = {CX_PTX_B32}};
    uint32_t handle = CX_PTX_NO_SLOT, d;

    if (cx_ptx_has_word(&statement->opcode, "surfref"))
        words.operation = CX_PTX_SURFACE_IS_TYPE;
    else if (!cx_ptx_has_word(&statement->opcode, "texref"))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    d = cx_ptx_result(self, &statement->operands[0], CX_PTX_PRED);
    return d != CX_PTX_NO_SLOT && take_object(self, &statement->operands[1], &handle) &&
           emit_texture(self, &words, handle) &&
           move_word(self, d, first_input(self) + CX_PTX_TEXTURE_INPUTS_MAX);
}
