#include "runtime/calls.h"
#include "runtime/driver.h"

cxr_error cxr_cudaStreamCreate(CUstream *out_stream)
{
    CX_CUDART_PASS(stream_create, (out_stream, CXU_STREAM_DEFAULT));
}

cxr_error cxr_cudaStreamCreateWithFlags(CUstream *out_stream, unsigned int flags)
{
    CX_CUDART_PASS(stream_create, (out_stream, flags));
}

cxr_error cxr_cudaStreamCreateWithPriority(CUstream *out_stream, unsigned int flags, int priority)
{
    CX_CUDART_PASS(stream_create_with_priority, (out_stream, flags, priority));
}

/* The default streams are the driver's own. */
cxr_error cxr_cudaStreamDestroy(CUstream stream)
{
    const cx_driver_table *driver;
    cxr_error error = cx_cudart_use_context(&driver);
    if (error != CXR_SUCCESS)
        return error;
    if (stream == NULL || stream == CXU_STREAM_LEGACY || stream == CXU_STREAM_PER_THREAD)
        return CXR_INVALID_RESOURCE_HANDLE;
    return (cxr_error)driver->stream_destroy(stream);
}

cxr_error cxr_cudaStreamGetPriority(CUstream stream, int *out_priority)
{
    CX_CUDART_PASS(stream_get_priority, (stream, out_priority));
}

cxr_error cxr_cudaStreamGetFlags(CUstream stream, unsigned int *out_flags)
{
    CX_CUDART_PASS(stream_get_flags, (stream, out_flags));
}

cxr_error cxr_cudaStreamGetId(CUstream stream, unsigned long long *out_id)
{
    CX_CUDART_PASS(stream_get_id, (stream, out_id));
}

cxr_error cxr_cudaStreamGetDevice(CUstream stream, int *out_device)
{
    CX_CUDART_PASS(stream_get_device, (stream, out_device));
}

cxr_error cxr_cudaStreamCopyAttributes(CUstream destination, CUstream source)
{
    CX_CUDART_PASS(stream_copy_attributes, (destination, source));
}

cxr_error cxr_cudaStreamGetAttribute(CUstream stream, cxu_launch_attribute_id attribute,
                                     cxu_launch_attribute_value *out_value)
{
    CX_CUDART_PASS(stream_get_attribute, (stream, attribute, out_value));
}

cxr_error cxr_cudaStreamSetAttribute(CUstream stream, cxu_launch_attribute_id attribute,
                                     const cxu_launch_attribute_value *value)
{
    CX_CUDART_PASS(stream_set_attribute, (stream, attribute, value));
}

cxr_error cxr_cudaStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    CX_CUDART_PASS(stream_wait_event, (stream, event, flags));
}

cxr_error cxr_cudaStreamSynchronize(CUstream stream)
{
    CX_CUDART_PASS(stream_synchronize, (stream));
}

cxr_error cxr_cudaStreamQuery(CUstream stream)
{
    CX_CUDART_PASS(stream_query, (stream));
}

cxr_error cxr_cudaStreamAttachMemAsync(CUstream stream, void *pointer, size_t bytes,
                                       unsigned int flags)
{
    CX_CUDART_PASS(stream_attach_mem_async, (stream, cx_cudart_address(pointer), bytes, flags));
}

/* ---- callbacks: their status is the driver's, with the same values ---- */

cxr_error cxr_cudaStreamAddCallback(CUstream stream, cxr_stream_callback callback, void *user_data,
                                    unsigned int flags)
{
    CX_CUDART_PASS(stream_add_callback, (stream, (cxu_stream_callback)callback, user_data, flags));
}

/* ---- capture ---- */

cxr_error cxr_cudaStreamBeginCapture(CUstream stream, cxu_stream_capture_mode mode)
{
    CX_CUDART_PASS(stream_begin_capture, (stream, mode));
}

cxr_error cxr_cudaStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                            const CUgraphNode *dependencies,
                                            const cxu_graph_edge_data *edges, size_t count,
                                            cxu_stream_capture_mode mode)
{
    CX_CUDART_PASS(stream_begin_capture_to_graph,
                   (stream, graph, dependencies, edges, count, mode));
}

cxr_error cxr_cudaStreamEndCapture(CUstream stream, CUgraph *out_graph)
{
    CX_CUDART_PASS(stream_end_capture, (stream, out_graph));
}

cxr_error cxr_cudaStreamIsCapturing(CUstream stream, cxu_stream_capture_status *out_status)
{
    CX_CUDART_PASS(stream_is_capturing, (stream, out_status));
}

cxr_error cxr_cudaStreamGetCaptureInfo(CUstream stream, cxu_stream_capture_status *out_status,
                                       unsigned long long *out_id)
{
    CX_CUDART_PASS(stream_get_capture_info_v1, (stream, out_status, (uint64_t *)out_id));
}

cxr_error cxr_cudaStreamGetCaptureInfo_v2(CUstream stream, cxu_stream_capture_status *out_status,
                                          unsigned long long *out_id, CUgraph *out_graph,
                                          const CUgraphNode **out_dependencies, size_t *out_count)
{
    CX_CUDART_PASS(stream_get_capture_info_v2, (stream, out_status, (uint64_t *)out_id, out_graph,
                                                out_dependencies, out_count));
}

cxr_error cxr_cudaStreamGetCaptureInfo_v3(CUstream stream, cxu_stream_capture_status *out_status,
                                          unsigned long long *out_id, CUgraph *out_graph,
                                          const CUgraphNode **out_dependencies,
                                          const cxu_graph_edge_data **out_edges, size_t *out_count)
{
    CX_CUDART_PASS(stream_get_capture_info, (stream, out_status, (uint64_t *)out_id, out_graph,
                                             out_dependencies, out_edges, out_count));
}

cxr_error cxr_cudaStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies,
                                                  size_t count, unsigned int flags)
{
    CX_CUDART_PASS(stream_update_capture_dependencies_v1, (stream, dependencies, count, flags));
}

cxr_error cxr_cudaStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *dependencies,
                                                     const cxu_graph_edge_data *edges, size_t count,
                                                     unsigned int flags)
{
    CX_CUDART_PASS(stream_update_capture_dependencies, (stream, dependencies, edges, count, flags));
}

cxr_error cxr_cudaThreadExchangeStreamCaptureMode(cxu_stream_capture_mode *mode)
{
    CX_CUDART_PASS(thread_exchange_stream_capture_mode, (mode));
}
