#include "ptx/parser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool cx_ptx_fail(cx_ptx_parser *self, cx_ptx_status status, const char *format, ...)
{
    va_list arguments;

    if (self->status != CX_PTX_SUCCESS)
        return false;
    self->status = status;
    if (!self->module)
        return false;
    self->error->line =
        self->function < self->module->function_count ? self->line : self->token.line;
    va_start(arguments, format);
    vsnprintf(self->error->message, sizeof self->error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool cx_ptx_no_memory(cx_ptx_parser *self)
{
    return cx_ptx_fail(self, CX_PTX_NO_MEMORY, "out of memory");
}

/* ---- tokens ---- */

void cx_ptx_advance(cx_ptx_parser *self)
{
    self->token = cx_ptx_lex(&self->lexer);
}

cx_ptx_token cx_ptx_peek(const cx_ptx_parser *self)
{
    cx_ptx_lexer lexer = self->lexer;

    return cx_ptx_lex(&lexer);
}

bool cx_ptx_at(const cx_ptx_parser *self, const char *word)
{
    return cx_ptx_token_is(&self->token, word);
}

bool cx_ptx_take(cx_ptx_parser *self, const char *word)
{
    if (!cx_ptx_at(self, word))
        return false;
    cx_ptx_advance(self);
    return true;
}

bool cx_ptx_expect(cx_ptx_parser *self, const char *word)
{
    if (cx_ptx_take(self, word))
        return true;
    return CX_PTX_INVALID_AT(self, "'%s' is missing before '%.*s'", word,
                             CX_PTX_QUOTE(&self->token));
}

bool cx_ptx_expect_number(cx_ptx_parser *self, uint64_t *out_number)
{
    if (self->token.kind != CX_PTX_INTEGER)
        return CX_PTX_INVALID_AT(self, "a number is missing before '%.*s'",
                                 CX_PTX_QUOTE(&self->token));
    *out_number = self->token.bits;
    cx_ptx_advance(self);
    return true;
}

bool cx_ptx_expect_word(cx_ptx_parser *self, cx_ptx_token *out_word)
{
    if (self->token.kind != CX_PTX_WORD)
        return CX_PTX_INVALID_AT(self, "a name is missing before '%.*s'",
                                 CX_PTX_QUOTE(&self->token));
    *out_word = self->token;
    cx_ptx_advance(self);
    return true;
}

void cx_ptx_skip_line(cx_ptx_parser *self)
{
    int line = self->token.line;

    while (self->token.kind != CX_PTX_END && self->token.line == line)
        cx_ptx_advance(self);
}

cx_ptx_type cx_ptx_token_type(const cx_ptx_token *token)
{
    if (token->kind != CX_PTX_WORD || token->length < 2 || token->text[0] != '.')
        return CX_PTX_NO_TYPE;
    return cx_ptx_type_find(token->text + 1, token->length - 1);
}

/* ---- parts of opcodes ---- */

cx_ptx_words cx_ptx_words_of(const cx_ptx_token *opcode)
{
    return (cx_ptx_words){opcode->text, opcode->text + opcode->length};
}

bool cx_ptx_next_word(cx_ptx_words *words, cx_ptx_token *out_word)
{
    const char *begin = words->next, *dot;

    if (begin >= words->end)
        return false;
    dot = memchr(begin, '.', (size_t)(words->end - begin));
    if (!dot)
        dot = words->end;
    *out_word =
        (cx_ptx_token){.kind = CX_PTX_WORD, .text = begin, .length = (size_t)(dot - begin)};
    words->next = dot + 1;
    return true;
}

cx_ptx_token cx_ptx_first_word(const cx_ptx_token *opcode)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token first = {.kind = CX_PTX_WORD, .text = ""};

    cx_ptx_next_word(&words, &first);
    return first;
}

bool cx_ptx_first_word_among(const cx_ptx_token *opcode, const char *const *names)
{
    cx_ptx_token first = cx_ptx_first_word(opcode);

    for (; *names; names++)
        if (cx_ptx_token_is(&first, *names))
            return true;
    return false;
}

bool cx_ptx_has_word(const cx_ptx_token *opcode, const char *word)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token part;

    while (cx_ptx_next_word(&words, &part))
        if (cx_ptx_token_is(&part, word))
            return true;
    return false;
}

cx_ptx_type cx_ptx_last_type(const cx_ptx_token *opcode)
{
    cx_ptx_words words = cx_ptx_words_of(opcode);
    cx_ptx_token part = {0};

    while (cx_ptx_next_word(&words, &part))
        continue;
    return part.text ? cx_ptx_type_find(part.text, part.length) : CX_PTX_NO_TYPE;
}

bool cx_ptx_unknown(cx_ptx_parser *self, const cx_ptx_statement *statement)
{
    return cx_ptx_fail(self, CX_PTX_UNSUPPORTED, "the instruction '%.*s' is not supported",
                       CX_PTX_QUOTE(&statement->opcode));
}

bool cx_ptx_wrong(cx_ptx_parser *self, const cx_ptx_statement *statement, const char *what)
{
    return CX_PTX_INVALID_AT(self, "'%.*s': %s", CX_PTX_QUOTE(&statement->opcode), what);
}

bool cx_ptx_need(cx_ptx_parser *self, const cx_ptx_statement *statement, int least, int most)
{
    if (statement->count >= least && statement->count <= most)
        return true;
    return cx_ptx_wrong(self, statement, "wrong number of operands");
}
