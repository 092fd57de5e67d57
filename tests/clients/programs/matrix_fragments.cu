/* Products of matrices by the warp's matrix instructions: halves into floats, and bytes into
 * integers. */
// nvcc: -arch=compute_75
#include "program.cuh"

#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

enum { SIDE = 48, TILE = 16 };

template <typename FROM, typename TO>
__global__ void multiply(const FROM *a, const FROM *b, TO *product)
{
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, FROM, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, FROM, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, TO> sum;
    wmma::fill_fragment(sum, 0);
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    for (int i = 0; i < SIDE; i += TILE) {
        wmma::load_matrix_sync(left, a + row * SIDE + i, SIDE);
        wmma::load_matrix_sync(right, b + column * SIDE + i, SIDE);
        wmma::mma_sync(sum, left, right, sum);
    }
    for (int i = 0; i < sum.num_elements; i++)
        sum.x[i] *= 2;
    wmma::store_matrix_sync(product + row * SIDE + column, sum, SIDE, wmma::mem_row_major);
}

/* The second matrix lies column by column. */
template <typename FROM, typename TO>
static void compare(const std::vector<int> &a, const std::vector<int> &b, const char *what)
{
    std::vector<FROM> left, right;
    std::vector<TO> expected(SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        left.push_back((FROM)(float)a[i]);
        right.push_back((FROM)(float)b[i]);
        for (int j = 0; j < SIDE; j++)
            expected[i] += (TO)(2 * a[i / SIDE * SIDE + j] * b[i % SIDE * SIDE + j]);
    }
    on_device<FROM> first(left), second(right);
    on_device<TO> product(SIDE * SIDE);
    multiply<FROM, TO><<<dim3(SIDE / TILE, SIDE / TILE), 32>>>(first, second, product);
    LAUNCHED();
    same(product.read(), expected, what);
}

int main()
{
    random_numbers random(71);
    std::vector<int> a = random.ints(SIDE * SIDE, 100), b = random.ints(SIDE * SIDE, 100);
    compare<__half, float>(a, b, "products of halves");
    compare<signed char, int>(a, b, "products of bytes");
    return 0;
}
