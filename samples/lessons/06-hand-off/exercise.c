/* SPDX-License-Identifier: MIT */
/*
 * Lesson 6, exercise: the producer thread makes a context and a result in it, and hands both over.
 * The consumer thread reads the result. Who pops, who pushes, and when is the context destroyed?
 *
 * Write between the comments only, in four places. Check it: ctxrt lesson 6 --check
 */
#include "lesson.h"

#include <pthread.h>

typedef struct parcel {
    CUcontext context;
    CUdeviceptr result;
    unsigned char value;
} parcel;

static void say_current(const char *thread)
{
    CUcontext current;
    MUST(cuCtxGetCurrent(&current));
    printf("%s ends with %s\n", thread, current == NULL ? "none" : "a context");
}

static void *produce(void *argument)
{
    parcel *self = argument;
    MUST(cuCtxCreate(&self->context, 0, 0));
    MUST(cuMemAlloc(&self->result, 64));
    MUST(cuMemsetD8(self->result, self->value, 64));
    MUST(cuCtxSynchronize());
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    say_current("the producer");
    return NULL;
}

static void *consume(void *argument)
{
    parcel *self = argument;
    unsigned char byte = 0;
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    CUresult result = cuMemcpyDtoH(&byte, self->result, 1);
    printf("reading gives %s, the byte is %d\n", name_of(result), byte);
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    say_current("the consumer");
    return NULL;
}

int main(int argc, char **argv)
{
    parcel one = {NULL, 0, (unsigned char)number_of(argc, argv)};
    pthread_t thread;

    MUST(cuInit(0));
    if (pthread_create(&thread, NULL, produce, &one) != 0)
        return 1;
    pthread_join(thread, NULL);
    if (pthread_create(&thread, NULL, consume, &one) != 0)
        return 1;
    pthread_join(thread, NULL);
    /* ---- your lines begin ---- */
    /* ---- your lines end ---- */
    say_current("main");
    return 0;
}
