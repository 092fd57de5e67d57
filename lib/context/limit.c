/* Limits of contexts, and the priorities of their streams: the driver tells of its current one. */
#include "base/error.h"
#include "context/named.h"
#include "context/stack.h"

static ctxrt_status enter_current(cx_named_context *out_named)
{
    cx_thread *thread;
    cx_frame *frame;
    ctxrt_status status = cx_stack_enter(&thread, &frame);
    if (status == CTXRT_SUCCESS)
        status = cx_context_enter(cx_frame_context(frame));
    if (status != CTXRT_SUCCESS)
        return status;
    out_named->context = cx_frame_context(frame);
    out_named->guard = (cx_context_guard){.native = NULL};
    return CTXRT_SUCCESS;
}

/* NULL: the current context. */
static ctxrt_status enter_context(const char *call, const ctxrt_context *handle,
                                  cx_named_context *out_named)
{
    return handle != NULL ? cx_named_context_enter(call, handle, out_named)
                          : enter_current(out_named);
}

static ctxrt_status refuse_limit(const cx_context *context, cx_slot slot, int limit,
                                 const char *what, cxu_result result)
{
    ctxrt_status status = result == CXU_UNSUPPORTED_LIMIT ? CTXRT_ERROR_NOT_SUPPORTED
                          : result == CXU_INVALID_VALUE   ? CTXRT_ERROR_INVALID_ARGUMENT
                                                          : CTXRT_SUCCESS;
    if (status == CTXRT_SUCCESS)
        return cx_context_map_error(context, "context",
                                    cx_driver_check(context->driver, slot, result));
    return cx_error_driver_call(status, cx_symbols[slot].symbol, (int)result,
                                cx_driver_result_name(context->driver, result),
                                "%s %s limit %d%s", cx_context_text(context),
                                status == CTXRT_ERROR_NOT_SUPPORTED ? "does not support"
                                                                    : "does not have",
                                limit, what);
}

ctxrt_status ctxrt_context_get_limit(ctxrt_context *context, ctxrt_context_limit limit,
                                     size_t *out_value)
{
    cx_named_context named;
    size_t value;
    if (out_value == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_context_get_limit: out_value is NULL");
    ctxrt_status status = enter_context("ctxrt_context_get_limit", context, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = named.context->driver->table.ctx_get_limit(&value, (cxu_limit)limit);
    if (result == CXU_SUCCESS)
        *out_value = value;
    else
        status = refuse_limit(named.context, CX_SLOT_ctx_get_limit, (int)limit, "", result);
    cx_named_context_leave(&named);
    return status;
}

ctxrt_status ctxrt_context_set_limit(ctxrt_context *context, ctxrt_context_limit limit,
                                     size_t value)
{
    cx_named_context named;
    ctxrt_status status = enter_context("ctxrt_context_set_limit", context, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = named.context->driver->table.ctx_set_limit((cxu_limit)limit, value);
    if (result != CXU_SUCCESS)
        status = refuse_limit(named.context, CX_SLOT_ctx_set_limit, (int)limit,
                              ", or not with such a value", result);
    cx_named_context_leave(&named);
    return status;
}

/* The device's number where the driver has no parts of devices. */
static ctxrt_status count_multiprocessors(const cx_context *context, unsigned int *out_count)
{
    const cx_driver *driver = context->driver;
    cxu_dev_resource resource;
    CUdevice device;
    int value = 0;
    if (!driver->missing[CX_SLOT_ctx_get_dev_resource]) {
        ctxrt_status status =
            CX_DRIVER_CALL(driver, ctx_get_dev_resource,
                           (context->native, &resource, CXU_DEV_RESOURCE_TYPE_SM));
        *out_count = status == CTXRT_SUCCESS ? resource.of.sm.count : 0;
        return status;
    }
    ctxrt_status status = CX_DRIVER_CALL(driver, ctx_get_device, (&device));
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(driver, device_get_attribute,
                                (&value, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    *out_count = (unsigned int)value;
    return status;
}

ctxrt_status ctxrt_context_multiprocessors(ctxrt_context *context,
                                           unsigned int *out_multiprocessors)
{
    cx_named_context named;
    unsigned int count;
    if (out_multiprocessors == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_context_multiprocessors: out_multiprocessors is NULL");
    ctxrt_status status = enter_context("ctxrt_context_multiprocessors", context, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    status = cx_context_map_error(named.context, "context",
                                  count_multiprocessors(named.context, &count));
    if (status == CTXRT_SUCCESS)
        *out_multiprocessors = count;
    cx_named_context_leave(&named);
    return status;
}

ctxrt_status ctxrt_context_priorities(ctxrt_context *context, int *out_least, int *out_greatest)
{
    cx_named_context named;
    int least = 0, greatest = 0;
    if (out_least == NULL && out_greatest == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_context_priorities: both out-parameters are NULL");
    ctxrt_status status = enter_context("ctxrt_context_priorities", context, &named);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_driver *driver = named.context->driver;
    if (!driver->missing[CX_SLOT_ctx_get_stream_priority_range] &&
        !driver->missing[CX_SLOT_stream_create_with_priority])
        status = cx_context_map_error(
            named.context, "context",
            CX_DRIVER_CALL(driver, ctx_get_stream_priority_range, (&least, &greatest)));
    cx_named_context_leave(&named);
    if (status != CTXRT_SUCCESS)
        return status;
    if (out_least != NULL)
        *out_least = least;
    if (out_greatest != NULL)
        *out_greatest = greatest;
    return CTXRT_SUCCESS;
}
