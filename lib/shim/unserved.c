#include "base/log.h"
#include "emu/state.h"
#include "shim/shim.h"

#include <stdatomic.h>

/* No row of ours has these symbols, so their arguments are unknown, and not looked at. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static cxu_result refuse_call(atomic_flag *said, const char *symbol)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (!atomic_flag_test_and_set(said))
        cx_log(CTXRT_LOG_WARNING, "%s is not supported by the stand-in driver", symbol);
    return CXU_NOT_SUPPORTED;
}

#define CX_UNSERVED(symbol)                         \
    cxu_result cx_shim_call_##symbol(void)          \
    {                                               \
        static atomic_flag said = ATOMIC_FLAG_INIT; \
        return refuse_call(&said, #symbol);         \
    }                                               \
    CX_SHIM_EXPORT(symbol, cx_shim_call_##symbol)
#include "lib/shim/unserved.def"
