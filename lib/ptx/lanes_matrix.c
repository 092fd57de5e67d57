/* Products of matrices; CX_PTX_LANES_MULTIPLY is the name of it. */
#include "ptx/lane_loop.h"
#include "ptx/lanes.h"

#define BLOCK 8 /* columns; their number is a multiple of it */

void CX_PTX_LANES_MULTIPLY(const double *restrict a, const double *restrict b, double *restrict c,
                           unsigned rows, unsigned columns, unsigned depth);

/* Adds to C the product of A and B. Each sum is in the order of the depth. */
void CX_PTX_LANES_MULTIPLY(const double *restrict a, const double *restrict b, double *restrict c,
                           unsigned rows, unsigned columns, unsigned depth)
{
    for (unsigned row = 0; row < rows; row++)
        for (unsigned first = 0; first < columns; first += BLOCK) {
            double sums[BLOCK];

            for (unsigned i = 0; i < BLOCK; i++)
                sums[i] = c[row * columns + first + i];
            for (unsigned k = 0; k < depth; k++)
                for (unsigned i = 0; i < BLOCK; i++)
                    sums[i] += a[row * depth + k] * b[k * columns + first + i];
            for (unsigned i = 0; i < BLOCK; i++)
                c[row * columns + first + i] = sums[i];
        }
}
