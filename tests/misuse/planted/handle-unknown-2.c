/* SPDX-License-Identifier: MIT */
/*
 * A program fills the memory of its settings with a pattern and creates the event only if times
 * are wanted. Without them it records the pattern.
 *
 * expect: HANDLE-UNKNOWN
 * at: finish
 * origin: argument -
 * says: the argument event is
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
    memset(made, 0xa5, sizeof *made);
    made->times = times;
    if (times)
        MUST(cuEventCreate(&made->end, CU_EVENT_DEFAULT));
    return made;
}

NAMED int finish(const settings *self)
{
    return cuEventRecord(self->end, NULL) == CUDA_SUCCESS;
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
