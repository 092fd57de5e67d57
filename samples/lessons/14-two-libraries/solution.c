/* SPDX-License-Identifier: MIT */
/*
 * Lesson 14, exercise: the codec is yours. It uses the Runtime API on GPU 1, and whatever was
 * current on the thread of its caller is current again when it returns.
 *
 * Write between the comments only, in three places. Check it: ctxrt lesson 14 --check
 */
#include "lesson_cudart.h"

void codec_open(void);
void codec_decode(int value, size_t bytes);
void codec_show(void);
void codec_close(void);

#ifdef MODULE

static CUcontext primary; /* of GPU 1, while the codec is open */
static void *picture;     /* on GPU 1; NULL: none was decoded yet */
static unsigned char first_byte;

void codec_open(void)
{
    /* ---- your lines begin ---- */
    MUST(cuDevicePrimaryCtxRetain(&primary, 1));
    /* ---- your lines end ---- */
}

/* Works on the device of the context that is current. */
static void replace_picture(int value, size_t bytes)
{
    if (picture != NULL)
        MUST(cudaFree(picture));
    MUST(cudaMalloc(&picture, bytes));
    MUST(cudaMemset(picture, value, bytes));
    MUST(cudaMemcpy(&first_byte, picture, 1, cudaMemcpyDeviceToHost));
}

/* Decodes a picture by replace_picture; one of 0 bytes changes nothing. */
void codec_decode(int value, size_t bytes)
{
    /* ---- your lines begin ---- */
    if (bytes == 0)
        return;
    MUST(cuCtxPushCurrent(primary));
    replace_picture(value, bytes);
    MUST(cuCtxPopCurrent(NULL));
    /* ---- your lines end ---- */
}

void codec_show(void)
{
    printf("the picture is on GPU %d and holds %d\n", gpu_of_pointer(picture), first_byte);
}

void codec_close(void)
{
    MUST(cudaFree(picture));
    /* ---- your lines begin ---- */
    MUST(cuDevicePrimaryCtxRelease(1));
    /* ---- your lines end ---- */
}

#else

enum { BYTES = 4096 };

static void decode(const char *what, int value, size_t bytes)
{
    CUcontext before, after;
    MUST(cuCtxGetCurrent(&before));
    codec_decode(value, bytes);
    MUST(cuCtxGetCurrent(&after));
    printf("%s: current is %s\n", what, before == after ? "the same" : "another");
}

int main(int argc, char **argv)
{
    CUcontext own;
    void *frame;
    int value = number_of(argc, argv);
    MUST(cuInit(0));
    codec_open();
    decode("from a thread without a context", value, BYTES);
    MUST(cuCtxCreate(&own, 0, 0));
    MUST(cuCtxPopCurrent(NULL));
    MUST(cuCtxPushCurrent(own));
    decode("from the program's own context", value, BYTES);
    decode("from there, an empty picture", value, 0);
    MUST(cuCtxPopCurrent(NULL));
    MUST(cudaSetDevice(0));
    decode("from a device of the Runtime API", value, BYTES);
    MUST(cudaMalloc(&frame, BYTES));
    printf("the next frame is on GPU %d\n", gpu_of_pointer(frame));
    MUST(cudaFree(frame));
    codec_show();
    codec_close();
    MUST(cuCtxDestroy(own));
    return 0;
}

#endif
