/*
 * Layers in front of a driver: each sees every call before the driver does and after. A layer knows
 * a driver only as a table.
 */
#ifndef CX_LAYER_LAYER_H
#define CX_LAYER_LAYER_H

#include "driver/table.h"

typedef struct cx_layer_call {
    cx_slot slot;
    const void *arguments; /* cx_arguments_<slot>; out-parameters are the caller's pointers */
    const void *caller;    /* the return address of the call */
    cxu_result result;     /* once the call is over */
    uint64_t *began;       /* a word of the call's own, for the layer that measures its time */
} cx_layer_call;

/* Called on the thread that makes the call, with no lock held. Calls that these functions make
 * themselves go to the driver's own table. */
typedef struct cx_layer {
    void (*call_begins)(const cx_layer_call *call);
    void (*call_ended)(const cx_layer_call *call);
} cx_layer;

enum { CX_LAYERS_MAX = 4 };

/*
 * Makes a table whose calls pass the layers and then go to `below`. The layer joins the end of the
 * chain, nearest to the driver; it stays where it is if it is in the chain already. Before a call
 * the layers are told from the first one on, after it in reverse. There is one chain in a process,
 * in front of one driver, and no thread is in a call meanwhile; a table that was made before passes
 * the new layer too.
 */
void cx_layer_put(const cx_layer *layer, const cx_driver_table *below,
                  cx_driver_table *out_table);

/* ---- handles ---- */

#define CX_HANDLE_KIND(type, tag, kind) CX_HANDLE_##kind,
#define CX_HANDLE_NO_KIND(type, tag)
typedef enum cx_handle_kind {
    CX_HANDLE_NONE,
    CX_HANDLE_TYPES(CX_HANDLE_KIND, CX_HANDLE_NO_KIND)
    CX_HANDLE_KINDS
} cx_handle_kind;

typedef struct cx_layer_handle {
    cx_handle_kind kind;
    uintptr_t value;
    const char *parameter; /* its name in symbols.def */
} cx_layer_handle;

enum { CX_LAYER_HANDLES_MAX = 11 };

/* The handles among the arguments of a call, in order. Returns their number. */
int cx_layer_handles(const cx_layer_call *call, cx_layer_handle out_handles[CX_LAYER_HANDLES_MAX]);

#endif
