/*
 * Follows the asynchronous work that a scenario submits, and the waits for it. If memory has wrong
 * contents, it names the step that was never waited for.
 *
 * It knows the driver's rules of order (streams, events, the legacy stream, synchronising calls)
 * and sees the steps, never the driver. Only on the conductor's thread.
 */
#ifndef CX_PLAY_ORDER_H
#define CX_PLAY_ORDER_H

#include "play/player.h"

typedef struct cx_order cx_order;

cx_order *cx_order_create(void); /* NULL: out of memory */

/* Follows a call; if it found memory different, explains that on the tape. Called before the stacks
 * follow it. */
void cx_order_step(cx_order *order, cx_player *player, const cx_call *call);

#endif
