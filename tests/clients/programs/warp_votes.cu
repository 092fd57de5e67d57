/* Votes of a warp: all, any, ballot and masks of parts; the last warp has lost some of its threads.
 */
#include "program.cuh"

enum { KINDS = 5 };

__global__ void vote(const int *values, unsigned *results, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int left = count - i / 32 * 32;
    unsigned here = left >= 32 ? 0xffffffff : (1u << left) - 1,
             even = __ballot_sync(here, values[i] % 2 == 0);
    unsigned *result = results + i * KINDS;
    result[0] = even;
    result[1] = (unsigned)__all_sync(here, values[i] < 990);
    result[2] = (unsigned)__any_sync(here, values[i] < 10);
    if (values[i] % 2 == 0) {
        result[3] = __ballot_sync(even, values[i] > 500);
        result[4] = (unsigned)__all_sync(even, values[i] % 4 == 0 || values[i] < 900);
    }
}

int main()
{
    const int count = 1000; /* the last warp has 8 threads */
    std::vector<int> values = random_numbers(66).ints(count, 1000);
    std::vector<unsigned> expected(count * KINDS);
    for (int start = 0; start < count; start += 32) {
        unsigned even = 0, all = 1, any = 0, large = 0, each = 1;
        for (int i = start; i < std::min(start + 32, count); i++) {
            unsigned bit = 1u << (i - start);
            all &= values[i] < 990;
            any |= values[i] < 10;
            if (values[i] % 2 == 0) {
                even |= bit;
                large |= values[i] > 500 ? bit : 0;
                each &= values[i] % 4 == 0 || values[i] < 900;
            }
        }
        for (int i = start; i < std::min(start + 32, count); i++) {
            unsigned row[KINDS] = {even, all, any, values[i] % 2 == 0 ? large : 0,
                                   values[i] % 2 == 0 ? each : 0};
            std::copy(row, row + KINDS, &expected[i * KINDS]);
        }
    }
    on_device<int> there(values);
    on_device<unsigned> results(count * KINDS);
    vote<<<blocks_for(count, 128), 128>>>(there, results, count);
    LAUNCHED();
    same(results.read(), expected, "votes");
    return 0;
}
