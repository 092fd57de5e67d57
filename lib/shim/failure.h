/*
 * Logs calls that fail, for programs that do not look at results.
 */
#ifndef CX_SHIM_FAILURE_H
#define CX_SHIM_FAILURE_H

#include "driver/table.h"
#include <stdbool.h>

/* True (the default): failures are warnings. To be set before any call. */
void cx_shim_tell_failures(bool tell);

/* A call returned an error. Warns once for each call and result, and once for a result that sticks;
 * not of calls that only ask, nor of results that programs provoke on purpose. */
__attribute__((cold)) void cx_shim_failed(cx_slot slot, cxu_result result);

#endif
