/* SPDX-License-Identifier: MIT */
/* Only the function that allocated the buffer frees it. */
#include "gpu.h"

NAMED int load_model(CUdeviceptr weights, const char *path)
{
    static char bytes[4096];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "there is no %s\n", path);
        return 0;
    }
    MUST(cuMemcpyHtoD(weights, bytes, fread(bytes, 1, sizeof bytes, file)));
    fclose(file);
    return 1;
}

NAMED void run(const char *path)
{
    CUdeviceptr weights;
    MUST(cuMemAlloc(&weights, 4096));
    puts(load_model(weights, path) ? "loaded" : "not loaded");
    if (cuMemFree(weights) != CUDA_SUCCESS)
        fputs("the weights are gone\n", stderr);
}

int main(void)
{
    use_gpu(0);
    run("/nowhere/model.bin");
    leave_gpu(0);
    return 0;
}
