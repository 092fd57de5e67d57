/* SPDX-License-Identifier: MIT */
/*
 * A function frees its buffer when it fails, and so does its caller. The second free fails; with
 * bad luck the address belongs to another allocation by then, and that one is freed.
 *
 * expect: MEMORY-FREED
 * at: run
 * origin: made run
 * origin: ended load_model
 */
#include "gpu.h"

#include <stdbool.h>

NAMED bool load_model(CUdeviceptr weights, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        MUST(cuMemFree(weights));
        return false;
    }
    fclose(file);
    return true;
}

NAMED void run(const char *path)
{
    CUdeviceptr weights;
    MUST(cuMemAlloc(&weights, 1 << 20));
    if (!load_model(weights, path))
        fprintf(stderr, "no model\n");
    (void)cuMemFree(weights);
}

int main(void)
{
    use_gpu(0);
    run("/nowhere/model.bin");
    leave_gpu(0);
    return 0;
}
