/*
 * A test double of libcuda, built several times with different faults. Every row of symbols.def is
 * exported under its versioned symbol; calling one returns a mark that says which row it is and
 * whether it was found by dlsym (BY_SYMBOL) or given by cuGetProcAddress (BY_NAME).
 *
 *   FAKE_VERSION        what cuDriverGetVersion says
 *   FAKE_PROC_ADDRESS   0: none. 1: cuGetProcAddress only. 2: cuGetProcAddress_v2 too
 *   FAKE_GIVES_NULL     cuGetProcAddress succeeds and gives NULL
 *   FAKE_INIT           what cuInit returns
 *   FAKE_DEVICES        how many devices it counts
 *   FAKE_OLD            without the calls that are newer than CUDA 11.0
 *
 * A call is left out by renaming its symbol: -DcuCtxGetId=absent_cuCtxGetId.
 */
#include "fake.h"

#include "driver/table.h"
#include <stdint.h>
#include <string.h>

#ifndef FAKE_VERSION
#define FAKE_VERSION 13000
#endif
#ifndef FAKE_PROC_ADDRESS
#define FAKE_PROC_ADDRESS 2
#endif
#ifndef FAKE_GIVES_NULL
#define FAKE_GIVES_NULL 0
#endif
#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif
#ifndef FAKE_DEVICES
#define FAKE_DEVICES 2
#endif

#ifdef FAKE_OLD
#define cuDeviceGetUuid_v2 absent_cuDeviceGetUuid_v2
#define cuCtxCreate_v3 absent_cuCtxCreate_v3
#define cuCtxCreate_v4 absent_cuCtxCreate_v4
#define cuCtxGetDevice_v2 absent_cuCtxGetDevice_v2
#define cuCtxSetFlags absent_cuCtxSetFlags
#define cuCtxGetId absent_cuCtxGetId
#define cuCtxSynchronize_v2 absent_cuCtxSynchronize_v2
#define cuCtxRecordEvent absent_cuCtxRecordEvent
#define cuCtxWaitEvent absent_cuCtxWaitEvent
#define cuMemAllocAsync absent_cuMemAllocAsync
#define cuMemFreeAsync absent_cuMemFreeAsync
#define cuMemAllocFromPoolAsync absent_cuMemAllocFromPoolAsync
#define cuDeviceGetDefaultMemPool absent_cuDeviceGetDefaultMemPool
#define cuDeviceGetMemPool absent_cuDeviceGetMemPool
#define cuDeviceSetMemPool absent_cuDeviceSetMemPool
#define cuArrayGetPlane absent_cuArrayGetPlane
#define cuArrayGetSparseProperties absent_cuArrayGetSparseProperties
#define cuArrayGetMemoryRequirements absent_cuArrayGetMemoryRequirements
#define cuMipmappedArrayGetSparseProperties absent_cuMipmappedArrayGetSparseProperties
#define cuMipmappedArrayGetMemoryRequirements absent_cuMipmappedArrayGetMemoryRequirements
#define cuMemPoolCreate absent_cuMemPoolCreate
#define cuMemPoolDestroy absent_cuMemPoolDestroy
#define cuMemPoolTrimTo absent_cuMemPoolTrimTo
#define cuMemPoolSetAttribute absent_cuMemPoolSetAttribute
#define cuMemPoolGetAttribute absent_cuMemPoolGetAttribute
#define cuMemPoolSetAccess absent_cuMemPoolSetAccess
#define cuMemPoolExportToShareableHandle absent_cuMemPoolExportToShareableHandle
#define cuMemPoolImportFromShareableHandle absent_cuMemPoolImportFromShareableHandle
#define cuMemPoolExportPointer absent_cuMemPoolExportPointer
#define cuMemPoolImportPointer absent_cuMemPoolImportPointer
#define cuMemPoolGetAccess absent_cuMemPoolGetAccess
#define cuLibraryLoadData absent_cuLibraryLoadData
#define cuModuleGetFunctionCount absent_cuModuleGetFunctionCount
#define cuModuleEnumerateFunctions absent_cuModuleEnumerateFunctions
#define cuFuncGetName absent_cuFuncGetName
#define cuFuncGetParamInfo absent_cuFuncGetParamInfo
#define cuLibraryLoadFromFile absent_cuLibraryLoadFromFile
#define cuLibraryUnload absent_cuLibraryUnload
#define cuLibraryGetKernel absent_cuLibraryGetKernel
#define cuLibraryGetModule absent_cuLibraryGetModule
#define cuLibraryGetGlobal absent_cuLibraryGetGlobal
#define cuKernelGetFunction absent_cuKernelGetFunction
#define cuKernelGetAttribute absent_cuKernelGetAttribute
#define cuLaunchKernelEx absent_cuLaunchKernelEx
#define cuGraphAddKernelNode_v2 absent_cuGraphAddKernelNode_v2
#define cuGraphKernelNodeGetParams_v2 absent_cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams_v2 absent_cuGraphKernelNodeSetParams_v2
#define cuGraphExecKernelNodeSetParams_v2 absent_cuGraphExecKernelNodeSetParams_v2
#define cuStreamGetId absent_cuStreamGetId
#define cuStreamGetDevice absent_cuStreamGetDevice
#define cuEventRecordWithFlags absent_cuEventRecordWithFlags
#define cuEventElapsedTime_v2 absent_cuEventElapsedTime_v2
#define cuStreamBeginCaptureToGraph absent_cuStreamBeginCaptureToGraph
#define cuStreamGetCaptureInfo_v2 absent_cuStreamGetCaptureInfo_v2
#define cuStreamGetCaptureInfo_v3 absent_cuStreamGetCaptureInfo_v3
#define cuStreamUpdateCaptureDependencies absent_cuStreamUpdateCaptureDependencies
#define cuStreamUpdateCaptureDependencies_v2 absent_cuStreamUpdateCaptureDependencies_v2
#define cuGraphAddEventRecordNode absent_cuGraphAddEventRecordNode
#define cuGraphAddEventWaitNode absent_cuGraphAddEventWaitNode
#define cuGraphEventRecordNodeGetEvent absent_cuGraphEventRecordNodeGetEvent
#define cuGraphEventRecordNodeSetEvent absent_cuGraphEventRecordNodeSetEvent
#define cuGraphEventWaitNodeGetEvent absent_cuGraphEventWaitNodeGetEvent
#define cuGraphEventWaitNodeSetEvent absent_cuGraphEventWaitNodeSetEvent
#define cuGraphGetEdges_v2 absent_cuGraphGetEdges_v2
#define cuGraphNodeGetDependencies_v2 absent_cuGraphNodeGetDependencies_v2
#define cuGraphNodeGetDependentNodes_v2 absent_cuGraphNodeGetDependentNodes_v2
#define cuGraphAddDependencies_v2 absent_cuGraphAddDependencies_v2
#define cuGraphRemoveDependencies_v2 absent_cuGraphRemoveDependencies_v2
#define cuGraphDebugDotPrint absent_cuGraphDebugDotPrint
#define cuGraphInstantiateWithFlags absent_cuGraphInstantiateWithFlags
#define cuGraphInstantiateWithParams absent_cuGraphInstantiateWithParams
#define cuGraphUpload absent_cuGraphUpload
#define cuGraphExecGetFlags absent_cuGraphExecGetFlags
#define cuGraphExecUpdate_v2 absent_cuGraphExecUpdate_v2
#define cuGraphExecChildGraphNodeSetParams absent_cuGraphExecChildGraphNodeSetParams
#define cuGraphExecEventRecordNodeSetEvent absent_cuGraphExecEventRecordNodeSetEvent
#define cuGraphExecEventWaitNodeSetEvent absent_cuGraphExecEventWaitNodeSetEvent
#define cuGraphNodeSetEnabled absent_cuGraphNodeSetEnabled
#define cuGraphAddNode absent_cuGraphAddNode
#define cuGraphAddNode_v2 absent_cuGraphAddNode_v2
#define cuGraphNodeSetParams absent_cuGraphNodeSetParams
#define cuGraphExecNodeSetParams absent_cuGraphExecNodeSetParams
#define cuGraphNodeGetEnabled absent_cuGraphNodeGetEnabled
#define cuModuleGetLoadingMode absent_cuModuleGetLoadingMode
#define cuFuncLoad absent_cuFuncLoad
#define cuFuncIsLoaded absent_cuFuncIsLoaded
#define cuLibraryGetManaged absent_cuLibraryGetManaged
#define cuLibraryGetUnifiedFunction absent_cuLibraryGetUnifiedFunction
#define cuLibraryGetKernelCount absent_cuLibraryGetKernelCount
#define cuLibraryEnumerateKernels absent_cuLibraryEnumerateKernels
#define cuKernelSetAttribute absent_cuKernelSetAttribute
#define cuKernelSetCacheConfig absent_cuKernelSetCacheConfig
#define cuKernelGetName absent_cuKernelGetName
#define cuKernelGetParamInfo absent_cuKernelGetParamInfo
#define cuKernelGetLibrary absent_cuKernelGetLibrary
#define cuOccupancyMaxPotentialClusterSize absent_cuOccupancyMaxPotentialClusterSize
#define cuOccupancyMaxActiveClusters absent_cuOccupancyMaxActiveClusters
#define cuMemGetDefaultMemPool absent_cuMemGetDefaultMemPool
#define cuMemGetMemPool absent_cuMemGetMemPool
#define cuMemSetMemPool absent_cuMemSetMemPool
#define cuStreamWriteValue32_v2 absent_cuStreamWriteValue32_v2
#define cuStreamWriteValue64_v2 absent_cuStreamWriteValue64_v2
#define cuStreamWaitValue32_v2 absent_cuStreamWaitValue32_v2
#define cuStreamWaitValue64_v2 absent_cuStreamWaitValue64_v2
#define cuStreamBatchMemOp_v2 absent_cuStreamBatchMemOp_v2
#define cuGraphAddBatchMemOpNode absent_cuGraphAddBatchMemOpNode
#define cuGraphBatchMemOpNodeGetParams absent_cuGraphBatchMemOpNodeGetParams
#define cuGraphBatchMemOpNodeSetParams absent_cuGraphBatchMemOpNodeSetParams
#define cuGraphExecBatchMemOpNodeSetParams absent_cuGraphExecBatchMemOpNodeSetParams
#define cuDeviceGetExecAffinitySupport absent_cuDeviceGetExecAffinitySupport
#define cuCtxGetExecAffinity absent_cuCtxGetExecAffinity
#define cuDeviceGetTexture1DLinearMaxWidth absent_cuDeviceGetTexture1DLinearMaxWidth
#define cuDeviceGetHostAtomicCapabilities absent_cuDeviceGetHostAtomicCapabilities
#define cuDeviceGetP2PAtomicCapabilities absent_cuDeviceGetP2PAtomicCapabilities
#define cuFlushGPUDirectRDMAWrites absent_cuFlushGPUDirectRDMAWrites
#define cuDeviceRegisterAsyncNotification absent_cuDeviceRegisterAsyncNotification
#define cuDeviceUnregisterAsyncNotification absent_cuDeviceUnregisterAsyncNotification
#define cuLogsRegisterCallback absent_cuLogsRegisterCallback
#define cuLogsUnregisterCallback absent_cuLogsUnregisterCallback
#define cuLogsCurrent absent_cuLogsCurrent
#define cuLogsDumpToFile absent_cuLogsDumpToFile
#define cuLogsDumpToMemory absent_cuLogsDumpToMemory
#define cuCheckpointProcessGetState absent_cuCheckpointProcessGetState
#define cuCheckpointProcessGetRestoreThreadId absent_cuCheckpointProcessGetRestoreThreadId
#define cuCheckpointProcessLock absent_cuCheckpointProcessLock
#define cuCheckpointProcessCheckpoint absent_cuCheckpointProcessCheckpoint
#define cuCheckpointProcessRestore absent_cuCheckpointProcessRestore
#define cuCheckpointProcessUnlock absent_cuCheckpointProcessUnlock
#define cuMemcpyBatchAsync absent_cuMemcpyBatchAsync
#define cuMemcpyBatchAsync_v2 absent_cuMemcpyBatchAsync_v2
#define cuMemcpy3DBatchAsync absent_cuMemcpy3DBatchAsync
#define cuMemcpy3DBatchAsync_v2 absent_cuMemcpy3DBatchAsync_v2
#define cuMemMapArrayAsync absent_cuMemMapArrayAsync
#define cuGraphAddMemAllocNode absent_cuGraphAddMemAllocNode
#define cuGraphMemAllocNodeGetParams absent_cuGraphMemAllocNodeGetParams
#define cuGraphAddMemFreeNode absent_cuGraphAddMemFreeNode
#define cuGraphMemFreeNodeGetParams absent_cuGraphMemFreeNodeGetParams
#define cuDeviceGraphMemTrim absent_cuDeviceGraphMemTrim
#define cuDeviceGetGraphMemAttribute absent_cuDeviceGetGraphMemAttribute
#define cuDeviceSetGraphMemAttribute absent_cuDeviceSetGraphMemAttribute
#define cuGraphConditionalHandleCreate absent_cuGraphConditionalHandleCreate
#define cuMemcpyWithAttributesAsync absent_cuMemcpyWithAttributesAsync
#define cuMemcpy3DWithAttributesAsync absent_cuMemcpy3DWithAttributesAsync
#define cuFuncGetParamCount absent_cuFuncGetParamCount
#define cuKernelGetParamCount absent_cuKernelGetParamCount
#define cuLaunchHostFunc_v2 absent_cuLaunchHostFunc_v2
#define cuGraphNodeGetParams absent_cuGraphNodeGetParams
#define cuGraphNodeGetLocalId absent_cuGraphNodeGetLocalId
#define cuGraphNodeGetToolsId absent_cuGraphNodeGetToolsId
#define cuGraphNodeGetContainingGraph absent_cuGraphNodeGetContainingGraph
#define cuGraphGetId absent_cuGraphGetId
#define cuGraphExecGetId absent_cuGraphExecGetId
#define cuUserObjectCreate absent_cuUserObjectCreate
#define cuUserObjectRetain absent_cuUserObjectRetain
#define cuUserObjectRelease absent_cuUserObjectRelease
#define cuGraphRetainUserObject absent_cuGraphRetainUserObject
#define cuGraphReleaseUserObject absent_cuGraphReleaseUserObject
#define cuMemAdvise_v2 absent_cuMemAdvise_v2
#define cuMemPrefetchAsync_v2 absent_cuMemPrefetchAsync_v2
#define cuMemPrefetchBatchAsync absent_cuMemPrefetchBatchAsync
#define cuMemDiscardBatchAsync absent_cuMemDiscardBatchAsync
#define cuMemDiscardAndPrefetchBatchAsync absent_cuMemDiscardAndPrefetchBatchAsync
#define cuDeviceGetDevResource absent_cuDeviceGetDevResource
#define cuCtxGetDevResource absent_cuCtxGetDevResource
#define cuGreenCtxGetDevResource absent_cuGreenCtxGetDevResource
#define cuDevSmResourceSplitByCount absent_cuDevSmResourceSplitByCount
#define cuDevResourceGenerateDesc absent_cuDevResourceGenerateDesc
#define cuGreenCtxCreate absent_cuGreenCtxCreate
#define cuGreenCtxDestroy absent_cuGreenCtxDestroy
#define cuCtxFromGreenCtx absent_cuCtxFromGreenCtx
#define cuGreenCtxRecordEvent absent_cuGreenCtxRecordEvent
#define cuGreenCtxWaitEvent absent_cuGreenCtxWaitEvent
#define cuStreamGetGreenCtx absent_cuStreamGetGreenCtx
#define cuGreenCtxStreamCreate absent_cuGreenCtxStreamCreate
#define cuGreenCtxGetId absent_cuGreenCtxGetId
#define cuStreamGetCtx_v2 absent_cuStreamGetCtx_v2
#endif

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define EXPORT __attribute__((visibility("default")))
#define UNUSED __attribute__((unused))
#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

/* These five are written out below. */
#define cuInit spare_cuInit
#define cuDriverGetVersion spare_cuDriverGetVersion
#define cuDeviceGetCount spare_cuDeviceGetCount
#define cuGetErrorName spare_cuGetErrorName
#define cuGetErrorString spare_cuGetErrorString
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    EXPORT cxu_result name##suffix CX_DECLARE(arity, parameters)              \
    {                                                                         \
        return (cxu_result)(BY_SYMBOL + CX_SLOT_##slot);                      \
    }                                                                         \
    static UNUSED cxu_result named_##slot CX_DECLARE(arity, parameters)       \
    {                                                                         \
        return (cxu_result)(BY_NAME + CX_SLOT_##slot);                        \
    }
#include "driver/symbols.def"
#undef cuInit
#undef cuDriverGetVersion
#undef cuDeviceGetCount
#undef cuGetErrorName
#undef cuGetErrorString

EXPORT cxu_result cuInit(unsigned int flags)
{
    return (cxu_result)FAKE_INIT;
}

EXPORT cxu_result cuDriverGetVersion(int *out_version)
{
    *out_version = FAKE_VERSION;
    return CXU_SUCCESS;
}

EXPORT cxu_result cuDeviceGetCount(int *out_count)
{
    *out_count = FAKE_DEVICES;
    return CXU_SUCCESS;
}

EXPORT cxu_result cuGetErrorName(cxu_result error, const char **out_name)
{
    *out_name = error == (cxu_result)FAKE_NEW_RESULT ? "CUDA_ERROR_OF_TOMORROW" : NULL;
    return *out_name != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

EXPORT cxu_result cuGetErrorString(cxu_result error, const char **out_text)
{
    *out_text = error == (cxu_result)FAKE_NEW_RESULT ? "something new" : NULL;
    return *out_text != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

#if FAKE_PROC_ADDRESS > 0
static const struct {
    const char *name;
    const char *symbol;
    int since;
    void *function;
} rows[] = {
    {"cuInit", "", 2000, (void *)cuInit},
    {"cuDriverGetVersion", "", 2020, (void *)cuDriverGetVersion},
    {"cuDeviceGetCount", "", 2000, (void *)cuDeviceGetCount},
    {"cuGetErrorName", "", 6000, (void *)cuGetErrorName},
    {"cuGetErrorString", "", 6000, (void *)cuGetErrorString},
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    {#name, TEXT(name##suffix), since, (void *)named_##slot},
#include "driver/symbols.def"
};

/* The newest ABI that is not newer than what was asked for, whatever this driver's own version is.
 */
static cxu_result find(const char *name, void **out_function, int version, uint64_t flags)
{
    int best = 0;
    *out_function = NULL;
    if (flags != CXU_GET_PROC_ADDRESS_LEGACY_STREAM)
        return CXU_INVALID_VALUE;
    if (FAKE_GIVES_NULL)
        return CXU_SUCCESS;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, name) != 0 || strncmp(rows[i].symbol, "absent_", 7) == 0)
            continue;
        if (rows[i].since > version || rows[i].since <= best)
            continue;
        best = rows[i].since;
        *out_function = rows[i].function;
    }
    return best != 0 ? CXU_SUCCESS : CXU_NOT_FOUND;
}

EXPORT cxu_result cuGetProcAddress(const char *name, void **out_function, int version,
                                   uint64_t flags)
{
    return find(name, out_function, version, flags);
}
#endif

#if FAKE_PROC_ADDRESS > 1
EXPORT cxu_result cuGetProcAddress_v2(const char *name, void **out_function, int version,
                                      uint64_t flags, int *out_status)
{
    cxu_result result = find(name, out_function, version, flags);
    *out_status = result == CXU_SUCCESS ? 0 : 1;
    return result == CXU_NOT_FOUND ? CXU_SUCCESS : result;
}
#endif
