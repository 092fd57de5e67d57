/* Pieces of an array in three streams that overlap, with events that order them and one that tells
 * the times. */
#include "program.cuh"

enum { STREAMS = 3, PIECE = 2048 };

__global__ void raise(int *values, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = values[i] * 3 + by;
}

/* Sums the pieces of all streams. */
__global__ void add(const int *pieces, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[i] = 0;
    for (int stream = 0; stream < STREAMS; stream++)
        sums[i] += pieces[stream * PIECE + i];
}

int main()
{
    int low, high, *here, *there, *sums;
    const size_t bytes = PIECE * sizeof(int);
    cudaStream_t streams[STREAMS];
    cudaEvent_t start, stop, done[STREAMS];
    MUST(cudaDeviceGetStreamPriorityRange(&low, &high));
    MUST(cudaMallocHost(&here, (STREAMS + 1) * bytes));
    MUST(cudaMalloc(&there, STREAMS * bytes));
    MUST(cudaMalloc(&sums, bytes));
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&stop));
    std::vector<int> values = random_numbers(56).ints(STREAMS * PIECE, 1000), expected(PIECE);
    for (int i = 0; i < STREAMS * PIECE; i++) {
        here[i] = values[i];
        expected[i % PIECE] += (values[i] * 3 + i / PIECE) * 3 + 1;
    }
    for (int i = 0; i < STREAMS; i++) {
        MUST(cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking, i == 0 ? high : low));
        MUST(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
    }
    MUST(cudaEventRecord(start, streams[0]));
    for (int i = 0; i < STREAMS; i++) {
        int *piece = there + i * PIECE;
        MUST(cudaMemcpyAsync(piece, here + i * PIECE, bytes, cudaMemcpyHostToDevice, streams[i]));
        raise<<<PIECE / 128, 128, 0, streams[i]>>>(piece, i);
        raise<<<PIECE / 128, 128, 0, streams[i]>>>(piece, 1);
        LAUNCHED();
        MUST(cudaEventRecord(done[i], streams[i]));
        MUST(cudaStreamWaitEvent(streams[0], done[i], 0));
    }
    add<<<PIECE / 128, 128, 0, streams[0]>>>(there, sums);
    LAUNCHED();
    MUST(cudaMemcpyAsync(here + STREAMS * PIECE, sums, bytes, cudaMemcpyDeviceToHost, streams[0]));
    MUST(cudaEventRecord(stop, streams[0]));
    MUST(cudaEventSynchronize(stop));
    float ms;
    MUST(cudaEventElapsedTime(&ms, start, stop));
    HOLDS(ms >= 0 && cudaStreamQuery(streams[0]) == cudaSuccess &&
          cudaEventQuery(done[1]) == cudaSuccess);
    same(std::vector<int>(here + STREAMS * PIECE, here + (STREAMS + 1) * PIECE), expected, "sums");
    for (int i = 0; i < STREAMS; i++) {
        MUST(cudaStreamDestroy(streams[i]));
        MUST(cudaEventDestroy(done[i]));
    }
    MUST(cudaEventDestroy(start));
    MUST(cudaEventDestroy(stop));
    MUST(cudaFreeHost(here));
    MUST(cudaFree(there));
    MUST(cudaFree(sums));
    return 0;
}
