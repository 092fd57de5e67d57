/* The driver's functions as a client of the stand-in sees them, for programs that link libcuda. */
#ifndef CX_TEST_STANDIN_H
#define CX_TEST_STANDIN_H

#include "driver/cuda_abi.h"
#include "driver/parameters.h"

#define CX_DECLARE_NONE(symbol, arity, parameters)
#define CX_DECLARE_PTDS(symbol, arity, parameters) \
    cxu_result symbol##_ptds CX_DECLARE(arity, parameters);
#define CX_DECLARE_PTSZ(symbol, arity, parameters) \
    cxu_result symbol##_ptsz CX_DECLARE(arity, parameters);
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    cxu_result name##suffix CX_DECLARE(arity, parameters);                    \
    CX_DECLARE_##stream(name##suffix, arity, parameters)
#include "driver/symbols.def"

/* Exports that symbols.def does not know. */
cxu_result cuCtxCreate(CUcontext *out_context, unsigned int flags, CUdevice device);
cxu_result cuCtxDestroy(CUcontext context);
cxu_result cuCtxPushCurrent(CUcontext context);
cxu_result cuCtxPopCurrent(CUcontext *out_context);
cxu_result cuDevicePrimaryCtxRelease(CUdevice device);
cxu_result cuStreamDestroy(CUstream stream);
cxu_result cuEventDestroy(CUevent event);
cxu_result cuMemAlloc(unsigned int *out_pointer, unsigned int bytes);
cxu_result cuLaunch(void *function);
cxu_result cuGLGetDevices_v2(unsigned int *out_count, CUdevice *devices, unsigned int count,
                             int list);
cxu_result cuGetExportTable(const void **out_table, const cxu_uuid *id);

#endif
