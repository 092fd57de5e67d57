/*
 * What process.c takes from its neighbours.
 */
#ifndef CX_PLAY_PROCESS_H
#define CX_PLAY_PROCESS_H

#include "play/player.h"

/* Whether the driver has what the scenario needs; if not, the tape says what is missing. needs.c */
bool cx_needs_met(cx_player *player, const cx_scenario *scenario);

#endif
