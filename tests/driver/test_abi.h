/* The size of a 3D copy, as a unit sees it that includes our declarations before cuda.h. */
#ifndef CX_TEST_ABI_H
#define CX_TEST_ABI_H

#include <stddef.h>

size_t abi_before_cuda_h(void);

#endif
