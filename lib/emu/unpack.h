/* Compressed code of fat binaries, by the libraries that ctxrt was built with. Takes no lock. */
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

/* Whether ctxrt was built with its library. */
bool cx_emu_unpacks(cx_emu_packing packing);

/* The caller frees what comes out, which has a zero behind it. CXU_NOT_SUPPORTED: the library is
 * not there; CXU_INVALID_IMAGE: these bytes are not so packed; CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_unpack(const cx_emu_packed *packed, char **out_unpacked);

#endif
