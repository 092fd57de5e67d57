/*
 * Stream capture (rules G1 to G5): how captures begin, what streams and events add to them, and how
 * they end. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_CAPTURE_H
#define CX_EMU_CAPTURE_H

#include "emu/graph/graph.h"
#include "emu/schedule/capture_check.h"

/* ---- calls of capturing streams ---- */

/* Adds a node, in the stream's context. CXU_OUT_OF_MEMORY: nothing changed. */
cxu_result cx_emu_capture_add(cx_emu_stream *stream, const cx_emu_node_params *node_params);

/* Records the stream's frontier in the event. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_capture_record(const cx_emu_stream *stream, cx_emu_event *event);

/*
 * Lets a stream wait for an event if one of the two is captured (G4). The stream joins the event's
 * capture if need be. CXU_STREAM_CAPTURE_MERGE, _ISOLATION, _INVALIDATED, _UNSUPPORTED,
 * CXU_CAPTURED_EVENT, CXU_OUT_OF_MEMORY.
 */
cxu_result cx_emu_capture_wait(cx_emu_stream *stream, cx_emu_event *event);

/* ---- beginning and ending ---- */

/* Begins in a stream that does not capture. `graph`: add to it, behind `frontier`; NULL: a new
 * one. */
cxu_result cx_emu_capture_begin(cx_emu_stream *stream, cxu_stream_capture_mode mode,
                                cx_emu_graph *graph, cx_emu_nodes *frontier);

/* Returns the graph if all went well. CXU_STREAM_CAPTURE_UNMATCHED, _WRONG_THREAD: the capture goes
 * on, invalidated. CXU_STREAM_CAPTURE_INVALIDATED, _UNJOINED: it has ended without a graph. */
cxu_result cx_emu_capture_end(cx_emu_stream *stream, cx_emu_graph **out_graph);

#endif
