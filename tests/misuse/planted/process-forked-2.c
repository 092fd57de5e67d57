/* SPDX-License-Identifier: MIT */
/*
 * A server opens its GPU and forks for each request. The child inherits the context's handle but
 * not the context: the copy back, the first call that it makes, fails.
 *
 * expect: PROCESS-FORKED
 * at: answer
 * origin: first use_gpu
 * says: had initialised the driver
 */
#include "gpu.h"

#include <sys/wait.h>
#include <unistd.h>

static CUdeviceptr model;

NAMED void open_model(void)
{
    use_gpu(0);
    MUST(cuMemAlloc(&model, sizeof(int)));
    MUST(cuMemsetD32(model, 5, 1));
}

NAMED int answer(void)
{
    int value = 0;
    (void)cuMemcpyDtoH(&value, model, sizeof value);
    return value;
}

int main(void)
{
    int status = 0;
    open_model();
    pid_t child = fork();
    if (child == 0)
        _exit(answer());
    waitpid(child, &status, 0);
    printf("the answer is %d\n", WEXITSTATUS(status));
    MUST(cuMemFree(model));
    leave_gpu(0);
    return 0;
}
