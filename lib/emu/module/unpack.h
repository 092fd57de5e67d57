/* Decompresses code of fat binaries, by the libraries that ctxrt was built with. Takes no lock. */
#ifndef CX_EMU_UNPACK_H
#define CX_EMU_UNPACK_H

#include "driver/cuda_abi.h"
#include <stdbool.h>

typedef enum cx_emu_packing {
    CX_EMU_PACKING_LZ4, /* one block: older compilers, and the fast way of newer ones */
    CX_EMU_PACKING_ZSTD
} cx_emu_packing;

typedef struct cx_emu_packed {
    cx_emu_packing packing;
    const void *bytes;
    size_t size_bytes;
    size_t unpacked_bytes; /* exactly */
} cx_emu_packed;

const char *cx_emu_packing_name(cx_emu_packing packing);

/* True if ctxrt was built with the library of this packing. */
bool cx_emu_unpacks(cx_emu_packing packing);

/* Makes a zero-terminated text, which the caller frees. CXU_NOT_SUPPORTED: the library is missing;
 * CXU_INVALID_IMAGE: malformed; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_unpack(const cx_emu_packed *packed, char **out_unpacked);

#endif
