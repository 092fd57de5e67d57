/* The fast Fourier transform of rows: bits reversed, sines and cosines of the device, butterflies
 * in shared memory. */
#include "program.cuh"

enum { SIZE = 128, BITS = 7 };

__global__ void transform(const float2 *from, float2 *to)
{
    __shared__ float2 row[SIZE];
    int thread = threadIdx.x;
    for (int i = thread; i < SIZE; i += SIZE / 2)
        row[__brev(i) >> (32 - BITS)] = from[blockIdx.x * SIZE + i];
    for (int half = 1; half < SIZE; half *= 2) {
        __syncthreads();
        int low = thread / half * 2 * half + thread % half;
        float sine, cosine;
        sincospif(-(float)(thread % half) / half, &sine, &cosine);
        float2 a = row[low], b = row[low + half];
        float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
        row[low] = make_float2(a.x + turned.x, a.y + turned.y);
        row[low + half] = make_float2(a.x - turned.x, a.y - turned.y);
    }
    __syncthreads();
    for (int i = thread; i < SIZE; i += SIZE / 2)
        to[blockIdx.x * SIZE + i] = row[i];
}

int main()
{
    const int rows = 4;
    random_numbers random(28);
    std::vector<float2> values(rows * SIZE);
    for (float2 &value : values)
        value = make_float2(random.uniform(), random.uniform());
    std::vector<float> found, expected;
    on_device<float2> from(values), to(rows * SIZE);
    transform<<<rows, SIZE / 2>>>(from, to);
    LAUNCHED();
    for (float2 value : to.read()) {
        found.push_back(value.x);
        found.push_back(value.y);
    }
    for (int i = 0; i < rows * SIZE; i++) {
        double x = 0, y = 0;
        for (int j = 0; j < SIZE; j++) {
            double angle = -2 * M_PI * (i % SIZE * j % SIZE) / SIZE;
            float2 value = values[i / SIZE * SIZE + j];
            x += value.x * cos(angle) - value.y * sin(angle);
            y += value.x * sin(angle) + value.y * cos(angle);
        }
        expected.push_back((float)x);
        expected.push_back((float)y);
    }
    near(found, expected, 1e-3, "frequencies");
    return 0;
}
