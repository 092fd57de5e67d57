/*
 * A table of texts, each once.
 */
#ifndef CX_TOOLS_TRACE_WORDS_H
#define CX_TOOLS_TRACE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct trace_words {
    char **all; /* by number */
    size_t count, capacity;
    struct trace_words_entry *entries;
    bool full; /* there is no memory; texts that are missing have the number 0 */
} trace_words;

/* The number of the text, which joins the table if it is new. */
size_t trace_word(trace_words *self, const char *text);

void trace_words_free(trace_words *self);

#endif
