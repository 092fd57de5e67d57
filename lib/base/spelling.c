#include "base/spelling.h"

#include <string.h>

enum { LETTERS = 64 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance; `row` has those of the letters so far of `left`. */
size_t cx_spelling_distance(const char *left, const char *right)
{
    size_t row[LETTERS + 1], width = strnlen(right, LETTERS);
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 0; i < LETTERS && left[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 1; j <= width; j++) {
            size_t changed = diagonal + (left[i] != right[j - 1]);
            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[width];
}
