#include "runtime/calls.h"
#include "runtime/driver.h"

cxr_error cxr_cudaEventCreate(CUevent *out_event)
{
    CX_CUDART_PASS(event_create, (out_event, CXU_EVENT_DEFAULT));
}

cxr_error cxr_cudaEventCreateWithFlags(CUevent *out_event, unsigned int flags)
{
    CX_CUDART_PASS(event_create, (out_event, flags));
}

cxr_error cxr_cudaEventRecord(CUevent event, CUstream stream)
{
    CX_CUDART_PASS(event_record, (event, stream));
}

cxr_error cxr_cudaEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags)
{
    CX_CUDART_PASS(event_record_with_flags, (event, stream, flags));
}

cxr_error cxr_cudaEventQuery(CUevent event)
{
    CX_CUDART_PASS(event_query, (event));
}

cxr_error cxr_cudaEventSynchronize(CUevent event)
{
    CX_CUDART_PASS(event_synchronize, (event));
}

cxr_error cxr_cudaEventDestroy(CUevent event)
{
    CX_CUDART_PASS(event_destroy, (event));
}

cxr_error cxr_cudaEventElapsedTime(float *out_ms, CUevent start, CUevent end)
{
    CX_CUDART_PASS(event_elapsed_time, (out_ms, start, end));
}

cxr_error cxr_cudaEventElapsedTime_v2(float *out_ms, CUevent start, CUevent end)
{
    CX_CUDART_PASS(event_elapsed_time_v2, (out_ms, start, end));
}
