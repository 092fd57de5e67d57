/*
 * A library that knows nothing of ctxrt and shares its threads: it does to the driver's stack,
 * through the driver alone, what real libraries do, politely or not.
 */
#ifndef CX_TEST_GUEST_H
#define CX_TEST_GUEST_H

#include "driver/table.h"

typedef enum guest_act {
    GUEST_SETS_ANOTHER,      /* cudaSetDevice: SetCurrent of its own device's primary */
    GUEST_SETS_THE_SAME,     /* SetCurrent of what is current */
    GUEST_SETS_NONE,         /* SetCurrent(NULL) */
    GUEST_LEAKS_THE_SAME,    /* a push of what is current, without the pop */
    GUEST_LEAKS_ANOTHER,     /* a push of its own context, without the pop */
    GUEST_LEAKS_THREE,
    GUEST_POPS_ONE,          /* a pop too many */
    GUEST_POPS_TWO,
    GUEST_POPS_ALL,
    GUEST_REPLACES_TWO,      /* pops two, pushes its own */
    GUEST_RESETS_CURRENT,    /* reset of the primary that is current */
    GUEST_DESTROYS_CURRENT,  /* cuCtxDestroy of what is current */
    GUEST_DESTROYS_BENEATH,  /* cuCtxDestroy of what is one below */
    GUEST_ACTS
} guest_act;

typedef struct guest {
    const cx_driver_table *driver;
    CUdevice device;   /* of the primary it has retained */
    CUcontext context;
} guest;

/* Retains the primary of its device, as cudaSetDevice does the first time. */
cxu_result guest_open(guest *self, const cx_driver_table *driver, CUdevice device);
cxu_result guest_close(guest *self);

/* What the guest does, in a few words: "leaks a push of another context". */
const char *guest_act_text(guest_act act);

/* Does it. CXU_INVALID_VALUE: there is nothing that it could be done to. */
cxu_result guest_do(const guest *self, guest_act act);

#endif
