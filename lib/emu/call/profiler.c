/* Profilers: there are none. */
#include "emu/context/context.h"
#include "emu/base/state.h"

cxu_result cx_emu_call_profiler_initialize(const char *configuration, const char *output,
                                           cxu_output_mode mode)
{
    cxu_result result = cx_emu_enter();

    (void)configuration, (void)output;
    if (result != CXU_SUCCESS)
        return result;
    if (mode != CXU_OUT_KEY_VALUE_PAIR && mode != CXU_OUT_CSV)
        return CXU_INVALID_VALUE;
    return cx_emu_context_check_current();
}

cxu_result cx_emu_call_profiler_start(void)
{
    cxu_result result = cx_emu_enter();

    return result == CXU_SUCCESS ? cx_emu_context_check_current() : result;
}

cxu_result cx_emu_call_profiler_stop(void)
{
    return cx_emu_call_profiler_start();
}
