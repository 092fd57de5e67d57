/* Vectors. */
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void daxpy(double a, const double *x, double *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = fma(a, x[i], y[i]);
}

extern "C" __global__ void add_four(const float4 *x, const float4 *y, float4 *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 a = x[i], b = y[i];
        sum[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}

/* Real and imaginary parts side by side. */
extern "C" __global__ void multiply_complex(const float2 *x, const float2 *y, float2 *product, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    product[i].x = x[i].x * y[i].x - x[i].y * y[i].y;
    product[i].y = x[i].x * y[i].y + x[i].y * y[i].x;
}

extern "C" __global__ void gather_scatter(const int *from, const int *to, const int *values,
                                          int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[to[i]] = values[from[i]] - values[i];
}

extern "C" __global__ void reverse_block(int *values)
{
    __shared__ int tile[1024];
    int *mine = values + blockIdx.x * blockDim.x;
    tile[threadIdx.x] = mine[threadIdx.x];
    __syncthreads();
    mine[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

/* Each thread of a 3D grid writes where it is. */
extern "C" __global__ void number_threads(unsigned *out, uint3 size)
{
    uint3 at = make_uint3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                          blockIdx.z * blockDim.z + threadIdx.z);
    if (at.x < size.x && at.y < size.y && at.z < size.z)
        out[(at.z * size.y + at.y) * size.x + at.x] = at.x | at.y << 10 | at.z << 20;
}

/* The sums of the products of blocks: sums of whole numbers are exact in any order. */
extern "C" __global__ void dot(const int *x, const int *y, long long *sum, int n)
{
    __shared__ long long parts[256];
    long long part = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        part += (long long)x[i] * y[i];
    parts[threadIdx.x] = part;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (unsigned t = 1; t < blockDim.x; t++)
            part += parts[t];
        atomicAdd((unsigned long long *)sum, (unsigned long long)part);
    }
}

/* A difference of two outputs, with strides that are no powers of two. */
extern "C" __global__ void strided(const short *in, int *out, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[(i * stride) % n] - in[(i + stride) % n];
}
