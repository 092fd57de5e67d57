#include "emu/unpack.h"

#include "config.h"
#include <limits.h>
#include <stdlib.h>

#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

typedef bool unpacker(const cx_emu_packed *packed, char *unpacked);

#ifdef HAVE_LZ4
static bool unpack_lz4(const cx_emu_packed *packed, char *unpacked)
{
    if (packed->size_bytes > INT_MAX || packed->unpacked_bytes > INT_MAX)
        return false;
    int bytes = LZ4_decompress_safe(packed->bytes, unpacked, (int)packed->size_bytes,
                                    (int)packed->unpacked_bytes);
    return bytes >= 0 && (size_t)bytes == packed->unpacked_bytes;
}
#endif

#ifdef HAVE_ZSTD
static bool unpack_zstd(const cx_emu_packed *packed, char *unpacked)
{
    return ZSTD_decompress(unpacked, packed->unpacked_bytes, packed->bytes, packed->size_bytes) ==
           packed->unpacked_bytes; /* an error is a number above all sizes */
}
#endif

static const struct packing {
    const char *name;
    unpacker *unpack; /* NULL: not built in */
} packings[] = {
    [CX_EMU_PACKING_LZ4] = {.name = "LZ4",
#ifdef HAVE_LZ4
                            .unpack = unpack_lz4
#endif
    },
    [CX_EMU_PACKING_ZSTD] = {.name = "zstd",
#ifdef HAVE_ZSTD
                             .unpack = unpack_zstd
#endif
    },
};

const char *cx_emu_packing_name(cx_emu_packing packing)
{
    return packings[packing].name;
}

bool cx_emu_unpacks(cx_emu_packing packing)
{
    return packings[packing].unpack != NULL;
}

cxu_result cx_emu_unpack(const cx_emu_packed *packed, char **out_unpacked)
{
    if (!cx_emu_unpacks(packed->packing))
        return CXU_NOT_SUPPORTED;
    if (packed->unpacked_bytes == SIZE_MAX)
        return CXU_INVALID_IMAGE;
    char *unpacked = malloc(packed->unpacked_bytes + 1);
    if (!unpacked)
        return CXU_OUT_OF_MEMORY;
    if (!packings[packed->packing].unpack(packed, unpacked)) {
        free(unpacked);
        return CXU_INVALID_IMAGE;
    }
    unpacked[packed->unpacked_bytes] = '\0';
    *out_unpacked = unpacked;
    return CXU_SUCCESS;
}
