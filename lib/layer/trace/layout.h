/*
 * The contents of a call's record: its arguments, the values that came back, the text that it
 * names a thing with, and numbers from structs that it points to. For the layer and for `ctxrt
 * trace`, which are built from the same symbols.def.
 */
#ifndef CX_LAYER_TRACE_LAYOUT_H
#define CX_LAYER_TRACE_LAYOUT_H

#include "layer/arguments.h"

#include <stdint.h>

enum { CX_TRACE_PARAMETERS = 11, CX_TRACE_TEXT = 64, CX_TRACE_NUMBERS = 8 };

typedef struct cx_trace_parameter {
    const char *type, *name; /* as in symbols.def */
    uint16_t offset, bytes;  /* in the struct of the arguments */
    uint16_t back_bytes;     /* above 0: what it points to comes back */
    uint16_t back;           /* offset of that in the record */
} cx_trace_parameter;

typedef struct cx_trace_layout {
    cx_trace_parameter parameters[CX_TRACE_PARAMETERS];
    uint16_t count;
    uint16_t argument_bytes;
    uint16_t text;           /* offset in the record; 0: there is none */
    uint16_t text_parameter; /* which one */
    uint16_t numbers;        /* offset in the record; 0: there are none */
    uint16_t bytes;          /* of a record */
} cx_trace_layout;

/* The places of the numbers. */
enum {
    CX_TRACE_GRID = 0,  /* of a launch: x, y, z */
    CX_TRACE_BLOCK = 3, /* x, y, z */
    CX_TRACE_SHARED = 6,
    CX_TRACE_STREAM = 7,
    CX_TRACE_WIDTH = 0, /* of a copy: bytes, rows, slices */
    CX_TRACE_HEIGHT = 1,
    CX_TRACE_DEPTH = 2
};

extern cx_trace_layout cx_trace_layouts[CX_SLOT_COUNT];

/* Fills them in. Not on two threads at once. */
void cx_trace_layouts_make(void);

/* Writes the numbers of a call whose arguments are valid. */
void cx_trace_numbers(cx_slot slot, const void *arguments, uint64_t out[CX_TRACE_NUMBERS]);

#endif
