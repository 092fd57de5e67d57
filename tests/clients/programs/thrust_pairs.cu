/* The template library thrust: sort by key, reduce by key, scan, transform and unique on vectors of
 * the device. */
#include "program.cuh"

#include <algorithm>
#include <map>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

struct squared {
    __host__ __device__ long long operator()(int value) const
    {
        return (long long)value * value;
    }
};

int main()
{
    const int count = 2000;
    random_numbers random(73);
    std::vector<int> keys = random.ints(count, 50), values = random.ints(count, 1000);
    std::map<int, int> sums;
    long long squares = 0;
    for (int i = 0; i < count; i++) {
        sums[keys[i]] += values[i];
        squares += (long long)values[i] * values[i];
    }
    thrust::device_vector<int> k(keys), v(values), some_keys(count), some_sums(count),
        places(count);
    long long found =
        thrust::transform_reduce(v.begin(), v.end(), squared(), 0ll, thrust::plus<long long>());
    HOLDS(found == squares);
    thrust::sort_by_key(k.begin(), k.end(), v.begin());
    auto ends =
        thrust::reduce_by_key(k.begin(), k.end(), v.begin(), some_keys.begin(), some_sums.begin());
    size_t groups = (size_t)(ends.first - some_keys.begin());
    std::vector<int> found_keys(groups), found_sums(groups), expected_keys, expected_sums, before;
    thrust::copy(some_keys.begin(), ends.first, found_keys.begin());
    thrust::copy(some_sums.begin(), ends.second, found_sums.begin());
    int start = 0;
    for (const auto &entry : sums) {
        expected_keys.push_back(entry.first);
        expected_sums.push_back(entry.second);
        before.push_back(start);
        start += entry.second;
    }
    same(found_keys, expected_keys, "keys");
    same(found_sums, expected_sums, "sums of keys");
    thrust::exclusive_scan(some_sums.begin(), ends.second, places.begin());
    std::vector<int> found_places(groups);
    thrust::copy(places.begin(), places.begin() + (long)groups, found_places.begin());
    same(found_places, before, "prefix sums");
    return 0;
}
