/*
 * Recordings: scenarios whose expectations are the results of a run. Played on another driver, they
 * tell where it differs.
 */
#ifndef CX_PLAY_RECORD_H
#define CX_PLAY_RECORD_H

#include "play/tape.h"
#include <stdio.h>

/* Changes the expectations of the scenario to the results. Open ones (_, @name) stay open if they
 * matched, and other alternatives stay behind the result; steps that were not run expect anything.
 * False: out of memory. */
bool cx_record_apply(cx_scenario *scenario, const cx_tape *tape);

/* Prints device, driver version and date, then the scenario. */
bool cx_record_print(const cx_scenario *scenario, const cx_tape *tape, FILE *to);

#endif
