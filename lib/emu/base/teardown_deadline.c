#include "emu/base/teardown_deadline.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

uint64_t cx_emu_teardown_deadline_ns = 2 * NS_PER_S;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

void cx_emu_teardown_deadline_begin(cx_emu_teardown_deadline *deadline)
{
    atomic_store(&deadline->until_processor_ns,
                 read_clock(CLOCK_PROCESS_CPUTIME_ID) + cx_emu_teardown_deadline_ns);
    atomic_store(&deadline->until_ns, read_clock(CLOCK_MONOTONIC) + cx_emu_teardown_deadline_ns);
}

void cx_emu_teardown_deadline_end(cx_emu_teardown_deadline *deadline)
{
    atomic_store(&deadline->until_ns, 0);
}

bool cx_emu_teardown_deadline_is_over(const cx_emu_teardown_deadline *deadline)
{
    uint64_t until = atomic_load_explicit(&deadline->until_ns, memory_order_acquire);

    return until != 0 && read_clock(CLOCK_MONOTONIC) > until &&
           read_clock(CLOCK_PROCESS_CPUTIME_ID) > atomic_load(&deadline->until_processor_ns);
}
