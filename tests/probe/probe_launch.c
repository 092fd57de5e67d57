/* K9, K10: launches of before CUDA 4, and the best blocks of kernels. */
#include "kernels.h"
#include "probes.h"
#include "steps.h"

static const char kernel_bare[] = ".visible .entry bare()\n"
                                  "{\n"
                                  "    ret;\n"
                                  "}\n";

static CUfunction bare(void)
{
    CUmodule module = NULL;
    CUfunction function = NULL;
    need("cuModuleLoadData", kernels_load(&module, kernel_bare));
    need("cuModuleGetFunction", cuModuleGetFunction(&function, module, "bare"));
    return function;
}

static void old_launches(void)
{
    init();
    create("a");
    CUfunction function = bare();
    see_result("new", cuLaunch(function));
    see_result("block", cuFuncSetBlockShape(function, 1024, 1, 1));
    see_result("large-block", cuFuncSetBlockShape(function, 1024, 2, 1));
    see_result("no-block", cuFuncSetBlockShape(function, 0, 1, 1));
    see_result("negative-block", cuFuncSetBlockShape(function, 1, -1, 1));
    see_result("size", cuParamSetSize(function, 32764));
    see_result("large-size", cuParamSetSize(function, 32765));
    see_result("word", cuParamSeti(function, 32760, 1));
    see_result("word-behind", cuParamSeti(function, 32761, 1));
    see_result("word-before", cuParamSeti(function, -1, 1));
    see_result("grid", cuLaunchGridAsync(function, 3, 1, NULL));
    see_result("no-grid", cuLaunchGridAsync(function, 0, 1, NULL));
    see_result("large-grid", cuLaunchGridAsync(function, 65536, 65536, NULL));
    see_result("synchronize", cuCtxSynchronize());
}

static void best_blocks(void)
{
    int blocks = 0, threads = 0;
    size_t bytes = 0;
    init();
    create("a");
    CUfunction function = bare();
    see_result("best", cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, NULL, 0, 0));
    see("some", "%s", blocks > 0 && threads > 0 ? "yes" : "no");
    see_result("one", cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, NULL, 0, 1));
    see("one-thread", "%d", threads);
    see_result("negative",
               cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, NULL, 0, -1));
    see_result("room", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 128));
    see("some-room", "%s", bytes > 0 ? "yes" : "no");
    see_result("room-for-none", cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 0, 128));
    see_result("room-for-many",
               cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 100, 128));
    see_result("room-of-large",
               cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 4096));
}

const struct experiment launch_experiments[] = {
    {"K9.old", old_launches,
     "new block large-block no-block negative-block size large-size word word-behind word-before "
     "grid no-grid large-grid synchronize"},
    {"K10.best", best_blocks,
     "best some one one-thread negative room some-room room-for-none room-for-many "
     "room-of-large"},
    {NULL, NULL, NULL},
};
