#include "faults.h"

#include <limits.h>
#include <stddef.h>

static cx_driver *faulty;
static cx_driver_table beneath;

typedef struct fault {
    long seen;
    long number; /* LONG_MAX: none */
    cxu_result result;
    fault_mode mode;
    cx_slot slot; /* of the call that failed; CX_SLOT_COUNT: none */
} fault;

static _Thread_local fault mine = {.number = LONG_MAX, .slot = CX_SLOT_COUNT};

/* Calls that name errors do not count. */
static bool counts(cx_slot slot)
{
    return slot != CX_SLOT_get_error_name && slot != CX_SLOT_get_error_string;
}

static bool strikes(cx_slot slot)
{
    if (!counts(slot))
        return false;
    mine.seen++;
    if (mine.seen == mine.number) {
        mine.slot = slot;
        return true;
    }
    return mine.seen > mine.number &&
           (mine.mode == FAULT_DEAD || (mine.mode == FAULT_LASTING && slot == mine.slot));
}

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result faulty_##slot CX_DECLARE(arity, parameters)             \
    {                                                                         \
        if (!strikes(CX_SLOT_##slot))                                         \
            return beneath.slot CX_PASS(arity, parameters);                   \
        if (mine.mode == FAULT_REPORTED)                                      \
            (void)beneath.slot CX_PASS(arity, parameters);                    \
        return mine.result;                                                   \
    }
#include "driver/symbols.def"

static const cx_driver_table faulty_table = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) .slot = faulty_##slot,
#include "driver/symbols.def"
};

void faults_install(cx_driver *driver)
{
    faulty = driver;
    beneath = driver->table;
    driver->table = faulty_table;
}

void faults_remove(void)
{
    faulty->table = beneath;
    faulty = NULL;
}

void faults_arm(long number, cxu_result result, fault_mode mode)
{
    mine = (fault){.number = number, .result = result, .mode = mode, .slot = CX_SLOT_COUNT};
}

long faults_disarm(void)
{
    mine.number = LONG_MAX;
    mine.mode = FAULT_REFUSED;
    return mine.seen;
}

const char *faults_failed_call(void)
{
    return mine.slot != CX_SLOT_COUNT ? cx_symbols[mine.slot].symbol : NULL;
}

const cx_driver_table *faults_beneath(void)
{
    return &beneath;
}
