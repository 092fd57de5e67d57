/*
 * A scenario in its parsed form: lines in order, each a blank, a comment, a directive or a step. It
 * can be parsed from text (parse.h), built by a program (below), printed (print.h) and played
 * (player.h).
 *
 * All that belongs to a scenario lies in memory that goes with it.
 */
#ifndef CX_PLAY_SCENARIO_H
#define CX_PLAY_SCENARIO_H

#include "play/verb.h"

#define CX_NAME_MAX 63 /* letters of a name */
#define CX_DEPTH_MAX 3 /* blocks in blocks */

/* Results that no driver returns; in addition to those of results.def. */
enum {
    CX_PLAY_DIFFERS = -1, /* memory has wrong contents */
    CX_PLAY_ABSENT = -2,  /* this driver does not have the call */
    CX_PLAY_WAITS = -3,   /* a step that was begun has not returned */
    CX_PLAY_STUCK = -4,   /* it did not return in time */
    CX_PLAY_UNBOUND = -5, /* an operand has no value: the step that should have made it did not */
    CX_PLAY_ANY = -6      /* as an expectation: any result */
};

typedef struct cx_operand {
    bool given;       /* false: a keyed operand left at its default */
    const char *name; /* NULL: a number */
    int64_t number;   /* a number, or the offset to the address of the name */
} cx_operand;

typedef enum cx_expected_kind {
    CX_EXPECTED_ANY, /* _ */
    CX_EXPECTED_NUMBER,
    CX_EXPECTED_NAME,     /* the thing of this name, or none */
    CX_EXPECTED_SAME,     /* @name: the same value as where this first stood; there, any value */
    CX_EXPECTED_DIFFERENT /* !@name: another value */
} cx_expected_kind;

typedef struct cx_expected {
    cx_expected_kind kind;
    const char *name;
    int64_t number;
} cx_expected;

/* One of the possible results of a step. */
typedef struct cx_outcome {
    int result;      /* cxu_result, or one of the above */
    bool untouched;  /* the call wrote nothing */
    int value_count; /* given values; if there are fewer than the verb returns, the rest is free */
    cx_expected values[CX_RESULTS_MAX];
    struct cx_outcome *next;
} cx_outcome;

typedef enum cx_mode {
    CX_MODE_PLAIN,
    CX_MODE_BEGIN, /* the step is started; others may follow before it returns */
    CX_MODE_FINISH /* waits for the step begun on this thread; has the results, and no verb */
} cx_mode;

typedef struct cx_line cx_line;

typedef struct cx_line_block {
    cx_line *first, *last;
} cx_line_block;

typedef struct cx_step {
    const char *thread; /* NULL for process */
    cx_mode mode;
    const cx_verb *verb; /* NULL for finish */
    cx_operand operands[CX_OPERANDS_MAX];
    unsigned int nowhere; /* bits of the results for which NULL is passed: null=NAME */
    cx_outcome *outcomes; /* NULL: none given, so SUCCESS (for begin: anything) */
    bool unverified;      /* rests on a rule that no recording has confirmed */
    bool has_block;
    cx_line_block block;
} cx_step;

typedef enum cx_directive_kind {
    CX_DIRECTIVE_DEVICES,  /* devices N: exactly N; a real driver must have at least N */
    CX_DIRECTIVE_NEEDS,    /* needs WORD...: peers, embedded, managed, a version as 12.5, a call */
    CX_DIRECTIVE_SET,      /* set CTXRT_EMU_NAME=VALUE: for the embedded driver only */
    CX_DIRECTIVE_SCHEDULE, /* schedule NAME: under that schedule of the embedded driver;
                                   a real one is taken for threads */
    CX_DIRECTIVE_UNINITIALISED /* the player does not call cuInit; steps do */
} cx_directive_kind;

typedef enum cx_line_kind { CX_LINE_BLANK, CX_LINE_DIRECTIVE, CX_LINE_STEP } cx_line_kind;

struct cx_line {
    cx_line_kind kind;
    int number;       /* in its file, from 1; 0 if a program built it */
    int index;        /* among all lines of the scenario, those of blocks too, from 0 */
    const char *note; /* the comment at its end, without '#'; NULL if it has none */
    cx_directive_kind directive;
    int devices;
    const char *text; /* of the other directives: the text behind the word */
    cx_step step;
    cx_line *next;
};

typedef struct cx_scenario {
    const char *file; /* its name in messages */
    cx_line_block lines;
    int line_count; /* including those of all blocks */
    struct cx_scenario_chunk *memory;
} cx_scenario;

/* NULL: out of memory. If memory runs out later, the calls below return NULL from then on. */
cx_scenario *cx_scenario_create(const char *file);
void cx_scenario_destroy(cx_scenario *scenario);

/* Zeroed memory, and a copy of a text, that live as long as the scenario. */
void *cx_scenario_take(cx_scenario *scenario, size_t bytes);
const char *cx_scenario_text(cx_scenario *scenario, const char *text, size_t length);

/* Adds a line at the end of a block: scenario->lines, or a step's. */
cx_line *cx_line_block_add(cx_scenario *scenario, cx_line_block *block, cx_line_kind kind);

/* True if there is anything to play; directives and comments are not. */
bool cx_scenario_has_step(const cx_scenario *scenario);

/* The verb of a step; for a finish, that of the step that its thread began last in the same
 * block. */
const cx_verb *cx_line_verb(const cx_line_block *block, const cx_line *line);

/* For programs that build scenarios: a step of a thread, operand by operand, and its possible
 * results. */
cx_step *cx_scenario_step(cx_scenario *scenario, const char *thread, cx_verb_id verb);
bool cx_step_name(cx_scenario *scenario, cx_step *step, int operand, const char *name);
void cx_step_number(cx_step *step, int operand, int64_t number);
cx_outcome *cx_step_expect(cx_scenario *scenario, cx_step *step, int result);

/* True if two scenarios have the same contents, line numbers aside. */
bool cx_scenario_same(const cx_scenario *left, const cx_scenario *right);

/* The name of a result as scenarios write it, "INVALID_VALUE", "DIFFERS"; NULL if there is none. */
const char *cx_outcome_name(int result);
bool cx_outcome_find(const char *name, int *out_result);
const char *cx_outcome_nearest(const char *name);

#endif
