/*
 * The bytes of memory that have been written, for whoever wants to know of reads before. Any thread
 * may mark and look. Marking early, or too much, hides a read before a
 * write; nothing else depends on it.
 */
#ifndef CX_PTX_WRITTEN_H
#define CX_PTX_WRITTEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_ptx_written {
    atomic_bool any;         /* a byte has been written */
    atomic_bool all;         /* all count as written */
    _Atomic uint64_t bits[]; /* one for each byte */
} cx_ptx_written;

/* For memory that nothing has written. NULL: no host memory, and then all counts as written. */
cx_ptx_written *cx_ptx_written_new(size_t bytes);

void cx_ptx_written_mark(cx_ptx_written *written, size_t offset, size_t bytes);

/* Takes the marks back; nobody else marks or looks at these bytes meanwhile. */
void cx_ptx_written_clear(cx_ptx_written *written, size_t offset, size_t bytes);

/* True if all the bytes are written; if any of them is. */
bool cx_ptx_written_whole(const cx_ptx_written *written, size_t offset, size_t bytes);
bool cx_ptx_written_partly(const cx_ptx_written *written, size_t offset, size_t bytes);

#endif
