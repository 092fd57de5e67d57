/*
 * The heap of a context's kernels (malloc and free on a device), made with the first module that
 * uses it; as large as CU_LIMIT_MALLOC_HEAP_SIZE said then. All functions: lock held.
 */
#ifndef CX_EMU_HEAP_H
#define CX_EMU_HEAP_H

#include "emu/context/context.h"

typedef struct cx_emu_heap cx_emu_heap;

/* Makes the context's heap if it has none. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_heap_open(cx_emu_context *context);
void cx_emu_heap_close(cx_emu_context *context);

/* Its bytes, from *out_begin to before *out_end; both are 0 if the context has none. */
void cx_emu_heap_range(const cx_emu_context *context, uint64_t *out_begin, uint64_t *out_end);

/* The address of a block, 16-byte aligned; 0: none is left, or `bytes` is 0. */
uint64_t cx_emu_heap_take(cx_emu_context *context, uint64_t bytes);

/* False: no block begins there. */
bool cx_emu_heap_give(cx_emu_context *context, uint64_t address);

/* Who has taken the block there, as text: it is told if the block is still taken when the heap is
 * closed. */
void cx_emu_heap_note(cx_emu_context *context, uint64_t address, const char *by);

#endif
