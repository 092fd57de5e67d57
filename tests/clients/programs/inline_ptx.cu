/* Instructions by asm: special registers, products and sums with carries, predicates, loads with
 * hints, 128-bit sums. */
#include "program.cuh"

enum { KINDS = 6 };

__device__ uint32_t lane()
{
    uint32_t number;
    asm("mov.u32 %0, %%laneid;" : "=r"(number));
    return number;
}

__global__ void work(const uint32_t *values, uint32_t *results)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, a, b = i * 77777 + 3,
             *result = results + i * KINDS;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(a) : "l"(values + i));
    result[0] = lane();
    asm("{\n\t.reg .u64 wide;\n\tmul.wide.u32 wide, %1, %2;\n\tshr.u64 wide, wide, "
        "16;\n\tcvt.u32.u64 %0, wide;\n\t}"
        : "=r"(result[1])
        : "r"(a), "r"(b));
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %2, 0;"
        : "=r"(result[2]), "=r"(result[3])
        : "r"(a), "r"(b));
    asm("{\n\t.reg .pred less;\n\tsetp.lt.s32 less, %1, %2;\n\tselp.u32 %0, 1, 2, less;\n\t}"
        : "=r"(result[4])
        : "r"(a), "r"(b));
    asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(result[5]) : "r"(a), "r"(b), "r"(i * 31));
}

__global__ void power(unsigned long long base, unsigned exponent, unsigned long long *result)
{
    unsigned __int128 value = 1;
    for (unsigned i = 0; i < exponent; i++)
        value = value * base % 0xffffffffffffffc5ull + i;
    result[0] = (unsigned long long)value;
    result[1] = (unsigned long long)(((__int128)-7 * base >> 3) / 1000003);
}

int main()
{
    const int count = 256;
    random_numbers random(79);
    std::vector<uint32_t> values(count), expected;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t a = values[i] = random.next() * 3, b = i * 77777 + 3, c = i * 31;
        uint64_t sum = (uint64_t)a + b;
        expected.insert(expected.end(), {i % 32, (uint32_t)((uint64_t)a * b >> 16), (uint32_t)sum,
                                         a + (uint32_t)(sum >> 32), (int)a < (int)b ? 1u : 2u,
                                         (a & b) | (a & c) | (b & c)});
    }
    on_device<uint32_t> there(values), results(count * KINDS);
    work<<<2, count / 2>>>(there, results);
    LAUNCHED();
    same(results.read(), expected, "results");

    const unsigned long long base = 0xfedcba9876543211ull;
    unsigned __int128 value = 1;
    for (unsigned i = 0; i < 50; i++)
        value = value * base % 0xffffffffffffffc5ull + i;
    on_device<unsigned long long> wide(2);
    power<<<1, 1>>>(base, 50, wide);
    LAUNCHED();
    same(wide.read(),
         {(unsigned long long)value, (unsigned long long)(((__int128)-7 * base >> 3) / 1000003)},
         "wide numbers");
    return 0;
}
