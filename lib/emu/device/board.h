/* The identity of an emulated board, whatever ordinal CUDA_VISIBLE_DEVICES gives it. */
#ifndef CX_EMU_BOARD_H
#define CX_EMU_BOARD_H

#include "driver/cuda_abi.h"

/* A UUID like a GPU's, made from the board's number; and its text "GPU-xxxxxxxx-...". */
#define CX_EMU_UUID_TEXT_BYTES 41
void cx_emu_board_uuid(int board, cxu_uuid *out_uuid);
void cx_emu_board_uuid_text(int board, char out_text[CX_EMU_UUID_TEXT_BYTES]);

#endif
