#include "lesson/language.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_chinese;

typedef struct message {
    const char *english, *chinese;
} message;

static const message messages[] = {
#define CX_MESSAGE(english, chinese) {english, chinese},
#include "lesson/messages.zh.def"
};

static bool begins_with(const char *name, const char *language)
{
    size_t length = strlen(language);
    return strncmp(name, language, length) == 0 &&
           (name[length] == '\0' || strchr("_-.@", name[length]) != NULL);
}

bool language_choose(const char *name)
{
    is_chinese = begins_with(name, "zh");
    return is_chinese || begins_with(name, "en");
}

void language_from_environment(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);
        if (locale == NULL || *locale == '\0')
            continue;
        is_chinese = begins_with(locale, "zh") &&
                     (strcasestr(locale, ".utf-8") != NULL || strcasestr(locale, ".utf8") != NULL);
        return;
    }
}

const char *language_infix(void)
{
    return is_chinese ? ".zh" : "";
}

const char *lesson_tr(const char *english)
{
    for (size_t i = 0; is_chinese && i < sizeof messages / sizeof *messages; i++)
        if (strcmp(messages[i].english, english) == 0)
            return messages[i].chinese;
    return english;
}

/* ---- lines ---- */

/* The bytes of the first character. */
static size_t char_length(const char *text)
{
    size_t length = 1;
    while ((text[length] & 0xc0) == 0x80)
        length++;
    return length;
}

/* Chinese characters and their punctuation: three bytes of UTF-8, two columns. */
static bool is_wide(const char *text)
{
    return (unsigned char)*text >= 0xe2;
}

static bool is_one_of(const char *text, const char *const *marks)
{
    for (; *marks != NULL; marks++)
        if (strncmp(text, *marks, strlen(*marks)) == 0)
            return true;
    return false;
}

/* Whether a line may end before `text`; `before` is the character in front of it. */
static bool may_break(const char *before, const char *text)
{
    static const char *const closing[] = {"，", "。", "：", "；", "？",
                                          "！", "）", "”",  "、", NULL},
                             *const opening[] = {"（", "“", NULL};
    if (*text == ' ')
        return true;
    return (is_wide(before) || is_wide(text)) && *before != ' ' && !is_one_of(text, closing) &&
           !is_one_of(before, opening);
}

size_t language_line(const char *text, int columns)
{
    size_t end = 0, before = 0, fits = 0;
    for (int used = 0; text[end] != '\0'; end += char_length(text + end)) {
        if (end > 0 && may_break(text + before, text + end))
            fits = end;
        used += is_wide(text + end) ? 2 : 1;
        if (used > columns)
            return fits > 0 ? fits : end;
        before = end;
    }
    return end;
}
