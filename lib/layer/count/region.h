/*
 * The file of this process (format.h).
 */
#ifndef CX_LAYER_COUNT_REGION_H
#define CX_LAYER_COUNT_REGION_H

#include "layer/count/format.h"

#include <stdbool.h>

/* Makes it, and registers what a fork needs. False with errno: it cannot be made. */
bool cx_count_open(void);

/* The region of this process; NULL: there is none. In the child of a fork the first call makes one
 * of the child's own. */
cx_count_region *cx_count_region_here(void);

#endif
