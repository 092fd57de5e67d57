/*
 * What asynchronous work a scenario has submitted, and what has been waited for: to say, when
 * memory does not hold what it should, which step was never waited for.
 */
#ifndef CX_PLAY_ORDER_H
#define CX_PLAY_ORDER_H

#include "play/player.h"

typedef struct cx_order cx_order;

cx_order *cx_order_create(void); /* NULL: out of memory */

/* Takes in what a step did; if it found memory different, explains it on the tape. */
void cx_order_step(cx_order *order, cx_player *player, const cx_line *line);

#endif
