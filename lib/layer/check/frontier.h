/*
 * The frontier of a capturing stream: the nodes that its next one depends on, as the driver tells
 * them. They say which streams are joined where a program has set dependencies itself.
 */
#ifndef CX_LAYER_CHECK_FRONTIER_H
#define CX_LAYER_CHECK_FRONTIER_H

#include "layer/check/branch.h"

/* Before the end of the stream's capture, with the lock "check", which is open while the driver is
 * asked: notes the branches that are not joined, if the program has edited the capture's graph. The
 * clocks stay in force where the driver has no answer. */
void cx_frontier_ask(cx_check_call *call, CUstream stream);

#endif
