/*
 * The times of work, for the one who watches (driver/timing.h). All functions: lock "emu.state"
 * held; they do nothing for a piece that no one watches.
 */
#ifndef CX_EMU_TIMED_H
#define CX_EMU_TIMED_H

#include "emu/stream.h"

typedef struct cx_emu_timed cx_emu_timed;

/* The record of a new piece; NULL: no one watches, or there is no memory. */
cx_emu_timed *cx_emu_timed_new(const cx_emu_work_request *request);

/* The piece is submitted to a stream, or to none. Pieces that are not placed are not told. */
void cx_emu_timed_place(cx_emu_timed *self, const cx_emu_stream *stream,
                        const cx_emu_context *context);

/* It begins to run; again, if it waits for something. */
void cx_emu_timed_run(cx_emu_timed *self);

/* It is done, or will never run: tells of it and frees the record. */
void cx_emu_timed_end(cx_emu_timed *self);

#endif
