/* Instructions that reach memory. */
#include "ptx/parser.h"

#define VECTOR_BYTES_MAX 32 /* since sm_100 */

/* The parts of an opcode such as ld.volatile.global.v4.f32. */
typedef struct access_words {
    cx_ptx_space space;
    bool parameter;
    unsigned count; /* of a vector */
    cx_ptx_type type;
} access_words;

/* An access to what others may use meanwhile: a loop around a load may wait for them. */
static bool sees_others(const cx_ptx_token *opcode)
{
    return cx_ptx_has_word(opcode, "volatile") || cx_ptx_has_word(opcode, "relaxed") ||
           cx_ptx_has_word(opcode, "acquire") || cx_ptx_has_word(opcode, "release") ||
           cx_ptx_has_word(opcode, "mmio");
}

static bool has_prefix(const cx_ptx_token *word, const char *prefix)
{
    size_t i = 0;

    for (; prefix[i]; i++)
        if (i >= word->length || word->text[i] != prefix[i])
            return false;
    return true;
}

/* Words about caching and ordering: all accesses are atomic and none is delayed. */
static bool changes_nothing(const cx_ptx_token *word)
{
    static const char *const words[] = {
        "volatile", "relaxed", "acquire", "release", "acq_rel", "weak", "sys", "gpu",
        "cta",      "cluster", "nc",      "ca",      "cg",      "cs",   "lu",  "cv",
        "wb",       "wt",      "mmio",    "noftz",   "async",   "mbarrier::complete_tx::bytes"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (cx_ptx_token_is(word, words[i]))
            return true;
    return has_prefix(word, "L1::") || has_prefix(word, "L2::");
}

bool cx_ptx_read_space(const cx_ptx_token *word, cx_ptx_space *out)
{
    if (cx_ptx_token_is(word, "global"))
        *out = CX_PTX_GLOBAL;
    else if (cx_ptx_token_is(word, "const"))
        *out = CX_PTX_CONSTANT;
    else if (cx_ptx_token_is(word, "shared") || cx_ptx_token_is(word, "shared::cta"))
        *out = CX_PTX_SHARED;
    else if (cx_ptx_token_is(word, "shared::cluster"))
        *out = CX_PTX_CLUSTER;
    else if (cx_ptx_token_is(word, "local"))
        *out = CX_PTX_LOCAL;
    else if (has_prefix(word, "param"))
        *out = CX_PTX_PARAMETER;
    else
        return false;
    return true;
}

static bool read_words(const cx_ptx_statement *statement, access_words *out)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_token word;

    *out = (access_words){.space = CX_PTX_GENERIC, .count = 1};
    cx_ptx_next_word(&words, &word);
    while (cx_ptx_next_word(&words, &word)) {
        if (changes_nothing(&word) || cx_ptx_read_space(&word, &out->space))
            continue;
        if (cx_ptx_token_is(&word, "v2"))
            out->count = 2;
        else if (cx_ptx_token_is(&word, "v4"))
            out->count = 4;
        else if (cx_ptx_token_is(&word, "v8"))
            out->count = 8;
        else if ((out->type = cx_ptx_type_find(word.text, word.length)) == CX_PTX_NO_TYPE)
            return false;
    }
    return out->type != CX_PTX_NO_TYPE && out->type != CX_PTX_PRED &&
           out->count * cx_ptx_type_bytes(out->type) <= VECTOR_BYTES_MAX &&
           (out->type != CX_PTX_B128 || out->count == 1);
}

static uint32_t next_site(cx_ptx_parser *self)
{
    return self->module->sites++;
}

/* ---- loads and stores ---- */

static cx_ptx_op load_of(cx_ptx_type type)
{
    bool extended = cx_ptx_type_signed(type);

    switch (cx_ptx_type_bytes(type)) {
    case 1:
        return extended ? CX_PTX_LOAD_S8 : CX_PTX_LOAD_U8;
    case 2:
        return extended ? CX_PTX_LOAD_S16 : CX_PTX_LOAD_U16;
    case 4:
        return extended ? CX_PTX_LOAD_S32 : CX_PTX_LOAD_U32;
    default:
        return CX_PTX_LOAD_U64;
    }
}

static cx_ptx_op store_of(cx_ptx_type type)
{
    switch (cx_ptx_type_bytes(type)) {
    case 1:
        return CX_PTX_STORE_8;
    case 2:
        return CX_PTX_STORE_16;
    case 4:
        return CX_PTX_STORE_32;
    default:
        return CX_PTX_STORE_64;
    }
}

bool cx_ptx_emit_frame_access(cx_ptx_parser *self, cx_ptx_type type, bool stores, uint32_t slot,
                              int64_t offset)
{
    unsigned bytes = cx_ptx_type_bytes(type);

    return cx_ptx_emit(self, (cx_ptx_instruction){
                                 .op = (uint16_t)(stores ? store_of(type) : load_of(type)),
                                 .space = CX_PTX_LOCAL,
                                 .size = (uint8_t)bytes,
                                 .align = (uint8_t)bytes,
                                 .site = next_site(self),
                                 .d = slot,
                                 .a = CX_PTX_SLOT_LOCAL,
                                 .immediate = offset});
}

/* GPUs access an aligned vector at once, and CUB's look-back relies on it: a block reads a value
 * and its state while another one replaces both. */
static bool suits_at_once(const cx_ptx_operand *vector, unsigned part_bytes)
{
    if (part_bytes < 4 || (vector->count * part_bytes != 8 && vector->count * part_bytes != 16))
        return false;
    for (unsigned i = 0; i < vector->count; i++)
        if (!(vector->parts[i] & CX_PTX_CONSTANT_BIT) &&
            cx_ptx_type_bytes(vector->part_types[i]) != part_bytes)
            return false;
    return true;
}

static bool check_access_part(cx_ptx_parser *self, const cx_ptx_statement *statement,
                              const cx_ptx_operand *vector, unsigned part, cx_ptx_type type,
                              bool stores)
{
    uint32_t slot = vector->parts[part];

    if (!stores && (slot < CX_PTX_SLOTS_FIXED || (slot & CX_PTX_CONSTANT_BIT)))
        return cx_ptx_wrong(self, statement, "a part cannot be written");
    return cx_ptx_check_part(self, vector, part, type, true);
}

static bool encode_access(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          const cx_ptx_operand *address, const cx_ptx_operand *value, bool stores)
{
    access_words what;
    cx_ptx_instruction done = {0};
    unsigned bytes;

    if (!read_words(statement, &what))
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_take_address(self, statement, address, what.space, stores, &done))
        return false;
    if ((value->kind == CX_PTX_OPERAND_VECTOR ? value->count : 1) != what.count)
        return cx_ptx_wrong(self, statement, "wrong number of values");
    bytes = cx_ptx_type_bytes(what.type);
    if (what.type == CX_PTX_B128)
        return cx_ptx_encode_wide_access(self, value, done, stores,
                                         sees_others(&statement->opcode));
    done.op = (uint16_t)(stores ? store_of(what.type) : load_of(what.type));
    done.size = (uint8_t)bytes;
    done.mode = sees_others(&statement->opcode);
    if (done.mode && value->kind == CX_PTX_OPERAND_VECTOR && suits_at_once(value, bytes)) {
        for (unsigned i = 0; i < what.count; i++)
            if (!check_access_part(self, statement, value, i, what.type, stores))
                return false;
        return cx_ptx_encode_vector_at_once(self, value, bytes, done, stores);
    }
    if (what.count > 1) {
        /* The address may be a part of the loaded vector. */
        cx_ptx_instruction copy = {.op = CX_PTX_EXTEND,
                                   .type = CX_PTX_B64,
                                   .from = CX_PTX_B64,
                                   .d = cx_ptx_temp(self),
                                   .a = done.a};

        if (copy.d == CX_PTX_NO_SLOT || !cx_ptx_emit(self, copy))
            return false;
        done.a = copy.d;
    }
    for (unsigned i = 0; i < what.count; i++) {
        done.align = (uint8_t)(i == 0 ? bytes * what.count : bytes);
        done.site = next_site(self);
        if (value->kind == CX_PTX_OPERAND_VECTOR) {
            done.d = value->parts[i];
            if (!check_access_part(self, statement, value, i, what.type, stores))
                return false;
        } else {
            done.d = stores ? cx_ptx_value_or_wider(self, value, what.type)
                            : cx_ptx_result_or_wider(self, value, what.type);
        }
        if (done.d == CX_PTX_NO_SLOT || !cx_ptx_emit(self, done))
            return false;
        done.immediate = (int64_t)((uint64_t)done.immediate + bytes);
    }
    return true;
}

bool cx_ptx_encode_ld(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    return cx_ptx_need(self, statement, 2, 2) &&
           encode_access(self, statement, &statement->operands[1], &statement->operands[0], false);
}

static bool tells_barrier(const cx_ptx_token *opcode)
{
    return cx_ptx_has_word(opcode, "shared::cluster") &&
           cx_ptx_has_word(opcode, "mbarrier::complete_tx::bytes");
}

/* st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [to], value, [barrier] */
static bool encode_store_async(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    access_words what;

    if (!tells_barrier(&statement->opcode) || !read_words(statement, &what))
        return cx_ptx_unknown(self, statement);
    return cx_ptx_need(self, statement, 3, 3) &&
           encode_access(self, statement, &statement->operands[0], &statement->operands[1],
                         true) &&
           cx_ptx_emit_completion(self, statement, 2,
                                  what.count * cx_ptx_type_bytes(what.type));
}

bool cx_ptx_encode_st(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    if (cx_ptx_has_word(&statement->opcode, "bulk"))
        return cx_ptx_unknown(self, statement);
    if (cx_ptx_has_word(&statement->opcode, "async"))
        return encode_store_async(self, statement);
    return cx_ptx_need(self, statement, 2, 2) &&
           encode_access(self, statement, &statement->operands[0], &statement->operands[1], true);
}

/* ---- atomic operations ---- */

static bool read_atomic(const cx_ptx_token *word, uint8_t *out_mode)
{
    static const struct {
        const char *text;
        cx_ptx_atomic mode;
    } words[] = {{"add", CX_PTX_ATOMIC_ADD},       {"min", CX_PTX_ATOMIC_MIN},
                 {"max", CX_PTX_ATOMIC_MAX},       {"and", CX_PTX_ATOMIC_AND},
                 {"or", CX_PTX_ATOMIC_OR},         {"xor", CX_PTX_ATOMIC_XOR},
                 {"exch", CX_PTX_ATOMIC_EXCHANGE}, {"cas", CX_PTX_ATOMIC_SWAP},
                 {"inc", CX_PTX_ATOMIC_INC},       {"dec", CX_PTX_ATOMIC_DEC}};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!cx_ptx_token_is(word, words[i].text))
            continue;
        *out_mode = (uint8_t)words[i].mode;
        return true;
    }
    return false;
}

static bool atomic_exists(uint8_t mode, cx_ptx_type type)
{
    bool integer = !cx_ptx_type_float(type);

    if (type == CX_PTX_F16 || type == CX_PTX_BF16)
        return mode == CX_PTX_ATOMIC_ADD;
    if (type == CX_PTX_B128)
        return mode == CX_PTX_ATOMIC_EXCHANGE || mode == CX_PTX_ATOMIC_SWAP;
    if (cx_ptx_type_bytes(type) < 4)
        return type == CX_PTX_B16 && mode == CX_PTX_ATOMIC_SWAP;
    if (mode == CX_PTX_ATOMIC_INC || mode == CX_PTX_ATOMIC_DEC)
        return type == CX_PTX_U32;
    return integer || mode == CX_PTX_ATOMIC_ADD;
}

static unsigned vector_of(const cx_ptx_token *word)
{
    if (cx_ptx_token_is(word, "v2"))
        return 2;
    if (cx_ptx_token_is(word, "v4"))
        return 4;
    return cx_ptx_token_is(word, "v8") ? 8 : 0;
}

/* A vector has at most 16 bytes, and sums of floats are the only operation. */
static bool atomic_vector_exists(const access_words *what, const cx_ptx_instruction *done)
{
    bool pairs = done->from != CX_PTX_NO_TYPE;

    return what->space != CX_PTX_SHARED && what->space != CX_PTX_CLUSTER &&
           done->mode == CX_PTX_ATOMIC_ADD &&
           (pairs || what->type == CX_PTX_F16 || what->type == CX_PTX_BF16 ||
            what->type == CX_PTX_F32) &&
           what->count * cx_ptx_type_bytes(what->type) <= 16;
}

static bool read_atomic_words(const cx_ptx_statement *statement, access_words *what,
                              cx_ptx_instruction *done)
{
    cx_ptx_words words = cx_ptx_words_of(&statement->opcode);
    cx_ptx_token word;
    unsigned count;

    cx_ptx_next_word(&words, &word);
    while (cx_ptx_next_word(&words, &word)) {
        if (changes_nothing(&word) || cx_ptx_read_space(&word, &what->space) ||
            read_atomic(&word, &done->mode))
            continue;
        if ((count = vector_of(&word)) > 0) {
            what->count = count;
            continue;
        }
        if (cx_ptx_token_is(&word, "f16x2"))
            done->from = CX_PTX_F16;
        else if (cx_ptx_token_is(&word, "bf16x2"))
            done->from = CX_PTX_BF16;
        if ((what->type = cx_ptx_type_find(word.text, word.length)) == CX_PTX_NO_TYPE)
            return false;
    }
    return what->type != CX_PTX_NO_TYPE && done->mode != UINT8_MAX &&
           atomic_exists(done->mode, done->from ? (cx_ptx_type)done->from : what->type) &&
           (what->count == 1 || atomic_vector_exists(what, done));
}

/* The result may be among the values. */
static bool copy_parts(cx_ptx_parser *self, const cx_ptx_operand *value, unsigned bytes,
                       uint32_t *copies)
{
    for (unsigned i = 0; i < value->count; i++) {
        cx_ptx_instruction copy = {.op = bytes == 2 ? CX_PTX_OP_mov_b16 : CX_PTX_OP_mov_b32,
                                   .d = cx_ptx_temp(self),
                                   .a = value->parts[i]};

        if (copy.d == CX_PTX_NO_SLOT || !cx_ptx_emit(self, copy))
            return false;
        copies[i] = copy.d;
    }
    return true;
}

/* Each part of a vector by itself: only parts are atomic. */
static bool encode_atomic_vector(cx_ptx_parser *self, const cx_ptx_statement *statement,
                                 const access_words *what, cx_ptx_instruction done,
                                 const cx_ptx_operand *result, const cx_ptx_operand *value)
{
    uint32_t values[CX_PTX_VECTOR_MAX];

    if ((result && (result->kind != CX_PTX_OPERAND_VECTOR || result->count != what->count)) ||
        value->kind != CX_PTX_OPERAND_VECTOR || value->count != what->count)
        return cx_ptx_wrong(self, statement, "wrong number of values");
    if (result && !copy_parts(self, value, done.size, values))
        return false;
    for (unsigned i = 0; i < what->count; i++) {
        done.align = (uint8_t)(i == 0 ? done.size * what->count : done.size);
        done.site = next_site(self);
        done.d = result ? result->parts[i] : cx_ptx_temp(self);
        done.b = result ? values[i] : value->parts[i];
        if (done.d == CX_PTX_NO_SLOT || !cx_ptx_check_part(self, value, i, what->type, false) ||
            (result && !cx_ptx_check_part(self, result, i, what->type, false)))
            return false;
        if (result && (done.d < CX_PTX_SLOTS_FIXED || (done.d & CX_PTX_CONSTANT_BIT)))
            return cx_ptx_wrong(self, statement, "a part cannot be written");
        if (!cx_ptx_emit(self, done))
            return false;
        done.immediate = (int64_t)((uint64_t)done.immediate + done.size);
    }
    return true;
}

/* The address is operand `first`; a result is before it. */
static bool encode_atomic(cx_ptx_parser *self, const cx_ptx_statement *statement, int first)
{
    access_words what = {.space = CX_PTX_GENERIC, .count = 1};
    cx_ptx_instruction done = {.op = CX_PTX_ATOMIC, .mode = UINT8_MAX};
    const cx_ptx_operand *operands = statement->operands;
    int count;

    if (!read_atomic_words(statement, &what, &done))
        return cx_ptx_unknown(self, statement);
    count = done.mode == CX_PTX_ATOMIC_SWAP ? 3 : 2;
    if (!cx_ptx_need(self, statement, first + count, first + count) ||
        !cx_ptx_take_address(self, statement, &operands[first], what.space, true, &done))
        return false;
    if (what.type == CX_PTX_B128)
        return what.count == 1 ? cx_ptx_encode_wide_atom(self, statement, done)
                               : cx_ptx_unknown(self, statement);
    done.type = (uint8_t)what.type;
    done.size = done.align = (uint8_t)cx_ptx_type_bytes(what.type);
    if (what.count > 1)
        return encode_atomic_vector(self, statement, &what, done, first > 0 ? &operands[0] : NULL,
                                    &operands[first + 1]);
    done.d = first > 0 ? cx_ptx_result(self, &operands[0], what.type) : cx_ptx_temp(self);
    done.site = next_site(self);
    done.b = cx_ptx_value(self, &operands[first + 1], what.type);
    if (count == 3)
        done.c = cx_ptx_value(self, &operands[first + 2], what.type);
    return done.b != CX_PTX_NO_SLOT && done.c != CX_PTX_NO_SLOT && done.d != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, done);
}

bool cx_ptx_encode_atom(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    return cx_ptx_need(self, statement, 3, 4) && encode_atomic(self, statement, 1);
}

bool cx_ptx_encode_red(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    if (cx_ptx_has_word(&statement->opcode, "exch") || cx_ptx_has_word(&statement->opcode, "cas"))
        return cx_ptx_unknown(self, statement);
    if (cx_ptx_has_word(&statement->opcode, "async")) {
        cx_ptx_statement reduction = *statement;

        reduction.count = 2;
        return (tells_barrier(&statement->opcode) || cx_ptx_unknown(self, statement)) &&
               cx_ptx_need(self, statement, 3, 3) && encode_atomic(self, &reduction, 0) &&
               cx_ptx_emit_completion(self, statement, 2,
                                      cx_ptx_type_bytes(cx_ptx_last_type(&statement->opcode)));
    }
    return encode_atomic(self, statement, 0);
}

bool cx_ptx_encode_fence(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    if (cx_ptx_has_word(&statement->opcode, "tensormap::generic"))
        return cx_ptx_unknown(self, statement);
    return cx_ptx_need(self, statement, 0, 0) &&
           cx_ptx_emit(self, (cx_ptx_instruction){.op = CX_PTX_FENCE});
}

bool cx_ptx_encode_nothing(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    (void)self, (void)statement;
    return true;
}

/* ---- asynchronous copies: done at once ---- */

/* The address of an operand, in a register of its own where it has an offset. */
static uint32_t address_of(cx_ptx_parser *self, const cx_ptx_instruction *access)
{
    cx_ptx_instruction sum = {.op = CX_PTX_ADD_ADDRESS,
                              .a = access->a,
                              .immediate = access->immediate,
                              .d = access->a};

    if (access->immediate == 0)
        return access->a;
    sum.d = cx_ptx_temp(self);
    return sum.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, sum) ? sum.d : CX_PTX_NO_SLOT;
}

/* The bytes to copy, of so many: a number of them, or none where a predicate says so. */
static uint32_t bytes_to_copy(cx_ptx_parser *self, const cx_ptx_statement *statement,
                              uint64_t bytes)
{
    const cx_ptx_operand *operand = &statement->operands[3];
    cx_ptx_instruction chosen = {.op = CX_PTX_OP_selp_b32,
                                 .a = CX_PTX_SLOT_ZERO,
                                 .b = cx_ptx_constant(self, bytes)};

    if (statement->count == 3 || chosen.b == CX_PTX_NO_SLOT)
        return chosen.b;
    if (operand->kind != CX_PTX_OPERAND_REGISTER || operand->type != CX_PTX_PRED)
        return cx_ptx_value(self, operand, CX_PTX_U32);
    chosen.c = cx_ptx_value(self, operand, CX_PTX_PRED);
    chosen.d = cx_ptx_temp(self);
    return chosen.c != CX_PTX_NO_SLOT && chosen.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, chosen)
               ? chosen.d
               : CX_PTX_NO_SLOT;
}

/* cp.async.ca.shared.global [to], [from], 4 {, bytes or a predicate that leaves them out} */
static bool encode_copy(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_operand *to = &statement->operands[0], *from = &statement->operands[1];
    cx_ptx_instruction done = {.op = CX_PTX_COPY_ASYNC}, target = {0}, source = {0};
    uint64_t bytes;

    if (!cx_ptx_need(self, statement, 3, 4) ||
        !cx_ptx_take_address(self, statement, to, CX_PTX_SHARED, true, &target) ||
        !cx_ptx_take_address(self, statement, from, CX_PTX_GLOBAL, false, &source))
        return false;
    bytes = statement->operands[2].bits;
    if (statement->operands[2].kind != CX_PTX_OPERAND_NUMBER ||
        (bytes != 4 && bytes != 8 && bytes != 16))
        return cx_ptx_unknown(self, statement);
    done.space = target.space;
    done.a = address_of(self, &target);
    done.b = address_of(self, &source);
    done.size = done.align = (uint8_t)bytes;
    done.site = next_site(self);
    done.c = bytes_to_copy(self, statement, bytes);
    return done.a != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT && done.c != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, done);
}

bool cx_ptx_encode_cp(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_token *opcode = &statement->opcode;

    if (!cx_ptx_has_word(opcode, "async"))
        return cx_ptx_unknown(self, statement);
    if (cx_ptx_has_word(opcode, "bulk"))
        return cx_ptx_encode_bulk(self, statement);
    if (cx_ptx_has_word(opcode, "mbarrier"))
        return cx_ptx_encode_mbarrier(self, statement);
    if (cx_ptx_has_word(opcode, "commit_group") || cx_ptx_has_word(opcode, "wait_group") ||
        cx_ptx_has_word(opcode, "wait_all"))
        return true;
    return encode_copy(self, statement);
}
