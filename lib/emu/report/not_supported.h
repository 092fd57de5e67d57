/* Refuses, or ignores, a part of the driver's interface that the embedded driver does not have. */
#ifndef CX_EMU_NOT_SUPPORTED_H
#define CX_EMU_NOT_SUPPORTED_H

#include "driver/cuda_abi.h"

/* CXU_NOT_SUPPORTED, with a line in both logs the first time a call is named. Needs no lock. */
cxu_result cx_emu_not_supported(const char *call, const char *what);

/* Says once at level info that a hint, named by a literal, is accepted and has no effect. */
void cx_emu_has_no_effect(const char *hint);

#endif
