/*
 * The language of what `ctxrt lesson` shows: English or Chinese. Help and wrong use stay English,
 * as the manual is.
 */
#ifndef CX_TOOLS_LESSON_LANGUAGE_H
#define CX_TOOLS_LESSON_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Takes "en" or "zh", also with a country ("zh_CN", "zh-CN"); false: it is neither. */
bool language_choose(const char *name);

/* Chinese if LC_ALL, LC_MESSAGES or LANG, the first that is set, is a Chinese locale in UTF-8. */
void language_from_environment(void);

/* What stands before the end of a file's name in this language: "" or ".zh". */
const char *language_infix(void);

/* The message in the language; as it is if there is none. po/lesson.zh.po has the translations. */
__attribute__((format_arg(1))) const char *lesson_tr(const char *english);

/* The bytes of UTF-8 that fit in a line of so many columns, cut between words or characters. */
size_t language_line(const char *text, int columns);

#endif
