/* Moves: extensions, parts and pairs of registers become operations of ops.def. */
#ifndef CX_PTX_MOVES_H
#define CX_PTX_MOVES_H

#include "ptx/module.h"

/* Replaces the moves of a module whose registers have their places by operations that do the same
 * for these places, where there are some. */
void cx_ptx_moves_find(cx_ptx_module *module);

#endif
