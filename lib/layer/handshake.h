/*
 * The stand-in's answer to cuGetProcAddress for CX_HANDSHAKE_NAME, which is the name of no driver
 * call: other drivers do not find it.
 */
#ifndef CX_LAYER_HANDSHAKE_H
#define CX_LAYER_HANDSHAKE_H

#include "driver/entry.h"
#include "layer/names.h"

#include <stddef.h>

#define CX_HANDSHAKE_NAME "ctxrtStandIn"

typedef struct cx_handshake {
    size_t size; /* of this struct; a later one is longer */
    /* For a stand-in that has this one behind: this one plays the GPUs, without layers, whatever
     * the environment says. To be called before any call of the driver. */
    void (*play)(void);
    /* For a runtime above: true if the layer check is in front of this one's driver. Its findings
     * name what the list knows. */
    bool (*checks_with)(const cx_layer_names_list *names);
    /* For a runtime above: true if the layer trace is in front of this one's driver. */
    bool (*traces)(void);
    /* The same of the layer count. */
    bool (*counts)(void);
    /* For a library above that makes calls of the driver for the program: the calling thread's
     * calls come from `origin`, which stays until the next call of this; NULL: from the program. */
    void (*called_by)(const cx_entry_origin *origin);
    /* For the same: cuCtxGetCurrent, which no layer sees. Only once cuInit has succeeded. */
    cxu_result (*get_current)(CUcontext *out_context);
    /* For a runtime above: cx_driver.explain of this one's driver; NULL: it cannot explain. */
    bool (*(*explains)(void))(cxu_result result, char *text, size_t size);
} cx_handshake;

/* The handshake of a libcuda that dlopen has opened; NULL: it is no stand-in, or of another
 * version. */
const cx_handshake *cx_handshake_with(void *library);

#endif
