/*
 * Recordings: a scenario in which every expectation is what came back. It plays again, on any
 * driver, and then tells where that one differs.
 */
#ifndef CX_PLAY_RECORD_H
#define CX_PLAY_RECORD_H

#include "play/tape.h"
#include <stdio.h>

/* Changes the expectations of the scenario. What it leaves open (_, @name, alternatives of values)
 * stays open where it matched; steps that were not run expect anything. False: out of memory. */
bool cx_record_apply(cx_scenario *scenario, const cx_tape *tape);

/* Prints device, driver version and date, then the scenario. */
bool cx_record_print(const cx_scenario *scenario, const cx_tape *tape, FILE *to);

#endif
