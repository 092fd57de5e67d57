#include "context/excursion.h"

#include "base/error.h"
#include "context/entry.h"

ctxrt_status cx_excursion_begin(const cx_context *context, cx_excursion *out_excursion)
{
    *out_excursion = (cx_excursion){.driver = context->driver};
    ctxrt_status status = CX_DRIVER_CALL(context->driver, ctx_get_current, (&out_excursion->home));
    if (status != CTXRT_SUCCESS || out_excursion->home == context->native)
        return status;
    status = CX_DRIVER_CALL(context->driver, ctx_push, (context->native));
    if (status != CTXRT_SUCCESS &&
        !cx_entry_is_made(context->driver, context->native, out_excursion->home))
        return status;
    out_excursion->native = context->native;
    return CTXRT_SUCCESS;
}

void cx_excursion_end(cx_excursion *excursion)
{
    if (excursion->native != NULL)
        (void)cx_entry_remove(excursion->driver, excursion->home);
    excursion->native = NULL;
}
