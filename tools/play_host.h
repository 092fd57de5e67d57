/*
 * The host as the player watches it: local.mk has the linker send its requests here.
 */
#ifndef CX_PLAY_HOST_H
#define CX_PLAY_HOST_H

#include "play/play.h"

extern const cx_play_host play_host;

#endif
