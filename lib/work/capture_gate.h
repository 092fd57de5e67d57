/*
 * The capture gate: queries of a stream's work, and events recorded in it, pass it one by one or
 * together; captures close it.
 * While the stream captures, a query would end the capture, and a recorded event would become part
 * of it. So a thread enters the gate, checks that the stream does not capture, and asks; until it
 * leaves, no capture of ctxrt's begins in the stream, and the stream joins none. Captures of other
 * code do not pass the gate: an event is checked again after its record, but a query may meet such
 * a capture.
 */
#ifndef CX_WORK_CAPTURE_GATE_H
#define CX_WORK_CAPTURE_GATE_H

#include "driver/driver.h"

/* False: the stream captures, or the driver does not say; the gate is left. True: captures of the
 * stream wait until cx_capture_gate_leave, so the calls in between must not wait. */
bool cx_capture_gate_enter(const cx_driver *driver, CUstream native);
void cx_capture_gate_leave(CUstream native);

/* Records an event behind the stream's work. False: the driver refused, or the stream captures by
 * now and the event may be part of the capture. Then the event is useless until it is recorded
 * again, once the stream no longer captures. */
bool cx_capture_gate_record(const cx_driver *driver, CUstream native, CUevent event);

/* cuStreamBeginCapture with the gate closed. */
cxu_result cx_capture_gate_begin_capture(const cx_driver *driver, CUstream native,
                                         cxu_stream_capture_mode mode);

/* cuStreamWaitEvent with the gate closed: if the event is of a capture, the stream joins that. */
cxu_result cx_capture_gate_wait_event(const cx_driver *driver, CUstream native, CUevent event);

#endif
