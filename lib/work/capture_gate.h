/*
 * Questions about the work of a stream, and marks in it. While the stream captures they would end
 * the capture, or become part of it: between the look whether it does and the question no capture
 * of ctxrt's begins, and no stream joins one. What other code captures by itself nobody can keep
 * from that: a mark is looked after, and a question may meet such a capture.
 */
#ifndef CX_WORK_CAPTURE_GATE_H
#define CX_WORK_CAPTURE_GATE_H

#include "driver/driver.h"

/* False: the stream captures, or the driver does not say. True: until cx_capture_gate_leave its
 * captures wait, so the calls in between must not. */
bool cx_capture_gate_enter(const cx_driver *driver, CUstream native);
void cx_capture_gate_leave(CUstream native);

/* Records an event behind the stream's work. False: it captures by now, and the event may be part
 * of that, or the driver refused: the event is good for nothing but a new record, once the stream
 * no longer captures. */
bool cx_capture_gate_record(const cx_driver *driver, CUstream native, CUevent mark);

/* cuStreamBeginCapture when nobody asks. */
cxu_result cx_capture_gate_begin_capture(const cx_driver *driver, CUstream native,
                                         cxu_stream_capture_mode mode);

/* cuStreamWaitEvent when nobody asks: with an event of a capture the stream joins it. */
cxu_result cx_capture_gate_wait_event(const cx_driver *driver, CUstream native, CUevent event);

#endif
