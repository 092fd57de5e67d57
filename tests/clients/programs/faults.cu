/* Kernels that fail, each in a process of its own: an assertion, a trap and a bad address, and what
 * later calls say. */
#include "program.cuh"

#include <cassert>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fail(int kind, int *place)
{
    assert(kind != 0);
    if (kind == 1)
        __trap();
    if (kind == 2)
        *place = 1;
}

static int child(int kind)
{
    const cudaError_t expected[] = {cudaErrorAssert, cudaErrorLaunchFailure,
                                    cudaErrorIllegalAddress};
    void *memory;
    if (freopen("/dev/null", "w", stderr) == NULL)
        return 2;
    fail<<<1, 1>>>(kind, (int *)0x7000);
    return cudaDeviceSynchronize() == expected[kind] && cudaMalloc(&memory, 100) == expected[kind]
               ? 0
               : 1;
}

int main()
{
    for (int kind = 0; kind < 3; kind++) {
        int status;
        pid_t process = fork();
        HOLDS(process >= 0);
        if (process == 0)
            _exit(child(kind));
        HOLDS(waitpid(process, &status, 0) == process);
        if (status != 0)
            fprintf(stderr, "kind %d: %d\n", kind, WEXITSTATUS(status));
        HOLDS(status == 0);
    }
    printf("the errors are right\n");
    return 0;
}
