/* SPDX-License-Identifier: MIT */
/*
 * Lesson 9, exercise: four jobs run one kernel each; the third has a bad address. Say which job
 * failed, and with which error: run_job has to return what its own kernel did. After the failure
 * main makes no call any more, for every one would give the same error.
 *
 * Write between the two comments only. Check it: ctxrt lesson 9 --check
 */
#include "lesson.h"

enum { JOBS = 4, BAD = 2 };

/* The kernel: *to = value. */
static const char ptx[] = ".version 6.3\n.target sm_50\n.address_size 64\n"
                          ".visible .entry store(.param .u64 to, .param .u32 value)\n{\n"
                          "    .reg .b32 %r1;\n    .reg .b64 %rd1;\n"
                          "    ld.param.u64 %rd1, [to];\n    ld.param.u32 %r1, [value];\n"
                          "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

static CUresult run_job(CUfunction store, CUdeviceptr to, int value)
{
    CUresult result =
        cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&to, &value}, NULL);
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    return result;
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    CUfunction store;
    CUdeviceptr buffers[JOBS] = {0};
    CUresult result = CUDA_SUCCESS;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    MUST(cuModuleLoadData(&module, ptx));
    MUST(cuModuleGetFunction(&store, module, "store"));
    for (int i = 0; i < JOBS; i++)
        if (i != BAD)
            MUST(cuMemAlloc(&buffers[i], sizeof(int)));
    for (int i = 0; i < JOBS && result == CUDA_SUCCESS; i++) {
        result = run_job(store, buffers[i], number_of(argc, argv));
        printf("job %d: %s\n", i, name_of(result));
    }
    printf("the number was %d\n", number_of(argc, argv));
    if (result == CUDA_SUCCESS)
        MUST(cuCtxDestroy(context));
    return 0;
}
