/*
 * The latest work that failed with a sticky error, for the text behind that error. All functions:
 * lock "emu.state" held.
 */
#ifndef CX_EMU_FAILURE_H
#define CX_EMU_FAILURE_H

#include "driver/cuda_abi.h"
#include <stdint.h>

/* Records that work of a context, named by its id, failed first, with a sticky error. */
void cx_emu_failure_note(uint64_t context_id, cxu_result error, const char *what);

/* Describes the latest work of the context that failed with the error, or else the latest work of
 * any context: errors may reach beyond a context, and calls may name streams of others. NULL: there
 * is none. */
const char *cx_emu_failure_find(uint64_t context_id, cxu_result error);

#endif
