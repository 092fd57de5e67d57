/* What nvcc's host code calls, besides the public functions: none of these sets the last error. */
#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/driver.h"

#include <stddef.h>

void **cxr___cudaRegisterFatBinary(const cxr_fat_binary *fat)
{
    return (void **)cx_cudart_binary_add(fat);
}

void cxr___cudaRegisterFatBinaryEnd(void **binary)
{
    (void)binary;
}

void cxr___cudaUnregisterFatBinary(void **binary)
{
    cx_cudart_binary_remove((cx_cudart_binary *)binary);
}

void cxr___cudaRegisterFunction(void **binary, const void *host, char *device_function,
                                const char *name, int thread_limit, void *thread, void *block,
                                cxr_dim3 *block_size, cxr_dim3 *grid_size, int *warp_size)
{
    (void)device_function;
    (void)thread_limit;
    (void)thread;
    (void)block;
    (void)block_size;
    (void)grid_size;
    (void)warp_size;
    cx_cudart_kernel_add((cx_cudart_binary *)binary, host, name);
}

void cxr___cudaRegisterVar(void **binary, const void *host, char *device_address, const char *name,
                           int is_external, size_t bytes, int is_constant, int is_global)
{
    (void)device_address;
    (void)is_external;
    (void)bytes;
    (void)is_constant;
    (void)is_global;
    cx_cudart_variable_add((cx_cudart_binary *)binary, host, name);
}

void cxr___cudaRegisterManagedVar(void **binary, void **out_host, char *device_address,
                                  const char *name, int is_external, size_t bytes, int is_constant,
                                  int is_global)
{
    (void)device_address;
    (void)is_external;
    (void)bytes;
    (void)is_constant;
    (void)is_global;
    cx_cudart_managed_add((cx_cudart_binary *)binary, out_host, name);
}

/* The host variables that kernels may read where host memory is the device's: no device plays
 * that. */
void cxr___cudaRegisterHostVar(void **binary, const char *name, void *address, size_t bytes)
{
    (void)binary;
    (void)name;
    (void)address;
    (void)bytes;
}

void cxr___cudaRegisterUnifiedTable(void **binary, void *table)
{
    (void)binary;
    (void)table;
}

/* True: the managed variables of the binary may be used. */
char cxr___cudaInitModule(void **binary)
{
    const cx_driver_table *driver;
    return binary != NULL && cx_cudart_use_context(&driver) == CXR_SUCCESS &&
           cx_cudart_binary_load((cx_cudart_binary *)binary) == CXR_SUCCESS;
}
