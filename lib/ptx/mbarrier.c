/*
 * Barriers in shared memory: mbarrier. One is 64 bits: from the lowest the arrivals that are left
 * of this phase, those of each phase, the phase, and the bytes that are still to come.
 */
#include "ptx/grid.h"
#include "ptx/parser.h"

#define COUNT_BITS 20
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)
#define EXPECTED_SHIFT 20
#define PHASE_SHIFT 40
#define BYTES_SHIFT 41

typedef struct phase_state {
    uint32_t left, expected;
    uint64_t bytes; /* modulo 2^23 */
    bool odd;
} phase_state;

static phase_state read_state(uint64_t bits)
{
    return (phase_state){(uint32_t)(bits & COUNT_MASK),
                         (uint32_t)(bits >> EXPECTED_SHIFT & COUNT_MASK), bits >> BYTES_SHIFT,
                         bits >> PHASE_SHIFT & 1};
}

static uint64_t state_bits(const phase_state *state)
{
    return state->left | (uint64_t)state->expected << EXPECTED_SHIFT |
           (uint64_t)state->odd << PHASE_SHIFT | state->bytes << BYTES_SHIFT;
}

static void end_phase(phase_state *state)
{
    if (state->left > 0 || state->bytes > 0)
        return;
    state->odd = !state->odd;
    state->left = state->expected;
}

static void arrive(phase_state *state, uint32_t count, bool drops)
{
    count = count < state->left ? count : state->left;
    state->left -= count;
    if (drops)
        state->expected -= count < state->expected ? count : state->expected;
    end_phase(state);
}

uint64_t cx_ptx_mbarrier_do(uint8_t mode, uint64_t *memory, uint32_t operand, uint64_t token)
{
    phase_state state = read_state(*memory);
    uint64_t result = *memory;

    switch ((cx_ptx_mbarrier)mode) {
    case CX_PTX_MBARRIER_INIT:
        state = (phase_state){.left = operand & COUNT_MASK, .expected = operand & COUNT_MASK};
        break;
    case CX_PTX_MBARRIER_ARRIVE:
    case CX_PTX_MBARRIER_ARRIVE_DROP:
        arrive(&state, operand, mode == CX_PTX_MBARRIER_ARRIVE_DROP);
        break;
    case CX_PTX_MBARRIER_TEST:
        return state.odd != read_state(token).odd;
    case CX_PTX_MBARRIER_TEST_PARITY:
        return state.odd != (token & 1);
    case CX_PTX_MBARRIER_COUNT:
        return read_state(token).left;
    case CX_PTX_MBARRIER_EXPECT:
        state.bytes = (state.bytes + operand) & (UINT64_MAX >> BYTES_SHIFT);
        break;
    default:
        state.bytes = (state.bytes - operand) & (UINT64_MAX >> BYTES_SHIFT);
        end_phase(&state);
    }
    *memory = state_bits(&state);
    return result;
}

/* ---- the instruction ---- */

/* Another block's barrier tells no state. */
static cx_ptx_space space_of(const cx_ptx_statement *statement)
{
    return cx_ptx_has_word(&statement->opcode, "shared::cluster") ? CX_PTX_CLUSTER : CX_PTX_SHARED;
}

/* mbarrier.arrive.shared.b64 state, [address] {, count}; the state may be left out. */
static bool encode_arrival(cx_ptx_parser *self, const cx_ptx_statement *statement,
                           cx_ptx_instruction done)
{
    bool has_state = statement->operands[0].kind != CX_PTX_OPERAND_ADDRESS;
    cx_ptx_space space = space_of(statement);
    int at = has_state, count = statement->count - at;
    cx_ptx_instruction expected = {0};

    if (cx_ptx_has_word(&statement->opcode, "drop") ||
        cx_ptx_has_word(&statement->opcode, "arrive_drop"))
        done.mode = CX_PTX_MBARRIER_ARRIVE_DROP;
    if (!cx_ptx_need(self, statement, at + 1, at + 2) ||
        !cx_ptx_take_address(self, statement, &statement->operands[at], space, true, &done))
        return false;
    if (space == CX_PTX_CLUSTER && has_state &&
        statement->operands[0].kind != CX_PTX_OPERAND_SINK)
        return cx_ptx_wrong(self, statement, "another block's barrier tells no state");
    done.d = has_state ? cx_ptx_result(self, &statement->operands[0], CX_PTX_B64)
                       : cx_ptx_temp(self);
    done.b = count == 2 ? cx_ptx_value(self, &statement->operands[at + 1], CX_PTX_U32)
                        : cx_ptx_constant(self, 1);
    if (done.b == CX_PTX_NO_SLOT || done.d == CX_PTX_NO_SLOT)
        return false;
    if (!cx_ptx_has_word(&statement->opcode, "expect_tx"))
        return cx_ptx_emit(self, done);
    /* The last operand is the bytes; one thread arrives. */
    expected = done;
    expected.mode = CX_PTX_MBARRIER_EXPECT;
    expected.d = cx_ptx_temp(self);
    done.b = cx_ptx_constant(self, 1);
    return expected.d != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT &&
           cx_ptx_emit(self, expected) && cx_ptx_emit(self, done);
}

/* mbarrier.test_wait{.parity}.shared.b64 p, [address], state {, time} */
static bool encode_test(cx_ptx_parser *self, const cx_ptx_statement *statement,
                        cx_ptx_instruction done)
{
    bool parity = cx_ptx_has_word(&statement->opcode, "parity");

    done.mode = parity ? CX_PTX_MBARRIER_TEST_PARITY : CX_PTX_MBARRIER_TEST;
    if (!cx_ptx_need(self, statement, 3, 4) ||
        !cx_ptx_take_address(self, statement, &statement->operands[1], CX_PTX_SHARED, true, &done))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_PRED);
    done.c = cx_ptx_value(self, &statement->operands[2], parity ? CX_PTX_U32 : CX_PTX_B64);
    return done.d != CX_PTX_NO_SLOT && done.c != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* init, expect_tx, complete_tx: [address], number */
static bool encode_change(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          cx_ptx_instruction done, cx_ptx_mbarrier mode)
{
    done.mode = (uint8_t)mode;
    if (!cx_ptx_need(self, statement, 2, 2) ||
        !cx_ptx_take_address(self, statement, &statement->operands[0], space_of(statement), true,
                             &done))
        return false;
    done.d = cx_ptx_temp(self);
    done.b = cx_ptx_value(self, &statement->operands[1], CX_PTX_U32);
    return done.d != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* mbarrier.pending_count.b64 count, state */
static bool encode_pending(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    cx_ptx_instruction done = {.op = CX_PTX_EXTEND, .type = CX_PTX_U64, .from = CX_PTX_U64};
    uint32_t mask = cx_ptx_constant(self, COUNT_MASK), state;

    if (!cx_ptx_need(self, statement, 2, 2))
        return false;
    done.d = cx_ptx_result(self, &statement->operands[0], CX_PTX_U32);
    state = cx_ptx_value(self, &statement->operands[1], CX_PTX_B64);
    if (done.d == CX_PTX_NO_SLOT || state == CX_PTX_NO_SLOT || mask == CX_PTX_NO_SLOT)
        return false;
    return cx_ptx_emit_computed(
        self, statement, "and.b32",
        (cx_ptx_instruction){.d = done.d, .a = state, .b = mask});
}

/* mbarrier.inval.shared.b64 [address]: nothing looks whether a barrier is one. */
static bool encode_end(cx_ptx_parser *self, const cx_ptx_statement *statement,
                       cx_ptx_instruction done)
{
    return cx_ptx_need(self, statement, 1, 1) &&
           cx_ptx_take_address(self, statement, &statement->operands[0], CX_PTX_SHARED, true,
                               &done);
}

bool cx_ptx_emit_completion(cx_ptx_parser *self, const cx_ptx_statement *statement, int operand,
                            unsigned bytes)
{
    cx_ptx_instruction done = {.op = CX_PTX_MBARRIER,
                               .size = 8,
                               .align = 8,
                               .mode = CX_PTX_MBARRIER_COMPLETE,
                               .site = self->module->sites++};

    if (!cx_ptx_take_address(self, statement, &statement->operands[operand], CX_PTX_CLUSTER, true,
                             &done))
        return false;
    done.d = cx_ptx_temp(self);
    done.b = cx_ptx_constant(self, bytes);
    return done.d != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

/* cp.async.mbarrier.arrive{.noinc}.shared.b64 [address]: the thread's copies are done. Without
 * .noinc, the arrival is one more than the barrier expects. */
static bool encode_copied(cx_ptx_parser *self, const cx_ptx_statement *statement,
                          cx_ptx_instruction done)
{
    bool counts = cx_ptx_has_word(&statement->opcode, "noinc");

    if (!cx_ptx_has_word(&statement->opcode, "arrive") ||
        cx_ptx_last_type(&statement->opcode) != CX_PTX_B64)
        return cx_ptx_unknown(self, statement);
    if (!cx_ptx_need(self, statement, 1, 1) ||
        !cx_ptx_take_address(self, statement, &statement->operands[0], space_of(statement), true,
                             &done))
        return false;
    done.d = cx_ptx_temp(self);
    done.b = cx_ptx_constant(self, counts);
    done.site = self->module->sites++;
    return done.d != CX_PTX_NO_SLOT && done.b != CX_PTX_NO_SLOT && cx_ptx_emit(self, done);
}

static bool reaches_others(const cx_ptx_token *word)
{
    return cx_ptx_token_is(word, "arrive") || cx_ptx_token_is(word, "arrive_drop") ||
           cx_ptx_token_is(word, "expect_tx") || cx_ptx_token_is(word, "complete_tx");
}

bool cx_ptx_encode_mbarrier(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    const cx_ptx_token *opcode = &statement->opcode;
    cx_ptx_instruction done = {.op = CX_PTX_MBARRIER, .size = 8, .align = 8,
                               .mode = CX_PTX_MBARRIER_ARRIVE};
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token word;

    cx_ptx_next_word(&words, &word);
    if (cx_ptx_token_is(&word, "cp"))
        return encode_copied(self, statement, done);
    if (!cx_ptx_next_word(&words, &word) || cx_ptx_last_type(opcode) != CX_PTX_B64)
        return cx_ptx_unknown(self, statement);
    if (space_of(statement) == CX_PTX_CLUSTER && !reaches_others(&word))
        return cx_ptx_unknown(self, statement);
    if (cx_ptx_token_is(&word, "inval"))
        return encode_end(self, statement, done);
    if (cx_ptx_token_is(&word, "pending_count"))
        return encode_pending(self, statement);
    done.site = self->module->sites++;
    if (cx_ptx_token_is(&word, "init"))
        return encode_change(self, statement, done, CX_PTX_MBARRIER_INIT);
    if (cx_ptx_token_is(&word, "expect_tx"))
        return encode_change(self, statement, done, CX_PTX_MBARRIER_EXPECT);
    if (cx_ptx_token_is(&word, "complete_tx"))
        return encode_change(self, statement, done, CX_PTX_MBARRIER_COMPLETE);
    if (cx_ptx_token_is(&word, "arrive") || cx_ptx_token_is(&word, "arrive_drop"))
        return encode_arrival(self, statement, done);
    if (cx_ptx_token_is(&word, "test_wait") || cx_ptx_token_is(&word, "try_wait"))
        return encode_test(self, statement, done);
    return cx_ptx_unknown(self, statement);
}
