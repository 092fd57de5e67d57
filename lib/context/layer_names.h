/* What the layers in front of a driver are told of frames and contexts (layer/names.h). */
#ifndef CX_CONTEXT_LAYER_NAMES_H
#define CX_CONTEXT_LAYER_NAMES_H

#include "layer/names.h"

/* Again it does nothing. */
void cx_context_add_layer_names(void);

#endif
