/*
 * Hazards: what may go wrong inside a kernel, as the driver told it. Every function needs the lock
 * "check". A driver of a real GPU tells nothing.
 */
#ifndef CX_LAYER_CHECK_HAZARD_H
#define CX_LAYER_CHECK_HAZARD_H

#include "layer/check/order_bytes.h"

/* A hazard of a piece of work, until its call is over. */
typedef struct cx_hazard cx_hazard;

/* Adds a copy to the list; none, if there is no memory. */
void cx_hazard_add(cx_hazard **list, const cx_access_log_hazard *hazard);
void cx_hazards_free(cx_hazard *list);

/* Raises a finding for each. `races`: nothing orders the piece and other work; then that work may
 * write what the piece reads too early, and the race is what is wrong. */
void cx_hazards_raise(const cx_hazard *list, const cx_order_piece *piece, bool races);

/* Raises a finding for what kernels have left on their heap. */
void cx_hazard_heap_left(const cx_access_log_heap_left *left);

#endif
