/*
 * The interface between process.c and its neighbours.
 */
#ifndef CX_PLAY_PROCESS_H
#define CX_PLAY_PROCESS_H

#include "play/player.h"

/* True if the driver has what the scenario needs; if not, the tape names what is missing.
 * needs.c */
bool cx_needs_met(cx_player *player, const cx_scenario *scenario);

#endif
