/*
 * Pushes and pops entries of a driver's stack that must succeed. A driver may report an earlier
 * failure from any call, whether it did the call's work or not; the current context tells which,
 * and the call is tried again if it did not.
 */
#ifndef CX_CONTEXT_DRIVER_STACK_ENTRY_H
#define CX_CONTEXT_DRIVER_STACK_ENTRY_H

#include "driver/driver.h"
#include <stdbool.h>

/* Pushes a popped context again. Logs a failure and returns false. */
bool cx_driver_stack_entry_restore(const cx_driver *driver, CUcontext native);

/* Pops an entry that was pushed onto `beneath`, another context; if that fails, sets `beneath`. If
 * `beneath` is not current then, logs it and returns false. */
bool cx_driver_stack_entry_remove(const cx_driver *driver, CUcontext beneath);

/* True if a call that reported a failure made `native` current all the same; `before` was current
 * before it. If both are the same context nobody can tell, and the call counts as refused. */
bool cx_driver_stack_entry_is_made(const cx_driver *driver, CUcontext native, CUcontext before);

/* Pops an entry and returns it. On failure nothing has changed. */
ctxrt_status cx_driver_stack_entry_take(const cx_driver *driver, CUcontext *out_native);

#endif
