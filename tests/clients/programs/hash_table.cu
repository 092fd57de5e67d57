/* A table of keys with open places: threads put keys in by compare and swap, count them, and find
 * them again. */
#include "program.cuh"

#include <map>

enum { SLOTS = 2048, EMPTY = -1 };

struct entry {
    int key, count;
};

__device__ entry *slot_of(entry *table, int key, bool put)
{
    for (uint32_t i = (uint32_t)key * 2654435769u >> 21;; i = (i + 1) % SLOTS) {
        int there = put ? atomicCAS(&table[i].key, EMPTY, key) : table[i].key;
        if (there == key || (put && there == EMPTY))
            return table + i;
        if (there == EMPTY)
            return nullptr;
    }
}

__global__ void put(entry *table, const int *keys, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(&slot_of(table, keys[i], true)->count, 1);
}

__global__ void look_up(entry *table, int *counts, int count)
{
    int key = blockIdx.x * blockDim.x + threadIdx.x;
    if (key < count) {
        entry *found = slot_of(table, key * 3, false);
        counts[key] = found != nullptr ? found->count : 0;
    }
}

int main()
{
    const int count = 1700, different = 1500;
    std::vector<int> keys = random_numbers(95).ints(count, 3 * different), expected(different);
    std::map<int, int> counts;
    for (int key : keys)
        counts[key]++;
    for (int key = 0; key < different; key++)
        expected[key] = counts.count(key * 3) ? counts[key * 3] : 0;
    on_device<entry> table(std::vector<entry>(SLOTS, entry{EMPTY, 0}));
    on_device<int> there(keys), found(different);
    put<<<blocks_for(keys.size(), 128), 128>>>(table, there, (int)keys.size());
    LAUNCHED();
    look_up<<<blocks_for(different, 128), 128>>>(table, found, different);
    LAUNCHED();
    same(found.read(), expected, "counts");
    return 0;
}
