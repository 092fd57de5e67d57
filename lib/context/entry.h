/*
 * Entries of a driver's stack, put back and taken off where there is no way but forward. A driver
 * may report an earlier failure from any call, whether it did what was asked or not; what is
 * current tells which, and what was not done is tried again.
 */
#ifndef CX_CONTEXT_ENTRY_H
#define CX_CONTEXT_ENTRY_H

#include "driver/driver.h"
#include <stdbool.h>

/* Pushes what was popped. False, and logged, if it cannot be. */
bool cx_entry_restore(const cx_driver *driver, CUcontext native);

/* Pops what was pushed onto `beneath`, another context; if all else fails, sets that. False, and
 * logged, if `beneath` is not current then. */
bool cx_entry_remove(const cx_driver *driver, CUcontext beneath);

/* Whether a call that reported a failure made `native` current all the same; `before` was. Where
 * the two are the same context nobody can tell, and the call counts as refused. */
bool cx_entry_is_made(const cx_driver *driver, CUcontext native, CUcontext before);

/* Pops, and says what. On failure nothing has changed. */
ctxrt_status cx_entry_take(const cx_driver *driver, CUcontext *out_native);

#endif
