/* The signatures of test_abi.c: our types stand for the toolkit's from here on. */
#define KNOWN(macro) KNOWN_1(macro)
#define KNOWN_1(value) KNOWN_2(MARK_##value, 0)
#define KNOWN_2(...) KNOWN_3(__VA_ARGS__, 0)
#define KNOWN_3(mark, value, ...) value
#define MARK_1 0, 1

#define cxr_error cudaError_t
#define cxr_copy_kind enum cudaMemcpyKind
#define cxr_dim3 dim3
#define cxr_extent struct cudaExtent
#define cxr_pitched_pointer struct cudaPitchedPtr
#define cxr_channel_format struct cudaChannelFormatDesc
#define cxr_copy_3d struct cudaMemcpy3DParms
#define cxr_copy_3d_peer struct cudaMemcpy3DPeerParms
#define cxr_copy_3d_batch_op struct cudaMemcpy3DBatchOp
#define cxr_pointer_attributes struct cudaPointerAttributes
#define cxr_function_attributes struct cudaFuncAttributes
#define cxr_launch_config cudaLaunchConfig_t
#define cxr_launch_params struct cudaLaunchParams
#define cxr_kernel_node_params struct cudaKernelNodeParams
#define cxr_graph_node_params struct cudaGraphNodeParams
#define cxr_properties_12 struct cudaDeviceProp
#define cxr_properties_13 struct cudaDeviceProp
#define cxr_stream_callback cudaStreamCallback_t
#define cxu_limit enum cudaLimit
#define cxu_func_cache enum cudaFuncCache
#define cxu_func_attribute enum cudaFuncAttribute
#define cxu_shared_config enum cudaSharedMemConfig
#define cxu_p2p_attribute enum cudaDeviceP2PAttr
#define cxu_device_attribute enum cudaDeviceAttr
#define CUarray cudaArray_t
#define CUmipmappedArray cudaMipmappedArray_t
#define cxu_array_sparse_properties struct cudaArraySparseProperties
#define cxu_array_memory_requirements struct cudaArrayMemoryRequirements
#define cxu_texture_object cudaTextureObject_t
#define cxu_surface_object cudaSurfaceObject_t
#define cxr_resource_descriptor struct cudaResourceDesc
#define cxr_texture_descriptor struct cudaTextureDesc
#define cxr_resource_view_descriptor struct cudaResourceViewDesc
#define cxu_atomic_operation enum cudaAtomicOperation
#define cxu_flush_rdma_target enum cudaFlushGPUDirectRDMAWritesTarget
#define cxu_flush_rdma_scope enum cudaFlushGPUDirectRDMAWritesScope
#define cxu_async_callback cudaAsyncCallback
#define CUasyncCallbackHandle cudaAsyncCallbackHandle_t
#define cxu_logs_callback cudaLogsCallback_t
#define CUlogsCallbackHandle cudaLogsCallbackHandle
#define cxu_log_iterator cudaLogIterator
#define cxu_uuid cudaUUID_t
#define cxu_mem_advise enum cudaMemoryAdvise
#define cxu_mem_location struct cudaMemLocation
#define cxu_mem_range_attribute enum cudaMemRangeAttribute
#define cxu_mem_pool_attribute enum cudaMemPoolAttr
#define cxu_mem_pool_properties struct cudaMemPoolProps
#define cxu_mem_pool_pointer struct cudaMemPoolPtrExportData
#define cxu_mem_access struct cudaMemAccessDesc
#define cxu_mem_access_flags enum cudaMemAccessFlags
#define cxu_mem_handle_type enum cudaMemAllocationHandleType
#define cxu_mem_allocation_type enum cudaMemAllocationType
#define cxu_mem_alloc_node_params struct cudaMemAllocNodeParams
#define cxu_memset_node_params struct cudaMemsetParams
#define cxu_host_node_params struct cudaHostNodeParams
#define cxu_memcpy_attributes struct cudaMemcpyAttributes
#define cxu_ipc_mem_handle cudaIpcMemHandle_t
#define cxu_ipc_event_handle cudaIpcEventHandle_t
#define cxu_stream_capture_mode enum cudaStreamCaptureMode
#define cxu_stream_capture_status enum cudaStreamCaptureStatus
#define cxu_launch_attribute_id cudaLaunchAttributeID
#define cxu_launch_attribute_value cudaLaunchAttributeValue
#define cxu_graph_node_type enum cudaGraphNodeType
#define cxu_graph_edge_data cudaGraphEdgeData
#define cxu_graph_mem_attribute enum cudaGraphMemAttributeType
#define cxu_graph_instantiate_params cudaGraphInstantiateParams
#define cxu_graph_exec_update_result enum cudaGraphExecUpdateResult
#define cxu_graph_exec_update_result_info cudaGraphExecUpdateResultInfo
#define cxu_library_option enum cudaLibraryOption
#define cxu_jit_option enum cudaJitOption
#define uint64_t unsigned long long

/* These say less of a parameter than the toolkit, in a pointer or in an int of the same size. */
#define LOOSE_cudaChooseDevice 1
#define LOOSE_cudaGetDeviceProperties 1
#define LOOSE_cudaFuncSetAttribute 1
#define LOOSE_cudaCreateChannelDesc 1
#define LOOSE_cudaGetDriverEntryPoint 1
#define LOOSE_cudaGetDriverEntryPointByVersion 1
#define LOOSE_cudaMemcpyBatchAsync 1
/* An array that is only read is a pointer to a const one there. */
#define LOOSE_cudaGetChannelDesc 1
#define LOOSE_cudaGetMipmappedArrayLevel 1
#define LOOSE_cudaMemcpy2DArrayToArray 1
#define LOOSE_cudaMemcpy2DFromArray 1
#define LOOSE_cudaMemcpy2DFromArrayAsync 1
#define LOOSE_cudaMemcpyArrayToArray 1
#define LOOSE_cudaMemcpyFromArray 1
#define LOOSE_cudaMemcpyFromArrayAsync 1

#define COMPARE(known, ...) COMPARE_1(known, __VA_ARGS__)
#define COMPARE_1(known, ...) COMPARE_KNOWN_##known(__VA_ARGS__)
#define COMPARE_KNOWN_0(...)
#define COMPARE_KNOWN_1(result, symbol, arity, parameters)                                   \
    _Static_assert(KNOWN(LOOSE_##symbol) ||                                                  \
                       __builtin_types_compatible_p(result(*) CX_DECLARE(arity, parameters), \
                                                    __typeof__(&(symbol))),                  \
                   "the signature is not that of " #symbol);

#define CX_ENTRY(symbol, name, body, per_thread, arity, parameters) \
    COMPARE(KNOWN(HAS_##symbol), cudaError_t, symbol, arity, parameters)
#define CX_ENTRY_FUNCTION(result, symbol, name, body, arity, parameters) \
    COMPARE(KNOWN(HAS_##symbol), result, symbol, arity, parameters)
#define CX_ENTRY_PROCEDURE(symbol, name, body, arity, parameters)
#define CX_ENTRY_REFUSED(symbol)
#if CUDART_VERSION >= 13000
#define ENTRIES "lib/runtime/entries-13.def"
#elif CUDART_VERSION >= 12000
#define ENTRIES "lib/runtime/entries-12.def"
#else
#define ENTRIES "lib/runtime/entries-11.def"
#endif
#include ENTRIES

static const int rows_compared[] = {
#undef CX_ENTRY
#undef CX_ENTRY_FUNCTION
#define CX_ENTRY(symbol, name, body, per_thread, arity, parameters) KNOWN(HAS_##symbol),
#define CX_ENTRY_FUNCTION(result, symbol, name, body, arity, parameters) KNOWN(HAS_##symbol),
#include ENTRIES
};

static const int errors_known[] = {
#define ERROR_SAME(ours, theirs) 1,
#define ERROR_ABSENT(ours) 0,
    CX_ABI_ERRORS(ERROR_SAME, ERROR_ABSENT)};

static int sum(const int *values, size_t count)
{
    int total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

static void report(int number, int good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", number, what);
}
