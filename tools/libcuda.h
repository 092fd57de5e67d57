/*
 * The file of a libcuda that the stand-in is to pass calls on to.
 */
#ifndef CX_TOOLS_LIBCUDA_H
#define CX_TOOLS_LIBCUDA_H

#include <limits.h>
#include <stdbool.h>

typedef struct libcuda_file {
    char path[PATH_MAX]; /* absolute */
    int version;         /* its CUDA version, 12090 for 12.9; 0: it does not say */
} libcuda_file;

/* Finds it by its path, or NULL: where CTXRT_LIBCUDA or CTXRT_STANDIN_LIBCUDA says, or in the
 * default search path. Returns an exit status: COMMAND_GOOD, or another after an error was
 * printed. */
int libcuda_find(const char *command, const char *path, libcuda_file *out_file);

#endif
