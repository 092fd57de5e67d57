/*
 * The layer check over the embedded driver, in a test's own process; and what it has found there.
 */
#ifndef CX_TESTS_CHECKING_H
#define CX_TESTS_CHECKING_H

#include "emu/emu.h"
#include "emu/base/state.h"
#include "emu/memory/quarantine.h"
#include "layer/check/check.h"
#include "test.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The driver's own table, whose calls the layer does not see, and the one that it checks. */
static cx_driver_table bare, table;

#define GOOD(call) good((call), #call)
static inline void good(cxu_result result, const char *call)
{
    if (result != CXU_SUCCESS)
        ck_abort_msg("%s gave %d", call, (int)result);
}

static inline void begin_checking(int gpus)
{
    const cx_emu_config config = {
        .gpus = gpus, .gpu_memory_bytes = (size_t)64 << 20, .driver_version = 13000};
    ck_assert(cx_emu_configure(&config));
    bare = *cx_emu_driver();
    ck_assert(cx_check_put(&bare, CX_CHECK_IN_RUNTIME, &table));
    (void)mallopt(M_PERTURB, 0x5a); /* memory is not zero by luck */
    GOOD(table.init(0));
}

/* How often a kind was found. All places are one here: the program is the layer's own module. */
static inline int found(cx_check_kind kind)
{
    int count = 0;
    for (unsigned i = 0; i < atomic_load(&cx_region_here->findings); i++)
        if (cx_region_here->all_findings[i].kind == (uint32_t)kind)
            count += (int)atomic_load(&cx_region_here->all_findings[i].count);
    return count;
}

/* Errors and warnings of all kinds. */
static inline int found_at_all(void)
{
    int count = 0;
    for (int kind = 0; kind < CX_KIND_COUNT; kind++)
        if (cx_kind_rows[kind].severity != CX_SEVERITY_NOTE)
            count += found((cx_check_kind)kind);
    return count;
}

/* True if the latest finding has this line. */
static inline bool latest_says(const char *text)
{
    unsigned count = atomic_load(&cx_region_here->findings);
    const cx_region_finding *latest = &cx_region_here->all_findings[count - 1];
    for (uint32_t i = 0; count > 0 && i < latest->note_count; i++)
        if (strcmp(latest->notes[i].text, text) == 0)
            return true;
    return false;
}

/* Records of live objects. */
static inline int alive(uint32_t kind)
{
    int count = 0;
    for (unsigned i = 0; i < atomic_load(&cx_region_here->objects); i++)
        count += cx_region_here->all_objects[i].kind == kind;
    return count;
}

/* The latest live object of a kind, as `ctxrt check` finds it. */
static inline const cx_region_object *latest(uint32_t kind)
{
    const cx_region_object *found_last = NULL;
    for (unsigned i = 0; i < atomic_load(&cx_region_here->objects); i++)
        if (cx_region_here->all_objects[i].kind == kind)
            found_last = &cx_region_here->all_objects[i];
    ck_assert_ptr_nonnull(found_last);
    return found_last;
}

/* Lets the embedded driver give freed addresses out again at once. */
static inline void end_quarantine(void)
{
    cx_lock_enter(&cx_emu_lock);
    cx_emu_quarantine_end();
    cx_lock_leave(&cx_emu_lock);
}

#endif
