/*
 * Peer uses: work in streams of other contexts that uses memory of a context. A driver that resets
 * or destroys a context waits for that context's own streams only. So ctxrt records an event behind
 * each such use that it knows: copies and fills of its own, and ctxrt_memory_record_stream. A reset
 * waits for the events before the driver destroys the memory, and so does the end of a context.
 *
 * One event for each stream and each context whose memory it uses: a later use replaces an earlier
 * one. The memory's context does not know which of its blocks are used: a reset ends them all.
 */
#ifndef CX_MEMORY_PEER_USE_H
#define CX_MEMORY_PEER_USE_H

#include "work/stream.h"

/* Records an event behind the stream's present work, which uses memory of `owner`, another context.
 * The caller has pinned both contexts, and keeps captures from beginning in the stream
 * (work/capture_gate.h). False: no event could be recorded, and the caller waits for the stream's
 * work instead. Keeps the last error. */
bool cx_peer_use_record(const cx_context *owner, const cx_stream_target *target);

/* Waits until no work uses memory of the context, for a thread that resets it: no other thread has
 * pinned the context. */
void cx_peer_uses_await(const cx_context *owner);

/* Before a context ends: waits for the uses of its memory, and for those by its streams. */
void cx_peer_uses_finish(const cx_context *context);

/* After a reset of the context, or its loss: its streams use nothing any more, and their events are
 * gone. */
void cx_peer_uses_forget(const cx_context *context);

#endif
