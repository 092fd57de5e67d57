/* SPDX-License-Identifier: MIT */
/*
 * Lesson 5, exercise: the guest keeps a copy of the host's buffer on its own GPU. It has three ways
 * out, and the host is to find its own context current after each.
 *
 * Write between the two comments only. Check it: ctxrt lesson 5 --check
 */
#include "lesson.h"

typedef struct guest {
    CUcontext context, of_host;
    CUdeviceptr copy;
} guest;

/* Makes the copy; nothing is copied if there are no bytes. */
static CUresult keep_copy(guest *self, CUdeviceptr from, size_t bytes)
{
    CUresult result = CUDA_SUCCESS;
    /* ---- your lines begin ---- */
    if (bytes == 0)
        return result;
    MUST(cuCtxPushCurrent(self->context));
    result = cuMemAlloc(&self->copy, bytes);
    if (result == CUDA_SUCCESS)
        result = cuMemcpyPeer(self->copy, self->context, from, self->of_host, bytes);
    MUST(cuCtxPopCurrent(NULL));
    /* ---- your lines end ---- */
    return result;
}

/* Counts the entries of the stack, and leaves it as it is. */
static int depth(void)
{
    enum { MOST = 32 };
    CUcontext entries[MOST], current = NULL;
    int count = 0;
    for (MUST(cuCtxGetCurrent(&current)); current != NULL && count < MOST;
         MUST(cuCtxGetCurrent(&current)))
        MUST(cuCtxPopCurrent(&entries[count++]));
    for (int i = count; i > 0; i--)
        MUST(cuCtxPushCurrent(entries[i - 1]));
    return count;
}

static void call_guest(guest *self, CUdeviceptr from, size_t bytes)
{
    CUcontext current;
    CUresult result = keep_copy(self, from, bytes);
    MUST(cuCtxGetCurrent(&current));
    printf("the guest says %s, current is %s, ", name_of(result),
           current == self->of_host ? "the host's" : "another");
    printf("entries: %d\n", depth());
}

int main(int argc, char **argv)
{
    guest one = {NULL, NULL, 0};
    CUdeviceptr buffer;
    unsigned char byte = 0;

    MUST(cuInit(0));
    MUST(cuCtxCreate(&one.context, 0, 1));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuCtxCreate(&one.of_host, 0, 0));
    MUST(cuMemAlloc(&buffer, 64));
    MUST(cuMemsetD8(buffer, (unsigned char)number_of(argc, argv), 64));
    MUST(cuCtxSynchronize());
    call_guest(&one, buffer, 0);
    call_guest(&one, buffer, (size_t)1 << 45); /* 32 TiB: there is not so much memory */
    call_guest(&one, buffer, 64);
    MUST(cuCtxSynchronize());
    MUST(cuCtxPushCurrent(one.context));
    MUST(cuMemcpyDtoH(&byte, one.copy, 1));
    MUST(cuCtxPopCurrent(NULL));
    printf("the copy is on GPU %d and holds %d\n", gpu_of(one.copy), byte);
    MUST(cuCtxDestroy(one.of_host));
    MUST(cuCtxDestroy(one.context));
    return 0;
}
