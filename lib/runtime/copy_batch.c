/* Batches of copies, in the form of CUDA 12.8, which tells the index of a failure, and of 13. */
#include "runtime/calls.h"
#include "runtime/driver.h"

#include <stddef.h>

cxr_error cxr_cudaMemcpyBatchAsync(void **destinations, void **sources, size_t *sizes, size_t count,
                                   cxu_memcpy_attributes *attributes, size_t *first_copies,
                                   size_t attribute_count, CUstream stream)
{
    CX_CUDART_PASS(memcpy_batch_async, ((CUdeviceptr *)destinations, (CUdeviceptr *)sources, sizes,
                                        count, attributes, first_copies, attribute_count, stream));
}

cxr_error cxr_cudaMemcpyBatchAsync_v12(void **destinations, void **sources, size_t *sizes,
                                       size_t count, cxu_memcpy_attributes *attributes,
                                       size_t *first_copies, size_t attribute_count,
                                       size_t *out_fail, CUstream stream)
{
    CX_CUDART_PASS(memcpy_batch_async_v1,
                   ((CUdeviceptr *)destinations, (CUdeviceptr *)sources, sizes, count, attributes,
                    first_copies, attribute_count, out_fail, stream));
}

cxr_error cxr_cudaMemcpy3DBatchAsync(size_t count, cxr_copy_3d_batch_op *copies,
                                     unsigned long long flags, CUstream stream)
{
    CX_CUDART_PASS(memcpy_3d_batch_async, (count, copies, flags, stream));
}

cxr_error cxr_cudaMemcpy3DBatchAsync_v12(size_t count, cxr_copy_3d_batch_op *copies,
                                         size_t *out_fail, unsigned long long flags,
                                         CUstream stream)
{
    CX_CUDART_PASS(memcpy_3d_batch_async_v1, (count, copies, out_fail, flags, stream));
}
