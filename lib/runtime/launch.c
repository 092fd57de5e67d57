#include "runtime/calls.h"
#include "runtime/code.h"
#include "runtime/driver.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- <<<>>> ---- */

/* Where the configuration of this depth is kept; NULL: no memory. */
static cx_cudart_launch *launch_at(cx_cudart_thread *thread, unsigned int depth)
{
    if (depth < CX_CUDART_FEW_LAUNCHES)
        return &thread->few[depth];
    if (thread->more == NULL)
        thread->more = calloc(CX_CUDART_MAX_LAUNCHES - CX_CUDART_FEW_LAUNCHES,
                              sizeof *thread->more);
    return thread->more == NULL ? NULL : &thread->more[depth - CX_CUDART_FEW_LAUNCHES];
}

unsigned int cxr___cudaPushCallConfiguration(cxr_dim3 grid, cxr_dim3 block, size_t shared_bytes,
                                             CUstream stream)
{
    cx_cudart_thread *thread = cx_cudart_thread_get();
    if (thread->launches == CX_CUDART_MAX_LAUNCHES)
        return CXR_INVALID_CONFIGURATION;
    cx_cudart_launch *launch = launch_at(thread, thread->launches);
    if (launch == NULL)
        return CXR_MEMORY_ALLOCATION;
    *launch = (cx_cudart_launch){grid, block, shared_bytes, stream};
    thread->launches++;
    return CXR_SUCCESS;
}

cxr_error cxr___cudaPopCallConfiguration(cxr_dim3 *out_grid, cxr_dim3 *out_block,
                                         size_t *out_shared_bytes, CUstream *out_stream)
{
    cx_cudart_thread *thread = cx_cudart_thread_get();
    if (thread->launches == 0)
        return CXR_MISSING_CONFIGURATION;
    const cx_cudart_launch *launch = launch_at(thread, --thread->launches);
    *out_grid = launch->grid;
    *out_block = launch->block;
    *out_shared_bytes = launch->shared_bytes;
    *out_stream = launch->stream;
    if (thread->launches == CX_CUDART_FEW_LAUNCHES) {
        free(thread->more);
        thread->more = NULL;
    }
    return CXR_SUCCESS;
}

/* The program's stub asks once, before its first launch, and keeps the handle. So a kernel that
 * cannot be loaded gets a handle, too: the address of the stub with a bit that no address of a
 * program has. Each launch by it tries again, and has the error. */
#define IS_STUB ((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))

cxr_error cxr___cudaGetKernel(CUkernel *out_kernel, const void *host)
{
    const cx_driver_table *driver;
    *out_kernel = NULL;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_kernel_find(host, out_kernel);
    if (error == CXR_SUCCESS || error == CXR_INVALID_DEVICE_FUNCTION)
        return error;
    *out_kernel = (CUkernel)((uintptr_t)host | IS_STUB);
    return CXR_SUCCESS;
}

/* ---- launches ---- */

static bool is_empty(cxr_dim3 size)
{
    return size.x == 0 || size.y == 0 || size.z == 0;
}

/* The driver says INVALID_VALUE of all that is wrong with a launch; the runtime tells apart what
 * the device cannot have. */
static cxr_error explain_refusal(const cx_driver_table *driver, cxr_error error,
                                 CUfunction function, cxr_dim3 grid, cxr_dim3 block)
{
    static const cxu_device_attribute limits[] = {
        CXU_ATTRIBUTE_MAX_GRID_DIM_X,  CXU_ATTRIBUTE_MAX_GRID_DIM_Y,
        CXU_ATTRIBUTE_MAX_GRID_DIM_Z,  CXU_ATTRIBUTE_MAX_BLOCK_DIM_X,
        CXU_ATTRIBUTE_MAX_BLOCK_DIM_Y, CXU_ATTRIBUTE_MAX_BLOCK_DIM_Z};
    const unsigned int asked[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
    CUdevice device;
    int limit;
    if (error != CXR_INVALID_VALUE || driver->ctx_get_device(&device) != CXU_SUCCESS)
        return error;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (driver->device_get_attribute(&limit, limits[i], device) == CXU_SUCCESS &&
            asked[i] > (unsigned int)limit)
            return CXR_INVALID_CONFIGURATION;
    if (driver->func_get_attribute(&limit, CXU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) ==
            CXU_SUCCESS &&
        (unsigned long long)block.x * block.y * block.z > (unsigned int)limit)
        return CXR_INVALID_CONFIGURATION;
    return error;
}

typedef struct launch {
    cxr_dim3 grid;
    cxr_dim3 block;
    size_t shared_bytes;
    CUstream stream;
    void **arguments;
    bool is_cooperative;
    const cxr_launch_config *config; /* with attributes; NULL: none */
} launch;

static cxr_error launch_function(const cx_driver_table *driver, CUfunction function,
                                 const launch *self)
{
    cxr_dim3 grid = self->grid;
    cxr_dim3 block = self->block;
    unsigned int shared_bytes = (unsigned int)self->shared_bytes;
    if (self->config != NULL) {
        const cxu_launch_config config = {grid.x,
                                          grid.y,
                                          grid.z,
                                          block.x,
                                          block.y,
                                          block.z,
                                          shared_bytes,
                                          self->stream,
                                          self->config->attributes,
                                          self->config->attribute_count};
        return (cxr_error)driver->launch_kernel_ex(&config, function, self->arguments, NULL);
    }
    if (self->is_cooperative)
        return (cxr_error)driver->launch_cooperative_kernel(function, grid.x, grid.y, grid.z,
                                                            block.x, block.y, block.z, shared_bytes,
                                                            self->stream, self->arguments);
    return (cxr_error)driver->launch_kernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                            block.z, shared_bytes, self->stream, self->arguments,
                                            NULL);
}

/* A function that is known from before is looked up anew where the launch refuses it: its context
 * may have been reset by a call of the driver. */
static cxr_error launch_kernel(const cx_driver_table *driver, CUkernel kernel, const launch *self)
{
    CUfunction function;
    if (is_empty(self->grid) || is_empty(self->block))
        return CXR_INVALID_CONFIGURATION;
    if (self->shared_bytes > UINT_MAX)
        return CXR_INVALID_VALUE;
    cxr_error error = cx_cudart_function_of(kernel, &function);
    if (error != CXR_SUCCESS)
        return error;
    error = launch_function(driver, function, self);
    if (__builtin_expect(error == CXR_SUCCESS, 1))
        return error;
    if (error == CXR_INVALID_RESOURCE_HANDLE && cx_cudart_function_forget(kernel) &&
        cx_cudart_function_of(kernel, &function) == CXR_SUCCESS)
        error = launch_function(driver, function, self);
    return explain_refusal(driver, error, function, self->grid, self->block);
}

static cxr_error launch_host(const void *host, const launch *self)
{
    const cx_driver_table *driver;
    CUkernel kernel;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error == CXR_SUCCESS)
        error = cx_cudart_kernel_find(host, &kernel);
    return error != CXR_SUCCESS ? error : launch_kernel(driver, kernel, self);
}

cxr_error cxr_cudaLaunchKernel(const void *host, cxr_dim3 grid, cxr_dim3 block, void **arguments,
                               size_t shared_bytes, CUstream stream)
{
    const launch self = {grid, block, shared_bytes, stream, arguments, false, NULL};
    return launch_host(host, &self);
}

cxr_error cxr___cudaLaunchKernel(CUkernel kernel, cxr_dim3 grid, cxr_dim3 block, void **arguments,
                                 size_t shared_bytes, CUstream stream)
{
    const cx_driver_table *driver;
    const launch self = {grid, block, shared_bytes, stream, arguments, false, NULL};
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (((uintptr_t)kernel & IS_STUB) != 0)
        error = cx_cudart_kernel_find((const void *)((uintptr_t)kernel & ~IS_STUB), &kernel);
    if (error != CXR_SUCCESS)
        return error;
    return kernel != NULL ? launch_kernel(driver, kernel, &self) : CXR_INVALID_DEVICE_FUNCTION;
}

cxr_error cxr_cudaLaunchCooperativeKernel(const void *host, cxr_dim3 grid, cxr_dim3 block,
                                          void **arguments, size_t shared_bytes, CUstream stream)
{
    const launch self = {grid, block, shared_bytes, stream, arguments, true, NULL};
    return launch_host(host, &self);
}

cxr_error cxr_cudaLaunchKernelExC(const cxr_launch_config *config, const void *host,
                                  void **arguments)
{
    if (config == NULL || (config->attribute_count != 0 && config->attributes == NULL))
        return CXR_INVALID_VALUE;
    const launch self = {config->grid,   config->block, config->shared_bytes,
                         config->stream, arguments,     false,
                         config};
    return launch_host(host, &self);
}

cxr_error cxr_cudaLaunchCooperativeKernelMultiDevice(cxr_launch_params *launches,
                                                     unsigned int count, unsigned int flags)
{
    enum { MAX_DEVICES = 64 };
    cxu_launch_params of_driver[MAX_DEVICES];
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (launches == NULL || count == 0 || count > MAX_DEVICES)
        return CXR_INVALID_VALUE;
    for (unsigned int i = 0; i < count && error == CXR_SUCCESS; i++) {
        const cxr_launch_params *each = &launches[i];
        CUkernel kernel;
        CUcontext context;
        if (each->shared_bytes > UINT_MAX)
            return CXR_INVALID_VALUE;
        of_driver[i] = (cxu_launch_params){
            NULL,          each->grid.x,   each->grid.y,  each->grid.z,
            each->block.x, each->block.y,  each->block.z, (unsigned int)each->shared_bytes,
            each->stream,  each->arguments};
        error = cx_cudart_kernel_find(each->function, &kernel);
        /* Each kernel is a function of the context of its stream. */
        if (error == CXR_SUCCESS)
            error = (cxr_error)driver->stream_get_ctx(each->stream, &context);
        if (error == CXR_SUCCESS)
            error = (cxr_error)driver->ctx_push(context);
        if (error != CXR_SUCCESS)
            return error;
        error = (cxr_error)driver->kernel_get_function(&of_driver[i].function, kernel);
        (void)driver->ctx_pop(&context);
    }
    if (error != CXR_SUCCESS)
        return error;
    return (cxr_error)driver->launch_cooperative_kernel_multi_device(of_driver, count, flags);
}

cxr_error cxr_cudaLaunchHostFunc(CUstream stream, CUhostFn function, void *user_data)
{
    CX_CUDART_PASS(launch_host_func, (stream, function, user_data));
}
