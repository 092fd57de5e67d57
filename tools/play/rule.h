/*
 * The rules of docs/semantics.md.
 */
#ifndef CX_PLAY_RULE_H
#define CX_PLAY_RULE_H

#include <stddef.h>

typedef struct driver_rule {
    const char *id;
    const char *words;                              /* a student's */
    const char *text, *evidence, *section, *anchor; /* as docs/semantics.md has it */
} driver_rule;

/* In the order of that page. */
extern const driver_rule all_rules[];
extern const size_t all_rules_count;

#endif
