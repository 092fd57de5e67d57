/*
 * Functions that this library does not serve.
 */
#ifndef CX_RUNTIME_REFUSAL_H
#define CX_RUNTIME_REFUSAL_H

#include "runtime/cudart_abi.h"
#include <stdatomic.h>

/* NOT_SUPPORTED as the thread's last error, said in the log the first time. */
cxr_error cx_cudart_refuse(const char *symbol, atomic_flag *is_said);

#endif
