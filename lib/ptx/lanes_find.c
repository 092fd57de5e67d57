/* Chooses the code for this processor. */
#include "config.h"

#include "ptx/lanes.h"

#include <string.h>

extern const cx_ptx_lanes cx_ptx_lanes_baseline;
#if defined(HAVE_X86_LANES) && !defined(CX_PTX_BASELINE_ONLY)
extern const cx_ptx_lanes cx_ptx_lanes_avx2, cx_ptx_lanes_avx512;

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#endif

static bool always(void)
{
    return true;
}

/* The fastest first. */
static const struct {
    const cx_ptx_lanes *lanes;
    bool (*is_there)(void);
} kinds[] = {
#if defined(HAVE_X86_LANES) && !defined(CX_PTX_BASELINE_ONLY)
    {&cx_ptx_lanes_avx512, has_avx512},
    {&cx_ptx_lanes_avx2, has_avx2},
#endif
    {&cx_ptx_lanes_baseline, always},
};

const cx_ptx_lanes *cx_ptx_lanes_find(const char *name)
{
    const size_t count = sizeof kinds / sizeof kinds[0];
    size_t i = 0;

    while (i < count && !(kinds[i].is_there() && name && strcmp(kinds[i].lanes->name, name) == 0))
        i++;
    if (i < count)
        return kinds[i].lanes;
    for (i = 0; !kinds[i].is_there();)
        i++;
    return kinds[i].lanes;
}
