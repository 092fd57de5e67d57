/* CUDA_VISIBLE_DEVICES. */
#ifndef CX_EMU_VISIBLE_DEVICES_H
#define CX_EMU_VISIBLE_DEVICES_H

#include "emu/emu.h"

/*
 * The boards that a value of CUDA_VISIBLE_DEVICES leaves, in its order: ordinals or the beginnings
 * of UUIDs, up to the first invalid entry; none at all if one comes twice. NULL: all. Returns their
 * number.
 */
int cx_emu_visible_devices(const char *list, int boards, int out_boards[CX_EMU_DEVICES_MAX]);

#endif
