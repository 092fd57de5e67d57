/* Heat in a plate: a five point stencil, with a tile and its halo in shared memory, for some steps.
 */
#include "program.cuh"

enum { SIDE = 64, TILE = 16, STEPS = 12 };

__global__ void step(const float *from, float *to)
{
    __shared__ float tile[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    tile[ty][tx] = from[y * SIDE + x];
    if (threadIdx.x == 0)
        tile[ty][0] = x > 0 ? from[y * SIDE + x - 1] : 0;
    if (threadIdx.x == TILE - 1)
        tile[ty][TILE + 1] = x < SIDE - 1 ? from[y * SIDE + x + 1] : 0;
    if (threadIdx.y == 0)
        tile[0][tx] = y > 0 ? from[(y - 1) * SIDE + x] : 0;
    if (threadIdx.y == TILE - 1)
        tile[TILE + 1][tx] = y < SIDE - 1 ? from[(y + 1) * SIDE + x] : 0;
    __syncthreads();
    to[y * SIDE + x] =
        tile[ty][tx] + 0.2f * (tile[ty - 1][tx] + tile[ty + 1][tx] + tile[ty][tx - 1] +
                               tile[ty][tx + 1] - 4 * tile[ty][tx]);
}

static float at(const std::vector<float> &plate, int x, int y)
{
    return x < 0 || y < 0 || x >= SIDE || y >= SIDE ? 0 : plate[y * SIDE + x];
}

int main()
{
    std::vector<float> plate = random_numbers(8).floats(SIDE * SIDE), next(SIDE * SIDE);
    on_device<float> a(plate), b(SIDE * SIDE);
    float *from = a, *to = b;
    for (int i = 0; i < STEPS; i++) {
        step<<<dim3(SIDE / TILE, SIDE / TILE), dim3(TILE, TILE)>>>(from, to);
        LAUNCHED();
        std::swap(from, to);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                next[y * SIDE + x] =
                    at(plate, x, y) +
                    0.2f * (at(plate, x, y - 1) + at(plate, x, y + 1) + at(plate, x - 1, y) +
                            at(plate, x + 1, y) - 4 * at(plate, x, y));
        plate.swap(next);
    }
    near(a.read(), plate, 1e-5, "temperatures");
    return 0;
}
