/*
 * The fat binaries that host code registers, looked through before a driver reads them: a driver
 * believes the sizes and the pointers in them.
 */
#ifndef CX_RUNTIME_IMAGE_H
#define CX_RUNTIME_IMAGE_H

#include "runtime/cudart_abi.h"
#include <stdbool.h>

/* False where the wrapper, one of its fat binaries or the list of them is not one, or is not in
 * memory as a whole; the log says what is wrong. */
bool cx_cudart_image_is_whole(const cxr_fat_binary *wrapper);

#endif
