/* nvcc -arch=compute_75 -diag-suppress 177 -ptx -o kernels.ptx kernels.cu
 * The tree keeps that compressed by zstd -19. */
#include "kernels.h"
