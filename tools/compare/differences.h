/*
 * Where two drivers differ: rows, each under its rule.
 */
#ifndef CX_COMPARE_DIFFERENCES_H
#define CX_COMPARE_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

/* An observation or a step of a scenario. */
typedef struct difference {
    char *rule;  /* "S2", or "-" */
    char *where; /* its name, or file, line and step */
    char *first, *second;
} difference;

typedef struct differences {
    difference *rows;
    size_t count, room;
    size_t agree, unseen; /* that have no row */
    bool failed;          /* memory was short */
} differences;

/* Copies all texts; they are cut at their first control character. */
void differences_add(differences *self, const char *rule, const char *where, const char *first,
                     const char *second);

void differences_free(differences *self);

/* Prints the rows, by rule in the order of docs/semantics.md, under titles for the two columns. */
void differences_print(const differences *self, const char *first_title, const char *second_title);

#endif
