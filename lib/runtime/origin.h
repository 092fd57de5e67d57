/*
 * Tells the layers of a stand-in which call of the Runtime API makes the calls of the driver, so
 * that findings and traces name the program's own call and line. Other drivers are told nothing.
 */
#ifndef CX_RUNTIME_ORIGIN_H
#define CX_RUNTIME_ORIGIN_H

#include "driver/driver.h"
#include "driver/entry.h"
#include "runtime/cudart_abi.h"

/* Before cuInit of the driver, which cx_driver_open has opened. */
void cx_cudart_origin_open(const cx_driver *driver);

/* The calling thread's calls of the driver come from this one on; NULL: from the program. */
void cx_cudart_origin_set(const cx_entry_origin *origin);

/* cuCtxGetCurrent: in a stand-in no layer sees it, since the program did not ask. */
cxr_error cx_cudart_get_current(CUcontext *out_context);

#endif
