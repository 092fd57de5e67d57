/*
 * What a ctxrt_status is called in InfiniRT.
 */
#ifndef CX_INFINIRT_STATUS_H
#define CX_INFINIRT_STATUS_H

#include <ctxrt/status.h>
#include <infinirt.h>

/* Of the calling thread's last call: CTXRT_ERROR_DRIVER is looked up in its last error. */
infiniStatus_t cx_infini_status(ctxrt_status status);

#endif
