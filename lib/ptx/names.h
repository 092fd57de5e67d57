/*
 * The names in a text of PTX, in nested scopes: the innermost is found.
 */
#ifndef CX_PTX_NAMES_H
#define CX_PTX_NAMES_H

#include "ptx/type.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum cx_ptx_name_kind {
    CX_PTX_NAME_REGISTER,
    CX_PTX_NAME_REGISTERS, /* the prefix of many registers: %r<10> */
    CX_PTX_NAME_VARIABLE,
    CX_PTX_NAME_REFERENCE, /* to a texture or surface: index is one of the module's */
    CX_PTX_NAME_FUNCTION,
    CX_PTX_NAME_LABEL,
    CX_PTX_NAME_TARGETS,
    CX_PTX_NAME_PROTOTYPE /* of functions that are called by address: index is one of them */
} cx_ptx_name_kind;

/* Address spaces. */
typedef enum cx_ptx_space {
    CX_PTX_GENERIC,
    CX_PTX_GLOBAL,
    CX_PTX_SHARED,
    CX_PTX_CLUSTER, /* shared memory of all blocks of the cluster */
    CX_PTX_LOCAL,
    CX_PTX_PARAMETER, /* of a kernel */
    CX_PTX_DYNAMIC,   /* dynamic shared memory of the launch */
    CX_PTX_CONSTANT,  /* a part of global memory, only while parsing */
    CX_PTX_MANAGED,   /* another one */
    CX_PTX_WORKSPACE  /* of a cooperative grid, reached by generic addresses only */
} cx_ptx_space;

typedef struct cx_ptx_name {
    const char *text; /* in the text that is parsed */
    uint32_t length;
    cx_ptx_name_kind kind;
    cx_ptx_type type;
    cx_ptx_space space;
    bool outside;   /* a variable outside functions */
    uint32_t index; /* register, function, place in the code, table of targets, shared variable */
    uint32_t count; /* of registers */
    uint32_t components; /* of a vector register; 0: it is none */
    uint64_t offset, bytes; /* of variables */
    uint64_t element_bytes; /* of an array with one dimension; 0: it cannot be indexed */
    bool reserved;  /* a variable that .extern declares, and nothing has defined yet */
    uint32_t next;  /* in its bucket, from 1 */
    uint32_t hash;
} cx_ptx_name;

typedef struct cx_ptx_names {
    cx_ptx_name *all;
    size_t count, capacity;
    uint32_t *buckets;
    size_t bucket_count;
} cx_ptx_names;

void cx_ptx_names_free(cx_ptx_names *self);

/* False: out of memory. */
bool cx_ptx_names_add(cx_ptx_names *self, const cx_ptx_name *name);

/* Finds the innermost of that name that was added from `from` on, or NULL; valid until the next
 * add. */
cx_ptx_name *cx_ptx_names_find(const cx_ptx_names *self, const char *text, size_t length,
                               size_t from);

/* Forgets all names but the first `count`. */
void cx_ptx_names_cut(cx_ptx_names *self, size_t count);

#endif
