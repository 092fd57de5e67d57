/* Bodies that attract each other: tiles of positions in shared memory, vectors of four floats. */
#include "program.cuh"

enum { BODIES = 256, TILE = 64 };

__host__ __device__ float3 pull(float3 sum, float4 here, float4 there)
{
    float x = there.x - here.x, y = there.y - here.y, z = there.z - here.z;
    float distance = x * x + y * y + z * z + 0.01f;
    float strength = there.w / (distance * sqrtf(distance));
    return make_float3(sum.x + x * strength, sum.y + y * strength, sum.z + z * strength);
}

__global__ void pull_all(const float4 *bodies, float *pulls)
{
    __shared__ float4 tile[TILE];
    int body = blockIdx.x * TILE + threadIdx.x;
    float4 here = bodies[body];
    float3 sum = make_float3(0, 0, 0);
    for (int start = 0; start < BODIES; start += TILE) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum = pull(sum, here, tile[i]);
        __syncthreads();
    }
    pulls[3 * body] = sum.x;
    pulls[3 * body + 1] = sum.y;
    pulls[3 * body + 2] = sum.z;
}

int main()
{
    random_numbers random(10);
    std::vector<float4> bodies(BODIES);
    std::vector<float> expected(3 * BODIES);
    for (float4 &body : bodies)
        body = make_float4(random.uniform(), random.uniform(), random.uniform(), random.uniform());
    for (int body = 0; body < BODIES; body++) {
        float3 sum = make_float3(0, 0, 0);
        for (const float4 &other : bodies)
            sum = pull(sum, bodies[body], other);
        expected[3 * body] = sum.x;
        expected[3 * body + 1] = sum.y;
        expected[3 * body + 2] = sum.z;
    }
    on_device<float4> there(bodies);
    on_device<float> pulls(3 * BODIES);
    pull_all<<<BODIES / TILE, TILE>>>(there, pulls);
    LAUNCHED();
    near(pulls.read(), expected, 1e-4, "pulls");
    return 0;
}
