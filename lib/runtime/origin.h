/*
 * Tells the layers of a stand-in which call of the Runtime API makes the calls of the driver, so
 * that findings and traces name the program's own call and line. Other drivers are told nothing.
 */
#ifndef CX_RUNTIME_ORIGIN_H
#define CX_RUNTIME_ORIGIN_H

#include "runtime/thread.h"

/* Before the first call of the driver in `library`, which dlopen has opened. */
void cx_cudart_origin_open(void *library);

/* The calling thread's calls of the driver come from this call on; NULL: from the program. */
void cx_cudart_origin_set(const cx_cudart_call *call);

#endif
