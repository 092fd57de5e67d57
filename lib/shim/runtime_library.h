/*
 * Programs of the CUDA Runtime API: they are told why they do not run on the stand-in.
 */
#ifndef CX_SHIM_RUNTIME_LIBRARY_H
#define CX_SHIM_RUNTIME_LIBRARY_H

#include <stdbool.h>

/* Warns in the log, once in a process, that libcudart does not work with this driver. `caller`: an
 * address of the code that asks for an export table; a file other than libcudart has it linked in,
 * and the warning names that. NULL: none asks. */
void cx_shim_warn_of_runtime_library(const void *caller);

/* Warns if libcudart is among the libraries of this process. One that is linked into the program
 * is not seen: it shows when it calls cuGetExportTable. */
void cx_shim_look_for_runtime_library(void);

/* Whether code at `address` is of NVRTC, which asks for an export table, and does without it. */
bool cx_shim_is_compiler(const void *address);

#endif
