/* How much room a function and all that it calls need. */
#ifndef CX_PTX_STACK_H
#define CX_PTX_STACK_H

#include "ptx/parser.h"

/* For every function of the module. A function that reaches itself gets room for some calls. */
bool cx_ptx_measure_stacks(cx_ptx_parser *self);

#endif
