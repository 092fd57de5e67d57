// PyTorch's caching allocator beside ctxrt's, in one process and by turns: an allocation and its
// release, by size. run.sh compiles it where PyTorch is; it prints the best and the median time of
// both, and the ratio of the medians.
#include <ctxrt/ctxrt.h>

#include <algorithm>
#include <c10/cuda/CUDACachingAllocator.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace
{

constexpr int ROUNDS = 15, COUNT = 20000;

void must(ctxrt_status status)
{
    if (status == CTXRT_SUCCESS)
        return;
    std::fprintf(stderr, "allocator_torch: %s\n", ctxrt_last_error()->message);
    std::exit(1);
}

template <typename Operation> double nanoseconds(Operation operation)
{
    const auto from = std::chrono::steady_clock::now();
    for (int i = 0; i < COUNT; i++)
        operation();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - from;
    return took.count() / COUNT;
}

double median(std::vector<double> all)
{
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

} // namespace

int main()
{
    must(ctxrt_device_set(CTXRT_CUDA(0)));
    c10::cuda::CUDACachingAllocator::init(1);
    std::printf("%-10s %14s %14s %14s %14s %8s\n", "bytes", "torch best ns", "median ns",
                "ctxrt best ns", "median ns", "ratio");
    for (size_t bytes : {size_t(512), size_t(64) << 10, size_t(1) << 20, size_t(64) << 20}) {
        std::vector<double> torch, ours;
        for (int round = 0; round <= ROUNDS; round++) { // the first is to warm up
            const double one = nanoseconds([bytes] {
                c10::cuda::CUDACachingAllocator::raw_delete(
                    c10::cuda::CUDACachingAllocator::raw_alloc(bytes));
            });
            const double other = nanoseconds([bytes] {
                ctxrt_memory *memory;
                must(ctxrt_memory_alloc(bytes, &memory));
                must(ctxrt_memory_release(memory));
            });
            if (round > 0) {
                torch.push_back(one);
                ours.push_back(other);
            }
        }
        std::printf("%-10zu %14.1f %14.1f %14.1f %14.1f %8.2f\n", bytes,
                    *std::min_element(torch.begin(), torch.end()), median(torch),
                    *std::min_element(ours.begin(), ours.end()), median(ours),
                    median(ours) / median(torch));
    }
    return 0;
}
