#include "memory/piece.h"

cx_fit_store cx_pieces = {.stride = sizeof(cx_piece)};
cx_eventcount cx_piece_counts = CX_EVENTCOUNT_INIT;
