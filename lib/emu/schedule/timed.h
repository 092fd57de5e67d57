/*
 * The times of work, for the one who watches (driver/timing.h). All functions: lock "emu.state"
 * held; they do nothing for a piece that no one watches.
 */
#ifndef CX_EMU_TIMED_H
#define CX_EMU_TIMED_H

#include "emu/schedule/stream.h"

typedef struct cx_emu_timed cx_emu_timed;

/* The bytes of a piece's record, 0: no one watches. Then begins it at `place`, which is filled with
 * zeroes. */
size_t cx_emu_timed_bytes(void);
cx_emu_timed *cx_emu_timed_begin(void *place, const cx_emu_work_request *request);

/* The piece is submitted to a stream, or to none. Pieces that are not placed are not told. */
void cx_emu_timed_place(cx_emu_timed *self, const cx_emu_stream *stream,
                        const cx_emu_context *context);

/* It begins to run: at once when it was submitted, or later; again, if it waits for something. */
void cx_emu_timed_run_at_once(cx_emu_timed *self);
void cx_emu_timed_run(cx_emu_timed *self);

/* It is done, at this time: tells of it. */
void cx_emu_timed_end(cx_emu_timed *self, uint64_t now_ns);

#endif
