/*
 * Frames and contexts, named for layers.
 */
#ifndef CX_CONTEXT_LAYER_NAMES_H
#define CX_CONTEXT_LAYER_NAMES_H

/* Again it does nothing. */
void cx_context_add_layer_names(void);

#endif
