/* SPDX-License-Identifier: MIT */
/*
 * The begin and the end of most programs of this folder: the primary context of a GPU is made
 * current, and is released in the end. `load` gives a kernel of a module that is PTX text.
 */
#ifndef MISUSE_GPU_H
#define MISUSE_GPU_H

#include "misuse.h"

static inline CUcontext use_gpu(int ordinal)
{
    CUdevice gpu;
    CUcontext primary;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&gpu, ordinal));
    MUST(cuDevicePrimaryCtxRetain(&primary, gpu));
    MUST(cuCtxSetCurrent(primary));
    return primary;
}

static inline void leave_gpu(int ordinal)
{
    CUdevice gpu;
    MUST(cuCtxSetCurrent(NULL));
    MUST(cuDeviceGet(&gpu, ordinal));
    MUST(cuDevicePrimaryCtxRelease(gpu));
}

static inline CUfunction load(CUmodule *out_module, const char *ptx, const char *name)
{
    CUfunction kernel;
    MUST(cuModuleLoadData(out_module, ptx));
    MUST(cuModuleGetFunction(&kernel, *out_module, name));
    return kernel;
}

#endif
