/*
 * The driver's handles that are pointers to opaque objects, as a list: KEPT(type, tag, KIND) for
 * those whose objects layers keep, as of CX_HANDLE_KIND; UNKEPT(type, tag) for those whose objects
 * belong to others, or that no call gives. The declarations of the types, the kinds of layers and
 * those of traces come from the list. A kind without a row in lib/layer/check/objects.def does not
 * compile.
 */
#ifndef CX_DRIVER_HANDLE_TYPES_H
#define CX_DRIVER_HANDLE_TYPES_H

/* clang-format off */
#define CX_HANDLE_TYPES(KEPT, UNKEPT) \
    KEPT(CUcontext, CUctx_st, CONTEXT) \
    KEPT(CUstream, CUstream_st, STREAM) \
    KEPT(CUevent, CUevent_st, EVENT) \
    KEPT(CUmodule, CUmod_st, MODULE) \
    KEPT(CUfunction, CUfunc_st, FUNCTION) \
    KEPT(CUlibrary, CUlib_st, LIBRARY) \
    KEPT(CUkernel, CUkern_st, KERNEL) \
    KEPT(CUgraph, CUgraph_st, GRAPH) \
    KEPT(CUgraphExec, CUgraphExec_st, GRAPH_EXEC) \
    KEPT(CUmemoryPool, CUmemPoolHandle_st, POOL) \
    KEPT(CUlinkState, CUlinkState_st, LINK) \
    KEPT(CUarray, CUarray_st, ARRAY) \
    KEPT(CUmipmappedArray, CUmipmappedArray_st, MIPMAPPED_ARRAY) \
    UNKEPT(CUgraphNode, CUgraphNode_st) \
    UNKEPT(CUuserObject, CUuserObject_st) \
    UNKEPT(CUgreenCtx, CUgreenCtx_st) \
    UNKEPT(CUdevResourceDesc, CUdevResourceDesc_st) \
    UNKEPT(CUasyncCallbackHandle, CUasyncCallbackEntry_st) \
    UNKEPT(CUlogsCallbackHandle, CUlogsCallbackEntry_st) \
    UNKEPT(CUtexref, CUtexref_st) \
    UNKEPT(CUsurfref, CUsurfref_st) \
    UNKEPT(CUexternalMemory, CUextMemory_st)
/* clang-format on */

#define CX_DECLARE_KEPT(type, tag, kind) typedef struct tag *type;
#define CX_DECLARE_UNKEPT(type, tag) typedef struct tag *type;
CX_HANDLE_TYPES(CX_DECLARE_KEPT, CX_DECLARE_UNKEPT)
#undef CX_DECLARE_KEPT
#undef CX_DECLARE_UNKEPT

#endif
