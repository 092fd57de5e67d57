/*
 * Translation of ctxrt_status to InfiniRT's statuses.
 */
#ifndef CX_INFINIRT_STATUS_H
#define CX_INFINIRT_STATUS_H

#include <ctxrt/status.h>
#include <infinirt.h>

/* For the calling thread's last call: looks CTXRT_ERROR_DRIVER up in the last error. */
infiniStatus_t cx_infini_status(ctxrt_status status);

#endif
