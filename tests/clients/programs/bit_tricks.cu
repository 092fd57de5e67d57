/* The intrinsics for bits and bytes: counts, reversals, funnel shifts, permutations, bytes in SIMD,
 * wide products. */
#include "program.cuh"

enum { KINDS = 14 };

__global__ void tricks(const uint32_t *words, uint32_t *results)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t a = words[i], b = words[i] * 2654435761u + 12345;
    uint32_t *result = results + i * KINDS;
    result[0] = (uint32_t)__popc(a);
    result[1] = __brev(a);
    result[2] = (uint32_t)__clz((int)a);
    result[3] = (uint32_t)__ffs((int)a);
    result[4] = __funnelshift_l(a, b, b & 31);
    result[5] = __funnelshift_r(a, b, b & 31);
    result[6] = __byte_perm(a, b, 0x6240);
    result[7] = __vadd4(a, b);
    result[8] = __vabsdiffu4(a, b);
    result[9] = __umulhi(a, b);
    result[10] = (uint32_t)__mulhi((int)a, (int)b);
    result[11] = (uint32_t)__dp4a((int)a, (int)b, 7);
    result[12] = __usad(a, b, 9);
    result[13] = (uint32_t)__popcll((unsigned long long)a * b) +
                 (uint32_t)__clzll((long long)((uint64_t)a << 7));
}

static uint32_t bytes(uint32_t a, uint32_t b, int (*make)(int, int))
{
    uint32_t word = 0;
    for (int shift = 0; shift < 32; shift += 8)
        word |= (uint32_t)(make((int)(a >> shift & 255), (int)(b >> shift & 255)) & 255) << shift;
    return word;
}

int main()
{
    const int words = 512;
    random_numbers random(42);
    std::vector<uint32_t> values(words), expected;
    for (int i = 0; i < words; i++)
        values[i] = i == 0   ? 0
                    : i == 1 ? ~0u
                             : random.next() << random.below(3) >> random.below(20);
    for (uint32_t a : values) {
        uint32_t b = a * 2654435761u + 12345, by = b & 31, reversed = 0, dot = 7;
        uint64_t wide = (uint64_t)b << 32 | a;
        for (int i = 0; i < 32; i++)
            reversed |= (a >> i & 1) << (31 - i);
        for (int shift = 0; shift < 32; shift += 8)
            dot += (uint32_t)((int8_t)(a >> shift) * (int8_t)(b >> shift));
        expected.insert(
            expected.end(),
            {(uint32_t)__builtin_popcount(a), reversed, a ? (uint32_t)__builtin_clz(a) : 32,
             (uint32_t)__builtin_ffs((int)a), (uint32_t)(wide << by >> 32), (uint32_t)(wide >> by),
             (a & 255) | (b & 255) << 8 | (a >> 16 & 255) << 16 | (b >> 16 & 255) << 24,
             bytes(a, b, [](int x, int y) { return x + y; }),
             bytes(a, b, [](int x, int y) { return abs(x - y); }),
             (uint32_t)((uint64_t)a * b >> 32), (uint32_t)((int64_t)(int)a * (int)b >> 32), dot,
             9 + (a > b ? a - b : b - a),
             (uint32_t)__builtin_popcountll((uint64_t)a * b) +
                 (a ? (uint32_t)__builtin_clzll((uint64_t)a << 7) : 64)});
    }
    on_device<uint32_t> there(values), results(expected.size());
    tricks<<<words / 64, 64>>>(there, results);
    LAUNCHED();
    same(results.read(), expected, "results");
    return 0;
}
