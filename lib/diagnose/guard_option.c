/* The options of the debug mode: from the caller, or from CTXRT_DEBUG_MEMORY. */
#include "base/error.h"
#include "device/environment.h"
#include "diagnose/guard.h"

static bool asks_for_anything(const ctxrt_allocator_debug *options)
{
    return options->flags != 0 || options->quarantine_bytes != 0 ||
           options->context_limit_bytes != 0 || options->fail_call != 0;
}

ctxrt_status cx_guard_choose(const char *call, const ctxrt_allocator_debug *options,
                             ctxrt_allocator_debug *out_options, bool *out_wanted)
{
    ctxrt_status status = CTXRT_SUCCESS;
    *out_options = (ctxrt_allocator_debug)CTXRT_ALLOCATOR_DEBUG_INIT;
    if (options != NULL)
        *out_options = *options;
    else
        status = cx_environment_debug_memory(out_options);
    if (options != NULL && options->struct_size != sizeof *options)
        return cx_error(
            CTXRT_ERROR_INVALID_ARGUMENT,
            "%s: struct_size of the debug options is %zu, not %zu: start from "
            "CTXRT_ALLOCATOR_DEBUG_INIT",
            call, options->struct_size, sizeof *options);
    if ((out_options->flags & ~(unsigned int)(CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON)) != 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: there are no debug flags %#x", call, out_options->flags);
    *out_wanted = status == CTXRT_SUCCESS && asks_for_anything(out_options);
    return status;
}
