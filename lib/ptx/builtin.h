/*
 * Functions that every device has: a module declares them and defines none of them.
 */
#ifndef CX_PTX_BUILTIN_H
#define CX_PTX_BUILTIN_H

#include "ptx/grid.h"

/* CX_PTX_NO_BUILTIN: the name is none of theirs. */
cx_ptx_builtin cx_ptx_builtin_find(const char *name);

/*
 * Calls one; `frame` has its results and parameters, as the function's declaration places them.
 * False: the thread has failed.
 */
bool cx_ptx_builtin_call(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                         const cx_ptx_function *function, unsigned char *frame);

/*
 * Formats text as vprintf does, with the arguments in memory that both addresses reach, and gives
 * it to the launcher. Returns the number of conversions, -1: no format. False: the thread has
 * failed.
 */
bool cx_ptx_print(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread, uint64_t format,
                  uint64_t arguments, int32_t *out_count);

/* Copies a string of at most `most` bytes from memory of the kernel, and ends it. False: the thread
 * has failed. */
bool cx_ptx_read_string(cx_ptx_grid *grid, cx_ptx_block *block, cx_ptx_thread *thread,
                        uint64_t address, char *out, size_t most);

#endif
