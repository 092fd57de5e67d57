/* What the layers in front of a driver are told of frames and contexts (layer/names.h). */
#ifndef CX_CONTEXT_LAYER_NAMES_H
#define CX_CONTEXT_LAYER_NAMES_H

#include "layer/names.h"

/* Again it does nothing. */
void cx_context_add_layer_names(void);

/* Sets the hint for the next calls of the calling thread; returns the one before, to be set again
 * behind them. Threads without a record give none. */
cx_layer_hint cx_context_hint(cx_layer_hint hint);

#endif
