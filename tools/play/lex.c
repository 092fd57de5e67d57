#include "play/lex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 24

/* ctype.h follows the locale, this does not. */
static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

static bool in_word(char letter)
{
    return is_letter(letter) || is_digit(letter) || letter == '.';
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

static void skip_blanks(cx_lexer *lexer)
{
    while (lexer->next < lexer->end && is_blank(*lexer->next))
        lexer->next++;
}

static cx_token take_token(cx_lexer *lexer, cx_token_kind kind, size_t length)
{
    cx_token token = {.kind = kind,
                      .text = lexer->next,
                      .length = length,
                      .column = (int)(lexer->next - lexer->line) + 1};
    lexer->next += length;
    return token;
}

static size_t word_length(const cx_lexer *lexer, size_t from)
{
    size_t left = (size_t)(lexer->end - lexer->next);
    while (from < left && in_word(lexer->next[from]))
        from++;
    return from;
}

static cx_token take_number(cx_lexer *lexer)
{
    size_t length = word_length(lexer, 1);
    char digits[DIGITS_MAX], *end;
    if (length >= sizeof digits)
        return take_token(lexer, CX_TOKEN_BAD, length);
    memcpy(digits, lexer->next, length);
    digits[length] = '\0';
    bool hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    errno = 0;
    long long number = strtoll(digits, &end, hex ? 16 : 10);
    cx_token token =
        take_token(lexer, *end == '\0' && errno == 0 ? CX_TOKEN_NUMBER : CX_TOKEN_BAD, length);
    token.number = number;
    return token;
}

cx_token cx_lex(cx_lexer *lexer)
{
    skip_blanks(lexer);
    size_t left = (size_t)(lexer->end - lexer->next);
    char letter = left > 0 ? lexer->next[0] : '#';
    char after = left > 1 ? lexer->next[1] : ' ';
    if (letter == '#')
        return take_token(lexer, CX_TOKEN_END, 0);
    if (letter == '-' && after == '>')
        return take_token(lexer, CX_TOKEN_ARROW, 2);
    if (is_digit(letter) || (letter == '-' && is_digit(after)))
        return take_number(lexer);
    if (is_letter(letter))
        return take_token(lexer, CX_TOKEN_WORD, word_length(lexer, 1));
    if (letter != '\0' && strchr(":=+|{}@!", letter) != NULL)
        return take_token(lexer, CX_TOKEN_SIGN, 1);
    return take_token(lexer, CX_TOKEN_BAD, 1);
}

cx_token cx_lex_rest(cx_lexer *lexer)
{
    skip_blanks(lexer);
    const char *end = memchr(lexer->next, '#', (size_t)(lexer->end - lexer->next));
    if (end == NULL)
        end = lexer->end;
    size_t length = (size_t)(end - lexer->next);
    while (length > 0 && is_blank(lexer->next[length - 1]))
        length--;
    cx_token token = take_token(lexer, length > 0 ? CX_TOKEN_WORD : CX_TOKEN_END, length);
    lexer->next = end;
    return token;
}

bool cx_lex_note(cx_lexer *lexer, const char **out_text, size_t *out_length)
{
    skip_blanks(lexer);
    if (lexer->next == lexer->end || *lexer->next != '#')
        return false;
    const char *end = lexer->end;
    while (end > lexer->next + 1 && is_blank(end[-1]))
        end--;
    *out_text = lexer->next + 1;
    *out_length = (size_t)(end - *out_text);
    lexer->next = lexer->end;
    return true;
}
