#include "ptx/lex.h"

#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 64

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool starts_word(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
           letter == '$' || letter == '%' || letter == '.';
}

static bool in_word(char letter)
{
    return (starts_word(letter) && letter != '%') || is_digit(letter);
}

static size_t bytes_left(const cx_ptx_lexer *lexer)
{
    return (size_t)(lexer->end - lexer->next);
}

static bool is_at(const cx_ptx_lexer *lexer, const char *two)
{
    return bytes_left(lexer) >= 2 && lexer->next[0] == two[0] && lexer->next[1] == two[1];
}

static void skip_line(cx_ptx_lexer *lexer)
{
    while (lexer->next < lexer->end && *lexer->next != '\n')
        lexer->next++;
}

static void skip_block(cx_ptx_lexer *lexer)
{
    lexer->next += 2;
    while (lexer->next < lexer->end && !is_at(lexer, "*/"))
        lexer->line += *lexer->next++ == '\n';
    if (lexer->next < lexer->end)
        lexer->next += 2;
}

static void skip_blanks(cx_ptx_lexer *lexer)
{
    while (lexer->next < lexer->end) {
        char letter = *lexer->next;

        if (letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n') {
            lexer->line += letter == '\n';
            lexer->next++;
        } else if (is_at(lexer, "//")) {
            skip_line(lexer);
        } else if (is_at(lexer, "/*")) {
            skip_block(lexer);
        } else {
            return;
        }
    }
}

static cx_ptx_token take_token(cx_ptx_lexer *lexer, cx_ptx_token_kind kind, size_t length)
{
    cx_ptx_token token = {
        .kind = kind, .text = lexer->next, .length = length, .line = lexer->line};

    lexer->next += length;
    return token;
}

/* Two colons belong to a word, as in shared::cta; one ends a label. A directive ends at the next
 * one: .reg.b32 */
static cx_ptx_token take_word(cx_ptx_lexer *lexer)
{
    bool directive = *lexer->next == '.';
    size_t length = 1;

    while (length < bytes_left(lexer)) {
        const char *here = lexer->next + length;

        if (directive && *here == '.')
            break;
        if (in_word(*here))
            length++;
        else if (length + 2 < bytes_left(lexer) && here[0] == ':' && here[1] == ':' &&
                 in_word(here[2]))
            length += 2;
        else
            break;
    }
    return take_token(lexer, CX_PTX_WORD, length);
}

static int digit_of(char letter)
{
    if (is_digit(letter))
        return letter - '0';
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F')
        return letter - 'A' + 10;
    return 16;
}

/* Reads a whole token as digits of a base; an integer may end in U. */
static bool read_digits(const char *text, size_t length, int base, uint64_t *out_bits)
{
    uint64_t bits = 0;

    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(text[i]);

        if (digit >= base || __builtin_mul_overflow(bits, (uint64_t)base, &bits) ||
            __builtin_add_overflow(bits, (uint64_t)digit, &bits))
            return false;
    }
    *out_bits = bits;
    return true;
}

static bool read_integer(const char *text, size_t length, uint64_t *out_bits)
{
    if (length > 1 && text[length - 1] == 'U')
        length--;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return read_digits(text + 2, length - 2, 16, out_bits);
    if (length > 2 && text[0] == '0' && (text[1] == 'b' || text[1] == 'B'))
        return read_digits(text + 2, length - 2, 2, out_bits);
    return read_digits(text, length, text[0] == '0' && length > 1 ? 8 : 10, out_bits);
}

static bool read_decimal(const char *text, size_t length, uint64_t *out_bits)
{
    char copy[NUMBER_MAX], *end;
    double value;

    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (strpbrk(copy, "xXpPnN") || !strpbrk(copy, ".eE"))
        return false;
    value = strtod(copy, &end);
    memcpy(out_bits, &value, sizeof value);
    return *end == '\0';
}

static cx_ptx_token take_number(cx_ptx_lexer *lexer)
{
    size_t length = 1;
    const char *text = lexer->next;
    uint64_t bits = 0;
    cx_ptx_token_kind kind = CX_PTX_BAD;
    char form;

    while (length < bytes_left(lexer) &&
           (in_word(text[length]) || ((text[length] == '-' || text[length] == '+') &&
                                      (text[length - 1] == 'e' || text[length - 1] == 'E') &&
                                      text[1] != 'x' && text[1] != 'X' && text[1] != 'f' &&
                                      text[1] != 'F' && text[1] != 'd' && text[1] != 'D')))
        length++;
    form = length > 2 && text[0] == '0' ? text[1] : ' ';
    if ((form == 'f' || form == 'F') && length == 10 && read_digits(text + 2, 8, 16, &bits))
        kind = CX_PTX_SINGLE;
    else if ((form == 'd' || form == 'D') && length == 18 && read_digits(text + 2, 16, 16, &bits))
        kind = CX_PTX_DOUBLE;
    else if (read_integer(text, length, &bits))
        kind = CX_PTX_INTEGER;
    else if (read_decimal(text, length, &bits))
        kind = CX_PTX_DOUBLE;
    cx_ptx_token token = take_token(lexer, kind, length);
    token.bits = bits;
    return token;
}

static cx_ptx_token take_string(cx_ptx_lexer *lexer)
{
    size_t length = 1;

    while (length < bytes_left(lexer) && lexer->next[length] != '"' && lexer->next[length] != '\n')
        length++;
    if (length == bytes_left(lexer) || lexer->next[length] == '\n')
        return take_token(lexer, CX_PTX_BAD, length);
    return take_token(lexer, CX_PTX_STRING, length + 1);
}

cx_ptx_token cx_ptx_lex(cx_ptx_lexer *lexer)
{
    char letter;

    skip_blanks(lexer);
    if (lexer->next == lexer->end)
        return take_token(lexer, CX_PTX_END, 0);
    letter = *lexer->next;
    if (is_digit(letter))
        return take_number(lexer);
    if (starts_word(letter))
        return take_word(lexer);
    if (letter == '"')
        return take_string(lexer);
    if (letter != '\0' && strchr("{}()[]<>,;:=+-@!|~*/&^?", letter))
        return take_token(lexer, CX_PTX_SIGN, 1);
    return take_token(lexer, CX_PTX_BAD, 1);
}

bool cx_ptx_token_is(const cx_ptx_token *token, const char *word)
{
    return (token->kind == CX_PTX_WORD || token->kind == CX_PTX_SIGN) &&
           strlen(word) == token->length && memcmp(token->text, word, token->length) == 0;
}

bool cx_ptx_is_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return length > 0;
}
