/* PTX as tokens. */
#ifndef CX_PTX_LEX_H
#define CX_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cx_ptx_token_kind {
    CX_PTX_END,
    CX_PTX_WORD, /* names, directives and instructions, with their dots: ld.global.u32 */
    CX_PTX_INTEGER,
    CX_PTX_SINGLE, /* 0f3F800000 */
    CX_PTX_DOUBLE, /* 0d..., 1.5 */
    CX_PTX_STRING,
    CX_PTX_SIGN, /* one character */
    CX_PTX_BAD
} cx_ptx_token_kind;

typedef struct cx_ptx_token {
    cx_ptx_token_kind kind;
    const char *text;
    size_t length;
    uint64_t bits; /* of numbers */
    int line;
} cx_ptx_token;

typedef struct cx_ptx_lexer {
    const char *next, *end;
    int line;
} cx_ptx_lexer;

cx_ptx_token cx_ptx_lex(cx_ptx_lexer *lexer);

/* True if there are characters and all are digits. */
bool cx_ptx_is_digits(const char *text, size_t length);

bool cx_ptx_token_is(const cx_ptx_token *token, const char *word);

#endif
