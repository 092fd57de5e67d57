/* Objects and archives of the host, as compilers write them: finds fat binaries in them. */
#ifndef CX_EMU_ARCHIVE_H
#define CX_EMU_ARCHIVE_H

#include "driver/cuda_abi.h"
#include <stdbool.h>
#include <stddef.h>

/* True if the bytes begin as an ELF file or an archive. */
bool cx_emu_is_archive(const void *image, size_t bytes);

/*
 * Calls `visit` for each fat binary, which is whole; stops at the first failure and returns it.
 * CXU_INVALID_IMAGE: malformed; CXU_NO_BINARY_FOR_GPU: there is none.
 */
typedef cxu_result (*cx_emu_fat_visit)(void *self, const void *fat);
cxu_result cx_emu_archive_visit(const void *image, size_t bytes, cx_emu_fat_visit visit,
                                void *self);

#endif
