#include "driver/cuda_abi_graph.h"

#ifdef CX_TEST_HAVE_CUDA_H
#include <cuda.h>
#endif

#include "test_abi.h"

size_t abi_before_cuda_h(void)
{
    return sizeof(cxu_memcpy_3d);
}
