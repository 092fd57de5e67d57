#include "calls.h"

#include "device/runtime.h"
#include <stdatomic.h>

static cx_driver_table beneath[CX_DRIVERS_MAX];
static atomic_long seen[CX_DRIVERS_MAX];
static atomic_bool counts_all;
static _Thread_local bool counts_mine;

static void count_call(int driver)
{
    if (counts_mine || atomic_load(&counts_all))
        atomic_fetch_add(&seen[driver], 1);
}

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result first_##slot CX_DECLARE(arity, parameters)              \
    {                                                                         \
        count_call(0);                                                             \
        return beneath[0].slot CX_PASS(arity, parameters);                    \
    }                                                                         \
    static cxu_result second_##slot CX_DECLARE(arity, parameters)             \
    {                                                                         \
        count_call(1);                                                             \
        return beneath[1].slot CX_PASS(arity, parameters);                    \
    }
#include "driver/symbols.def"

static const cx_driver_table counting[CX_DRIVERS_MAX] = {
    {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) .slot = first_##slot,
#include "driver/symbols.def"
    },
    {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) .slot = second_##slot,
#include "driver/symbols.def"
    },
};

void calls_install(void)
{
    for (int i = 0; i < cx_driver_count(); i++) {
        beneath[i] = cx_drivers[i].table;
        cx_drivers[i].table = counting[i];
        atomic_store(&seen[i], 0);
    }
    counts_mine = false;
    atomic_store(&counts_all, false);
}

void calls_remove(void)
{
    for (int i = 0; i < cx_driver_count(); i++)
        cx_drivers[i].table = beneath[i];
}

void calls_count_mine(void)
{
    counts_mine = true;
}

void calls_count_all(void)
{
    atomic_store(&counts_all, true);
}

long calls_seen(int driver)
{
    return atomic_load(&seen[driver]);
}
