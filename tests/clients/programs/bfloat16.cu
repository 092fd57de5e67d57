/* Numbers of the format bfloat16: conversions of all bit patterns, and sums of rows with the norm
 * of each. */
// nvcc: -arch=compute_80
#include "program.cuh"

#include <cstring>
#include <cuda_bf16.h>

enum { ROWS = 32, COLUMNS = 64 };

__global__ void widen(float *wide, unsigned short *back)
{
    int bits = blockIdx.x * blockDim.x + threadIdx.x;
    float value = __bfloat162float(__ushort_as_bfloat16((unsigned short)bits));
    wide[bits] = value;
    back[bits] = __bfloat16_as_ushort(__float2bfloat16(value * 1.002f));
}

__global__ void normalize(__nv_bfloat16 *rows)
{
    __nv_bfloat162 *row = (__nv_bfloat162 *)(rows + blockIdx.x * COLUMNS);
    float2 pair = __bfloat1622float2(row[threadIdx.x]);
    float sum = pair.x * pair.x + pair.y * pair.y;
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    row[threadIdx.x] = __hmul2(row[threadIdx.x], __float2bfloat162_rn(1 / sqrtf(sum)));
}

/* Rounds to the nearest, to even. */
static unsigned short narrow(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float widened(unsigned short bits)
{
    uint32_t word = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

int main()
{
    const int patterns = 0x7f80; /* those of finite numbers that are not negative */
    std::vector<float> wide(patterns);
    std::vector<unsigned short> back(patterns);
    for (int bits = 0; bits < patterns; bits++) {
        wide[bits] = widened((unsigned short)bits);
        back[bits] = narrow(wide[bits] * 1.002f);
    }
    on_device<float> found_wide(patterns);
    on_device<unsigned short> found_back(patterns);
    widen<<<patterns / 128, 128>>>(found_wide, found_back);
    LAUNCHED();
    same(found_wide.read(), wide, "widened");
    same(found_back.read(), back, "narrowed");

    std::vector<float> values = random_numbers(44).floats(ROWS * COLUMNS), found(ROWS * COLUMNS);
    std::vector<__nv_bfloat16> rows(ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = __float2bfloat16(values[i]);
    on_device<__nv_bfloat16> there(rows);
    normalize<<<ROWS, COLUMNS / 2>>>(there);
    LAUNCHED();
    rows = there.read();
    for (int row = 0; row < ROWS; row++) {
        float sum = 0;
        for (int i = 0; i < COLUMNS; i++)
            sum += values[row * COLUMNS + i] * values[row * COLUMNS + i];
        for (int i = row * COLUMNS; i < (row + 1) * COLUMNS; i++) {
            values[i] /= sqrtf(sum);
            found[i] = __bfloat162float(rows[i]);
        }
    }
    near(found, values, 0.01, "normalized");
    return 0;
}
