/*
 * Scenarios from text.
 */
#ifndef CX_PLAY_PARSE_H
#define CX_PLAY_PARSE_H

#include "play/scenario.h"
#include <stdio.h>

#define CX_TEXT_MAX ((size_t)16 << 20) /* bytes of a scenario */

typedef struct cx_parse_error {
    int line, column; /* from 1; columns count bytes */
    char message[256];
} cx_parse_error;

/*
 * Any bytes will do: what is no scenario gives NULL and the first thing that is wrong, and nothing
 * is left behind. `file` names it in messages.
 */
cx_scenario *cx_scenario_parse(const char *file, const char *text, size_t length,
                               cx_parse_error *out_error);

/* Reads a file, "-" being the standard input. NULL: what is wrong has been printed to `errors`. */
cx_scenario *cx_scenario_read(const char *file, FILE *errors);

/* "FILE:LINE:COLUMN: MESSAGE", the line and a caret below the place. `text` NULL: the message only.
 */
void cx_parse_error_print(const cx_parse_error *error, const char *file, const char *text,
                          size_t length, FILE *to);

#endif
