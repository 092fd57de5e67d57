/* The number of registers that a GPU needs for a function: PTX has one for every value. */
#ifndef CX_PTX_LIVENESS_H
#define CX_PTX_LIVENESS_H

#include "ptx/flow.h"

/* Counts the registers of a function that are live at once: in `live` and `live_at_calls`. False:
 * out of memory. */
bool cx_ptx_liveness_find(const cx_ptx_graph *graph, cx_ptx_function *function);

/* A function that the assembler does not know may use so many, besides those that are reserved. */
#define CX_PTX_REGISTERS_OF_CALLEE 18

/* The count without callees. */
uint32_t cx_ptx_live_registers(const cx_ptx_function *function);

/* The registers of a kernel with its callees, with those that hardware reserves, within the limits
 * of the kernel. */
size_t cx_ptx_registers_of(const cx_ptx_function *kernel);

#endif
