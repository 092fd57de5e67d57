#include "play/parser.h"

#include <stdarg.h>
#include <string.h>

bool cx_parser_fail(cx_parser *self, int line, int column, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    self->error->line = line;
    self->error->column = column;
    vsnprintf(self->error->message, sizeof self->error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool cx_parser_no_memory(cx_parser *self)
{
    return cx_parser_fail(self, self->line, 1, "there is not enough memory for this scenario");
}

cx_quoted cx_parser_quote(const cx_token *token)
{
    cx_quoted self;
    unsigned char first = token->length > 0 ? (unsigned char)token->text[0] : 0;
    if (token->kind == CX_TOKEN_END)
        snprintf(self.text, sizeof self.text, "the end of the line");
    else if (token->kind == CX_TOKEN_BAD && (first < ' ' || first > '~'))
        snprintf(self.text, sizeof self.text, "the byte 0x%02x", first);
    else
        snprintf(self.text, sizeof self.text, "'%.*s'",
                 token->length < 60 ? (int)token->length : 60, token->text);
    return self;
}

void cx_parser_advance(cx_parser *self)
{
    self->token = cx_lex(&self->lexer);
}

bool cx_token_is_word(const cx_token *token, const char *word)
{
    return token->kind == CX_TOKEN_WORD && token->length == strlen(word) &&
           memcmp(token->text, word, token->length) == 0;
}

bool cx_parser_expect(cx_parser *self, char sign, const char *why)
{
    if (!cx_token_is(&self->token, sign))
        return CX_PARSER_FAIL(self, &self->token, "'%c' should stand here, %s, not %s", sign, why,
                              cx_parser_quote(&self->token).text);
    cx_parser_advance(self);
    return true;
}

const char *cx_parser_keep(cx_parser *self, const cx_token *token)
{
    const char *text = cx_scenario_text(self->scenario, token->text, token->length);
    if (text == NULL)
        cx_parser_no_memory(self);
    return text;
}

const char *cx_parser_name(cx_parser *self, const char *what)
{
    cx_token token = self->token;
    if (token.kind != CX_TOKEN_WORD || memchr(token.text, '.', token.length) != NULL) {
        CX_PARSER_FAIL(self, &token, "the name of %s should stand here, not %s", what,
                       cx_parser_quote(&token).text);
        return NULL;
    }
    if (token.length > CX_NAME_MAX) {
        CX_PARSER_FAIL(self, &token, "a name has at most %d letters", CX_NAME_MAX);
        return NULL;
    }
    cx_parser_advance(self);
    return cx_parser_keep(self, &token);
}
