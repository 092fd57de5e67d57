/* SPDX-License-Identifier: MIT */
/* The function that allocates is the one that frees, whatever comes between. */
#include "gpu.h"

#include <stdbool.h>

NAMED bool load_model(CUdeviceptr weights, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    MUST(cuMemsetD8(weights, 0, 1 << 20));
    fclose(file);
    return true;
}

NAMED void run(const char *path)
{
    CUdeviceptr weights;
    MUST(cuMemAlloc(&weights, 1 << 20));
    if (!load_model(weights, path))
        fprintf(stderr, "no model\n");
    MUST(cuMemFree(weights));
}

int main(void)
{
    use_gpu(0);
    run("/nowhere/model.bin");
    leave_gpu(0);
    return 0;
}
