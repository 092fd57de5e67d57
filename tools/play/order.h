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

/* Calls `visit` for each work item that the host has not waited for, in the order of submission:
 * it may be done. A default stream's handle is 0 or a small number. */
typedef void cx_order_visit(const cx_line *line, cx_cell stream, cx_cell context, void *argument);
void cx_order_pending(const cx_order *order, cx_order_visit *visit, void *argument);

/* True if such work is ahead of what an event was last recorded behind. */
bool cx_order_event_pending(const cx_order *order, cx_cell event);

/* True if not all work is known: after captures and launches of graphs, or too much of it. */
bool cx_order_is_lost(const cx_order *order);

#endif
