#include "ptx/bulk.h"

#include "ptx/address_resolve.h"
#include "ptx/cluster.h"
#include "ptx/parser.h"
#include "ptx/shadow.h"

#include <string.h>

#define UNIT 16         /* addresses and sizes are multiples of it */
#define PIECE_BYTES 128 /* of one access */

/* ---- copying ---- */

/* One end of a copy. */
typedef struct end {
    cx_ptx_space space;
    uint64_t address;
} end;

typedef struct transfer {
    cx_ptx_grid *grid;
    cx_ptx_block *block;
    cx_ptx_thread *thread;
    const cx_ptx_instruction *at;
    uint32_t bytes_mask; /* bits of bytes in a unit; UINT32_MAX: all */
} transfer;

static unsigned char *reach(const transfer *self, const end *where, uint64_t offset, unsigned bytes,
                            unsigned align, const void *value)
{
    const cx_ptx_instruction access = {.op = self->at->op,
                                       .space = (uint8_t)where->space,
                                       .size = (uint8_t)bytes,
                                       .align = (uint8_t)align,
                                       .site = self->at->site,
                                       .line = self->at->line};
    uint64_t address = where->address + offset;

    if (where->space != CX_PTX_GLOBAL && where->space != CX_PTX_GENERIC)
        address &= UINT32_MAX;
    self->thread->next = self->at;
    return cx_ptx_resolve_slowly(self->grid, self->block, self->thread, &access, address, value);
}

/* Adds elements to those in memory, or the like. */
static void reduce(const transfer *self, unsigned char *to, const unsigned char *from,
                   unsigned bytes)
{
    cx_ptx_instruction element = {.op = CX_PTX_ATOMIC,
                                  .mode = self->at->mode,
                                  .type = self->at->type,
                                  .size = (uint8_t)cx_ptx_type_bytes((cx_ptx_type)self->at->type)};

    for (unsigned i = 0; i < bytes; i += element.size) {
        uint64_t operand = 0;

        memcpy(&operand, from + i, element.size);
        cx_ptx_atomic_do(&element, to + i, operand, 0, false);
    }
}

static void put_piece(const transfer *self, unsigned char *to, const unsigned char *from,
                      unsigned bytes)
{
    if (self->at->mode != CX_PTX_BULK_COPY) {
        reduce(self, to, from, bytes);
    } else if (self->bytes_mask == UINT32_MAX) {
        memcpy(to, from, bytes);
    } else {
        for (unsigned i = 0; i < bytes; i++)
            if (self->bytes_mask >> i % UNIT & 1)
                to[i] = from[i];
    }
}

static void show_bytes(const transfer *self, const end *where, uint32_t offset, unsigned bytes,
                       const unsigned char *memory, const unsigned char *value)
{
    cx_ptx_shadow_piece(self->grid, self->block,
                        &(cx_ptx_piece){.at = self->at,
                                        .thread = self->thread,
                                        .space = where->space,
                                        .address = where->address + offset,
                                        .bytes = bytes,
                                        .memory = memory,
                                        .value = value});
}

/* A mask leaves bytes out of what is read, and of what is written. */
static void show(const transfer *self, const end *where, uint32_t offset, unsigned bytes,
                 const unsigned char *memory, const unsigned char *value)
{
    if (!memory || !self->grid->shadow)
        return;
    if (self->at->mode != CX_PTX_BULK_COPY || self->bytes_mask == UINT32_MAX) {
        show_bytes(self, where, offset, bytes, memory, value);
        return;
    }
    for (unsigned i = 0; i < bytes; i++)
        if (self->bytes_mask >> i % UNIT & 1)
            show_bytes(self, where, offset + i, 1, memory + i, value ? value + i : NULL);
}

static bool copy(const transfer *self, const end *to, const end *from, uint32_t bytes)
{
    for (uint32_t done = 0; done < bytes;) {
        unsigned piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        unsigned char kept[PIECE_BYTES];
        unsigned char *memory = reach(self, from, done, piece, UNIT, NULL);

        if (!memory)
            return false;
        show(self, from, done, piece, memory, NULL);
        memcpy(kept, memory, piece);
        memory = reach(self, to, done, piece, UNIT, kept);
        if (!memory)
            return false;
        show(self, to, done, piece, memory, kept);
        put_piece(self, memory, kept, piece);
        done += piece;
    }
    return true;
}

static bool tell_barrier(const transfer *self, uint64_t address, uint32_t bytes)
{
    const end barrier = {CX_PTX_CLUSTER, address};
    unsigned char *memory = reach(self, &barrier, 0, 8, 8, &bytes);

    if (!memory)
        return false;
    cx_ptx_mbarrier_do(CX_PTX_MBARRIER_COMPLETE, (uint64_t *)(void *)memory, bytes, 0);
    return true;
}

/* Each block of the mask gets the bytes at the same place of its memory, and its barrier is told.
 */
static bool copy_to_blocks(const transfer *self, const end *to, const end *from, uint32_t bytes,
                           uint64_t barrier, uint32_t ranks)
{
    for (; ranks; ranks &= ranks - 1) {
        uint32_t rank = (uint32_t)__builtin_ctz(ranks);
        const end there = {CX_PTX_CLUSTER, cx_ptx_cluster_map(to->address, rank)};

        if (!copy(self, &there, from, bytes) ||
            !tell_barrier(self, cx_ptx_cluster_map(barrier, rank), bytes))
            return false;
    }
    return true;
}

bool cx_ptx_bulk_do(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                    const cx_ptx_rows *rows, const cx_ptx_instruction *at)
{
    uint32_t lane = cx_ptx_lane_of(thread), bytes = (uint32_t)cx_ptx_get(rows, at->c, lane);
    uint32_t mask = (uint32_t)cx_ptx_get(rows, at->d, lane);
    const transfer self = {grid, block, thread, at,
                           at->align == CX_PTX_BULK_OF_BYTES ? mask & 0xffff : UINT32_MAX};
    const end to = {(cx_ptx_space)at->space,
                    cx_ptx_get(rows, at->a, lane) + (uint64_t)at->immediate};
    const end from = {(cx_ptx_space)at->from, cx_ptx_get(rows, at->b, lane)};
    uint64_t barrier = at->e == CX_PTX_NO_BARRIER ? 0 : cx_ptx_get(rows, at->e, lane);

    if (bytes % UNIT != 0) {
        thread->next = at;
        cx_ptx_thread_refuse(grid, block, thread, "the size of a bulk copy is a multiple of 16");
        return false;
    }
    if (at->align == CX_PTX_BULK_OF_BLOCKS)
        return copy_to_blocks(&self, &to, &from, bytes, barrier, mask);
    return copy(&self, &to, &from, bytes) &&
           (at->e == CX_PTX_NO_BARRIER || tell_barrier(&self, barrier, bytes));
}

/* ---- the instruction ---- */

/* The words of cp.async.bulk and cp.reduce.async.bulk. */
typedef struct bulk_words {
    cx_ptx_space spaces[2]; /* to, from */
    int space_count;
    bool group, barrier, multicast, masked, prefetch;
    uint8_t mode;
    cx_ptx_type type;
} bulk_words;

static bool read_space(const cx_ptx_token *word, cx_ptx_space *out)
{
    if (cx_ptx_token_is(word, "global"))
        *out = CX_PTX_GLOBAL;
    else if (cx_ptx_token_is(word, "shared::cta"))
        *out = CX_PTX_SHARED;
    else if (cx_ptx_token_is(word, "shared::cluster"))
        *out = CX_PTX_CLUSTER;
    else
        return false;
    return true;
}

static bool read_reduction(const cx_ptx_token *word, bulk_words *out)
{
    static const struct {
        const char *text;
        cx_ptx_atomic mode;
    } rows[] = {{"add", CX_PTX_ATOMIC_ADD}, {"min", CX_PTX_ATOMIC_MIN}, {"max", CX_PTX_ATOMIC_MAX},
                {"inc", CX_PTX_ATOMIC_INC}, {"dec", CX_PTX_ATOMIC_DEC}, {"and", CX_PTX_ATOMIC_AND},
                {"or", CX_PTX_ATOMIC_OR},   {"xor", CX_PTX_ATOMIC_XOR}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (cx_ptx_token_is(word, rows[i].text)) {
            out->mode = (uint8_t)rows[i].mode;
            return true;
        }
    return false;
}

static bool read_words(const cx_ptx_token *opcode, bulk_words *out)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;

    *out = (bulk_words){.mode = CX_PTX_BULK_COPY};
    while (cx_ptx_next_word(&words, &word)) {
        cx_ptx_space space;

        if (read_space(&word, &space)) {
            if (out->space_count == 2)
                return false;
            out->spaces[out->space_count++] = space;
        } else if (cx_ptx_token_is(&word, "bulk_group")) {
            out->group = true;
        } else if (cx_ptx_token_is(&word, "mbarrier::complete_tx::bytes")) {
            out->barrier = true;
        } else if (cx_ptx_token_is(&word, "multicast::cluster")) {
            out->multicast = true;
        } else if (cx_ptx_token_is(&word, "cp_mask")) {
            out->masked = true;
        } else if (cx_ptx_token_is(&word, "prefetch")) {
            out->prefetch = true;
        } else if (!cx_ptx_token_is(&word, "cp") && !cx_ptx_token_is(&word, "reduce") &&
                   !cx_ptx_token_is(&word, "async") && !cx_ptx_token_is(&word, "bulk") &&
                   !cx_ptx_token_is(&word, "noftz") && !cx_ptx_token_is(&word, "L2") &&
                   !cx_ptx_token_is(&word, "L2::cache_hint") && !read_reduction(&word, out)) {
            out->type = cx_ptx_type_find(word.text, word.length);
            if (out->type == CX_PTX_NO_TYPE)
                return false;
        }
    }
    return true;
}

/* True if the ends, the way to tell and the operation belong together. */
static bool is_known(const bulk_words *what, bool reduces)
{
    bool to_global = what->spaces[0] == CX_PTX_GLOBAL;
    bool exists =
        what->space_count == 2 && what->group != what->barrier && what->group == to_global &&
        (to_global ? what->spaces[1] == CX_PTX_SHARED
                   : what->spaces[1] == CX_PTX_GLOBAL || what->spaces[1] == CX_PTX_SHARED);

    if (!exists || (what->masked && (!to_global || reduces)) ||
        (what->multicast &&
         (reduces || what->spaces[0] != CX_PTX_CLUSTER || what->spaces[1] != CX_PTX_GLOBAL)))
        return false;
    if (!reduces)
        return what->mode == CX_PTX_BULK_COPY && what->type == CX_PTX_NO_TYPE;
    return what->mode != CX_PTX_BULK_COPY && cx_ptx_type_bytes(what->type) >= 2 &&
           cx_ptx_type_bytes(what->type) <= 8 &&
           (!cx_ptx_type_float(what->type) || what->mode == CX_PTX_ATOMIC_ADD);
}

/* The address in a register of its own where it has an offset. */
static uint32_t whole_address(cx_ptx_parser *self, const cx_ptx_statement *statement, int operand,
                              cx_ptx_space space, bool writes)
{
    cx_ptx_instruction access = {0};

    if (!cx_ptx_take_address(self, statement, &statement->operands[operand], space, writes,
                             &access))
        return CX_PTX_NO_SLOT;
    if (access.immediate == 0)
        return access.a;
    access = (cx_ptx_instruction){.op = CX_PTX_ADD_ADDRESS,
                                  .a = access.a,
                                  .immediate = access.immediate,
                                  .d = cx_ptx_temp(self)};
    return access.d != CX_PTX_NO_SLOT && cx_ptx_emit(self, access) ? access.d : CX_PTX_NO_SLOT;
}

static bool encode_transfer(cx_ptx_parser *self, const cx_ptx_statement *statement,
                            const bulk_words *what)
{
    cx_ptx_instruction done = {.op = CX_PTX_BULK,
                               .mode = what->mode,
                               .type = (uint8_t)what->type,
                               .from = (uint8_t)what->spaces[1],
                               .align = CX_PTX_BULK_OF_NOTHING,
                               .d = CX_PTX_SLOT_ZERO,
                               .e = CX_PTX_NO_SLOT};
    int mask = 3 + what->barrier, count = mask + (what->multicast || what->masked);

    if (!cx_ptx_need(self, statement, count, count) ||
        !cx_ptx_take_address(self, statement, &statement->operands[0], what->spaces[0], true,
                             &done))
        return false;
    done.b = whole_address(self, statement, 1, what->spaces[1], false);
    done.c = cx_ptx_value(self, &statement->operands[2], CX_PTX_U32);
    if (done.b == CX_PTX_NO_SLOT || done.c == CX_PTX_NO_SLOT)
        return false;
    if (what->barrier) {
        done.e =
            whole_address(self, statement, 3,
                          what->spaces[0] == CX_PTX_SHARED ? CX_PTX_SHARED : CX_PTX_CLUSTER, true);
        if (done.e == CX_PTX_NO_SLOT)
            return false;
    }
    if (count > mask) {
        done.align = what->masked ? CX_PTX_BULK_OF_BYTES : CX_PTX_BULK_OF_BLOCKS;
        done.d = cx_ptx_value(self, &statement->operands[mask], CX_PTX_B16);
        if (done.d == CX_PTX_NO_SLOT)
            return false;
    }
    done.site = self->module->sites++;
    return cx_ptx_emit(self, done);
}

/* cp.async.bulk..., cp.reduce.async.bulk... */
bool cx_ptx_encode_bulk(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_token *opcode = &statement->opcode;
    bulk_words what;

    if (cx_ptx_has_word(opcode, "commit_group") || cx_ptx_has_word(opcode, "wait_group"))
        return true;
    if (cx_ptx_has_word(opcode, "tensor") || !read_words(opcode, &what))
        return cx_ptx_unknown(self, statement);
    if (what.prefetch)
        return what.space_count == 1 && what.spaces[0] == CX_PTX_GLOBAL
                   ? cx_ptx_need(self, statement, 2, 2)
                   : cx_ptx_unknown(self, statement);
    if (!is_known(&what, cx_ptx_has_word(opcode, "reduce")))
        return cx_ptx_unknown(self, statement);
    return encode_transfer(self, statement, &what);
}
