/*
 * The findings of ORDER: about pieces of work that touch the same bytes, or memory that is gone.
 * Every function needs the lock "check".
 */
#ifndef CX_LAYER_CHECK_ORDER_FINDING_H
#define CX_LAYER_CHECK_ORDER_FINDING_H

#include "layer/check/order_bytes.h"

/* The judged piece touches bytes that an earlier one touched, and nothing orders the two. Of the
 * earlier pieces of a line the last one counts: work that is ordered after that is ordered after
 * all. As cx_order_bytes_touch calls it. */
void cx_order_finding_note_conflict(cx_order_piece *earlier, uintptr_t begin, uintptr_t end_of);

bool cx_order_finding_has_conflicts(void);

/* Tells those of this piece, and forgets them. */
void cx_order_finding_tell_conflicts(const cx_order_piece *piece);

/* The piece failed at the address: a finding, if it is of memory that had been freed at the turn
 * at which the piece was submitted. */
void cx_order_finding_fault(const cx_order_piece *piece, uint64_t turn, uintptr_t address);

/* A finding has told why work used an address that nothing has. */
bool cx_order_fault_told(void);

/* A node uses an address that it was given when other memory had it. */
void cx_order_finding_stale(const cx_order_piece *piece, uintptr_t address);

#endif
