#include "work/asking.h"

#include "work/uncaptured.h"

#include <sched.h>
#include <stdatomic.h>

/* A gate for all streams of one hash: how many ask, and whether one is about to capture. */
#define GATES 64
#define CAPTURE ((uint32_t)1 << 31)

static _Atomic uint32_t gates[GATES];

static _Atomic uint32_t *gate_of(CUstream native)
{
    return &gates[(uint64_t)(uintptr_t)native * 0x9e3779b97f4a7c15u >> 58];
}

/* Waits while one is about to capture. */
static void add(_Atomic uint32_t *gate, uint32_t more)
{
    uint32_t seen = atomic_load(gate) & ~CAPTURE;
    while (!atomic_compare_exchange_weak(gate, &seen, seen + more)) {
        if ((seen & CAPTURE) != 0)
            sched_yield();
        seen &= ~CAPTURE;
    }
}

bool cx_asking_begin(const cx_driver *driver, CUstream native)
{
    add(gate_of(native), 1);
    bool may = cx_uncaptured_may_ask(driver, native);
    if (!may)
        cx_asking_end(native);
    return may;
}

void cx_asking_end(CUstream native)
{
    atomic_fetch_sub(gate_of(native), 1);
}

bool cx_asking_mark(const cx_driver *driver, CUstream native, CUevent mark)
{
    if (!cx_asking_begin(driver, native))
        return false;
    bool marked = driver->table.event_record(mark, native) == CXU_SUCCESS &&
                  cx_uncaptured_may_ask(driver, native);
    cx_asking_end(native);
    return marked;
}

static _Atomic uint32_t *close_gate(CUstream native)
{
    _Atomic uint32_t *gate = gate_of(native);
    add(gate, CAPTURE);
    while (atomic_load(gate) != CAPTURE)
        sched_yield();
    return gate;
}

static void open_gate(_Atomic uint32_t *gate)
{
    atomic_fetch_and(gate, ~CAPTURE);
}

cxu_result cx_asking_capture(const cx_driver *driver, CUstream native,
                             cxu_stream_capture_mode mode)
{
    _Atomic uint32_t *gate = close_gate(native);
    cxu_result result = driver->table.stream_begin_capture(native, mode);
    open_gate(gate);
    return result;
}

cxu_result cx_asking_join(const cx_driver *driver, CUstream native, CUevent event)
{
    _Atomic uint32_t *gate = close_gate(native);
    cxu_result result = driver->table.stream_wait_event(native, event, CXU_EVENT_WAIT_DEFAULT);
    open_gate(gate);
    return result;
}
