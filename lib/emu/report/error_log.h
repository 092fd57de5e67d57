/*
 * The driver's log of errors, which programs read with cuLogsDumpToMemory and its like: what the
 * embedded driver does not support, and the faults of kernels. The newest 100 entries stay.
 *
 * Guarded by the innermost lock, "emu.error_log". The user's callbacks run while it is held, as
 * callbacks of the driver (T10): they may call nothing of it.
 */
#ifndef CX_EMU_ERROR_LOG_H
#define CX_EMU_ERROR_LOG_H

#include "driver/cuda_abi.h"

__attribute__((format(printf, 2, 3))) void cx_emu_error_log(cxu_log_level level,
                                                            const char *format, ...);

#endif
