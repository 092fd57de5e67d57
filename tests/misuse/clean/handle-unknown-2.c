/* SPDX-License-Identifier: MIT */
/*
 * A program sets every field of its settings and asks whether there is an event before it records
 * one.
 */
#include "misuse.h"

#include <string.h>

typedef struct settings {
    int times;
    CUevent end;
} settings;

NAMED settings *make_settings(int times)
{
    settings *made = malloc(sizeof *made);
    if (made == NULL)
        abort();
    memset(made, 0, sizeof *made);
    made->times = times;
    if (times)
        MUST(cuEventCreate(&made->end, CU_EVENT_DEFAULT));
    return made;
}

NAMED int finish(const settings *self)
{
    return self->end == NULL || cuEventRecord(self->end, NULL) == CUDA_SUCCESS;
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    settings *quick = make_settings(0);
    puts(finish(quick) ? "recorded" : "not recorded");
    free(quick);
    MUST(cuCtxDestroy(context));
    return 0;
}
