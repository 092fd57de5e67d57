/* Accesses to 128 bits at once: ld, st and atom with .b128. */
#ifndef CX_PTX_WIDE_H
#define CX_PTX_WIDE_H

#include <stdint.h>

typedef struct cx_ptx_wide {
    uint64_t low, high;
} cx_ptx_wide;

/* The mode of CX_PTX_ACCESS_128. */
typedef enum cx_ptx_wide_mode {
    CX_PTX_WIDE_LOAD,
    CX_PTX_WIDE_STORE,
    CX_PTX_WIDE_EXCHANGE,
    CX_PTX_WIDE_SWAP /* cas */
} cx_ptx_wide_mode;

/*
 * Does the access, at once for all that use these functions, and where the host has such an
 * instruction for the host too. Stores `value`; a swap does so if the memory has `expected`.
 * Returns what was there. A load only reads.
 */
cx_ptx_wide cx_ptx_wide_do(cx_ptx_wide_mode mode, void *memory, cx_ptx_wide expected,
                           cx_ptx_wide value);

#endif
