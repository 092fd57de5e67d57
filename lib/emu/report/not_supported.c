#include "emu/report/not_supported.h"

#include "base/log.h"
#include "emu/report/error_log.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define NAMED_CALLS 256

/* True if the call is named for the first time. */
static bool first_time(const char *call)
{
    static const char *_Atomic named[NAMED_CALLS];
    for (int i = 0; i < NAMED_CALLS; i++) {
        const char *expected = NULL;
        if (atomic_compare_exchange_strong(&named[i], &expected, call))
            return true;
        if (strcmp(expected, call) == 0)
            return false;
    }
    return false;
}

cxu_result cx_emu_not_supported(const char *call, const char *what)
{
    if (first_time(call)) {
        cx_log(CTXRT_LOG_WARNING, "%s: %s is not supported by the embedded driver", call, what);
        cx_emu_error_log(CXU_LOG_LEVEL_WARNING, "%s: %s is not supported by the embedded driver",
                         call, what);
    }
    return CXU_NOT_SUPPORTED;
}

void cx_emu_has_no_effect(const char *hint)
{
    if (first_time(hint))
        cx_log(CTXRT_LOG_INFO, "%s has no effect in the embedded driver", hint);
}
