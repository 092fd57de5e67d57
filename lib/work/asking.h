/*
 * Questions about the work of a stream, and marks in it. While the stream captures they would end
 * the capture, or become part of it: between the look whether it does and the question no capture
 * of ctxrt's begins, and no stream joins one. What other code captures by itself nobody can keep
 * from that: a mark is looked after, and a question may meet such a capture.
 */
#ifndef CX_WORK_ASKING_H
#define CX_WORK_ASKING_H

#include "driver/driver.h"

/* False: the stream captures, or the driver does not say. True: until cx_asking_end its captures
 * wait, so the calls in between must not. */
bool cx_asking_begin(const cx_driver *driver, CUstream native);
void cx_asking_end(CUstream native);

/* Records an event behind the stream's work. False: it captures by now, and the event may be part
 * of that, or the driver refused: the event is good for nothing but a new record, once the stream
 * no longer captures. */
bool cx_asking_mark(const cx_driver *driver, CUstream native, CUevent mark);

/* cuStreamBeginCapture when nobody asks. */
cxu_result cx_asking_capture(const cx_driver *driver, CUstream native,
                             cxu_stream_capture_mode mode);

/* cuStreamWaitEvent when nobody asks: with an event of a capture the stream joins it. */
cxu_result cx_asking_join(const cx_driver *driver, CUstream native, CUevent event);

#endif
