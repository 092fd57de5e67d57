#include "emu/schedule/cores.h"

#include "base/option.h"
#include "emu/schedule/schedule.h"
#include <sched.h>
#include <stdatomic.h>

#define CORES_MAX 1024

static _Atomic int cores;

static bool read_cores(int *out_cores)
{
    const char *text = cx_option("CTXRT_EMU_CORES");
    cpu_set_t set;

    if (text != NULL)
        return cx_parse_int(text, 1, CORES_MAX, out_cores);
    *out_cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return true;
}

bool cx_emu_cores_valid(void)
{
    int unused;

    return read_cores(&unused);
}

bool cx_emu_cores_choose(void)
{
    int found;

    if (!read_cores(&found))
        return false;
    atomic_store(&cores, found);
    return true;
}

unsigned cx_emu_cores(void)
{
    int found = atomic_load(&cores);

    return found > 1 && !cx_emu_schedule_one_at_a_time() ? (unsigned)found : 1;
}
