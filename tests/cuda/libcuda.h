/* The libcuda.so.1 of this process, the one that ctxrt uses as well, as the table that tests/guest
 * takes. */
#ifndef CX_TEST_LIBCUDA_H
#define CX_TEST_LIBCUDA_H

#include "driver/table.h"

/* Loads it. Why it cannot be used, or NULL. */
const char *libcuda_open(void);

/* Of the calls that libcuda.c lists; what else libcuda lacks is NULL. */
const cx_driver_table *libcuda_table(void);

#endif
