/* A separable convolution: rows, then columns, with the weights in constant memory and edges
 * repeated. */
#include "program.cuh"

enum { RADIUS = 4, WIDTH = 96, HEIGHT = 64 };

__constant__ float weights[2 * RADIUS + 1];

__host__ __device__ int inside(int i, int size)
{
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

__global__ void rows(const float *from, float *to)
{
    __shared__ float line[WIDTH + 2 * RADIUS];
    int x = threadIdx.x, y = blockIdx.x;
    for (int i = x; i < WIDTH + 2 * RADIUS; i += blockDim.x)
        line[i] = from[y * WIDTH + inside(i - RADIUS, WIDTH)];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i <= 2 * RADIUS; i++)
        sum += weights[i] * line[x + i];
    to[y * WIDTH + x] = sum;
}

__global__ void columns(const float *from, float *to)
{
    int x = threadIdx.x, y = blockIdx.x;
    float sum = 0;
    for (int i = -RADIUS; i <= RADIUS; i++)
        sum += weights[i + RADIUS] * from[inside(y + i, HEIGHT) * WIDTH + x];
    to[y * WIDTH + x] = sum;
}

int main()
{
    std::vector<float> image = random_numbers(7).floats(WIDTH * HEIGHT), kernel(2 * RADIUS + 1),
                       expected(WIDTH * HEIGHT);
    for (int i = -RADIUS; i <= RADIUS; i++)
        kernel[i + RADIUS] = expf(-i * i / 8.f) / 5;
    /* The CPU does both directions at once. */
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int i = -RADIUS; i <= RADIUS; i++)
                for (int j = -RADIUS; j <= RADIUS; j++)
                    expected[y * WIDTH + x] +=
                        kernel[i + RADIUS] * kernel[j + RADIUS] *
                        image[inside(y + i, HEIGHT) * WIDTH + inside(x + j, WIDTH)];
    MUST(cudaMemcpyToSymbol(weights, kernel.data(), sizeof weights));
    on_device<float> from(image), between(WIDTH * HEIGHT), to(WIDTH * HEIGHT);
    rows<<<HEIGHT, WIDTH>>>(from, between);
    LAUNCHED();
    columns<<<HEIGHT, WIDTH>>>(between, to);
    LAUNCHED();
    near(to.read(), expected, 1e-4, "pixels");
    return 0;
}
