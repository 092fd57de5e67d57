#include "context/excursion.h"

#include "base/error.h"
#include "base/log.h"

ctxrt_status cx_excursion_begin(const cx_context *context, cx_excursion *out_excursion)
{
    *out_excursion = (cx_excursion){.driver = context->driver};
    ctxrt_status status = CX_DRIVER_CALL(context->driver, ctx_get_current, (&out_excursion->home));
    if (status != CTXRT_SUCCESS || out_excursion->home == context->native)
        return status;
    status = CX_DRIVER_CALL(context->driver, ctx_push, (context->native));
    if (status == CTXRT_SUCCESS)
        out_excursion->native = context->native;
    return status;
}

static bool is_home(const cx_excursion *excursion)
{
    CUcontext current;
    return excursion->driver->table.ctx_get_current(&current) == CXU_SUCCESS && current == excursion->home;
}

/* A driver may report an earlier failure from any call, whether it did what was asked or not. */
static bool return_home(const cx_excursion *excursion)
{
    const cx_driver_table *table = &excursion->driver->table;
    CUcontext popped;
    if (table->ctx_pop(&popped) == CXU_SUCCESS)
        return popped == excursion->native || is_home(excursion);
    if (is_home(excursion))
        return true;
    (void)table->ctx_pop(&popped);
    if (is_home(excursion))
        return true;
    (void)table->ctx_set_current(excursion->home);
    return is_home(excursion);
}

void cx_excursion_end(cx_excursion *excursion)
{
    if (excursion->native != NULL && !return_home(excursion))
        cx_log(CTXRT_LOG_ERROR, "context %p could not be made current again after a call in context %p",
               (void *)excursion->home, (void *)excursion->native);
    excursion->native = NULL;
}
