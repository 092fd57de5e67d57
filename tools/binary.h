/*
 * What an executable or a library says of its use of CUDA, read from its file: what it needs, and
 * which device code nvcc put into it.
 */
#ifndef CX_TOOLS_BINARY_H
#define CX_TOOLS_BINARY_H

#include <limits.h>
#include <stdbool.h>

typedef struct binary {
    char path[PATH_MAX];
    char runtime[64];     /* the soname of a libcudart that it needs; "" none */
    char closed[64];      /* the soname of an NVIDIA library with a runtime of its own; "" none */
    char rpath[PATH_MAX]; /* DT_RPATH, which comes before LD_LIBRARY_PATH; "" none */
    bool has_device_code; /* it has nvcc's fat binaries, which may have no code */
    bool has_ptx;         /* one of them has PTX */
    bool has_machine_code;
} binary;

/* Reads a program as execvp finds it. False: there is no such file, or it is no such binary, or
 * this ctxrt was built without elfutils. */
bool binary_read(const char *program, binary *out);

#endif
