/* SPDX-License-Identifier: MIT */
/*
 * A cache of modules unloads its oldest entry when it needs the place.
 */
#include "misuse.h"

enum { PLACES = 2 };
static CUmodule cache[PLACES];
static int next;

NAMED void load(int variant)
{
    char code[160];
    snprintf(code, sizeof code,
             ".version 6.0\n.target sm_50\n.address_size 64\n"
             ".visible .entry variant%d()\n{\n    ret;\n}\n", variant);
    CUmodule *place = &cache[next++ % PLACES];
    if (*place != NULL)
        MUST(cuModuleUnload(*place));
    MUST(cuModuleLoadData(place, code));
}

NAMED void empty_cache(void)
{
    for (int i = 0; i < PLACES; i++)
        MUST(cuModuleUnload(cache[i]));
}

int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    for (int i = 0; i < 5; i++)
        load(i);
    empty_cache();
    MUST(cuCtxDestroy(context));
    return 0;
}
