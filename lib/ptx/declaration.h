/*
 * Declarations of variables, and the values that variables begin with.
 */
#ifndef CX_PTX_DECLARATION_H
#define CX_PTX_DECLARATION_H

#include "ptx/parser.h"

#define CX_PTX_DIMENSIONS_MAX 8
#define CX_PTX_VARIABLE_BYTES_MAX ((uint64_t)1 << 36)

typedef struct cx_ptx_declaration {
    uint64_t align, element_bytes, count;
    uint64_t sizes[CX_PTX_DIMENSIONS_MAX]; /* in brackets; 0: left out */
    int dimensions;
    cx_ptx_type type;
    bool open; /* a size in brackets is left out */
    bool managed;
    cx_ptx_token name;
} cx_ptx_declaration;

/* The parts of a declaration, where the parser is; false: it is wrong, or out of memory. */
bool cx_ptx_take_attributes(cx_ptx_parser *self, cx_ptx_declaration *out);
bool cx_ptx_take_align(cx_ptx_parser *self, cx_ptx_declaration *out);
bool cx_ptx_take_type(cx_ptx_parser *self, cx_ptx_declaration *out);
bool cx_ptx_take_sizes(cx_ptx_parser *self, cx_ptx_declaration *out);

uint64_t cx_ptx_declared_align(const cx_ptx_declaration *what);
uint64_t cx_ptx_declared_bytes(const cx_ptx_declaration *what);

/* Places the variable in a space that has *inout_bytes so far. */
bool cx_ptx_place_declared(cx_ptx_parser *self, const cx_ptx_declaration *what, uint64_t limit,
                           size_t *inout_bytes, uint64_t *out_offset);

/* ---- initial values ---- */

typedef struct cx_ptx_content {
    unsigned char *bytes;
    size_t count, capacity; /* bytes */
    size_t relocations;     /* of earlier variables: later ones are relative to the variable */
} cx_ptx_content;

/* Reads the values behind the '='. The caller frees the bytes, whatever comes back. */
bool cx_ptx_take_content(cx_ptx_parser *self, const cx_ptx_declaration *what,
                         cx_ptx_content *out);

/* Gives the bytes to the module, as those of the variable at `offset` of the part. */
bool cx_ptx_keep_content(cx_ptx_parser *self, cx_ptx_content *taken, size_t offset,
                         cx_ptx_part part);

#endif
