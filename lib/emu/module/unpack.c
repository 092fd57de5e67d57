#include "emu/module/unpack.h"

#include "config.h"
#include <limits.h>
#include <stdlib.h>

#ifdef HAVE_LZ4
#include <lz4.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

typedef cxu_result unpacker(const cx_emu_packed *packed, char *unpacked);

#ifdef HAVE_LZ4
static cxu_result unpack_lz4(const cx_emu_packed *packed, char *unpacked)
{
    if (packed->size_bytes > INT_MAX || packed->unpacked_bytes > INT_MAX)
        return CXU_INVALID_IMAGE;
    int bytes = LZ4_decompress_safe(packed->bytes, unpacked, (int)packed->size_bytes,
                                    (int)packed->unpacked_bytes);
    return bytes >= 0 && (size_t)bytes == packed->unpacked_bytes ? CXU_SUCCESS : CXU_INVALID_IMAGE;
}
#endif

#ifdef HAVE_ZSTD
static cxu_result unpack_zstd(const cx_emu_packed *packed, char *unpacked)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context == NULL)
        return CXU_OUT_OF_MEMORY;
    size_t bytes = ZSTD_decompressDCtx(context, unpacked, packed->unpacked_bytes, packed->bytes,
                                       packed->size_bytes);
    ZSTD_freeDCtx(context);
    if (ZSTD_isError(bytes) && ZSTD_getErrorCode(bytes) == ZSTD_error_memory_allocation)
        return CXU_OUT_OF_MEMORY;
    return bytes == packed->unpacked_bytes ? CXU_SUCCESS : CXU_INVALID_IMAGE;
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
    if (unpacked == NULL)
        return CXU_OUT_OF_MEMORY;
    cxu_result result = packings[packed->packing].unpack(packed, unpacked);
    if (result != CXU_SUCCESS) {
        free(unpacked);
        return result;
    }
    unpacked[packed->unpacked_bytes] = '\0';
    *out_unpacked = unpacked;
    return CXU_SUCCESS;
}
