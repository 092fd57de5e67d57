/*
 * The stand-in libcuda.so.1: the embedded driver behind the driver's binary interface.
 *
 * It is built twice from the same objects, as the export sets cuda-12 and cuda-13: the second has
 * cuCtxGetDevice_v2 and its like, which programs of the first would call with other arguments. What
 * nobody serves is exported as well, says so once in the log, and returns CUDA_ERROR_NOT_SUPPORTED.
 */
#ifndef CX_SHIM_SHIM_H
#define CX_SHIM_SHIM_H

#include "driver/table.h"

#define CX_SHIM_EXPORT __attribute__((visibility("default")))

/* The CUDA version of this export set: what cuDriverGetVersion says, and the newest export. */
extern const int cx_shim_version;

/* The driver behind the exports. Its cuInit reads the configuration from the environment. */
const cx_driver_table *cx_shim_driver(void);

#endif
