/* Simulations and pictures. */

/* Bodies pull each other; a tile of them is in shared memory. */
extern "C" __global__ void attract(const float4 *bodies, float3 *forces, int n)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float3 force = make_float3(0, 0, 0);
    for (int first = 0; first < n; first += blockDim.x) {
        int other = first + threadIdx.x;
        tile[threadIdx.x] = other < n ? bodies[other] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < (int)blockDim.x; k++) {
            float dx = tile[k].x - mine.x, dy = tile[k].y - mine.y, dz = tile[k].z - mine.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float pull = tile[k].w * inverse * inverse * inverse;
            force.x += dx * pull;
            force.y += dy * pull;
            force.z += dz * pull;
        }
        __syncthreads();
    }
    if (i < n)
        forces[i] = force;
}

/* Rounds until a point leaves; lanes leave the loop at different times. */
extern "C" __global__ void mandelbrot(unsigned short *rounds, int width, int height, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    double cx = px * 3.0 / width - 2.25, cy = py * 2.5 / height - 1.25, x = 0, y = 0;
    int round = 0;
    while (round < most) {
        double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);
        if (__dadd_rn(xx, yy) > 4)
            break;
        y = __dadd_rn(__dmul_rn(__dmul_rn(2, x), y), cy);
        x = __dadd_rn(__dsub_rn(xx, yy), cx);
        round++;
    }
    rounds[py * width + px] = round;
}

/* Rays meet spheres, or the sky. */
struct sphere {
    float x, y, z, radius;
};

extern "C" __global__ void trace(const sphere *spheres, int count, float *depths, signed char *met,
                                 int width, int height)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float dx = (px + 0.5f) / width - 0.5f, dy = (py + 0.5f) / height - 0.5f, nearest = 1e9f;
    float length = sqrtf(dx * dx + dy * dy + 1);
    signed char which = -1;
    for (int i = 0; i < count; i++) {
        sphere s = spheres[i];
        float along = (dx * s.x + dy * s.y + s.z) / length;
        float square = s.x * s.x + s.y * s.y + s.z * s.z - along * along;
        float inside = s.radius * s.radius - square;
        if (inside < 0 || along < 0)
            continue;
        float depth = along - sqrtf(inside);
        if (depth < nearest) {
            nearest = depth;
            which = i;
        }
    }
    depths[py * width + px] = nearest;
    met[py * width + px] = which;
}

/* Darts thrown at a circle, counted in blocks. */
extern "C" __global__ void throw_darts(unsigned long long seed, int each, unsigned *inside)
{
    unsigned long long state = seed + (blockIdx.x * blockDim.x + threadIdx.x) * 0x9e3779b97f4a7c15ull;
    unsigned count = 0;
    for (int i = 0; i < each; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        unsigned x = state >> 48, y = state >> 32 & 0xffff;
        count += (unsigned long long)x * x + (unsigned long long)y * y < 1ull << 32;
    }
    int sum = __syncthreads_count(0);
    for (int by = 16; by > 0; by /= 2)
        count += __shfl_xor_sync(0xffffffff, count, by);
    if (threadIdx.x % 32 == 0)
        atomicAdd(inside, count + sum);
}

/* Steps of a spring, with a barrier between them. */
extern "C" __global__ void swing(double *place, double *speed, int n, int steps)
{
    __shared__ double now[128];
    int i = threadIdx.x;
    double x = i < n ? place[i] : 0, v = i < n ? speed[i] : 0;
    for (int step = 0; step < steps; step++) {
        now[i] = x;
        __syncthreads();
        double left = i > 0 ? now[i - 1] : 0, right = i + 1 < n ? now[i + 1] : 0;
        __syncthreads();
        v += 0.125 * (left + right - 2 * x);
        x += 0.25 * v;
    }
    if (i < n) {
        place[i] = x;
        speed[i] = v;
    }
}
