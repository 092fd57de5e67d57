/* The driver's functions as a client of the stand-in sees them, for programs that link libcuda. */
#ifndef CX_TEST_CLIENT_H
#define CX_TEST_CLIENT_H

#include "driver/cuda_abi_graph.h"
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
cxu_result cuIpcOpenMemHandle(CUdeviceptr *out_pointer, cxu_ipc_mem_handle handle,
                              unsigned int flags);
cxu_result cuLinkCreate(unsigned int count, cxu_jit_option *options, void **values,
                        CUlinkState *out_state);
cxu_result cuLinkAddData(CUlinkState state, cxu_jit_input_type type, void *image, size_t bytes,
                         const char *name, unsigned int count, cxu_jit_option *options,
                         void **values);
cxu_result cuLinkAddFile(CUlinkState state, cxu_jit_input_type type, const char *path,
                         unsigned int count, cxu_jit_option *options, void **values);
cxu_result cuTexRefCreate(void *out_texture);
cxu_result cuGLInit(void);
cxu_result cuEGLStreamConsumerConnect(void *connection, void *stream);
cxu_result cuVDPAUGetDevice(CUdevice *out_device, unsigned int vdpau, void *get_proc_address);
cxu_result cuGLGetDevices_v2(unsigned int *out_count, CUdevice *devices, unsigned int count,
                             int list);
cxu_result cuGetExportTable(const void **out_table, const cxu_uuid *id);

#endif
