/* Functions of the host in a stream, between its kernels: they see what was copied, and what they
 * write is copied on. */
#include "program.cuh"

enum { COUNT = 64, ROUNDS = 5 };

struct round_of_work {
    int *values, number;
    std::vector<int> *order;
};

__global__ void raise(int *values)
{
    values[threadIdx.x] += (int)threadIdx.x;
}

static void on_host(void *argument)
{
    round_of_work *round = (round_of_work *)argument;
    round->order->push_back(round->number);
    for (int i = 0; i < COUNT; i++)
        round->values[i] *= 2;
}

static void told(cudaStream_t, cudaError_t status, void *argument)
{
    *(cudaError_t *)argument = status;
}

int main()
{
    cudaStream_t stream;
    int *here, *there;
    const size_t bytes = COUNT * sizeof(int);
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocHost(&here, bytes));
    MUST(cudaMalloc(&there, bytes));
    MUST(cudaMemsetAsync(there, 0, bytes, stream));
    std::vector<int> order, expected(COUNT);
    std::vector<round_of_work> rounds(ROUNDS);
    cudaError_t status = cudaErrorUnknown;
    for (int i = 0; i < ROUNDS; i++) {
        rounds[i] = {here, i, &order};
        raise<<<1, COUNT, 0, stream>>>(there);
        LAUNCHED();
        MUST(cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, stream));
        MUST(cudaLaunchHostFunc(stream, on_host, &rounds[i]));
        MUST(cudaMemcpyAsync(there, here, bytes, cudaMemcpyHostToDevice, stream));
        for (int j = 0; j < COUNT; j++)
            expected[j] = (expected[j] + j) * 2;
    }
    MUST(cudaStreamAddCallback(stream, told, &status, 0));
    MUST(cudaStreamSynchronize(stream));
    same(std::vector<int>(here, here + COUNT), expected, "values");
    same(order, {0, 1, 2, 3, 4}, "order of the calls");
    HOLDS(status == cudaSuccess);
    MUST(cudaFreeHost(here));
    MUST(cudaFree(there));
    MUST(cudaStreamDestroy(stream));
    return 0;
}
