/* SPDX-License-Identifier: MIT */
/*
 * The process frees the memory once the other one has closed it.
 *
 * driver: threads lazy random:1 random:2
 */
#include "gpu.h"

#include <sys/wait.h>
#include <unistd.h>

static int to_child[2], to_parent[2];

static void tell(int to)
{
    if (write(to, "", 1) != 1)
        exit(MISUSE_CANNOT);
}

static void await(int from)
{
    char one;
    if (read(from, &one, 1) != 1)
        exit(MISUSE_CANNOT);
}

NAMED void use(CUipcMemHandle handle)
{
    CUdeviceptr memory;
    use_gpu(0);
    MUST(cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    MUST(cuMemsetD8(memory, 1, 4096));
    MUST(cuCtxSynchronize());
    MUST(cuIpcCloseMemHandle(memory));
    leave_gpu(0);
}

int main(void)
{
    CUipcMemHandle handle;
    CUdeviceptr memory;
    if (pipe(to_child) != 0 || pipe(to_parent) != 0)
        return MISUSE_CANNOT;
    pid_t child = fork();
    if (child == 0) {
        if (read(to_child[0], &handle, sizeof handle) != sizeof handle)
            return MISUSE_CANNOT;
        use(handle);
        tell(to_parent[1]);
        return 0;
    }
    use_gpu(0);
    MUST(cuMemAlloc(&memory, 4096));
    MUST(cuIpcGetMemHandle(&handle, memory));
    if (write(to_child[1], &handle, sizeof handle) != sizeof handle)
        return MISUSE_CANNOT;
    await(to_parent[0]);
    MUST(cuMemFree(memory));
    waitpid(child, NULL, 0);
    leave_gpu(0);
    return 0;
}
