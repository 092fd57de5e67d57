/*
 * CTXRT_LAYERS: which layers are put in front of a driver.
 */
#ifndef CX_LAYER_CHOSEN_H
#define CX_LAYER_CHOSEN_H

#include <stdbool.h>

typedef struct cx_layers_chosen {
    bool check, count, trace;
} cx_layers_chosen;

/* Messages say this of a list that cannot be read. */
#define CX_LAYERS_THERE_ARE "the layers are check, count and trace"

/* True if there is any. */
static inline bool cx_layers_any(const cx_layers_chosen *self)
{
    return self->check || self->count || self->trace;
}

/* Reads a list of names with commas between; NULL names none. False: a name is of no layer. */
bool cx_layers_parse(const char *text, cx_layers_chosen *out_chosen);

#endif
