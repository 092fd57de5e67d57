/*
 * The state of the parser: a line, the current token, and the first error.
 * A function that takes something makes the token behind it the current one. False, or NULL: it is
 * not there, or memory ran out, and the error says so.
 */
#ifndef CX_PLAY_PARSER_H
#define CX_PLAY_PARSER_H

#include "play/lex.h"
#include "play/names.h"
#include "play/parse.h"

typedef struct cx_parser {
    cx_scenario *scenario;
    cx_parse_error *error;
    const char *next, *end; /* the text from the next line on */
    int line;
    cx_lexer lexer;
    cx_token token; /* the current one */
    cx_names *names;
} cx_parser;

/* A token as it stands, cut, for messages. */
typedef struct cx_quoted {
    char text[72];
} cx_quoted;

cx_quoted cx_parser_quote(const cx_token *token);

__attribute__((format(printf, 4, 5))) bool cx_parser_fail(cx_parser *self, int line, int column,
                                                          const char *format, ...);

/* An error at a token of this line. */
#define CX_PARSER_FAIL(self, token, ...) \
    cx_parser_fail(self, (self)->line, (token)->column, __VA_ARGS__)

bool cx_parser_no_memory(cx_parser *self);

void cx_parser_advance(cx_parser *self);
bool cx_token_is_word(const cx_token *token, const char *word);
bool cx_parser_expect(cx_parser *self, char sign, const char *why);

/* The text of a token as a string of the scenario. */
const char *cx_parser_keep(cx_parser *self, const cx_token *token);

/* A word that can be a name: no dots, not too long. `what` is the kind of name, for messages. */
const char *cx_parser_name(cx_parser *self, const char *what);

/* A number that fits its kind, or words of a set. */
bool cx_parser_number(cx_parser *self, const char *name, cx_kind kind, cx_words words,
                      int64_t *out_number);

/* True if operands or results end here. */
bool cx_parser_at_end(const cx_parser *self);

/* Takes all operands of the step's verb; the object it makes is a known name from here on. */
bool cx_parser_operands(cx_parser *self, cx_step *step);

/* Takes the results, from the arrow on. */
bool cx_parser_outcomes(cx_parser *self, cx_step *step, const cx_verb *verb);

#endif
