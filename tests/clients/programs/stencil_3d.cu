/* A seven point stencil in a box: each thread keeps a column of it in registers as it goes up. */
#include "program.cuh"

enum { WIDTH = 32, DEPTH = 24, HEIGHT = 20 };

__host__ __device__ int place(int x, int y, int z)
{
    return (z * DEPTH + y) * WIDTH + x;
}

__global__ void step(const double *from, double *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= WIDTH - 1 || y >= DEPTH - 1)
        return;
    double below = from[place(x, y, 0)], here = from[place(x, y, 1)];
    for (int z = 1; z < HEIGHT - 1; z++) {
        double above = from[place(x, y, z + 1)];
        to[place(x, y, z)] =
            0.4 * here +
            0.1 * (below + above + from[place(x - 1, y, z)] + from[place(x + 1, y, z)] +
                   from[place(x, y - 1, z)] + from[place(x, y + 1, z)]);
        below = here;
        here = above;
    }
}

int main()
{
    std::vector<double> box(WIDTH * DEPTH * HEIGHT);
    random_numbers random(9);
    for (double &value : box)
        value = random.uniform();
    std::vector<double> next = box;
    on_device<double> a(box), b(box);
    double *from = a, *to = b;
    for (int i = 0; i < 4; i++) {
        step<<<dim3(WIDTH / 16, DEPTH / 8), dim3(16, 8)>>>(from, to);
        LAUNCHED();
        std::swap(from, to);
        for (int z = 1; z < HEIGHT - 1; z++)
            for (int y = 1; y < DEPTH - 1; y++)
                for (int x = 1; x < WIDTH - 1; x++)
                    next[place(x, y, z)] =
                        0.4 * box[place(x, y, z)] +
                        0.1 * (box[place(x, y, z - 1)] + box[place(x, y, z + 1)] +
                               box[place(x - 1, y, z)] + box[place(x + 1, y, z)] +
                               box[place(x, y - 1, z)] + box[place(x, y + 1, z)]);
        box.swap(next);
    }
    near(a.read(), box, 1e-12, "cells");
    return 0;
}
