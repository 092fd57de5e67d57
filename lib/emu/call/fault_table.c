#include "emu/emu.h"

#include "base/option.h"
#include "emu/base/state.h"
#include "emu/schedule/fault.h"
#include "emu/schedule/schedule.h"

/* The table for faults and for names of calls: each call notes which it is. */
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result watched_##slot CX_DECLARE(arity, parameters)            \
    {                                                                         \
        cxu_result result = cx_emu_fault_begin(CX_SLOT_##slot);               \
        if (result == CXU_SUCCESS)                                            \
            result = cx_emu_call_##slot CX_PASS(arity, parameters);           \
        cx_emu_call_in_progress = (cx_emu_call){-1, CXU_SUCCESS};             \
        return result;                                                        \
    }
#include "driver/symbols.def"

static const cx_driver_table watched = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    .slot = watched_##slot,
#include "driver/symbols.def"
};

const cx_driver_table *cx_emu_driver(void)
{
    if (cx_option("CTXRT_EMU_FAULT") == NULL && !cx_emu_schedule_wants_lazy())
        return &cx_emu_table;
    cx_lock_enter(&cx_emu_lock);
    (void)cx_emu_faults_choose(); /* cuInit chooses again, and says what is wrong */
    cx_lock_leave(&cx_emu_lock);
    return &watched;
}
