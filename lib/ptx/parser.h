/*
 * The state of the parser. A function that takes something makes the token behind it the current
 * one. False: it is not there, or memory ran out, and the error says so.
 */
#ifndef CX_PTX_PARSER_H
#define CX_PTX_PARSER_H

#include "ptx/lex.h"
#include "ptx/module.h"

#define CX_PTX_NO_SLOT UINT32_MAX
#define CX_PTX_VECTOR_MAX 8
#define CX_PTX_OPERANDS_MAX 8
#define CX_PTX_TEMPS_MAX 64

/* A branch to a label that may come later. */
typedef struct cx_ptx_jump {
    size_t code;   /* the instruction, or the place in the table of targets */
    bool in_table;
    cx_ptx_token label;
} cx_ptx_jump;

/* Temporary registers of a statement: the first instruction that writes one decides whether it is a
 * long. All statements share the registers behind them. */
typedef struct cx_ptx_temps {
    unsigned used;
    uint32_t slots[CX_PTX_TEMPS_MAX];   /* the register of each, or CX_PTX_NO_SLOT */
    unsigned taken[2], count[2];        /* words, longs */
    uint32_t pool[2][CX_PTX_TEMPS_MAX]; /* words, longs */
} cx_ptx_temps;

/* The variable in shared memory that a statement names. */
typedef struct cx_ptx_named {
    cx_ptx_token name;
    uint64_t begin, bytes;
    unsigned count; /* of such names in the statement */
} cx_ptx_named;

/* A variable in shared memory outside functions. A kernel has room for those that it names. Those
 * that another function names lie at the same place in all kernels. */
typedef struct cx_ptx_shared {
    uint64_t align, bytes;
    uint64_t offset; /* in the last kernel that named it, or in all */
    size_t kernel;   /* that kernel, from 1 */
    bool common;     /* another function names it, in this pass or in the first one */
    bool placed;     /* another function has named it in this pass */
} cx_ptx_shared;

typedef struct cx_ptx_parser {
    cx_ptx_lexer lexer;
    cx_ptx_token token; /* the current one */
    cx_ptx_module *module;
    cx_ptx_error *error;
    cx_ptx_status status;
    cx_ptx_names names;

    /* The function that is being parsed. */
    size_t function; /* index; pointers change when functions are added */
    uint32_t *places; /* of its registers: slots from CX_PTX_SLOTS_FIXED on; may be predicates */
    size_t register_count, register_capacity;
    uint32_t words, longs; /* rows of its frame */
    uint64_t *constants;
    size_t constant_count, constant_capacity;
    cx_ptx_jump *jumps;
    size_t jump_count, jump_capacity;
    size_t function_names; /* where its own names begin */
    cx_ptx_temps temps;
    cx_ptx_named named;
    uint32_t texture_words; /* the first of some in a row, or CX_PTX_NO_SLOT: encode_texture.c */
    int line; /* of the statement */
    size_t callee_shared; /* bytes of shared memory of functions that are no kernels */
    cx_ptx_shared *shared;
    size_t shared_count, shared_capacity;
    const cx_ptx_shared *known; /* the same variables in the first pass, or NULL */
} cx_ptx_parser;

__attribute__((format(printf, 3, 4))) bool cx_ptx_fail(cx_ptx_parser *self, cx_ptx_status status,
                                                       const char *format, ...);
#define CX_PTX_INVALID_AT(self, ...) cx_ptx_fail(self, CX_PTX_INVALID, __VA_ARGS__)
bool cx_ptx_no_memory(cx_ptx_parser *self);

/* A token as it stands, cut, for messages. */
#define CX_PTX_QUOTE(token) (int)((token)->length > 60 ? 60 : (token)->length), (token)->text

void cx_ptx_advance(cx_ptx_parser *self);
bool cx_ptx_at(const cx_ptx_parser *self, const char *word);
bool cx_ptx_take(cx_ptx_parser *self, const char *word);   /* if it is there */
bool cx_ptx_expect(cx_ptx_parser *self, const char *word); /* or the parse fails */
bool cx_ptx_expect_number(cx_ptx_parser *self, uint64_t *out_number);
bool cx_ptx_expect_word(cx_ptx_parser *self, cx_ptx_token *out_word);
cx_ptx_token cx_ptx_peek(const cx_ptx_parser *self);
void cx_ptx_skip_line(cx_ptx_parser *self);
cx_ptx_type cx_ptx_token_type(const cx_ptx_token *token); /* of ".u32" */

/* Parses the beginning of a text: .version and .target, which the module keeps, and
 * .address_size. */
bool cx_ptx_parse_header(cx_ptx_parser *self);

/* ---- functions: code, slots ---- */

static inline cx_ptx_function *cx_ptx_current(cx_ptx_parser *self)
{
    return &self->module->functions[self->function];
}

/* Adds an instruction, with moves around it where a register is longer or shorter than its operand.
 * False: out of memory. */
bool cx_ptx_emit(cx_ptx_parser *self, cx_ptx_instruction instruction);

/* Begins a function, a statement: its registers, its temporary ones. */
void cx_ptx_begin_registers(cx_ptx_parser *self);
void cx_ptx_begin_temps(cx_ptx_parser *self);

/* Gives the function its rows, and its instructions places in stead of slots. */
bool cx_ptx_finish_registers(cx_ptx_parser *self);

/* Slots of registers and constants are numbered separately until the function ends. */
#define CX_PTX_CONSTANT_BIT (UINT32_C(1) << 31)
#define CX_PTX_TEMP_BIT (UINT32_C(1) << 30)
uint32_t cx_ptx_constant(cx_ptx_parser *self, uint64_t bits);
/* The first of so many new ones, words or longs. */
uint32_t cx_ptx_register(cx_ptx_parser *self, uint32_t count, bool is_long);
/* Those registers are predicates, which a GPU does not count. */
void cx_ptx_mark_predicates(cx_ptx_parser *self, uint32_t first, uint32_t count);
uint32_t cx_ptx_temp(cx_ptx_parser *self); /* one for this statement */

/* ---- operands ---- */

typedef enum cx_ptx_operand_kind {
    CX_PTX_OPERAND_NONE,
    CX_PTX_OPERAND_REGISTER,
    CX_PTX_OPERAND_NUMBER,
    CX_PTX_OPERAND_SPECIAL,
    CX_PTX_OPERAND_VARIABLE,
    CX_PTX_OPERAND_ADDRESS, /* in brackets */
    CX_PTX_OPERAND_VECTOR,
    CX_PTX_OPERAND_SINK,
    CX_PTX_OPERAND_WORD /* anything else: a label, a function */
} cx_ptx_operand_kind;

typedef struct cx_ptx_operand {
    cx_ptx_operand_kind kind;
    cx_ptx_token token;
    bool negated;
    bool minus;                /* before a register of a video instruction */
    cx_ptx_token parts_chosen; /* behind it: b3, h10; empty: none */
    cx_ptx_type type;     /* of a register; of a number: F32, F64 or S64 */
    uint32_t slot;        /* of a register, a fixed special register; the base of an address */
    uint64_t bits;        /* of a number */
    cx_ptx_op special;    /* the instruction that reads a special register with a changing value */
    uint8_t special_mode; /* of that instruction */
    cx_ptx_space space;   /* of a variable, or of the variable in an address */
    bool has_variable;
    bool is_element; /* of an array: the operand of ld and st without brackets around it */
    uint64_t variable_bytes, element_bytes;
    int64_t offset;       /* of a variable, of an address */
    uint32_t second;      /* the operand behind a bar, or CX_PTX_NO_SLOT */
    unsigned count;       /* of a vector */
    uint32_t parts[CX_PTX_VECTOR_MAX];
    cx_ptx_type part_types[CX_PTX_VECTOR_MAX];
} cx_ptx_operand;

/* True between functions. */
bool cx_ptx_is_outside(const cx_ptx_parser *self);

/* Places so many bytes of a variable; *inout_bytes is the size of their space so far. False: there
 * would be more than `limit`. */
bool cx_ptx_place_bytes(cx_ptx_parser *self, const cx_ptx_token *name, uint64_t align,
                        uint64_t bytes, uint64_t limit, size_t *inout_bytes, uint64_t *out_offset);

/* The bytes behind which the current function's next variable in shared memory is placed. */
size_t *cx_ptx_shared_bytes_of(cx_ptx_parser *self);

/* Places the variable outside functions in the shared memory of the current function. */
bool cx_ptx_place_shared(cx_ptx_parser *self, size_t index, int64_t *out_offset);

/* The next instruction takes the address of the variable in shared memory that the statement names.
 * False: out of memory. */
bool cx_ptx_note_array(cx_ptx_parser *self);

/* Takes + or - and a product of constants, any number of times. */
bool cx_ptx_take_offset(cx_ptx_parser *self, int64_t *inout_offset);

/* A special register; all of %tid: its three components, and 0. False: the word names none. */
bool cx_ptx_find_special(const cx_ptx_token *token, cx_ptx_operand *out);
bool cx_ptx_find_special_vector(const cx_ptx_token *token, cx_ptx_operand *out);

bool cx_ptx_parse_operand(cx_ptx_parser *self, cx_ptx_operand *out_operand);

/* The address of a function that the operand names; false: it names none. */
bool cx_ptx_function_address(const cx_ptx_parser *self, const cx_ptx_operand *operand,
                             uint64_t *out_address);

/* A slot with the operand's value as that type, or CX_PTX_NO_SLOT. A register's type must fit, or
 * may be wider. */
uint32_t cx_ptx_value(cx_ptx_parser *self, const cx_ptx_operand *operand, cx_ptx_type type);
uint32_t cx_ptx_value_or_wider(cx_ptx_parser *self, const cx_ptx_operand *operand,
                               cx_ptx_type type);

/* The slot that an instruction writes as that type; a sink gets a temporary one. */
uint32_t cx_ptx_result(cx_ptx_parser *self, const cx_ptx_operand *operand, cx_ptx_type type);
uint32_t cx_ptx_result_or_wider(cx_ptx_parser *self, const cx_ptx_operand *operand,
                                cx_ptx_type type);

/* Refuses a part of a vector whose register does not fit the type. */
bool cx_ptx_check_part(cx_ptx_parser *self, const cx_ptx_operand *vector, unsigned part,
                       cx_ptx_type type, bool may_be_wider);

/* ---- instructions ---- */

typedef struct cx_ptx_statement {
    cx_ptx_token opcode;
    cx_ptx_operand operands[CX_PTX_OPERANDS_MAX];
    int count;
} cx_ptx_statement;

/* Iterates over the parts of an opcode. */
typedef struct cx_ptx_words {
    const char *next, *end;
} cx_ptx_words;

cx_ptx_words cx_ptx_words_of(const cx_ptx_token *opcode);
/* False behind the last part: the word is left as it is. */
bool cx_ptx_next_word(cx_ptx_words *words, cx_ptx_token *out_word);
cx_ptx_token cx_ptx_first_word(const cx_ptx_token *opcode); /* empty where there is no opcode */
/* `names` ends with NULL. */
bool cx_ptx_first_word_among(const cx_ptx_token *opcode, const char *const *names);
bool cx_ptx_has_word(const cx_ptx_token *opcode, const char *word);
cx_ptx_type cx_ptx_last_type(const cx_ptx_token *opcode); /* of the last part */
bool cx_ptx_unknown(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_wrong(cx_ptx_parser *self, const cx_ptx_statement *statement, const char *what);
bool cx_ptx_need(cx_ptx_parser *self, const cx_ptx_statement *statement, int least, int most);

typedef bool (*cx_ptx_encoder)(cx_ptx_parser *self, const cx_ptx_statement *statement);

/* The other instructions are in ops.def. */
bool cx_ptx_encode_computed(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_is_composed(const cx_ptx_token *opcode);
bool cx_ptx_encode_composed(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_carry(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_setp(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_set(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_mov(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_cvt(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_bfi(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_lop3(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_ld(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_st(cx_ptx_parser *self, const cx_ptx_statement *statement);
/* The state space that a part of an opcode names; false: it names none. */
bool cx_ptx_read_space(const cx_ptx_token *word, cx_ptx_space *out);

bool cx_ptx_encode_cvta(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_isspacep(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_atom(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_red(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_fence(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_nothing(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_cp(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_bulk(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_ret(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_exit(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_trap(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_pause(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_bar(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_cluster_barrier(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_mapa(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_getctarank(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_shfl(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_vote(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_match(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_redux(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_elect(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_alloca(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_stack(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_mbarrier(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_video(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_mma(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_wmma(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_matrix_rows(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_movmatrix(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_policy(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_texture_query(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_istypep(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_activemask(cx_ptx_parser *self, const cx_ptx_statement *statement);

/* Takes the address of an instruction; `space` is that of the opcode. */
bool cx_ptx_take_address(cx_ptx_parser *self, const cx_ptx_statement *statement,
                         const cx_ptx_operand *operand, cx_ptx_space space, bool writes,
                         cx_ptx_instruction *out);

/* mov.b128; ld and st of .b128, whose address `done` has, in halves or at once; atom.b128. */
bool cx_ptx_encode_wide_mov(cx_ptx_parser *self, const cx_ptx_statement *statement);
bool cx_ptx_encode_wide_access(cx_ptx_parser *self, const cx_ptx_operand *value,
                               cx_ptx_instruction done, bool stores, bool at_once);
/* Tells the barrier in shared memory, at that operand, so many bytes. */
bool cx_ptx_emit_completion(cx_ptx_parser *self, const cx_ptx_statement *statement, int operand,
                            unsigned bytes);
/* ld and st of a vector of 8 or 16 bytes at once; its parts have 4 or 8 and were checked. */
bool cx_ptx_encode_vector_at_once(cx_ptx_parser *self, const cx_ptx_operand *vector,
                                  unsigned part_bytes, cx_ptx_instruction done, bool stores);
bool cx_ptx_encode_wide_atom(cx_ptx_parser *self, const cx_ptx_statement *statement,
                             cx_ptx_instruction done);

/* Emits an operation of ops.def. */
bool cx_ptx_emit_computed(cx_ptx_parser *self, const cx_ptx_statement *statement, const char *key,
                          cx_ptx_instruction done);

/* Instructions that parse their own operands: from the opcode, which has been taken, to the
 * semicolon. */
bool cx_ptx_parse_call(cx_ptx_parser *self);
/* Parses `.callprototype _ (.param .b32 _);` or `.calltargets f, g;` */
bool cx_ptx_parse_callees(cx_ptx_parser *self, uint32_t *out_index);
/* tex, tld4, suld, sust, sured */
bool cx_ptx_is_texture(const cx_ptx_token *opcode);
bool cx_ptx_parse_texture(cx_ptx_parser *self, const cx_ptx_token *opcode);
bool cx_ptx_parse_branch(cx_ptx_parser *self, const cx_ptx_token *opcode, uint32_t guard,
                         bool unless);

/* Parses a line with .file or .loc, or skips it. */
bool cx_ptx_parse_source(cx_ptx_parser *self);
/* Code from here on comes from that line; 0: unknown. */
bool cx_ptx_mark_source(cx_ptx_parser *self, uint32_t file, uint32_t line);

/* Parses from the guard or the opcode up to the semicolon. */
bool cx_ptx_parse_instruction(cx_ptx_parser *self);

/* ---- declarations and bodies ---- */

/* `.align 4 .f32 a[2] = {1, 2}, b`; the word of the space has been taken. */
typedef struct cx_ptx_placement {
    cx_ptx_space space;
    bool external, exported;
} cx_ptx_placement;

bool cx_ptx_parse_variables(cx_ptx_parser *self, cx_ptx_placement placement);

/* Loads a register from the function's frame, or stores it there. */
bool cx_ptx_emit_frame_access(cx_ptx_parser *self, cx_ptx_type type, bool stores, uint32_t slot,
                              int64_t offset);

/* Parses a list like `.align 8 .b8 name[24]` in parentheses, after the opening one. The parameters'
 * memory starts at *inout_bytes. */
bool cx_ptx_parse_parameters(cx_ptx_parser *self, cx_ptx_function *function, cx_ptx_space space,
                             size_t *inout_bytes);

/* The begin of the parameters of a function that is no kernel, behind so many bytes of results:
 * small results leave it at one place. */
static inline size_t cx_ptx_behind_results(size_t bytes)
{
    const size_t least = 16;

    return bytes < least ? least : bytes;
}

/* Parses from the opening brace to the closing one. */
bool cx_ptx_parse_body(cx_ptx_parser *self);

/* Resolves jumps from `first_jump` on to labels of the scope whose names begin at `from`. */
bool cx_ptx_resolve_jumps(cx_ptx_parser *self, size_t from, size_t first_jump);

#endif
