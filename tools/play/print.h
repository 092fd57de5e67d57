/*
 * Prints scenarios as text. Parsing the text gives the same scenario again.
 */
#ifndef CX_PLAY_PRINT_H
#define CX_PLAY_PRINT_H

#include "play/scenario.h"
#include <stdio.h>

/* False: it could not be written. */
bool cx_scenario_print(const cx_scenario *scenario, FILE *to);

/* One step with its expectation, on one line, without its comment and block; cut at `size`. */
void cx_step_print(const cx_step *step, char *text, size_t size);
void cx_outcomes_print(const cx_step *step, const cx_verb *verb, char *text, size_t size);

#endif
