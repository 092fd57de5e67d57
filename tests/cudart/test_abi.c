/*
 * Compares cudart_abi.h, properties.h and calls.def with the installed cuda_runtime_api.h, at
 * compile time: a difference does not build. A toolkit is of one major version; the entries of that
 * version are compared with it.
 */
#include <stdio.h>

#ifdef CX_TEST_HAVE_CUDART_H

#include <cuda_runtime_api.h>

#include "cudart_facts.h"
#include "driver/parameters.h"
#include "runtime/cudart_abi.h"
#include "runtime/properties.h"

/* Values. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs);
#define ABSENT(ours) /* of another version than the toolkit's */
CX_ABI_ERRORS(SAME, ABSENT)

SAME(CXR_HOST_TO_HOST, cudaMemcpyHostToHost)
SAME(CXR_HOST_TO_DEVICE, cudaMemcpyHostToDevice)
SAME(CXR_DEVICE_TO_HOST, cudaMemcpyDeviceToHost)
SAME(CXR_DEVICE_TO_DEVICE, cudaMemcpyDeviceToDevice)
SAME(CXR_COPY_DEFAULT, cudaMemcpyDefault)
SAME(CXR_MEMORY_UNREGISTERED, cudaMemoryTypeUnregistered)
SAME(CXR_MEMORY_HOST, cudaMemoryTypeHost)
SAME(CXR_MEMORY_DEVICE, cudaMemoryTypeDevice)
SAME(CXR_MEMORY_MANAGED, cudaMemoryTypeManaged)
SAME(CXR_DEVICE_SCHEDULE_MASK, cudaDeviceScheduleMask)
SAME(CXR_DEVICE_MAP_HOST, cudaDeviceMapHost)
SAME(CXR_DEVICE_LOCAL_RESIZE_TO_MAX, cudaDeviceLmemResizeToMax)
SAME(CXR_FUNC_MAX_DYNAMIC_SHARED, cudaFuncAttributeMaxDynamicSharedMemorySize)
SAME(CXR_FUNC_SHARED_CARVEOUT, cudaFuncAttributePreferredSharedMemoryCarveout)
SAME(CXR_CPU_DEVICE, cudaCpuDeviceId)
#if CUDART_VERSION >= 12010
SAME(CXR_DEVICE_SYNC_MEMOPS, cudaDeviceSyncMemops)
SAME(CXR_DEVICE_MASK, cudaDeviceMask)
#endif
#if CUDART_VERSION >= 12000
SAME(CXR_INIT_DEVICE_FLAGS_ARE_VALID, cudaInitDeviceFlagsAreValid)
#endif

/* The driver's values stand for the runtime's. */
SAME(CXU_LIMIT_STACK_SIZE, cudaLimitStackSize)
SAME(CXU_LIMIT_PRINTF_FIFO_SIZE, cudaLimitPrintfFifoSize)
SAME(CXU_LIMIT_MALLOC_HEAP_SIZE, cudaLimitMallocHeapSize)
SAME(CXU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, cudaLimitDevRuntimeSyncDepth)
SAME(CXU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, cudaLimitDevRuntimePendingLaunchCount)
SAME(CXU_LIMIT_MAX_L2_FETCH_GRANULARITY, cudaLimitMaxL2FetchGranularity)
SAME(CXU_LIMIT_PERSISTING_L2_CACHE_SIZE, cudaLimitPersistingL2CacheSize)
SAME(CXU_FUNC_CACHE_PREFER_NONE, cudaFuncCachePreferNone)
SAME(CXU_FUNC_CACHE_PREFER_EQUAL, cudaFuncCachePreferEqual)
SAME(CXU_P2P_PERFORMANCE_RANK, cudaDevP2PAttrPerformanceRank)
SAME(CXU_P2P_ACCESS_SUPPORTED, cudaDevP2PAttrAccessSupported)
SAME(CXU_P2P_NATIVE_ATOMIC_SUPPORTED, cudaDevP2PAttrNativeAtomicSupported)
SAME(CXU_P2P_CUDA_ARRAY_ACCESS_SUPPORTED, cudaDevP2PAttrCudaArrayAccessSupported)
SAME(CXU_EVENT_DEFAULT, cudaEventDefault)
SAME(CXU_EVENT_BLOCKING_SYNC, cudaEventBlockingSync)
SAME(CXU_EVENT_DISABLE_TIMING, cudaEventDisableTiming)
SAME(CXU_EVENT_INTERPROCESS, cudaEventInterprocess)
SAME(CXU_STREAM_DEFAULT, cudaStreamDefault)
SAME(CXU_STREAM_NON_BLOCKING, cudaStreamNonBlocking)
SAME(CXU_STREAM_CAPTURE_STATUS_NONE, cudaStreamCaptureStatusNone)
SAME(CXU_STREAM_CAPTURE_STATUS_ACTIVE, cudaStreamCaptureStatusActive)
SAME(CXU_STREAM_CAPTURE_STATUS_INVALIDATED, cudaStreamCaptureStatusInvalidated)
SAME(CXU_STREAM_CAPTURE_MODE_GLOBAL, cudaStreamCaptureModeGlobal)
SAME(CXU_STREAM_CAPTURE_MODE_THREAD_LOCAL, cudaStreamCaptureModeThreadLocal)
SAME(CXU_STREAM_CAPTURE_MODE_RELAXED, cudaStreamCaptureModeRelaxed)
SAME(CXU_MEMHOSTALLOC_PORTABLE, cudaHostAllocPortable)
SAME(CXU_MEMHOSTALLOC_DEVICEMAP, cudaHostAllocMapped)
SAME(CXU_MEMHOSTALLOC_WRITECOMBINED, cudaHostAllocWriteCombined)
SAME(CXU_MEMHOSTREGISTER_PORTABLE, cudaHostRegisterPortable)
SAME(CXU_MEMHOSTREGISTER_DEVICEMAP, cudaHostRegisterMapped)
SAME(CXU_MEMHOSTREGISTER_IOMEMORY, cudaHostRegisterIoMemory)
SAME(CXU_MEMHOSTREGISTER_READ_ONLY, cudaHostRegisterReadOnly)
SAME(CXU_MEM_ADVISE_SET_READ_MOSTLY, cudaMemAdviseSetReadMostly)
SAME(CXU_MEM_ADVISE_UNSET_ACCESSED_BY, cudaMemAdviseUnsetAccessedBy)
SAME(CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, cudaMemRangeAttributeReadMostly)
SAME(CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, cudaMemRangeAttributeLastPrefetchLocation)
SAME(CXU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, cudaMemPoolReuseFollowEventDependencies)
SAME(CXU_MEMPOOL_ATTR_RELEASE_THRESHOLD, cudaMemPoolAttrReleaseThreshold)
SAME(CXU_MEMPOOL_ATTR_USED_MEM_HIGH, cudaMemPoolAttrUsedMemHigh)
SAME(CXU_MEM_LOCATION_TYPE_DEVICE, cudaMemLocationTypeDevice)
SAME(CXU_MEM_ACCESS_FLAGS_PROT_READWRITE, cudaMemAccessFlagsProtReadWrite)
SAME(CXU_MEM_ALLOCATION_TYPE_PINNED, cudaMemAllocationTypePinned)
SAME(CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, cudaMemHandleTypePosixFileDescriptor)
SAME(CXU_GRAPH_NODE_TYPE_KERNEL, cudaGraphNodeTypeKernel)
SAME(CXU_GRAPH_NODE_TYPE_MEMCPY, cudaGraphNodeTypeMemcpy)
SAME(CXU_GRAPH_NODE_TYPE_MEMSET, cudaGraphNodeTypeMemset)
SAME(CXU_GRAPH_NODE_TYPE_HOST, cudaGraphNodeTypeHost)
SAME(CXU_GRAPH_NODE_TYPE_GRAPH, cudaGraphNodeTypeGraph)
SAME(CXU_GRAPH_NODE_TYPE_EMPTY, cudaGraphNodeTypeEmpty)
SAME(CXU_GRAPH_NODE_TYPE_WAIT_EVENT, cudaGraphNodeTypeWaitEvent)
SAME(CXU_GRAPH_NODE_TYPE_EVENT_RECORD, cudaGraphNodeTypeEventRecord)
SAME(CXU_GRAPH_NODE_TYPE_MEM_ALLOC, cudaGraphNodeTypeMemAlloc)
SAME(CXU_GRAPH_NODE_TYPE_MEM_FREE, cudaGraphNodeTypeMemFree)
SAME(CXU_GRAPH_EXEC_UPDATE_SUCCESS, cudaGraphExecUpdateSuccess)
SAME(CXU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, cudaGraphExecUpdateErrorTopologyChanged)
SAME(CXU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, cudaGraphExecUpdateErrorAttributesChanged)
SAME(CXU_LAUNCH_ATTRIBUTE_COOPERATIVE, cudaLaunchAttributeCooperative)
SAME(CXU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cudaLaunchAttributeClusterDimension)
SAME(CXU_LAUNCH_ATTRIBUTE_PRIORITY, cudaLaunchAttributePriority)
#if CUDART_VERSION >= 12040
SAME(CXU_GRAPH_NODE_TYPE_CONDITIONAL, cudaGraphNodeTypeConditional)
#endif
SAME(CXU_ATTRIBUTE_MAX_THREADS_PER_BLOCK, cudaDevAttrMaxThreadsPerBlock)
SAME(CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT, cudaDevAttrMultiProcessorCount)
SAME(CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cudaDevAttrComputeCapabilityMajor)
SAME(CXU_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, cudaDevAttrMemoryPoolsSupported)
SAME(CXU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, cudaDevAttrConcurrentManagedAccess)
SAME(CXU_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, cudaDevAttrMaxSharedMemoryPerBlockOptin)

/* Types: size, and for structs the place and size of every field. */
#define SAME_SIZE(ours, theirs) \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " has another size");
#define SAME_FIELD(ours, field, theirs, their_field)                                     \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field) &&             \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
                   #ours "." #field " is not " #theirs "." #their_field);

SAME_SIZE(cxr_dim3, dim3)
SAME_FIELD(cxr_dim3, z, dim3, z)
#define EXTENT struct cudaExtent
SAME_SIZE(cxr_extent, EXTENT)
SAME_FIELD(cxr_extent, width, EXTENT, width)
SAME_FIELD(cxr_extent, height, EXTENT, height)
SAME_FIELD(cxr_extent, depth, EXTENT, depth)
#define POSITION struct cudaPos
SAME_SIZE(cxr_position, POSITION)
SAME_FIELD(cxr_position, y, POSITION, y)
SAME_FIELD(cxr_position, z, POSITION, z)
#define PITCHED struct cudaPitchedPtr
SAME_SIZE(cxr_pitched_pointer, PITCHED)
SAME_FIELD(cxr_pitched_pointer, pointer, PITCHED, ptr)
SAME_FIELD(cxr_pitched_pointer, pitch_bytes, PITCHED, pitch)
SAME_FIELD(cxr_pitched_pointer, width_bytes, PITCHED, xsize)
SAME_FIELD(cxr_pitched_pointer, height, PITCHED, ysize)
#define CHANNEL struct cudaChannelFormatDesc
SAME_SIZE(cxr_channel_format, CHANNEL)
SAME_FIELD(cxr_channel_format, w, CHANNEL, w)
SAME_FIELD(cxr_channel_format, kind, CHANNEL, f)
#define RESOURCE struct cudaResourceDesc
SAME_FIELD(cxr_resource_descriptor, type, RESOURCE, resType)
SAME_FIELD(cxr_resource_descriptor, of.array, RESOURCE, res.array.array)
SAME_FIELD(cxr_resource_descriptor, of.linear.pointer, RESOURCE, res.linear.devPtr)
SAME_FIELD(cxr_resource_descriptor, of.linear.channels, RESOURCE, res.linear.desc)
SAME_FIELD(cxr_resource_descriptor, of.linear.bytes, RESOURCE, res.linear.sizeInBytes)
SAME_FIELD(cxr_resource_descriptor, of.pitch_2d.channels, RESOURCE, res.pitch2D.desc)
SAME_FIELD(cxr_resource_descriptor, of.pitch_2d.width, RESOURCE, res.pitch2D.width)
SAME_FIELD(cxr_resource_descriptor, of.pitch_2d.height, RESOURCE, res.pitch2D.height)
SAME_FIELD(cxr_resource_descriptor, of.pitch_2d.pitch_bytes, RESOURCE, res.pitch2D.pitchInBytes)
#define TEXTURE struct cudaTextureDesc
SAME_FIELD(cxr_texture_descriptor, address_mode, TEXTURE, addressMode)
SAME_FIELD(cxr_texture_descriptor, filter_mode, TEXTURE, filterMode)
SAME_FIELD(cxr_texture_descriptor, read_mode, TEXTURE, readMode)
SAME_FIELD(cxr_texture_descriptor, srgb, TEXTURE, sRGB)
SAME_FIELD(cxr_texture_descriptor, border_color, TEXTURE, borderColor)
SAME_FIELD(cxr_texture_descriptor, normalized, TEXTURE, normalizedCoords)
SAME_FIELD(cxr_texture_descriptor, max_anisotropy, TEXTURE, maxAnisotropy)
SAME_FIELD(cxr_texture_descriptor, mipmap_filter_mode, TEXTURE, mipmapFilterMode)
SAME_FIELD(cxr_texture_descriptor, mipmap_level_bias, TEXTURE, mipmapLevelBias)
SAME_FIELD(cxr_texture_descriptor, min_mipmap_level_clamp, TEXTURE, minMipmapLevelClamp)
SAME_FIELD(cxr_texture_descriptor, max_mipmap_level_clamp, TEXTURE, maxMipmapLevelClamp)
SAME_FIELD(cxr_texture_descriptor, no_trilinear_optimization, TEXTURE, disableTrilinearOptimization)
#if CUDART_VERSION >= 12000
SAME_FIELD(cxr_texture_descriptor, seamless_cubemap, TEXTURE, seamlessCubemap)
#endif
#define VIEW struct cudaResourceViewDesc
SAME_FIELD(cxr_resource_view_descriptor, format, VIEW, format)
SAME_FIELD(cxr_resource_view_descriptor, width, VIEW, width)
SAME_FIELD(cxr_resource_view_descriptor, first_mipmap_level, VIEW, firstMipmapLevel)
SAME_FIELD(cxr_resource_view_descriptor, last_layer, VIEW, lastLayer)
#define COPY_3D struct cudaMemcpy3DParms
SAME_SIZE(cxr_copy_3d, COPY_3D)
SAME_FIELD(cxr_copy_3d, source_array, COPY_3D, srcArray)
SAME_FIELD(cxr_copy_3d, source_position, COPY_3D, srcPos)
SAME_FIELD(cxr_copy_3d, source, COPY_3D, srcPtr)
SAME_FIELD(cxr_copy_3d, destination_array, COPY_3D, dstArray)
SAME_FIELD(cxr_copy_3d, destination_position, COPY_3D, dstPos)
SAME_FIELD(cxr_copy_3d, destination, COPY_3D, dstPtr)
SAME_FIELD(cxr_copy_3d, extent, COPY_3D, extent)
SAME_FIELD(cxr_copy_3d, kind, COPY_3D, kind)
#define COPY_3D_PEER struct cudaMemcpy3DPeerParms
SAME_SIZE(cxr_copy_3d_peer, COPY_3D_PEER)
SAME_FIELD(cxr_copy_3d_peer, source_array, COPY_3D_PEER, srcArray)
SAME_FIELD(cxr_copy_3d_peer, source_position, COPY_3D_PEER, srcPos)
SAME_FIELD(cxr_copy_3d_peer, source, COPY_3D_PEER, srcPtr)
SAME_FIELD(cxr_copy_3d_peer, source_device, COPY_3D_PEER, srcDevice)
SAME_FIELD(cxr_copy_3d_peer, destination_array, COPY_3D_PEER, dstArray)
SAME_FIELD(cxr_copy_3d_peer, destination_position, COPY_3D_PEER, dstPos)
SAME_FIELD(cxr_copy_3d_peer, destination, COPY_3D_PEER, dstPtr)
SAME_FIELD(cxr_copy_3d_peer, destination_device, COPY_3D_PEER, dstDevice)
SAME_FIELD(cxr_copy_3d_peer, extent, COPY_3D_PEER, extent)
#define POINTER struct cudaPointerAttributes
#if CUDART_VERSION >= 13000
SAME_SIZE(cxr_pointer_attributes, POINTER)
SAME_FIELD(cxr_pointer_attributes, reserved, POINTER, reserved)
#else
_Static_assert(offsetof(cxr_pointer_attributes, reserved) == sizeof(POINTER), "before CUDA 13");
#endif
SAME_FIELD(cxr_pointer_attributes, type, POINTER, type)
SAME_FIELD(cxr_pointer_attributes, device, POINTER, device)
SAME_FIELD(cxr_pointer_attributes, device_pointer, POINTER, devicePointer)
SAME_FIELD(cxr_pointer_attributes, host_pointer, POINTER, hostPointer)
#define FUNCTION struct cudaFuncAttributes
SAME_FIELD(cxr_function_attributes, shared_bytes, FUNCTION, sharedSizeBytes)
SAME_FIELD(cxr_function_attributes, constant_bytes, FUNCTION, constSizeBytes)
SAME_FIELD(cxr_function_attributes, local_bytes, FUNCTION, localSizeBytes)
SAME_FIELD(cxr_function_attributes, max_threads_per_block, FUNCTION, maxThreadsPerBlock)
SAME_FIELD(cxr_function_attributes, registers, FUNCTION, numRegs)
SAME_FIELD(cxr_function_attributes, ptx_version, FUNCTION, ptxVersion)
SAME_FIELD(cxr_function_attributes, binary_version, FUNCTION, binaryVersion)
SAME_FIELD(cxr_function_attributes, cache_mode_ca, FUNCTION, cacheModeCA)
SAME_FIELD(cxr_function_attributes, max_dynamic_shared_bytes, FUNCTION, maxDynamicSharedSizeBytes)
SAME_FIELD(cxr_function_attributes, preferred_shared_carveout, FUNCTION, preferredShmemCarveout)
#if CUDART_VERSION >= 12000
SAME_SIZE(cxr_function_attributes, FUNCTION)
SAME_FIELD(cxr_function_attributes, cluster_must_be_set, FUNCTION, clusterDimMustBeSet)
SAME_FIELD(cxr_function_attributes, required_cluster_width, FUNCTION, requiredClusterWidth)
SAME_FIELD(cxr_function_attributes, required_cluster_height, FUNCTION, requiredClusterHeight)
SAME_FIELD(cxr_function_attributes, required_cluster_depth, FUNCTION, requiredClusterDepth)
SAME_FIELD(cxr_function_attributes, cluster_scheduling_policy, FUNCTION,
           clusterSchedulingPolicyPreference)
SAME_FIELD(cxr_function_attributes, non_portable_cluster_size_allowed, FUNCTION,
           nonPortableClusterSizeAllowed)
SAME_FIELD(cxr_function_attributes, reserved, FUNCTION, reserved)
#endif
SAME_SIZE(cxr_launch_config, cudaLaunchConfig_t)
SAME_FIELD(cxr_launch_config, grid, cudaLaunchConfig_t, gridDim)
SAME_FIELD(cxr_launch_config, block, cudaLaunchConfig_t, blockDim)
SAME_FIELD(cxr_launch_config, shared_bytes, cudaLaunchConfig_t, dynamicSmemBytes)
SAME_FIELD(cxr_launch_config, stream, cudaLaunchConfig_t, stream)
SAME_FIELD(cxr_launch_config, attributes, cudaLaunchConfig_t, attrs)
SAME_FIELD(cxr_launch_config, attribute_count, cudaLaunchConfig_t, numAttrs)
SAME_SIZE(cxu_launch_attribute, cudaLaunchAttribute)
SAME_FIELD(cxu_launch_attribute, value, cudaLaunchAttribute, val)
#if CUDART_VERSION < 13000
#define LAUNCH struct cudaLaunchParams
SAME_SIZE(cxr_launch_params, LAUNCH)
SAME_FIELD(cxr_launch_params, function, LAUNCH, func)
SAME_FIELD(cxr_launch_params, grid, LAUNCH, gridDim)
SAME_FIELD(cxr_launch_params, block, LAUNCH, blockDim)
SAME_FIELD(cxr_launch_params, arguments, LAUNCH, args)
SAME_FIELD(cxr_launch_params, shared_bytes, LAUNCH, sharedMem)
SAME_FIELD(cxr_launch_params, stream, LAUNCH, stream)
#endif
#define KERNEL struct cudaKernelNodeParams
SAME_SIZE(cxr_kernel_node_params, KERNEL)
SAME_FIELD(cxr_kernel_node_params, function, KERNEL, func)
SAME_FIELD(cxr_kernel_node_params, grid, KERNEL, gridDim)
SAME_FIELD(cxr_kernel_node_params, block, KERNEL, blockDim)
SAME_FIELD(cxr_kernel_node_params, shared_bytes, KERNEL, sharedMemBytes)
SAME_FIELD(cxr_kernel_node_params, parameters, KERNEL, kernelParams)
SAME_FIELD(cxr_kernel_node_params, extra, KERNEL, extra)
#define FILL struct cudaMemsetParams
SAME_SIZE(cxu_memset_node_params, FILL)
SAME_FIELD(cxu_memset_node_params, destination, FILL, dst)
SAME_FIELD(cxu_memset_node_params, pitch_bytes, FILL, pitch)
SAME_FIELD(cxu_memset_node_params, value, FILL, value)
SAME_FIELD(cxu_memset_node_params, element_bytes, FILL, elementSize)
SAME_FIELD(cxu_memset_node_params, width, FILL, width)
SAME_FIELD(cxu_memset_node_params, height, FILL, height)
#define HOST struct cudaHostNodeParams
SAME_SIZE(cxu_host_node_params, HOST)
SAME_FIELD(cxu_host_node_params, user_data, HOST, userData)
#define ALLOC struct cudaMemAllocNodeParams
SAME_SIZE(cxu_mem_alloc_node_params, ALLOC)
SAME_FIELD(cxu_mem_alloc_node_params, address, ALLOC, dptr)
#define POOL struct cudaMemPoolProps
SAME_SIZE(cxu_mem_pool_properties, POOL)
#define ACCESS struct cudaMemAccessDesc
SAME_SIZE(cxu_mem_access, ACCESS)
#define SHARED struct cudaMemPoolPtrExportData
SAME_SIZE(cxu_mem_pool_pointer, SHARED)
SAME_SIZE(cxu_ipc_mem_handle, cudaIpcMemHandle_t)
SAME_SIZE(cxu_ipc_event_handle, cudaIpcEventHandle_t)
SAME_SIZE(cxu_uuid, cudaUUID_t)
#if CUDART_VERSION >= 12030
SAME_SIZE(cxu_graph_edge_data, cudaGraphEdgeData)
SAME_SIZE(cxu_graph_instantiate_params, cudaGraphInstantiateParams)
SAME_SIZE(cxu_graph_exec_update_result_info, cudaGraphExecUpdateResultInfo)
#endif
#if CUDART_VERSION >= 12040
#define NODE struct cudaGraphNodeParams
SAME_SIZE(cxr_graph_node_params, NODE)
SAME_FIELD(cxr_graph_node_params, type, NODE, type)
SAME_FIELD(cxr_graph_node_params, of.kernel, NODE, kernel)
SAME_FIELD(cxr_graph_node_params, of.copy, NODE, memcpy)
SAME_FIELD(cxr_graph_node_params, of.copy.params, NODE, memcpy.copyParams)
SAME_FIELD(cxr_graph_node_params, of.fill.value, NODE, memset.value)
SAME_FIELD(cxr_graph_node_params, of.host.user_data, NODE, host.userData)
SAME_FIELD(cxr_graph_node_params, of.child.graph, NODE, graph.graph)
SAME_FIELD(cxr_graph_node_params, of.event, NODE, eventRecord.event)
SAME_FIELD(cxr_graph_node_params, of.alloc.address, NODE, alloc.dptr)
SAME_FIELD(cxr_graph_node_params, of.freed, NODE, free.dptr)
SAME_FIELD(cxr_graph_node_params, of.condition.handle, NODE, conditional.handle)
SAME_FIELD(cxr_graph_node_params, of.condition.size, NODE, conditional.size)
SAME_FIELD(cxr_graph_node_params, of.condition.bodies, NODE, conditional.phGraph_out)
#endif
#if CUDART_VERSION >= 13000
SAME_SIZE(cxu_memcpy_attributes, struct cudaMemcpyAttributes)
SAME_SIZE(cxr_copy_3d_batch_op, struct cudaMemcpy3DBatchOp)
#endif

/* cudaDeviceProp: CUDA 11 has the first fields of 12's. */
#define PROPERTIES struct cudaDeviceProp
#if CUDART_VERSION >= 13000
#define OUR_PROPERTIES cxr_properties_13
#else
#define OUR_PROPERTIES cxr_properties_12
#endif
#define COMPARED(field) SAME_FIELD(OUR_PROPERTIES, field, PROPERTIES, field)
#define LEFT_OUT(field)
#if CUDART_VERSION >= 12000
SAME_SIZE(OUR_PROPERTIES, PROPERTIES)
COMPARED(hostRegisterSupported)
COMPARED(unifiedFunctionPointers)
#else
_Static_assert(offsetof(cxr_properties_12, hostRegisterSupported) == sizeof(PROPERTIES),
               "CUDA 11's struct ends before it");
#endif
#if CUDART_VERSION >= 13000
#define CX_PROPERTY(versions, type, field, extent, ...) COMPARE_##versions(field)
#define COMPARE_ALL COMPARED
#define COMPARE_UNTIL_12 LEFT_OUT
#define COMPARE_SINCE_13 COMPARED
#include "runtime/properties.def"
#elif CUDART_VERSION >= 12000
#define CX_PROPERTY(versions, type, field, extent, ...) COMPARE_##versions(field)
#define COMPARE_ALL COMPARED
#define COMPARE_UNTIL_12 COMPARED
#define COMPARE_SINCE_13 LEFT_OUT
#include "runtime/properties.def"
#else
COMPARED(name)
COMPARED(totalGlobalMem)
COMPARED(clockRate)
COMPARED(computeMode)
COMPARED(singleToDoublePrecisionPerfRatio)
COMPARED(accessPolicyMaxWindowSize)
COMPARED(reservedSharedMemPerBlock)
#endif

#include "test_abi_calls.h"

int main(void)
{
    int compared = sum(rows_compared, sizeof rows_compared / sizeof rows_compared[0]);
    int errors = sum(errors_known, sizeof errors_known / sizeof errors_known[0]);

    printf("1..2\n# cuda_runtime_api.h %d: %d signatures and %d errors compared\n", CUDART_VERSION,
           compared, errors);
    report(1, compared >= 200, "every declared function has our signature");
    report(2, errors >= 100, "every error has our value");
    return 0;
}

#else

int main(void)
{
    printf("1..0 # SKIP no cuda_runtime_api.h was found when this was configured; see "
           "--with-cuda\n");
    return 0;
}

#endif
