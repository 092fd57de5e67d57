/*
 * Calls that wait: the region has the one that each thread is in, so that a report of a program
 * that hangs says who waits for what. Every function but cx_check_waits needs the lock "check".
 */
#ifndef CX_LAYER_CHECK_WAIT_H
#define CX_LAYER_CHECK_WAIT_H

#include "layer/check/call.h"

/* True if the call may wait for work of a device. Its place is known before it. */
bool cx_check_waits(cx_slot slot);

/* Before and after the driver, for any call. */
void cx_check_wait_begins(cx_check_call *call);
void cx_check_wait_ended(const cx_check_call *call);

/* After the driver, for any call: one that gives work to a stream is the latest of the stream, and
 * of its context. */
void cx_check_note_work(cx_check_call *call);

#endif
