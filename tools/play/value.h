/*
 * The values of a scenario's names while it is played.
 */
#ifndef CX_PLAY_VALUE_H
#define CX_PLAY_VALUE_H

#include "play/kind.h"

typedef struct cx_value {
    const char *name;
    cx_kind kind;
    cx_cell cell;
    struct cx_value *older;
} cx_value;

typedef struct cx_values {
    cx_value *things; /* the youngest first */
    cx_value *seen;   /* @name */
} cx_values;

/* Gives a name a value, in place of an older one. Names are borrowed. False: out of memory. */
bool cx_value_bind(cx_values *values, cx_kind kind, const char *name, cx_cell cell);

/* The value of a name, built-in ones too: none, legacy, per_thread. */
bool cx_value_find(const cx_values *values, cx_kind kind, const char *name, cx_cell *out_cell);

/* The latest name of an object; "none" for no object, NULL if it has no name. */
const char *cx_value_name(const cx_values *values, cx_kind kind, cx_cell cell);

/* @name: binds a new one; tells whether an old one has the same value. */
bool cx_value_see(cx_values *values, const char *name, cx_cell cell);
bool cx_value_seen(const cx_values *values, const char *name, cx_cell *out_cell);

#endif
