/* The Mandelbrot set: loops whose lengths differ from thread to thread, without fused operations.
 */
// nvcc: -fmad=false -Xcompiler -ffp-contract=off
#include "program.cuh"

enum { WIDTH = 96, HEIGHT = 64, LIMIT = 200 };

__host__ __device__ int escape(double a, double b)
{
    double x = 0, y = 0;
    for (int i = 0; i < LIMIT; i++) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4)
            return i;
        y = 2 * x * y + b;
        x = xx - yy + a;
    }
    return LIMIT;
}

__host__ __device__ int pixel(int x, int y)
{
    return escape(-2 + 3.0 / WIDTH * x, -1 + 2.0 / HEIGHT * y);
}

__global__ void draw(int *image)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    image[y * WIDTH + x] = pixel(x, y);
}

int main()
{
    std::vector<int> expected(WIDTH * HEIGHT);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            expected[y * WIDTH + x] = pixel(x, y);
    on_device<int> image(WIDTH * HEIGHT);
    draw<<<dim3(WIDTH / 8, HEIGHT / 8), dim3(8, 8)>>>(image);
    LAUNCHED();
    same(image.read(), expected, "pixels");
    return 0;
}
