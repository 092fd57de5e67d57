/*
 * Compares cuda_abi.h and symbols.def with the installed cuda.h, at compile time: what does not
 * agree does not build. What is newer than that cuda.h is left out, and counted.
 */
#include <stdio.h>

#ifdef CX_TEST_HAVE_CUDA_H

#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include "abi_facts.h"
#include "driver/cuda_abi_graph.h"
#include "driver/parameters.h"
#include "test_abi.h"
#include <stdbool.h>

/* The newest cuda.h that our declarations were written from; nothing of them may be absent in it.
 */
#define KNOWN_VERSION 13000

/* Values. The last limit moves with every version that adds one. */
#if CUDA_VERSION < KNOWN_VERSION
#undef CU_LIMIT_MAX
#define CU_LIMIT_MAX CXU_LIMIT_MAX
#endif
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs);
#define ABSENT(ours) _Static_assert(CUDA_VERSION < KNOWN_VERSION, #ours " is not in cuda.h");
CX_ABI_VALUES(SAME, ABSENT)

/* Types: size, and for structs the place and size of every field. */
#define SAME_SIZE(ours, theirs) \
    _Static_assert(sizeof(ours) == sizeof(theirs), #ours " has another size");
#define SAME_FIELD(ours, field, theirs, their_field)                                     \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field) &&             \
                       sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->their_field), \
                   #ours "." #field " is not " #theirs "." #their_field);

SAME_SIZE(cxu_result, CUresult)
SAME_SIZE(cxu_device_attribute, CUdevice_attribute)
SAME_SIZE(cxu_ctx_flags, CUctx_flags)
SAME_SIZE(cxu_limit, CUlimit)
SAME_SIZE(cxu_func_cache, CUfunc_cache)
SAME_SIZE(cxu_shared_config, CUsharedconfig)
SAME_SIZE(cxu_p2p_attribute, CUdevice_P2PAttribute)
SAME_SIZE(cxu_memory_type, CUmemorytype)
SAME_SIZE(cxu_pointer_attribute, CUpointer_attribute)
SAME_SIZE(cxu_stream_callback, CUstreamCallback)
SAME_SIZE(cxu_shared_of_block, CUoccupancyB2DSize)
SAME_SIZE(cxu_output_mode, CUoutput_mode)
SAME_SIZE(cxu_uuid, CUuuid)
SAME_FIELD(cxu_uuid, bytes, CUuuid, bytes)

#define SAME_2D(field, their_field) SAME_FIELD(cxu_memcpy_2d, field, CUDA_MEMCPY2D, their_field)
SAME_SIZE(cxu_ipc_mem_handle, CUipcMemHandle)
SAME_SIZE(cxu_ipc_event_handle, CUipcEventHandle)
SAME_SIZE(cxu_memcpy_2d, CUDA_MEMCPY2D)
SAME_2D(source_x_bytes, srcXInBytes)
SAME_2D(source_y, srcY)
SAME_2D(source_type, srcMemoryType)
SAME_2D(source_host, srcHost)
SAME_2D(source_device, srcDevice)
SAME_2D(source_array, srcArray)
SAME_2D(source_pitch_bytes, srcPitch)
SAME_2D(destination_x_bytes, dstXInBytes)
SAME_2D(destination_y, dstY)
SAME_2D(destination_type, dstMemoryType)
SAME_2D(destination_host, dstHost)
SAME_2D(destination_device, dstDevice)
SAME_2D(destination_array, dstArray)
SAME_2D(destination_pitch_bytes, dstPitch)
SAME_2D(width_bytes, WidthInBytes)
SAME_2D(height, Height)

#define SAME_ARRAY(field, their_field) \
    SAME_FIELD(cxu_array_descriptor, field, CUDA_ARRAY_DESCRIPTOR, their_field)
SAME_SIZE(cxu_array_descriptor, CUDA_ARRAY_DESCRIPTOR)
SAME_ARRAY(width, Width)
SAME_ARRAY(height, Height)
SAME_ARRAY(format, Format)
SAME_ARRAY(channels, NumChannels)

#define SAME_ARRAY_3D(field, their_field) \
    SAME_FIELD(cxu_array_3d_descriptor, field, CUDA_ARRAY3D_DESCRIPTOR, their_field)
SAME_SIZE(cxu_array_3d_descriptor, CUDA_ARRAY3D_DESCRIPTOR)
SAME_ARRAY_3D(width, Width)
SAME_ARRAY_3D(height, Height)
SAME_ARRAY_3D(depth, Depth)
SAME_ARRAY_3D(format, Format)
SAME_ARRAY_3D(channels, NumChannels)
SAME_ARRAY_3D(flags, Flags)
SAME_SIZE(cxu_array_sparse_properties, CUDA_ARRAY_SPARSE_PROPERTIES)
SAME_FIELD(cxu_array_sparse_properties, flags, CUDA_ARRAY_SPARSE_PROPERTIES, flags)
SAME_SIZE(cxu_array_memory_requirements, CUDA_ARRAY_MEMORY_REQUIREMENTS)
SAME_FIELD(cxu_array_memory_requirements, alignment, CUDA_ARRAY_MEMORY_REQUIREMENTS, alignment)

#define SAME_RESOURCE(field, their_field) \
    SAME_FIELD(cxu_resource_descriptor, field, CUDA_RESOURCE_DESC, their_field)
SAME_SIZE(cxu_resource_descriptor, CUDA_RESOURCE_DESC)
SAME_RESOURCE(type, resType)
SAME_RESOURCE(of.array, res.array.hArray)
SAME_RESOURCE(of.linear.address, res.linear.devPtr)
SAME_RESOURCE(of.linear.format, res.linear.format)
SAME_RESOURCE(of.linear.channels, res.linear.numChannels)
SAME_RESOURCE(of.linear.bytes, res.linear.sizeInBytes)
SAME_RESOURCE(of.pitch_2d.width, res.pitch2D.width)
SAME_RESOURCE(of.pitch_2d.height, res.pitch2D.height)
SAME_RESOURCE(of.pitch_2d.pitch_bytes, res.pitch2D.pitchInBytes)
SAME_RESOURCE(flags, flags)

#define SAME_TEXTURE(field, their_field) \
    SAME_FIELD(cxu_texture_descriptor, field, CUDA_TEXTURE_DESC, their_field)
SAME_SIZE(cxu_texture_descriptor, CUDA_TEXTURE_DESC)
SAME_TEXTURE(address_mode, addressMode)
SAME_TEXTURE(filter_mode, filterMode)
SAME_TEXTURE(flags, flags)
SAME_TEXTURE(max_anisotropy, maxAnisotropy)
SAME_TEXTURE(mipmap_filter_mode, mipmapFilterMode)
SAME_TEXTURE(mipmap_level_bias, mipmapLevelBias)
SAME_TEXTURE(min_mipmap_level_clamp, minMipmapLevelClamp)
SAME_TEXTURE(max_mipmap_level_clamp, maxMipmapLevelClamp)
SAME_TEXTURE(border_color, borderColor)

#define SAME_VIEW(field, their_field) \
    SAME_FIELD(cxu_resource_view_descriptor, field, CUDA_RESOURCE_VIEW_DESC, their_field)
SAME_SIZE(cxu_resource_view_descriptor, CUDA_RESOURCE_VIEW_DESC)
SAME_VIEW(format, format)
SAME_VIEW(width, width)
SAME_VIEW(height, height)
SAME_VIEW(depth, depth)
SAME_VIEW(first_mipmap_level, firstMipmapLevel)
SAME_VIEW(last_mipmap_level, lastMipmapLevel)
SAME_VIEW(first_layer, firstLayer)
SAME_VIEW(last_layer, lastLayer)

#define SAME_3D(field, their_field) SAME_FIELD(cxu_memcpy_3d, field, CUDA_MEMCPY3D, their_field)
SAME_SIZE(cxu_memcpy_3d, CUDA_MEMCPY3D)
SAME_3D(source_x_bytes, srcXInBytes)
SAME_3D(source_y, srcY)
SAME_3D(source_z, srcZ)
SAME_3D(source_lod, srcLOD)
SAME_3D(source_type, srcMemoryType)
SAME_3D(source_host, srcHost)
SAME_3D(source_device, srcDevice)
SAME_3D(source_array, srcArray)
SAME_3D(source_reserved, reserved0)
SAME_3D(source_pitch_bytes, srcPitch)
SAME_3D(source_height, srcHeight)
SAME_3D(destination_x_bytes, dstXInBytes)
SAME_3D(destination_y, dstY)
SAME_3D(destination_z, dstZ)
SAME_3D(destination_lod, dstLOD)
SAME_3D(destination_type, dstMemoryType)
SAME_3D(destination_host, dstHost)
SAME_3D(destination_device, dstDevice)
SAME_3D(destination_array, dstArray)
SAME_3D(destination_reserved, reserved1)
SAME_3D(destination_pitch_bytes, dstPitch)
SAME_3D(destination_height, dstHeight)
SAME_3D(width_bytes, WidthInBytes)
SAME_3D(height, Height)
SAME_3D(depth, Depth)

SAME_SIZE(cxu_jit_input_type, CUjitInputType)
SAME_SIZE(cxu_jit_option, CUjit_option)
SAME_SIZE(cxu_library_option, CUlibraryOption)
SAME_SIZE(cxu_stream_capture_status, CUstreamCaptureStatus)
SAME_SIZE(cxu_stream_capture_mode, CUstreamCaptureMode)
SAME_SIZE(cxu_graph_node_type, CUgraphNodeType)
SAME_SIZE(cxu_graph_exec_update_result, CUgraphExecUpdateResult)
#define SAME_MEMSET(field, their_field) \
    SAME_FIELD(cxu_memset_node_params, field, CUDA_MEMSET_NODE_PARAMS, their_field)
SAME_SIZE(cxu_memset_node_params, CUDA_MEMSET_NODE_PARAMS)
SAME_MEMSET(destination, dst)
SAME_MEMSET(pitch_bytes, pitch)
SAME_MEMSET(value, value)
SAME_MEMSET(element_bytes, elementSize)
SAME_MEMSET(width, width)
SAME_MEMSET(height, height)
SAME_SIZE(cxu_host_node_params, CUDA_HOST_NODE_PARAMS)
SAME_FIELD(cxu_host_node_params, function, CUDA_HOST_NODE_PARAMS, fn)
SAME_FIELD(cxu_host_node_params, user_data, CUDA_HOST_NODE_PARAMS, userData)

SAME_SIZE(cxu_func_attribute, CUfunction_attribute)
#if CUDA_VERSION >= 12000
#define SAME_KERNEL(field, their_field)                                                       \
    SAME_FIELD(cxu_kernel_node_params_v1, field, CUDA_KERNEL_NODE_PARAMS_v1, their_field)     \
    SAME_FIELD(cxu_kernel_node_params, field, CUDA_KERNEL_NODE_PARAMS_v2, their_field)
SAME_SIZE(cxu_kernel_node_params_v1, CUDA_KERNEL_NODE_PARAMS_v1)
SAME_SIZE(cxu_kernel_node_params, CUDA_KERNEL_NODE_PARAMS_v2)
SAME_KERNEL(function, func)
SAME_KERNEL(grid_x, gridDimX)
SAME_KERNEL(grid_y, gridDimY)
SAME_KERNEL(grid_z, gridDimZ)
SAME_KERNEL(block_x, blockDimX)
SAME_KERNEL(block_y, blockDimY)
SAME_KERNEL(block_z, blockDimZ)
SAME_KERNEL(shared_bytes, sharedMemBytes)
SAME_KERNEL(parameters, kernelParams)
SAME_KERNEL(extra, extra)
SAME_FIELD(cxu_kernel_node_params, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern)
SAME_FIELD(cxu_kernel_node_params, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx)
#define SAME_LAUNCH(field, their_field) \
    SAME_FIELD(cxu_launch_config, field, CUlaunchConfig, their_field)
SAME_SIZE(cxu_launch_config, CUlaunchConfig)
SAME_LAUNCH(grid_x, gridDimX)
SAME_LAUNCH(block_z, blockDimZ)
SAME_LAUNCH(shared_bytes, sharedMemBytes)
SAME_LAUNCH(stream, hStream)
SAME_LAUNCH(attributes, attrs)
SAME_LAUNCH(attribute_count, numAttrs)
SAME_SIZE(cxu_launch_attribute_id, CUlaunchAttributeID)
SAME_SIZE(cxu_launch_attribute, CUlaunchAttribute)
SAME_FIELD(cxu_launch_attribute, id, CUlaunchAttribute, id)
SAME_FIELD(cxu_launch_attribute, value, CUlaunchAttribute, value)
SAME_FIELD(cxu_launch_attribute, value.number, CUlaunchAttribute, value.cooperative)
SAME_FIELD(cxu_launch_attribute, value.cluster, CUlaunchAttribute, value.clusterDim)
SAME_FIELD(cxu_launch_attribute, value.window, CUlaunchAttribute, value.accessPolicyWindow)
#if CUDA_VERSION >= 12040
#define SAME_VALUE(field, their_field) \
    SAME_FIELD(cxu_launch_attribute, value.field, CUlaunchAttribute, value.their_field)
SAME_VALUE(record.event, launchCompletionEvent.event)
SAME_VALUE(record.flags, programmaticEvent.flags)
SAME_VALUE(record.at_block_start, programmaticEvent.triggerAtBlockStart)
SAME_VALUE(device_node.updatable, deviceUpdatableKernelNode.deviceUpdatable)
SAME_VALUE(device_node.node, deviceUpdatableKernelNode.devNode)
#endif
SAME_FIELD(cxu_access_policy_window, bytes, CUaccessPolicyWindow, num_bytes)
SAME_FIELD(cxu_access_policy_window, hit_ratio, CUaccessPolicyWindow, hitRatio)
SAME_SIZE(cxu_module_loading_mode, CUmoduleLoadingMode)
#endif
#if CUDA_VERSION >= 12040
SAME_SIZE(cxu_function_loading_state, CUfunctionLoadingState)
#endif

#if CUDA_VERSION >= 11000
#define SAME_PROPERTY(field, their_field) \
    SAME_FIELD(cxu_mem_properties, field, CUmemAllocationProp, their_field)
SAME_SIZE(cxu_mem_handle_type, CUmemAllocationHandleType)
SAME_SIZE(cxu_mem_advise, CUmem_advise)
SAME_SIZE(cxu_mem_range_attribute, CUmem_range_attribute)
SAME_SIZE(cxu_mem_allocation_type, CUmemAllocationType)
SAME_SIZE(cxu_mem_granularity, CUmemAllocationGranularity_flags)
SAME_SIZE(cxu_mem_location, CUmemLocation)
SAME_FIELD(cxu_mem_location, type, CUmemLocation, type)
SAME_FIELD(cxu_mem_location, id, CUmemLocation, id)
SAME_SIZE(cxu_mem_access, CUmemAccessDesc)
SAME_FIELD(cxu_mem_access, location, CUmemAccessDesc, location)
SAME_FIELD(cxu_mem_access, flags, CUmemAccessDesc, flags)
SAME_SIZE(cxu_mem_properties, CUmemAllocationProp)
SAME_PROPERTY(type, type)
SAME_PROPERTY(handle_types, requestedHandleTypes)
SAME_PROPERTY(location, location)
SAME_PROPERTY(win32_attributes, win32HandleMetaData)
SAME_PROPERTY(flags, allocFlags)
SAME_PROPERTY(flags.compression, allocFlags.compressionType)
SAME_PROPERTY(flags.gpu_direct_rdma, allocFlags.gpuDirectRDMACapable)
SAME_PROPERTY(flags.usage, allocFlags.usage)
SAME_PROPERTY(flags.reserved, allocFlags.reserved)
#endif
#if CUDA_VERSION >= 11070
#define SAME_MEM_OP(field, their_field) \
    SAME_FIELD(cxu_stream_mem_op, field, CUstreamBatchMemOpParams, their_field)
SAME_SIZE(cxu_stream_mem_op_type, CUstreamBatchMemOpType)
SAME_SIZE(cxu_stream_mem_op, CUstreamBatchMemOpParams)
SAME_MEM_OP(type, operation)
SAME_MEM_OP(order_flags, memoryBarrier.flags)
SAME_MEM_OP(order_flags, flushRemoteWrites.flags)
SAME_MEM_OP(address, waitValue.address)
SAME_MEM_OP(value.narrow, waitValue.value)
SAME_MEM_OP(value.wide, writeValue.value64)
SAME_MEM_OP(flags, waitValue.flags)
SAME_MEM_OP(flags, writeValue.flags)
SAME_MEM_OP(alias, waitValue.alias)
SAME_SIZE(cxu_batch_mem_op_node_params, CUDA_BATCH_MEM_OP_NODE_PARAMS)
SAME_FIELD(cxu_batch_mem_op_node_params, context, CUDA_BATCH_MEM_OP_NODE_PARAMS, ctx)
SAME_FIELD(cxu_batch_mem_op_node_params, count, CUDA_BATCH_MEM_OP_NODE_PARAMS, count)
SAME_FIELD(cxu_batch_mem_op_node_params, operations, CUDA_BATCH_MEM_OP_NODE_PARAMS, paramArray)
SAME_FIELD(cxu_batch_mem_op_node_params, flags, CUDA_BATCH_MEM_OP_NODE_PARAMS, flags)
#endif
#if CUDA_VERSION >= 11020
SAME_SIZE(cxu_mem_pool_attribute, CUmemPool_attribute)
SAME_SIZE(cxu_mem_access_flags, CUmemAccess_flags)
SAME_SIZE(cxu_mem_pool_properties, CUmemPoolProps)
SAME_SIZE(cxu_mem_pool_pointer, CUmemPoolPtrExportData)
SAME_FIELD(cxu_mem_pool_properties, type, CUmemPoolProps, allocType)
SAME_FIELD(cxu_mem_pool_properties, handle_types, CUmemPoolProps, handleTypes)
SAME_FIELD(cxu_mem_pool_properties, location, CUmemPoolProps, location)
SAME_FIELD(cxu_mem_pool_properties, win32_attributes, CUmemPoolProps, win32SecurityAttributes)
#endif
#if CUDA_VERSION >= 12030
SAME_FIELD(cxu_mem_pool_properties, max_bytes, CUmemPoolProps, maxSize)
#endif
#if CUDA_VERSION >= 13000
SAME_FIELD(cxu_mem_pool_properties, usage, CUmemPoolProps, usage)
#endif
#if CUDA_VERSION >= 11040
SAME_SIZE(cxu_exec_affinity_type, CUexecAffinityType)
SAME_SIZE(cxu_exec_affinity, CUexecAffinityParam)
SAME_FIELD(cxu_exec_affinity, type, CUexecAffinityParam, type)
SAME_FIELD(cxu_exec_affinity, value, CUexecAffinityParam, param)
SAME_FIELD(cxu_exec_affinity, value.multiprocessors.count, CUexecAffinityParam, param.smCount.val)
#endif
#if CUDA_VERSION >= 12000
#define SAME_INSTANTIATE(field, their_field) \
    SAME_FIELD(cxu_graph_instantiate_params, field, CUDA_GRAPH_INSTANTIATE_PARAMS, their_field)
SAME_SIZE(cxu_graph_instantiate_result, CUgraphInstantiateResult)
SAME_SIZE(cxu_graph_instantiate_params, CUDA_GRAPH_INSTANTIATE_PARAMS)
SAME_INSTANTIATE(flags, flags)
SAME_INSTANTIATE(upload_stream, hUploadStream)
SAME_INSTANTIATE(out_error_node, hErrNode_out)
SAME_INSTANTIATE(out_result, result_out)
#define SAME_UPDATE(field, their_field) \
    SAME_FIELD(cxu_graph_exec_update_result_info, field, CUgraphExecUpdateResultInfo, their_field)
SAME_SIZE(cxu_graph_exec_update_result_info, CUgraphExecUpdateResultInfo)
SAME_UPDATE(result, result)
SAME_UPDATE(error_node, errorNode)
SAME_UPDATE(error_from_node, errorFromNode)
#endif
#if CUDA_VERSION >= 12020
#define SAME_NODE(field, their_field) \
    SAME_FIELD(cxu_graph_node_params, field, CUgraphNodeParams, their_field)
SAME_SIZE(cxu_graph_node_params, CUgraphNodeParams)
SAME_NODE(type, type)
SAME_NODE(reserved, reserved0)
SAME_NODE(of.words, reserved1)
SAME_NODE(of.copy.flags, memcpy.flags)
SAME_NODE(of.copy.reserved, memcpy.reserved)
SAME_NODE(of.copy.context, memcpy.copyCtx)
SAME_NODE(of.copy.params, memcpy.copyParams)
SAME_NODE(of.fill.params.height, memset.height)
SAME_NODE(of.fill.context, memset.ctx)
SAME_NODE(of.host, host)
SAME_NODE(of.kernel, kernel)
SAME_NODE(of.child.graph, graph.graph)
SAME_NODE(of.event, eventWait.event)
SAME_NODE(of.event, eventRecord.event)
SAME_NODE(reserved_tail, reserved2)
#endif
#if CUDA_VERSION >= 13000
SAME_NODE(of.child.ownership, graph.ownership)
#endif
#if CUDA_VERSION >= 12030
SAME_SIZE(cxu_graph_edge_data, CUgraphEdgeData)
SAME_SIZE(cxu_graph_mem_attribute, CUgraphMem_attribute)
SAME_SIZE(cxu_graph_conditional_type, CUgraphConditionalNodeType)
SAME_SIZE(cxu_mem_alloc_node_params, CUDA_MEM_ALLOC_NODE_PARAMS)
SAME_FIELD(cxu_mem_alloc_node_params, pool, CUDA_MEM_ALLOC_NODE_PARAMS, poolProps)
SAME_FIELD(cxu_mem_alloc_node_params, accesses, CUDA_MEM_ALLOC_NODE_PARAMS, accessDescs)
SAME_FIELD(cxu_mem_alloc_node_params, access_count, CUDA_MEM_ALLOC_NODE_PARAMS, accessDescCount)
SAME_FIELD(cxu_mem_alloc_node_params, bytes, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize)
SAME_FIELD(cxu_mem_alloc_node_params, address, CUDA_MEM_ALLOC_NODE_PARAMS, dptr)
SAME_SIZE(cxu_conditional_node_params, CUDA_CONDITIONAL_NODE_PARAMS)
SAME_FIELD(cxu_conditional_node_params, handle, CUDA_CONDITIONAL_NODE_PARAMS, handle)
SAME_FIELD(cxu_conditional_node_params, type, CUDA_CONDITIONAL_NODE_PARAMS, type)
SAME_FIELD(cxu_conditional_node_params, size, CUDA_CONDITIONAL_NODE_PARAMS, size)
SAME_FIELD(cxu_conditional_node_params, bodies, CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out)
SAME_FIELD(cxu_conditional_node_params, context, CUDA_CONDITIONAL_NODE_PARAMS, ctx)
SAME_SIZE(cxu_device_properties, CUdevprop)
SAME_FIELD(cxu_device_properties, max_block, CUdevprop, maxThreadsDim)
SAME_FIELD(cxu_device_properties, max_grid, CUdevprop, maxGridSize)
SAME_FIELD(cxu_device_properties, shared_bytes_per_block, CUdevprop, sharedMemPerBlock)
SAME_FIELD(cxu_device_properties, constant_bytes, CUdevprop, totalConstantMemory)
SAME_FIELD(cxu_device_properties, warp_size, CUdevprop, SIMDWidth)
SAME_FIELD(cxu_device_properties, max_pitch_bytes, CUdevprop, memPitch)
SAME_FIELD(cxu_device_properties, registers_per_block, CUdevprop, regsPerBlock)
SAME_FIELD(cxu_device_properties, clock_rate_khz, CUdevprop, clockRate)
SAME_FIELD(cxu_device_properties, texture_alignment, CUdevprop, textureAlign)
SAME_SIZE(cxu_launch_params, CUDA_LAUNCH_PARAMS)
SAME_FIELD(cxu_launch_params, grid_x, CUDA_LAUNCH_PARAMS, gridDimX)
SAME_FIELD(cxu_launch_params, block_x, CUDA_LAUNCH_PARAMS, blockDimX)
SAME_FIELD(cxu_launch_params, shared_bytes, CUDA_LAUNCH_PARAMS, sharedMemBytes)
SAME_FIELD(cxu_launch_params, stream, CUDA_LAUNCH_PARAMS, hStream)
SAME_FIELD(cxu_launch_params, parameters, CUDA_LAUNCH_PARAMS, kernelParams)
SAME_SIZE(cxu_external_memory_handle, CUDA_EXTERNAL_MEMORY_HANDLE_DESC)
SAME_FIELD(cxu_external_memory_handle, type, CUDA_EXTERNAL_MEMORY_HANDLE_DESC, type)
SAME_SIZE(cxu_memcpy_3d_peer, CUDA_MEMCPY3D_PEER)
SAME_FIELD(cxu_memcpy_3d_peer, source_type, CUDA_MEMCPY3D_PEER, srcMemoryType)
SAME_FIELD(cxu_memcpy_3d_peer, source_context, CUDA_MEMCPY3D_PEER, srcContext)
SAME_FIELD(cxu_memcpy_3d_peer, source_pitch_bytes, CUDA_MEMCPY3D_PEER, srcPitch)
SAME_FIELD(cxu_memcpy_3d_peer, destination_type, CUDA_MEMCPY3D_PEER, dstMemoryType)
SAME_FIELD(cxu_memcpy_3d_peer, destination_context, CUDA_MEMCPY3D_PEER, dstContext)
SAME_FIELD(cxu_memcpy_3d_peer, destination_height, CUDA_MEMCPY3D_PEER, dstHeight)
SAME_FIELD(cxu_memcpy_3d_peer, width_bytes, CUDA_MEMCPY3D_PEER, WidthInBytes)
SAME_FIELD(cxu_memcpy_3d_peer, depth, CUDA_MEMCPY3D_PEER, Depth)
SAME_SIZE(cxu_memcpy_attributes, CUmemcpyAttributes)
SAME_FIELD(cxu_memcpy_attributes, order, CUmemcpyAttributes, srcAccessOrder)
SAME_FIELD(cxu_memcpy_attributes, source_hint, CUmemcpyAttributes, srcLocHint)
SAME_FIELD(cxu_memcpy_attributes, destination_hint, CUmemcpyAttributes, dstLocHint)
SAME_FIELD(cxu_memcpy_attributes, flags, CUmemcpyAttributes, flags)
SAME_SIZE(cxu_memcpy_operand, CUmemcpy3DOperand)
SAME_FIELD(cxu_memcpy_operand, of.pointer.address, CUmemcpy3DOperand, op.ptr.ptr)
SAME_FIELD(cxu_memcpy_operand, of.pointer.row_length, CUmemcpy3DOperand, op.ptr.rowLength)
SAME_FIELD(cxu_memcpy_operand, of.pointer.layer_height, CUmemcpy3DOperand, op.ptr.layerHeight)
SAME_FIELD(cxu_memcpy_operand, of.pointer.hint, CUmemcpy3DOperand, op.ptr.locHint)
SAME_FIELD(cxu_memcpy_operand, of.array.array, CUmemcpy3DOperand, op.array.array)
SAME_SIZE(cxu_memcpy_3d_batch_op, CUDA_MEMCPY3D_BATCH_OP)
SAME_FIELD(cxu_memcpy_3d_batch_op, source, CUDA_MEMCPY3D_BATCH_OP, src)
SAME_FIELD(cxu_memcpy_3d_batch_op, destination, CUDA_MEMCPY3D_BATCH_OP, dst)
SAME_FIELD(cxu_memcpy_3d_batch_op, width, CUDA_MEMCPY3D_BATCH_OP, extent.width)
SAME_FIELD(cxu_memcpy_3d_batch_op, depth, CUDA_MEMCPY3D_BATCH_OP, extent.depth)
SAME_FIELD(cxu_memcpy_3d_batch_op, order, CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder)
SAME_FIELD(cxu_memcpy_3d_batch_op, flags, CUDA_MEMCPY3D_BATCH_OP, flags)
SAME_FIELD(cxu_graph_edge_data, from_port, CUgraphEdgeData, from_port)
SAME_FIELD(cxu_graph_edge_data, to_port, CUgraphEdgeData, to_port)
SAME_FIELD(cxu_graph_edge_data, type, CUgraphEdgeData, type)
SAME_FIELD(cxu_graph_edge_data, reserved, CUgraphEdgeData, reserved)
#endif
#if CUDA_VERSION >= 12050
SAME_SIZE(cxu_green_ctx_flags, CUgreenCtxCreate_flags)
SAME_SIZE(cxu_dev_sm_split_flags, CUdevSmResourceSplit_flags)
SAME_SIZE(cxu_dev_resource_type, CUdevResourceType)
SAME_SIZE(cxu_dev_sm_resource, CUdevSmResource)
SAME_FIELD(cxu_dev_sm_resource, count, CUdevSmResource, smCount)
SAME_FIELD(cxu_dev_sm_resource, least, CUdevSmResource, minSmPartitionSize)
SAME_FIELD(cxu_dev_sm_resource, multiple, CUdevSmResource, smCoscheduledAlignment)
SAME_SIZE(cxu_dev_resource, CUdevResource)
SAME_FIELD(cxu_dev_resource, type, CUdevResource, type)
SAME_FIELD(cxu_dev_resource, padding, CUdevResource, _internal_padding)
SAME_FIELD(cxu_dev_resource, of.sm, CUdevResource, sm)
SAME_SIZE(cxu_ctx_create_params, CUctxCreateParams)
SAME_FIELD(cxu_ctx_create_params, affinities, CUctxCreateParams, execAffinityParams)
SAME_FIELD(cxu_ctx_create_params, affinity_count, CUctxCreateParams, numExecAffinityParams)
SAME_FIELD(cxu_ctx_create_params, cig, CUctxCreateParams, cigParams)
#endif

/* KNOWN(HAS_x) is 1 where HAS_x is defined as 1, else 0. */
#define FILL_1 0,
#define KNOWN(word) KNOWN_1(word)
#define KNOWN_1(value) KNOWN_2(FILL_##value)
#define KNOWN_2(filled) KNOWN_3(filled 1, 0, )
#define KNOWN_3(first, second, ...) second

/* Signatures. Each of our types stands for theirs in the comparison: above they were found alike.
 */
#define cxu_result CUresult
#define cxu_device_attribute CUdevice_attribute
#define cxu_limit CUlimit
#define cxu_func_cache CUfunc_cache
#define cxu_shared_config CUsharedconfig
#define cxu_p2p_attribute CUdevice_P2PAttribute
#define cxu_pointer_attribute CUpointer_attribute
#define cxu_stream_callback CUstreamCallback
#define cxu_shared_of_block CUoccupancyB2DSize
#define cxu_output_mode CUoutput_mode
#define cxu_module_loading_mode CUmoduleLoadingMode
#define cxu_function_loading_state CUfunctionLoadingState
#define cxu_uuid CUuuid
#define cxu_ipc_mem_handle CUipcMemHandle
#define cxu_ipc_event_handle CUipcEventHandle
#define cxu_memcpy_2d CUDA_MEMCPY2D
#define cxu_memcpy_3d CUDA_MEMCPY3D
#define cxu_exec_affinity CUexecAffinityParam
#define cxu_ctx_create_params CUctxCreateParams
#define cxu_dev_resource CUdevResource
#define cxu_dev_resource_type CUdevResourceType
#define cxu_mem_handle_type CUmemAllocationHandleType
#define cxu_mem_granularity CUmemAllocationGranularity_flags
#define cxu_mem_location CUmemLocation
#define cxu_mem_access CUmemAccessDesc
#define cxu_mem_properties CUmemAllocationProp
#define cxu_stream_mem_op CUstreamBatchMemOpParams
#define cxu_batch_mem_op_node_params CUDA_BATCH_MEM_OP_NODE_PARAMS
#define cxu_mem_advise CUmem_advise
#define cxu_mem_range_attribute CUmem_range_attribute
#define cxu_exec_affinity_type CUexecAffinityType
#define cxu_launch_attribute_id CUlaunchAttributeID
#define cxu_launch_attribute_value CUlaunchAttributeValue
#define cxu_mem_access_flags CUmemAccess_flags
#define cxu_mem_allocation_type CUmemAllocationType
#define cxu_mem_pool_attribute CUmemPool_attribute
#define cxu_mem_pool_properties CUmemPoolProps
#define cxu_mem_pool_pointer CUmemPoolPtrExportData
#define cxu_jit_input_type CUjitInputType
#define cxu_jit_option CUjit_option
#define cxu_library_option CUlibraryOption
#define cxu_stream_capture_status CUstreamCaptureStatus
#define cxu_stream_capture_mode CUstreamCaptureMode
#define cxu_graph_node_type CUgraphNodeType
#define cxu_graph_edge_data CUgraphEdgeData
#define cxu_graph_node_params CUgraphNodeParams
#define cxu_memset_node_params CUDA_MEMSET_NODE_PARAMS
#define cxu_host_node_params CUDA_HOST_NODE_PARAMS
#define cxu_kernel_node_params_v1 CUDA_KERNEL_NODE_PARAMS_v1
#define cxu_kernel_node_params CUDA_KERNEL_NODE_PARAMS_v2
#define cxu_launch_config CUlaunchConfig
#define cxu_func_attribute CUfunction_attribute
#define cxu_device_properties CUdevprop
#define cxu_mem_alloc_node_params CUDA_MEM_ALLOC_NODE_PARAMS
#define cxu_graph_mem_attribute CUgraphMem_attribute
#define cxu_array_format CUarray_format
#define cxu_array_descriptor CUDA_ARRAY_DESCRIPTOR
#define cxu_address_mode CUaddress_mode
#define cxu_filter_mode CUfilter_mode
#define cxu_texture_object CUtexObject
#define cxu_surface_object CUsurfObject
#define cxu_resource_descriptor CUDA_RESOURCE_DESC
#define cxu_texture_descriptor CUDA_TEXTURE_DESC
#define cxu_resource_view_descriptor CUDA_RESOURCE_VIEW_DESC
#define cxu_array_3d_descriptor CUDA_ARRAY3D_DESCRIPTOR
#define cxu_array_sparse_properties CUDA_ARRAY_SPARSE_PROPERTIES
#define cxu_array_memory_requirements CUDA_ARRAY_MEMORY_REQUIREMENTS
#define cxu_atomic_operation CUatomicOperation
#define cxu_flush_rdma_target CUflushGPUDirectRDMAWritesTarget
#define cxu_flush_rdma_scope CUflushGPUDirectRDMAWritesScope
#define cxu_async_callback CUasyncCallback
#define cxu_logs_callback CUlogsCallback
#define cxu_log_iterator CUlogIterator
#define cxu_process_state CUprocessState
#define cxu_checkpoint_lock_args CUcheckpointLockArgs
#define cxu_checkpoint_checkpoint_args CUcheckpointCheckpointArgs
#define cxu_checkpoint_restore_args CUcheckpointRestoreArgs
#define cxu_checkpoint_unlock_args CUcheckpointUnlockArgs
#define cxu_external_memory_handle CUDA_EXTERNAL_MEMORY_HANDLE_DESC
#define cxu_array_map_info CUarrayMapInfo
#define cxu_launch_params CUDA_LAUNCH_PARAMS
#define cxu_memcpy_3d_peer CUDA_MEMCPY3D_PEER
#define cxu_memcpy_attributes CUmemcpyAttributes
#define cxu_memcpy_3d_batch_op CUDA_MEMCPY3D_BATCH_OP
#define cxu_graph_instantiate_params CUDA_GRAPH_INSTANTIATE_PARAMS
#define cxu_graph_exec_update_result CUgraphExecUpdateResult
#define cxu_graph_exec_update_result_info CUgraphExecUpdateResultInfo

#define COMPARE(known, theirs, since, arity, parameters) \
    COMPARE_1(known, theirs, since, arity, parameters)
#define COMPARE_1(known, theirs, since, arity, parameters) \
    COMPARE_KNOWN_##known(theirs, since, arity, parameters)
#define COMPARE_KNOWN_1(theirs, since, arity, parameters)                                  \
    _Static_assert(                                                                        \
        __builtin_types_compatible_p(cxu_result(*) CX_DECLARE(arity, parameters), theirs), \
        "the signature is not " #theirs);
#define COMPARE_KNOWN_0(theirs, since, arity, parameters) \
    _Static_assert((since) > CUDA_VERSION, #theirs " is not in cudaTypedefs.h");
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    COMPARE(KNOWN(HAS_PFN_##name##_v##since), PFN_##name##_v##since, since, arity, parameters)
#include "driver/symbols.def"

static const int rows_known[] = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    KNOWN(HAS_PFN_##name##_v##since),
#include "driver/symbols.def"
};

static const int rows_since[] = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    (since) <= CUDA_VERSION,
#include "driver/symbols.def"
};

static const int values_known[] = {
#define VALUE_SAME(ours, theirs) 1,
#define VALUE_ABSENT(ours) 0,
    CX_ABI_VALUES(VALUE_SAME, VALUE_ABSENT)};

static int sum(const int *known, size_t count)
{
    int total = 0;
    for (size_t i = 0; i < count; i++)
        total += known[i];
    return total;
}

static void report(int number, bool good, const char *what)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", number, what);
}

int main(void)
{
    int rows = (int)(sizeof rows_known / sizeof rows_known[0]);
    int rows_old_enough = sum(rows_since, (size_t)rows);
    int values = (int)(sizeof values_known / sizeof values_known[0]);
    int rows_compared = sum(rows_known, (size_t)rows);
    int values_compared = sum(values_known, (size_t)values);

    printf("1..4\n# cuda.h %d\n", CUDA_VERSION);
    printf("# %d of %d signatures compared, %d of %d values\n", rows_compared, rows,
           values_compared, values);
    report(1, rows_compared > 0 && rows_compared == rows_old_enough,
           "every signature was compared, but those newer than cuda.h");
    report(2, values_compared > 0 && (values_compared == values || CUDA_VERSION < KNOWN_VERSION),
           "every value was compared, but those newer than cuda.h");
    report(3,
           CXU_STREAM_LEGACY == CU_STREAM_LEGACY && CXU_STREAM_PER_THREAD == CU_STREAM_PER_THREAD,
           "the stream handles that name a stream are the same");
    report(4, abi_before_cuda_h() == sizeof(CUDA_MEMCPY3D),
           "both headers go together in either order");
    return 0;
}

#else

int main(void)
{
    printf("1..0 # SKIP no cuda.h was found when this was configured; see --with-cuda\n");
    return 0;
}

#endif
