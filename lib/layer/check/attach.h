/*
 * Managed memory that one stream, or the host, has for itself. Every function needs the lock
 * "check".
 */
#ifndef CX_LAYER_CHECK_ATTACH_H
#define CX_LAYER_CHECK_ATTACH_H

#include "layer/check/order_bytes.h"

/* Counts a piece of work; memory that is attached later does not bind it. */
uint64_t cx_attach_count(void);

/* A kernel that was counted so uses the bytes. */
void cx_attach_judge(const cx_order_piece *piece, uint64_t counted, const cx_access *touch);

#endif
