#include "emu/context/patience.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t cx_emu_patience_ns = 2 * NS_PER_S;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void cx_emu_patience_begin(cx_emu_patience *patience)
{
    atomic_store(&patience->until_processor_ns,
                 read_clock(CLOCK_PROCESS_CPUTIME_ID) + cx_emu_patience_ns);
    atomic_store(&patience->until_ns, read_clock(CLOCK_MONOTONIC) + cx_emu_patience_ns);
}

void cx_emu_patience_end(cx_emu_patience *patience)
{
    atomic_store(&patience->until_ns, 0);
}

bool cx_emu_patience_is_over(const cx_emu_patience *patience)
{
    uint64_t until = atomic_load_explicit(&patience->until_ns, memory_order_acquire);

    return until != 0 && read_clock(CLOCK_MONOTONIC) > until &&
           read_clock(CLOCK_PROCESS_CPUTIME_ID) > atomic_load(&patience->until_processor_ns);
}
