#include "emu/base/state.h"

cx_lock cx_emu_lock = CX_LOCK_INIT(EMU_STATE);
uint64_t cx_emu_changes = 1;
_Atomic int cx_emu_current_phase = CX_EMU_UNINITIALIZED;
CX_EMU_THREAD_LOCAL bool cx_emu_in_callback;

static cx_emu_config configuration;

cxu_result cx_emu_enter_slowly(void)
{
    switch (atomic_load(&cx_emu_current_phase)) {
    case CX_EMU_RUNNING:
        return cx_emu_in_callback ? CXU_NOT_PERMITTED : CXU_SUCCESS;
    case CX_EMU_ENDING:
        return CXU_DEINITIALIZED;
    default:
        return CXU_NOT_INITIALIZED;
    }
}

const cx_emu_config *cx_emu_configuration(void)
{
    return &configuration;
}

void cx_emu_configuration_set(const cx_emu_config *config)
{
    configuration = *config;
}
