/*
 * Two libraries that know nothing of ctxrt and share its threads. They use the Driver API alone, on
 * whichever libcuda the process has.
 */
#ifndef GUEST_H
#define GUEST_H

#ifdef HAVE_CUDA_H
#include <cuda.h>
#else
#include "cuda_min.h"
#endif

/** Fills and reads back some memory of a device, and leaves the caller's stack of contexts as it
 * was. */
CUresult guest_polite(int device);

/** The rude one keeps a primary context, and leaves the caller's stack changed. */
CUresult guest_rude_open(int device);
CUresult guest_rude_set(
    void); /**< makes its context current in place of the caller's, as cudaSetDevice does */
CUresult guest_rude_push(void); /**< pushes it and forgets the pop */
CUresult guest_rude_pop(void);  /**< pops an entry that is not its own */
CUresult guest_rude_close(void);

#endif
