#include "context/driver_stack_entry.h"

#include "base/log.h"
#include "context/frame_kind.h"

static bool is_current(const cx_driver *driver, CUcontext native)
{
    CUcontext current;
    return driver->table.ctx_get_current(&current) == CXU_SUCCESS && current == native;
}

static bool is_of_set(CUcontext native)
{
    const cx_thread *thread = cx_thread_current;
    for (uint32_t i = 0; thread != NULL && i < cx_thread_depth(thread); i++)
        if (cx_frame_kind_of(&thread->frames[i])->is_override &&
            cx_frame_context(&thread->frames[i])->native == native)
            return true;
    return false;
}

static bool push(const cx_driver *driver, CUcontext native)
{
    bool was_current = is_current(driver, native);
    return driver->table.ctx_push(native) == CXU_SUCCESS ||
           (!was_current && is_current(driver, native)) ||
           driver->table.ctx_push(native) == CXU_SUCCESS || is_current(driver, native);
}

bool cx_driver_stack_entry_restore(const cx_driver *driver, CUcontext native)
{
    cx_layer_hint before = cx_thread_hint(is_of_set(native) ? CX_LAYER_ENTRY_STAYS
                                                             : CX_LAYER_NO_HINT);
    bool restored = push(driver, native);
    (void)cx_thread_hint(before);
    if (restored)
        return true;
    cx_log(
        CTXRT_LOG_ERROR,
        "context %p could not be put back: other code has destroyed it, or the driver has failed",
        (void *)native);
    return false;
}

bool cx_driver_stack_entry_remove(const cx_driver *driver, CUcontext beneath)
{
    const cx_driver_table *table = &driver->table;
    CUcontext popped;
    if (table->ctx_pop(&popped) == CXU_SUCCESS || is_current(driver, beneath))
        return true;
    if (table->ctx_pop(&popped) == CXU_SUCCESS || is_current(driver, beneath))
        return true;
    (void)table->ctx_set_current(beneath);
    if (is_current(driver, beneath))
        return true;
    cx_log(CTXRT_LOG_ERROR, "context %p could not be made current again: the driver has failed",
           (void *)beneath);
    return false;
}

bool cx_driver_stack_entry_is_made(const cx_driver *driver, CUcontext native, CUcontext before)
{
    return native != before && is_current(driver, native);
}

ctxrt_status cx_driver_stack_entry_take(const cx_driver *driver, CUcontext *out_native)
{
    CUcontext before, popped, now;
    ctxrt_status status = CX_DRIVER_CALL(driver, ctx_get_current, (&before));
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = driver->table.ctx_pop(&popped);
    if (result != CXU_SUCCESS &&
        (driver->table.ctx_get_current(&now) != CXU_SUCCESS || now == before))
        return cx_driver_error(driver, CX_SLOT_ctx_pop, result);
    *out_native = before;
    return CTXRT_SUCCESS;
}
