/* The Driver API; of devices their primary contexts, retained once, as the runtime API has them. */
#include "cuda_calls.h"
#include "libcuda.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { DEVICES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primaries[DEVICES];
static char api[64];

const char *cuda_open(void)
{
    int version = 0;
    if (libcuda_table()->driver_get_version(&version) != CXU_SUCCESS)
        return "cuDriverGetVersion failed";
    snprintf(api, sizeof api, "Driver API %d.%d", version / 1000, version % 1000 / 10);
    return NULL;
}

void cuda_close(void)
{
    for (int i = 0; i < DEVICES; i++)
        if (primaries[i] != NULL)
            (void)libcuda_table()->primary_release(i);
}

const char *cuda_api(void)
{
    return api;
}

const char *cuda_error_text(int error)
{
    const char *name = NULL;
    return libcuda_table()->get_error_name((cxu_result)error, &name) == CXU_SUCCESS
               ? name
               : "unknown error";
}

static cxu_result retain_once(int ordinal, CUcontext *out_context)
{
    cxu_result result = CXU_SUCCESS;
    pthread_mutex_lock(&lock);
    if (primaries[ordinal] == NULL)
        result = libcuda_table()->primary_retain(&primaries[ordinal], ordinal);
    *out_context = primaries[ordinal];
    pthread_mutex_unlock(&lock);
    return result;
}

int cuda_set_device(int ordinal)
{
    CUcontext context;
    if (ordinal < 0 || ordinal >= DEVICES)
        return CXU_INVALID_DEVICE;
    cxu_result result = retain_once(ordinal, &context);
    return (int)(result == CXU_SUCCESS ? libcuda_table()->ctx_set_current(context) : result);
}

int cuda_reset_device(void)
{
    CUdevice device;
    cxu_result result = libcuda_table()->ctx_get_device(&device);
    return (int)(result == CXU_SUCCESS ? libcuda_table()->primary_reset(device) : result);
}

int cuda_alloc(size_t size_bytes, void **out_pointer)
{
    CUdeviceptr pointer;
    cxu_result result = libcuda_table()->mem_alloc(&pointer, size_bytes);
    if (result == CXU_SUCCESS)
        *out_pointer = (void *)(uintptr_t)pointer;
    return (int)result;
}

int cuda_free(void *pointer)
{
    return (int)libcuda_table()->mem_free((CUdeviceptr)(uintptr_t)pointer);
}

int cuda_copy(void *destination, const void *source, size_t size_bytes)
{
    return (int)libcuda_table()->memcpy_unified((CUdeviceptr)(uintptr_t)destination,
                                                (CUdeviceptr)(uintptr_t)source, size_bytes);
}

int cuda_stream_create(struct CUstream_st **out_stream)
{
    return (int)libcuda_table()->stream_create(out_stream, CXU_STREAM_NON_BLOCKING);
}

int cuda_stream_destroy(struct CUstream_st *stream)
{
    return (int)libcuda_table()->stream_destroy(stream);
}

int cuda_stream_synchronize(struct CUstream_st *stream)
{
    return (int)libcuda_table()->stream_synchronize(stream);
}

int cuda_write_words(unsigned int *words, unsigned int value, size_t count,
                     struct CUstream_st *stream)
{
    return (int)libcuda_table()->memset_d32_async((CUdeviceptr)(uintptr_t)words, value, count,
                                                  stream);
}
