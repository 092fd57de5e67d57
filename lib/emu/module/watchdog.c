#include "emu/module/watchdog.h"

#include "base/clock.h"
#include "base/option.h"
#include <limits.h>
#include <stdatomic.h>

#define NS_PER_S UINT64_C(1000000000)

static _Atomic int seconds; /* 0: no limit */

static bool read_seconds(int *out_seconds)
{
    const char *text = cx_option("CTXRT_EMU_WATCHDOG");

    *out_seconds = 0;
    return text == NULL || cx_parse_int(text, 0, INT_MAX, out_seconds);
}

bool cx_emu_watchdog_valid(void)
{
    int unused;

    return read_seconds(&unused);
}

bool cx_emu_watchdog_choose(void)
{
    int found;

    if (!read_seconds(&found))
        return false;
    atomic_store(&seconds, found);
    return true;
}

uint64_t cx_emu_watchdog_deadline(void)
{
    int limit = atomic_load(&seconds);

    return limit > 0 ? cx_clock_ns() + (uint64_t)limit * NS_PER_S : UINT64_MAX;
}

bool cx_emu_watchdog_passed(uint64_t deadline)
{
    return deadline != UINT64_MAX && cx_clock_ns() > deadline;
}
