/* The transpose of a matrix whose sides no tile divides, through tiles in shared memory and pitched
 * rows. */
#include "program.cuh"

enum { TILE = 16 };

__global__ void transpose(const float *from, size_t from_pitch, float *to, size_t to_pitch,
                          int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = from[y * from_pitch + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        to[y * to_pitch + x] = tile[threadIdx.x][threadIdx.y];
}

int main()
{
    const int width = 150, height = 83;
    std::vector<float> matrix = random_numbers(5).floats(width * height), expected(width * height),
                       found(width * height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            expected[x * height + y] = matrix[y * width + x];
    float *from, *to;
    size_t from_pitch, to_pitch, row = width * sizeof(float), column = height * sizeof(float);
    MUST(cudaMallocPitch(&from, &from_pitch, row, height));
    MUST(cudaMallocPitch(&to, &to_pitch, column, width));
    HOLDS(from_pitch % 32 == 0 && from_pitch >= row);
    MUST(cudaMemcpy2D(from, from_pitch, matrix.data(), row, row, height, cudaMemcpyHostToDevice));
    dim3 blocks(blocks_for(width, TILE), blocks_for(height, TILE));
    transpose<<<blocks, dim3(TILE, TILE)>>>(from, from_pitch / sizeof(float), to,
                                            to_pitch / sizeof(float), width, height);
    LAUNCHED();
    MUST(cudaMemcpy2D(found.data(), column, to, to_pitch, column, width, cudaMemcpyDeviceToHost));
    same(found, expected, "transposed");
    MUST(cudaFree(from));
    MUST(cudaFree(to));
    return 0;
}
