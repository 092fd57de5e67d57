/*
 * Culprits: the work that made a context useless, as the driver told it. Every function needs the
 * lock "check". A driver of a real GPU tells nothing.
 */
#ifndef CX_LAYER_CHECK_CULPRIT_H
#define CX_LAYER_CHECK_CULPRIT_H

#include "layer/check/order_bytes.h"

/* The piece failed with an error that sticks. */
void cx_culprit_note(cx_order_piece *piece, const cx_access_log_failure *failure);

/* Adds to a finding what failed, where it was launched, and the memory that it missed: of the
 * latest work that failed with this result. Nothing, if the driver told of none. */
void cx_culprit_describe(cx_finding *finding, cxu_result result);

/* How many pieces have failed. */
unsigned cx_culprit_count(void);

#endif
