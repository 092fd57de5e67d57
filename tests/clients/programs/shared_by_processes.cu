/* Two processes: the child opens memory and an event of its parent by handles, and works on the
 * memory. */
#include "program.cuh"

#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 256 };

struct handles {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

__global__ void fill(int *values)
{
    values[threadIdx.x] = (int)(threadIdx.x * threadIdx.x);
}

__global__ void negate(int *values)
{
    values[threadIdx.x] = -values[threadIdx.x];
}

static int child(int from)
{
    handles of;
    int *values;
    cudaEvent_t filled;
    if (read(from, &of, sizeof of) != (ssize_t)sizeof of)
        return 1;
    MUST(cudaIpcOpenMemHandle((void **)&values, of.memory, cudaIpcMemLazyEnablePeerAccess));
    MUST(cudaIpcOpenEventHandle(&filled, of.event));
    MUST(cudaStreamWaitEvent(0, filled, 0));
    negate<<<1, COUNT>>>(values);
    LAUNCHED();
    MUST(cudaDeviceSynchronize());
    MUST(cudaEventDestroy(filled));
    MUST(cudaIpcCloseMemHandle(values));
    return 0;
}

int main()
{
    int ends[2], status;
    HOLDS(pipe(ends) == 0);
    pid_t process = fork(); /* before either uses a GPU */
    HOLDS(process >= 0);
    if (process == 0)
        return child(ends[0]);
    on_device<int> values(COUNT);
    handles of;
    cudaEvent_t filled;
    MUST(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming | cudaEventInterprocess));
    MUST(cudaIpcGetMemHandle(&of.memory, values));
    MUST(cudaIpcGetEventHandle(&of.event, filled));
    fill<<<1, COUNT>>>(values);
    LAUNCHED();
    MUST(cudaEventRecord(filled, 0));
    HOLDS(write(ends[1], &of, sizeof of) == (ssize_t)sizeof of);
    HOLDS(waitpid(process, &status, 0) == process && status == 0);
    std::vector<int> expected(COUNT);
    for (int i = 0; i < COUNT; i++)
        expected[i] = -i * i;
    same(values.read(), expected, "values of the child");
    MUST(cudaEventDestroy(filled));
    return 0;
}
