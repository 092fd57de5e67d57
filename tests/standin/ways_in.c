/* A program that misuses the driver by each way to come to it, once in a function of that name. */
#include "client.h"

#include <dlfcn.h>
#include <stdio.h>

#define WAY __attribute__((noinline, noclone)) static int

typedef cxu_result (*pop_call)(CUcontext *out_context);
typedef cxu_result (*query_call)(CUstream stream);

cxu_result cuGetProcAddress(const char *name, void **out_function, int version, uint64_t flags);
cxu_result cuGetProcAddress_v2(const char *name, void **out_function, int version, uint64_t flags,
                               int *out_status);

enum { PER_THREAD = 2 };
static CUcontext popped;
static CUstream ended;
static volatile int results; /* behind each call, so that none is a jump */

WAY by_symbol(void)
{
    return results += (int)cuCtxPopCurrent_v2(&popped);
}

WAY by_old_symbol(void)
{
    return results += (int)cuCtxPopCurrent(&popped);
}

WAY by_dlsym(void)
{
    pop_call pop;
    *(void **)&pop = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxPopCurrent_v2");
    return results += (int)pop(&popped);
}

WAY by_name(void)
{
    void *pop = NULL;
    int status = 0;
    if (cuGetProcAddress_v2("cuCtxPopCurrent", &pop, 12000, 0, &status) == CXU_SUCCESS)
        results += (int)(*(pop_call *)&pop)(&popped);
    return results;
}

WAY by_name_without_status(void)
{
    void *pop = NULL;
    if (cuGetProcAddress("cuCtxPopCurrent", &pop, 11030, 0) == CXU_SUCCESS)
        results += (int)(*(pop_call *)&pop)(&popped);
    return results;
}

WAY by_symbol_of_the_thread(void)
{
    return results += (int)cuStreamQuery_ptsz(ended);
}

WAY by_name_of_the_thread(void)
{
    void *query = NULL;
    int status = 0;
    if (cuGetProcAddress_v2("cuStreamQuery", &query, 12000, PER_THREAD, &status) == CXU_SUCCESS)
        results += (int)(*(query_call *)&query)(ended);
    return results;
}

int main(void)
{
    CUcontext context;
    if (cuInit(0) != CXU_SUCCESS)
        return 99;
    by_symbol();
    by_old_symbol();
    by_dlsym();
    by_name();
    by_name_without_status();
    if (cuCtxCreate_v2(&context, 0, 0) != CXU_SUCCESS || cuStreamCreate(&ended, 0) != CXU_SUCCESS ||
        cuStreamDestroy_v2(ended) != CXU_SUCCESS)
        return 98;
    by_symbol_of_the_thread();
    by_name_of_the_thread();
    (void)cuCtxPopCurrent_v2(&context);
    (void)printf("%d\n", results);
    return 0;
}
