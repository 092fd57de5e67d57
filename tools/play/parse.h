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
 * Parses any bytes: if they are no scenario it returns NULL and the first error, and leaks nothing.
 * `file` names it in messages.
 */
cx_scenario *cx_scenario_parse(const char *file, const char *text, size_t length,
                               cx_parse_error *out_error);

/* Reads a file, "-" being the standard input. NULL: the error has been printed to `errors`. */
cx_scenario *cx_scenario_read(const char *file, FILE *errors);

/* "FILE:LINE:COLUMN: MESSAGE", the line and a caret below the place. `text` NULL: the message only.
 */
void cx_parse_error_print(const cx_parse_error *error, const char *file, const char *text,
                          size_t length, FILE *to);

#endif
