/*
 * What asynchronous work a scenario has submitted, and what has been waited for: to say, when
 * memory does not hold what it should, which step was never waited for.
 *
 * It knows the rules of the driver's order (streams, events, the legacy stream, what synchronises)
 * and sees the steps, never the driver. The conductor's thread only.
 */
#ifndef CX_PLAY_ORDER_H
#define CX_PLAY_ORDER_H

#include "play/player.h"

typedef struct cx_order cx_order;

cx_order *cx_order_create(void); /* NULL: out of memory */

/* Takes in what a call did; if it found memory different, explains that on the tape. Before the
 * stacks do. */
void cx_order_step(cx_order *order, cx_player *player, const cx_call *call);

#endif
