/* A kernel that runs while the host talks to it through mapped memory: the host asks, the kernel
 * answers. */
#include "program.cuh"

#include <atomic>

enum { QUESTIONS = 20, STOP = -1 };

struct board {
    int question, asked, answer, answered;
};

__global__ void answer_all(volatile board *on)
{
    for (int number = 1;; number++) {
        while (on->asked < number)
            __nanosleep(1000);
        __threadfence_system();
        int question = on->question;
        if (question == STOP)
            return;
        int steps = 0;
        for (unsigned i = (unsigned)question; i > 1; i = i % 2 ? 3 * i + 1 : i / 2)
            steps++;
        on->answer = steps;
        __threadfence_system();
        on->answered = number;
    }
}

int main()
{
    board *here, *there;
    MUST(cudaHostAlloc(&here, sizeof *here, cudaHostAllocMapped));
    *here = board{};
    MUST(cudaHostGetDevicePointer(&there, here, 0));
    answer_all<<<1, 1>>>(there);
    LAUNCHED();
    HOLDS(cudaStreamQuery(0) == cudaErrorNotReady);
    volatile board *on = here;
    std::vector<int> found, expected;
    for (int i = 1; i <= QUESTIONS; i++) {
        on->question = i;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        on->asked = i;
        while (on->answered < i)
            ;
        std::atomic_thread_fence(std::memory_order_seq_cst);
        found.push_back(here->answer);
        int steps = 0;
        for (unsigned j = (unsigned)i; j > 1; j = j % 2 ? 3 * j + 1 : j / 2)
            steps++;
        expected.push_back(steps);
    }
    on->question = STOP;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    on->asked = QUESTIONS + 1;
    MUST(cudaDeviceSynchronize());
    same(found, expected, "answers");
    MUST(cudaFreeHost(here));
    return 0;
}
