#include "work/timed_wait.h"

#include "base/cancel.h"
#include "base/clock.h"
#include <sched.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)

/* Short work ends within these rounds, and a sleep would take longer than it. */
#define ROUNDS_WITHOUT_SLEEP 64
#define SLEEP_NS_FIRST UINT64_C(10000)
#define SLEEP_NS_MOST NS_PER_MS

/* Of the clock of intervals; UINT64_MAX: never. */
static uint64_t end_of(uint64_t timeout_ms)
{
    uint64_t wait_ns, end_ns;
    return __builtin_mul_overflow(timeout_ms, NS_PER_MS, &wait_ns) ||
                   __builtin_add_overflow(cx_clock_ns(), wait_ns, &end_ns)
               ? UINT64_MAX
               : end_ns;
}

static uint64_t sleep_ns(unsigned int round)
{
    unsigned int doubled = round - ROUNDS_WITHOUT_SLEEP;
    return doubled < 7 ? SLEEP_NS_FIRST << doubled : SLEEP_NS_MOST;
}

/* Between two looks. False: the time was over already. */
static bool let_time_pass(uint64_t end_ns, unsigned int *rounds)
{
    uint64_t now = cx_clock_ns();
    if (now >= end_ns)
        return false;
    unsigned int round = *rounds;
    if (round < ROUNDS_WITHOUT_SLEEP + 7)
        ++*rounds;
    if (round < ROUNDS_WITHOUT_SLEEP) {
        sched_yield();
        return true;
    }
    uint64_t wait_ns = sleep_ns(round);
    if (wait_ns > end_ns - now)
        wait_ns = end_ns - now;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns}, NULL);
    return true;
}

/* The sleep is a cancellation point, and so held off. */
ctxrt_status cx_timed_wait(uint64_t timeout_ms,
                           ctxrt_status (*look)(const void *object, bool *out_done),
                           const void *object, bool *out_done)
{
    unsigned int rounds = 0;
    int cancel = cx_cancel_hold();
    uint64_t end_ns = end_of(timeout_ms);
    ctxrt_status status;
    *out_done = false;
    do
        status = look(object, out_done);
    while (status == CTXRT_SUCCESS && !*out_done && let_time_pass(end_ns, &rounds));
    cx_cancel_restore(cancel);
    return status;
}
