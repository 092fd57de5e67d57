/* Conway's game of life on a torus; 32 cells lie in a word, which a warp makes by a ballot. */
#include "program.cuh"

enum { WIDTH = 128, HEIGHT = 48, WORDS = WIDTH / 32, GENERATIONS = 16 };

__host__ __device__ int cell(const uint32_t *world, int x, int y)
{
    x = (x + WIDTH) % WIDTH;
    y = (y + HEIGHT) % HEIGHT;
    return world[y * WORDS + x / 32] >> x % 32 & 1;
}

__host__ __device__ bool lives(const uint32_t *world, int x, int y)
{
    int neighbours = -cell(world, x, y);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            neighbours += cell(world, x + dx, y + dy);
    return neighbours == 3 || (neighbours == 2 && cell(world, x, y));
}

__global__ void generation(const uint32_t *from, uint32_t *to)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    uint32_t word = __ballot_sync(0xffffffff, lives(from, x, y));
    if (threadIdx.x % 32 == 0)
        to[y * WORDS + x / 32] = word;
}

int main()
{
    random_numbers random(19);
    std::vector<uint32_t> world(WORDS * HEIGHT), next(WORDS * HEIGHT);
    for (uint32_t &word : world)
        word = random.next() & random.next() << 8;
    on_device<uint32_t> a(world), b(WORDS * HEIGHT);
    uint32_t *from = a, *to = b;
    for (int i = 0; i < GENERATIONS; i++) {
        generation<<<dim3(WIDTH / 64, HEIGHT), 64>>>(from, to);
        LAUNCHED();
        std::swap(from, to);
        std::fill(next.begin(), next.end(), 0);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                next[y * WORDS + x / 32] |= (uint32_t)lives(world.data(), x, y) << x % 32;
        world.swap(next);
    }
    same(a.read(), world, "words of cells");
    return 0;
}
