/*
 * The times of work, for the one who watches (driver/work_timestamps.h). All functions: lock
 * "emu.state" held; they do nothing for a piece that no one watches.
 */
#ifndef CX_EMU_WORK_TIMESTAMPS_H
#define CX_EMU_WORK_TIMESTAMPS_H

#include "emu/schedule/stream.h"

typedef struct cx_emu_work_timestamps cx_emu_work_timestamps;

/* The bytes of a piece's record, 0: no one watches. Then begins it at `place`, which is filled with
 * zeroes. */
size_t cx_emu_work_timestamps_bytes(void);
cx_emu_work_timestamps *cx_emu_work_timestamps_begin(void *place,
                                                     const cx_emu_work_request *request);

/* The piece is submitted to a stream, or to none. Pieces that are not placed are not told. */
void cx_emu_work_timestamps_place(cx_emu_work_timestamps *self, const cx_emu_stream *stream,
                                  const cx_emu_context *context);

/* It begins to run: at once when it was submitted, or later; again, if it waits for something. */
void cx_emu_work_timestamps_run_at_once(cx_emu_work_timestamps *self);
void cx_emu_work_timestamps_run(cx_emu_work_timestamps *self);

/* It is done, at this time: tells of it. */
void cx_emu_work_timestamps_end(cx_emu_work_timestamps *self, uint64_t now_ns);

#endif
