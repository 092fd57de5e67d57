/*
 * Questions about the work of a stream, and marks in it. While the stream captures they would end
 * the capture, or become part of it: between the look whether it does and the question no capture
 * of ctxrt's begins. What other code captures by itself is beyond that.
 */
#ifndef CX_WORK_ASKING_H
#define CX_WORK_ASKING_H

#include "driver/driver.h"

/* False: the stream captures, or the driver does not say. True: until cx_asking_end its captures
 * wait, so the calls in between must not. */
bool cx_asking_begin(const cx_driver *driver, CUstream native);
void cx_asking_end(CUstream native);

/* cuStreamBeginCapture when nobody asks. */
cxu_result cx_asking_capture(const cx_driver *driver, CUstream native,
                             cxu_stream_capture_mode mode);

#endif
