/*
 * The words of one line of a scenario.
 */
#ifndef CX_PLAY_LEX_H
#define CX_PLAY_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cx_token_kind {
    CX_TOKEN_END,  /* of the line; a comment may follow */
    CX_TOKEN_WORD, /* letters, digits, '_' and '.', not beginning with a digit */
    CX_TOKEN_NUMBER,
    CX_TOKEN_ARROW,
    CX_TOKEN_SIGN, /* one of : = + | { } @ ! */
    CX_TOKEN_BAD   /* text[0] begins no token, or a number is too big */
} cx_token_kind;

typedef struct cx_token {
    cx_token_kind kind;
    const char *text; /* in the line */
    size_t length;
    int64_t number;
    int column; /* from 1, in bytes */
} cx_token;

typedef struct cx_lexer {
    const char *line, *end; /* without the end of line */
    const char *next;
} cx_lexer;

/* Takes the next token. At the end of the line it stays END. */
cx_token cx_lex(cx_lexer *lexer);

/* Takes the rest of the line up to a comment, without blanks around it. */
cx_token cx_lex_rest(cx_lexer *lexer);

/* The comment at the lexer's place, without '#'; false if there is none. */
bool cx_lex_note(cx_lexer *lexer, const char **out_text, size_t *out_length);

static inline bool cx_token_is(const cx_token *token, char sign)
{
    return token->kind == CX_TOKEN_SIGN && token->text[0] == sign;
}

#endif
