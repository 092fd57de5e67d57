/*
 * The layer that counts: calls and their times, contexts and memory of each device, failures, and
 * what was not supported, in a file for `ctxrt run --report`. It is nearest to the driver. Counting
 * takes no lock.
 */
#ifndef CX_LAYER_COUNT_COUNT_H
#define CX_LAYER_COUNT_COUNT_H

#include "layer/layer.h"

/* Puts the layer in front of a table, for the rest of the process; again only if the driver is the
 * same one. Its file comes into the folder CTXRT_REPORT_FOLDER. False with errno: there can be no
 * file, and nothing is counted. */
bool cx_count_put(const cx_driver_table *below, cx_driver_table *out_table);

/* A program called a driver symbol that is no row of symbols.def, and got NOT_SUPPORTED. */
void cx_count_unserved(const char *symbol);

#endif
