/* A stable merge sort: each element of two sorted runs finds its place in the merged run by binary
 * search. */
#include "program.cuh"

#include <algorithm>

struct record {
    int key, number;
};

/* How many of the run's keys come before the key; equal ones do if the run is the left one. */
__device__ int rank_in(const record *run, int length, int key, bool equal_too)
{
    int low = 0, high = length;
    while (low < high) {
        int middle = (low + high) / 2;
        if (run[middle].key < key || (equal_too && run[middle].key == key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void merge(const record *from, record *to, int count, int length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int pair = i / (2 * length) * 2 * length, middle = min(pair + length, count);
    int end = min(pair + 2 * length, count);
    bool left = i < middle;
    int place = left ? i - pair + rank_in(from + middle, end - middle, from[i].key, false)
                     : i - middle + rank_in(from + pair, middle - pair, from[i].key, true);
    to[pair + place] = from[i];
}

int main()
{
    const int count = 3001;
    random_numbers random(17);
    std::vector<record> records(count);
    for (int i = 0; i < count; i++)
        records[i] = {(int)random.below(200), i};
    on_device<record> a(records), b(count);
    record *from = a, *to = b;
    for (int length = 1; length < count; length *= 2) {
        merge<<<blocks_for(count, 256), 256>>>(from, to, count, length);
        LAUNCHED();
        std::swap(from, to);
    }
    std::stable_sort(records.begin(), records.end(),
                     [](record x, record y) { return x.key < y.key; });
    std::vector<int> found(count), expected(count);
    std::vector<record> sorted = from == a ? a.read() : b.read();
    for (int i = 0; i < count; i++) {
        found[i] = sorted[i].number;
        expected[i] = records[i].number;
    }
    same(found, expected, "records");
    return 0;
}
