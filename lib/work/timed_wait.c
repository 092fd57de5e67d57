#include "work/timed_wait.h"

#include "base/cancel.h"
#include <sched.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S UINT64_C(1000000000)

/* Short work ends within these rounds, and a sleep would take longer than it. */
#define ROUNDS_WITHOUT_SLEEP 64
#define SLEEP_NS_FIRST UINT64_C(10000)
#define SLEEP_NS_MOST NS_PER_MS

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

cx_timed_wait cx_timed_wait_start(uint64_t timeout_ms)
{
    cx_timed_wait self = {.cancel = cx_cancel_hold()};
    uint64_t wait_ns;
    if (__builtin_mul_overflow(timeout_ms, NS_PER_MS, &wait_ns) ||
        __builtin_add_overflow(now_ns(), wait_ns, &self.end_ns))
        self.end_ns = UINT64_MAX;
    return self;
}

void cx_timed_wait_end(const cx_timed_wait *self)
{
    cx_cancel_restore(self->cancel);
}

static uint64_t sleep_ns(unsigned int round)
{
    unsigned int doubled = round - ROUNDS_WITHOUT_SLEEP;
    return doubled < 7 ? SLEEP_NS_FIRST << doubled : SLEEP_NS_MOST;
}

bool cx_timed_wait_pause(cx_timed_wait *self)
{
    uint64_t now = now_ns();
    if (now >= self->end_ns)
        return false;
    unsigned int round = self->rounds;
    if (round < ROUNDS_WITHOUT_SLEEP + 7)
        self->rounds++;
    if (round < ROUNDS_WITHOUT_SLEEP) {
        sched_yield();
        return true;
    }
    uint64_t wait_ns = sleep_ns(round);
    if (wait_ns > self->end_ns - now)
        wait_ns = self->end_ns - now;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)wait_ns}, NULL);
    return true;
}
