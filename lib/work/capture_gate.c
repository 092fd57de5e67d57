#include "work/capture_gate.h"

#include "work/relaxed_capture.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A gate serves all streams of one hash. Its word holds the number of threads inside, CAPTURE while
 * a thread closes it to begin or join a capture, and WAITING while threads sleep until it changes.
 * Every thread writes it, by sequentially consistent read-modify-writes, so the two sides agree on
 * one order: a thread that enters either comes before CAPTURE, and the capturing thread waits for
 * it, or sees CAPTURE and waits. The futex compares the word again, so no wake-up is lost. */
#define GATES 64
#define CAPTURE ((uint32_t)1 << 31)
#define WAITING ((uint32_t)1 << 30)

static _Atomic uint32_t gates[GATES];

static _Atomic uint32_t *gate_of(CUstream native)
{
    return &gates[(uint64_t)(uintptr_t)native * 0x9e3779b97f4a7c15u >> 58];
}

/* Sleeps while the gate has the value seen. A futex, and no condition variable: threads inside the
 * gate may copy from pages that a driver waits for. */
static void wait_while(_Atomic uint32_t *gate, uint32_t seen)
{
    if ((seen & WAITING) != 0 || atomic_compare_exchange_strong(gate, &seen, seen | WAITING))
        (void)syscall(SYS_futex, gate, FUTEX_WAIT_PRIVATE, seen | WAITING, NULL, NULL, 0);
}

static void wake_all(_Atomic uint32_t *gate)
{
    (void)syscall(SYS_futex, gate, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Adds to the word, once no thread is about to capture. */
static void add_to_gate(_Atomic uint32_t *gate, uint32_t more)
{
    uint32_t seen = atomic_load(gate);
    while ((seen & CAPTURE) != 0 || !atomic_compare_exchange_weak(gate, &seen, seen + more)) {
        if ((seen & CAPTURE) != 0) {
            wait_while(gate, seen);
            seen = atomic_load(gate);
        }
    }
}

bool cx_capture_gate_enter(const cx_driver *driver, CUstream native)
{
    add_to_gate(gate_of(native), 1);
    bool may = cx_relaxed_capture_may_query(driver, native);
    if (!may)
        cx_capture_gate_leave(native);
    return may;
}

void cx_capture_gate_leave(CUstream native)
{
    _Atomic uint32_t *gate = gate_of(native);
    if ((atomic_fetch_sub(gate, 1) & WAITING) != 0)
        wake_all(gate);
}

bool cx_capture_gate_record(const cx_driver *driver, CUstream native, CUevent event)
{
    if (!cx_capture_gate_enter(driver, native))
        return false;
    bool recorded = driver->table.event_record(event, native) == CXU_SUCCESS &&
                    cx_relaxed_capture_may_query(driver, native);
    cx_capture_gate_leave(native);
    return recorded;
}

static _Atomic uint32_t *close_gate(CUstream native)
{
    _Atomic uint32_t *gate = gate_of(native);
    uint32_t seen;
    add_to_gate(gate, CAPTURE);
    while (((seen = atomic_load(gate)) & ~(CAPTURE | WAITING)) != 0)
        wait_while(gate, seen);
    return gate;
}

static void open_gate(_Atomic uint32_t *gate)
{
    if ((atomic_fetch_and(gate, ~(CAPTURE | WAITING)) & WAITING) != 0)
        wake_all(gate);
}

cxu_result cx_capture_gate_begin_capture(const cx_driver *driver, CUstream native,
                                         cxu_stream_capture_mode mode)
{
    _Atomic uint32_t *gate = close_gate(native);
    cxu_result result = driver->table.stream_begin_capture(native, mode);
    open_gate(gate);
    return result;
}

cxu_result cx_capture_gate_wait_event(const cx_driver *driver, CUstream native, CUevent event)
{
    _Atomic uint32_t *gate = close_gate(native);
    cxu_result result = driver->table.stream_wait_event(native, event, CXU_EVENT_WAIT_DEFAULT);
    open_gate(gate);
    return result;
}
