/*
 * Streams, named for layers.
 */
#ifndef CX_WORK_LAYER_NAMES_H
#define CX_WORK_LAYER_NAMES_H

/* Again it does nothing. */
void cx_work_add_layer_names(void);

#endif
