/*
 * Actions that make memory and events known to other processes.
 */
#ifndef CX_PLAY_SHARE_H
#define CX_PLAY_SHARE_H

#include "play/player.h"

int cx_share_pool_memory(cx_player *player, cx_call *call);

/* The handle goes to the tape, where every process of the scenario finds it. */
int cx_share_memory(cx_player *player, cx_call *call);
int cx_share_event(cx_player *player, cx_call *call);

#endif
