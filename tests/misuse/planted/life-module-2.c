/* SPDX-License-Identifier: MIT */
/*
 * A cache of modules drops its oldest entry when it is full. It forgets the module and does not
 * unload it, so that the code stays on the device.
 *
 * options: --leaks --ignore LIFE-CONTEXT
 * expect: LIFE-MODULE
 * at: load
 * origin: made load
 * says: module 1 of GPU 0
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
    MUST(cuCtxCreate(&context, 0, 0)); /* left to the system, with the process */
    for (int i = 0; i < 5; i++)
        load(i);
    empty_cache();
    return 0;
}
