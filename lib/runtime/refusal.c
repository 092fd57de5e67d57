#include "runtime/refusal.h"

#include "base/log.h"
#include "runtime/thread.h"

cxr_error cx_cudart_refuse(const char *symbol, atomic_flag *is_said)
{
    if (!atomic_flag_test_and_set(is_said))
        cx_log(CTXRT_LOG_WARNING,
               "cudart: %s is not served by this library (docs/runtime.md): it returns "
               "cudaErrorNotSupported",
               symbol);
    return cx_cudart_thread_get()->last_error = CXR_NOT_SUPPORTED;
}
