/*
 * The code of the program: the fat binaries, kernels and variables that nvcc's host code registers
 * before main, or when a library is loaded. A fat binary is loaded as a CUlibrary at the first use
 * of something in it.
 */
#ifndef CX_RUNTIME_CODE_H
#define CX_RUNTIME_CODE_H

#include "runtime/cudart_abi.h"
#include <stdbool.h>

typedef struct cx_cudart_binary cx_cudart_binary;

/* NULL: no memory. The other calls take a binary that is not registered, and ignore it: what is
 * registered in it is unknown. */
cx_cudart_binary *cx_cudart_binary_add(const cxr_fat_binary *fat);

/* What was registered in it is forgotten. Its code is unloaded, except while the process exits: the
 * driver may be about to end, and kernels may be running. */
void cx_cudart_binary_remove(cx_cudart_binary *binary);

/* `host` is the address of the kernel's stub, or of the variable's shadow. */
void cx_cudart_kernel_add(cx_cudart_binary *binary, const void *host, const char *name);
void cx_cudart_variable_add(cx_cudart_binary *binary, const void *host, const char *name);

/* `out_host` is the host's pointer to the variable, set once the variable has an address. */
void cx_cudart_managed_add(cx_cudart_binary *binary, void **out_host, const char *name);

/* `host` is the texture or surface reference of the host; textures may give small integers as
 * floats. */
void cx_cudart_reference_add(cx_cudart_binary *binary, const void *host, const char *name,
                             bool is_surface, bool reads_floats);

typedef struct cx_cudart_reference {
    CUlibrary library;
    const char *name;
    bool reads_floats;
    bool is_bound; /* as cx_cudart_reference_note was told */
    size_t offset;
} cx_cudart_reference;

/* Loads its code. INVALID_TEXTURE or INVALID_SURFACE if it was not registered. */
cxr_error cx_cudart_reference_find(const void *host, bool is_surface,
                                   cx_cudart_reference *out_reference);

/* Keeps whether memory is bound, and how far behind an alignment it begins. */
void cx_cudart_reference_note(const void *host, bool is_bound, size_t offset);

/* Loads the binary and sets the host's pointers to its managed variables. A context is current. */
cxr_error cx_cudart_binary_load(cx_cudart_binary *binary);

/* The kernel of a host stub, or one that cx_cudart_kernel_know was told: INVALID_DEVICE_FUNCTION
 * if it is neither. The driver is in use. */
cxr_error cx_cudart_kernel_find(const void *host, CUkernel *out_kernel);

/* The program has this kernel from a library, and may use it wherever a host stub is asked for. */
void cx_cudart_kernel_know(CUkernel kernel, CUlibrary library);

/* Forgets the kernels of a library that the program unloads: their handles may be others' later. */
void cx_cudart_library_forget(CUlibrary library);

/* The kernel as a function of the thread's present context. */
cxr_error cx_cudart_function_of(CUkernel kernel, CUfunction *out_function);

/* Both. */
cxr_error cx_cudart_function_find(const void *host, CUfunction *out_function);

/* The host stub of a function, as graphs tell it: a kernel of no stub is told as itself. */
const void *cx_cudart_host_of(CUfunction function);

/* Forgets the function, after a call that refused it: its context may have been reset by a call of
 * the driver. False: it was not known from before, so the refusal stands. */
bool cx_cudart_function_forget(CUkernel kernel);

/* The variable in the thread's present context: INVALID_SYMBOL if it was not registered. */
cxr_error cx_cudart_variable_find(const void *host, CUdeviceptr *out_address, size_t *out_bytes);

/* A part of it; INVALID_VALUE where the variable has no such part. Makes a context current. */
cxr_error cx_cudart_symbol_part(const void *symbol, size_t bytes, size_t offset,
                                void **out_pointer);

#endif
