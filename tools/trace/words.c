#include "trace/words.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

typedef struct trace_words_entry {
    size_t number;
    UT_hash_handle hh;
    char text[];
} trace_words_entry;

static bool grow(trace_words *self)
{
    if (self->count < self->capacity)
        return true;
    size_t more = self->capacity != 0 ? 2 * self->capacity : 256;
    char **all = reallocarray(self->all, more, sizeof *all);
    if (all == NULL)
        return false;
    self->all = all;
    self->capacity = more;
    return true;
}

size_t trace_word(trace_words *self, const char *text)
{
    size_t length = strlen(text);
    trace_words_entry *entry;
    HASH_FIND(hh, self->entries, text, length, entry);
    if (entry != NULL)
        return entry->number;
    entry = grow(self) ? malloc(sizeof *entry + length + 1) : NULL;
    if (entry == NULL) {
        self->full = true;
        return 0;
    }
    memcpy(entry->text, text, length + 1);
    entry->number = self->count;
    self->all[self->count++] = entry->text;
    HASH_ADD(hh, self->entries, text, length, entry);
    return entry->number;
}

void trace_words_free(trace_words *self)
{
    trace_words_entry *entry, *next;
    HASH_ITER(hh, self->entries, entry, next) {
        HASH_DEL(self->entries, entry);
        free(entry);
    }
    free(self->all);
    *self = (trace_words){.count = 0};
}
