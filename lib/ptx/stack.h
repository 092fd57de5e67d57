/* Measures the stack that a function and its callees need. */
#ifndef CX_PTX_STACK_H
#define CX_PTX_STACK_H

#include "ptx/parser.h"

/* Measures every function of the module. A recursive function gets room for some calls. */
bool cx_ptx_measure_stacks(cx_ptx_parser *self);

#endif
