/*
 * Something pushed a context and did not pop it. A snapshot shows the frame that nobody of ours
 * pushed, and ctxrt_stack_resync takes it off.
 *
 *   cc foreign_push.c $(pkg-config --cflags --libs ctxrt) -lcuda
 *   ./a.out                         (or: ctxrt run ./a.out)
 * Where there is no libcuda to link with, write instead of -lcuda:
 *   -L$(pkg-config --variable=libdir ctxrt)/ctxrt/cuda-13 -l:libcuda.so.1
 */
#ifdef HAVE_CUDA_H
#include <cuda.h>
#else
#include "cuda_min.h"
#endif

#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

/* Other code, which means no harm. */
static bool forget_a_pop(ctxrt_context *context)
{
    CUcontext native;
    return OK(ctxrt_context_native(context, &native)) && cuCtxPushCurrent(native) == CUDA_SUCCESS;
}

static bool show(const char *when)
{
    printf("%s\n", when);
    fflush(stdout);
    return OK(ctxrt_snapshot_write(stdout, CTXRT_SNAPSHOT_TEXT));
}

static bool find_and_mend(ctxrt_context *context)
{
    ctxrt_device device;
    ctxrt_resync_report report;
    if (!show("before") || !forget_a_pop(context))
        return false;
    /* A snapshot asks no driver: the foreign frame is there once a call of this thread has noticed
     * it. */
    if (!OK(ctxrt_device_get(&device)) || !show("after a call of other code"))
        return false;
    printf("a pop now: %s\n", ctxrt_status_name(ctxrt_stack_pop()));
    if (!OK(ctxrt_stack_resync(&report)))
        return false;
    printf("resync: %s, %d\n", report.finding == CTXRT_RESYNC_PUSHED ? "pushed" : "something else",
           report.count);
    return show("after it") && OK(ctxrt_stack_pop());
}

int main(void)
{
    ctxrt_context *context = NULL;
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    bool good = OK(ctxrt_context_retain_primary(CTXRT_CUDA(1), &context)) &&
                OK(CTXRT_SCOPE_ENTER(CTXRT_CUDA(2), &scope)) &&
                OK(CTXRT_DEVICE_PUSH(CTXRT_CUDA(0))) && find_and_mend(context);
    good = OK(ctxrt_scope_leave(&scope)) && good;
    good = OK(ctxrt_context_release(context)) && good;
    return OK(ctxrt_shutdown()) && good ? 0 : 1;
}
