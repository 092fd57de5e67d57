/* Small kernels as PTX text, which the driver compiles. */
#ifndef PROBE_KERNELS_H
#define PROBE_KERNELS_H

#include "driver.h"

/* Loads one of the modules below into the current context, for the first target that the driver
 * takes. */
CUresult kernels_load(CUmodule *module, const char *body);
CUresult kernels_load_library(CUlibrary *library, const char *body);

/* Loads the module with the kernel and gives the kernel, or gives up. */
CUfunction kernel(const char *body, const char *name);

CUresult launch(CUfunction function, CUstream stream, void **parameters);

extern const char kernel_fill[];      /* "fill" stores 1 at the address that is its parameter */
extern const char kernel_bad_store[]; /* "bad_store" stores at the address 16 */
extern const char
    kernel_misaligned[]; /* "misaligned" stores four bytes one after the address of its parameter */
extern const char kernel_trap[];   /* "trapping" */
extern const char kernel_assert[]; /* "asserting" */

#endif
