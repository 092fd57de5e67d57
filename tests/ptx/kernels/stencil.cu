/* Neighbours. */
#define RADIUS 3

extern "C" __global__ void sum_neighbours(const int *in, int *out, int n)
{
    __shared__ int tile[256 + 2 * RADIUS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x + RADIUS;
    tile[at] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        tile[at - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        tile[at + blockDim.x] = i + (int)blockDim.x < n ? in[i + blockDim.x] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int by = -RADIUS; by <= RADIUS; by++)
        sum += tile[at + by];
    if (i < n)
        out[i] = sum;
}

/* A step of heat in a plane; dynamic shared memory with a border. */
extern "C" __global__ void spread_heat(const float *in, float *out, int width, int height)
{
    extern __shared__ float tile[];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int pitch = blockDim.x + 2;
    for (int ty = threadIdx.y; ty < (int)blockDim.y + 2; ty += blockDim.y)
        for (int tx = threadIdx.x; tx < pitch; tx += blockDim.x) {
            int fx = min(max((int)(blockIdx.x * blockDim.x) + tx - 1, 0), width - 1);
            int fy = min(max((int)(blockIdx.y * blockDim.y) + ty - 1, 0), height - 1);
            tile[ty * pitch + tx] = in[fy * width + fx];
        }
    __syncthreads();
    if (x >= width || y >= height)
        return;
    const float *here = &tile[(threadIdx.y + 1) * pitch + threadIdx.x + 1];
    out[y * width + x] = here[0] + 0.125f * (here[-1] + here[1] + here[-pitch] + here[pitch] - 4 * here[0]);
}

extern "C" __global__ void sum_cube(const int *in, int *out, int3 size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z, sum = 0;
    if (x >= size.x || y >= size.y || z >= size.z)
        return;
    for (int axis = 0; axis < 3; axis++)
        for (int by = -1; by <= 1; by += 2) {
            int px = x + (axis == 0 ? by : 0), py = y + (axis == 1 ? by : 0), pz = z + (axis == 2 ? by : 0);
            if (px >= 0 && px < size.x && py >= 0 && py < size.y && pz >= 0 && pz < size.z)
                sum += in[(pz * size.y + py) * size.x + px];
        }
    out[(z * size.y + y) * size.x + x] = sum - 6 * in[(z * size.y + y) * size.x + x];
}

__constant__ int mask[5][5];

extern "C" __global__ void convolve(const unsigned char *in, int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 0;
    if (x >= width || y >= height)
        return;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++) {
            int fx = (x + dx + width) % width, fy = (y + dy + height) % height;
            sum += mask[dy + 2][dx + 2] * in[fy * width + fx];
        }
    out[y * width + x] = sum;
}

/* The game of life, 8 cells in each byte. */
extern "C" __global__ void live(const unsigned char *in, unsigned char *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned char cells = 0;
    for (int bit = 0; bit < 8; bit++) {
        int neighbours = 0, at = 8 * x + bit;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int cx = (at + dx + 8 * width) % (8 * width), cy = (y + dy + height) % height;
                if (dx != 0 || dy != 0)
                    neighbours += in[cy * width + cx / 8] >> cx % 8 & 1;
            }
        bool alive = in[y * width + x] >> bit & 1;
        if (neighbours == 3 || (alive && neighbours == 2))
            cells |= 1 << bit;
    }
    out[y * width + x] = cells;
}

/* Colours to grey: three bytes for each pixel. */
extern "C" __global__ void make_grey(const uchar3 *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (77 * in[i].x + 150 * in[i].y + 29 * in[i].z + 128) >> 8;
}
