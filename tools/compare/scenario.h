/*
 * Recorded scenarios, played on the embedded driver.
 */
#ifndef CX_COMPARE_SCENARIO_H
#define CX_COMPARE_SCENARIO_H

#include "differences.h"
#include "recording.h"

/* Adds the steps to which the embedded driver answers something else, and how many agree. False:
 * they could not be played, and an error has been printed for the recording's command. */
bool scenarios_compare(const recording *self, differences *out_differences);

#endif
