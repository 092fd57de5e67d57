/*
 * The player's watch over the host: local.mk makes the linker redirect requests here.
 */
#ifndef CX_PLAY_HOST_H
#define CX_PLAY_HOST_H

#include "play/play.h"

extern const cx_play_host play_host;

#endif
