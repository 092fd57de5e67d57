/*
 * Makes another context current for the length of one call of ctxrt's own, by the driver alone,
 * below the notice of frames.
 */
#ifndef CX_CONTEXT_EXCURSION_H
#define CX_CONTEXT_EXCURSION_H

#include "context/context.h"

typedef struct cx_excursion {
    const cx_driver *driver;
    CUcontext native; /* what was pushed; NULL: it was current already */
    CUcontext home;   /* what was current */
} cx_excursion;

/* Pushes the context where it is not current. On failure what was current still is, and an end does
 * nothing. */
ctxrt_status cx_excursion_begin(const cx_context *context, cx_excursion *out_excursion);

/*
 * What was current at the beginning is current again. Never fails the call that is being made, and
 * does not touch the last error: a pop that fails is tried again, then the context is set; what
 * even that does not restore is logged, and found by the next call that asks the driver.
 */
void cx_excursion_end(cx_excursion *excursion);

#endif
