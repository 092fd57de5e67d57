/* What streams take while they are captured: fills, symbols, two-dimensional copies, host
 * functions, events and a library call. */
#include "program.cuh"

enum { WIDTH = 20, HEIGHT = 6 };

__constant__ int factor;
__device__ int largest;

__global__ void scale(int *values)
{
    values[blockIdx.x * WIDTH + threadIdx.x] =
        values[blockIdx.x * WIDTH + threadIdx.x] * factor + (int)threadIdx.x;
}

__global__ void find(const int *values)
{
    atomicMax(&largest, values[blockIdx.x * WIDTH + threadIdx.x]);
}

static void add_one(void *number)
{
    ++*(int *)number;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t program;
    cudaStreamCaptureStatus status;
    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::vector<int> image = random_numbers(91).ints(WIDTH * HEIGHT, 100),
                     found(WIDTH * HEIGHT, -1), expected;
    int by = 7, most = 0, none = 0, calls = 0;
    {
        on_device<int> there(WIDTH * HEIGHT);
        MUST(cudaDeviceSynchronize());
        MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        MUST(cudaMemcpyToSymbolAsync(factor, &by, sizeof by, 0, cudaMemcpyHostToDevice, stream));
        MUST(cudaMemcpyToSymbolAsync(largest, &none, sizeof none, 0, cudaMemcpyHostToDevice,
                                     stream));
        MUST(cudaMemset2DAsync(there, WIDTH * sizeof(int), 0, WIDTH * sizeof(int), HEIGHT, stream));
        /* All columns but the first and the last. */
        MUST(cudaMemcpy2DAsync(there + 1, WIDTH * sizeof(int), image.data() + 1,
                               WIDTH * sizeof(int), (WIDTH - 2) * sizeof(int), HEIGHT,
                               cudaMemcpyHostToDevice, stream));
        scale<<<HEIGHT, WIDTH, 0, stream>>>(there);
        LAUNCHED();
        find<<<HEIGHT, WIDTH, 0, stream>>>(there);
        LAUNCHED();
        MUST(cudaMemcpyFromSymbolAsync(&most, largest, sizeof most, 0, cudaMemcpyDeviceToHost,
                                       stream));
        MUST(cudaMemcpyAsync(found.data(), there, WIDTH * HEIGHT * sizeof(int),
                             cudaMemcpyDeviceToHost, stream));
        MUST(cudaLaunchHostFunc(stream, add_one, &calls));
        MUST(cudaStreamIsCapturing(stream, &status));
        HOLDS(status == cudaStreamCaptureStatusActive);
        MUST(cudaStreamEndCapture(stream, &graph));
        HOLDS(calls == 0 && found[0] == -1);
        MUST(cudaGraphInstantiate(&program, graph, 0));
        for (int round = 1; round <= 3; round++, by += 10) {
            MUST(cudaGraphLaunch(program, stream));
            MUST(cudaStreamSynchronize(stream));
            expected.clear();
            int largest_here = 0;
            for (int i = 0; i < WIDTH * HEIGHT; i++) {
                int x = i % WIDTH, value = (x == 0 || x == WIDTH - 1 ? 0 : image[i]) * by + x;
                expected.push_back(value);
                largest_here = std::max(largest_here, value);
            }
            same(found, expected, "values");
            HOLDS(most == largest_here && calls == round);
        }
    }
    MUST(cudaGraphExecDestroy(program));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
    return 0;
}
