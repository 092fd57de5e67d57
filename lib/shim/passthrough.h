/*
 * A driver table whose calls go to the library behind (real_driver.h).
 */
#ifndef CX_SHIM_PASSTHROUGH_H
#define CX_SHIM_PASSTHROUGH_H

#include "driver/table.h"

/* Fills a table with the library's own functions. A call that has several symbols goes to the one
 * that the program used (driver/entry.h). One that the library lacks returns NOT_SUPPORTED, and the
 * log names it once. */
void cx_passthrough_fill(cx_driver_table *out_table);

/* Logs that the library does not have a symbol. */
cxu_result cx_passthrough_absent(const char *symbol);

#endif
