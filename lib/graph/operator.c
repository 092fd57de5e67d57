#include "graph/operator.h"

#include "base/error.h"
#include <stdio.h>
#include <string.h>

static ctxrt_status check_operator(const ctxrt_operator *operation)
{
    if (operation == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_operator_submit: operation is NULL");
    if (operation->struct_size != sizeof *operation)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_operator_submit: struct_size is %zu, not %zu: start from "
                        "CTXRT_OPERATOR_INIT",
                        operation->struct_size, sizeof *operation);
    if (operation->run == NULL && operation->type == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER,
                        "ctxrt_operator_submit: the operator has neither run nor a type");
    if (operation->type != NULL && strlen(operation->type) >= CX_OPERATOR_TYPE_BYTES)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "ctxrt_operator_submit: a type has at most %d bytes",
                        CX_OPERATOR_TYPE_BYTES - 1);
    return CTXRT_SUCCESS;
}

static ctxrt_status find_implementation(const cx_context *context, const char *type,
                                        ctxrt_operator_implementation *out_implementation)
{
    if (context->device == NULL)
        return cx_error(CTXRT_ERROR_NOT_SUPPORTED, "there is no operator \"%s\" for %s", type,
                        cx_context_text(context));
    return ctxrt_operator_find(context->device->id.type, type, out_implementation);
}

ctxrt_status cx_operator_read(const ctxrt_operator *operation, const cx_context *context,
                              cx_operator *out_operator)
{
    ctxrt_status status = check_operator(operation);
    if (status != CTXRT_SUCCESS)
        return status;
    ctxrt_operator_implementation implementation = {sizeof implementation, operation->run,
                                                    operation->capturable};
    if (operation->run == NULL)
        status = find_implementation(context, operation->type, &implementation);
    if (status != CTXRT_SUCCESS)
        return status;
    *out_operator = (cx_operator){implementation.run, operation->destroy, operation->user_data,
                                  implementation.capturable != 0, ""};
    if (operation->type != NULL)
        strcpy(out_operator->type, operation->type);
    return CTXRT_SUCCESS;
}

cx_operator_name cx_operator_text(const cx_operator *named, size_t number)
{
    cx_operator_name name;
    int length = snprintf(name.text, sizeof name.text,
                          number != 0 ? "operator %zu" : "the operator", number);
    if (named->type[0] != '\0')
        snprintf(name.text + length, sizeof name.text - (size_t)length, " (%s)", named->type);
    return name;
}

static ctxrt_status operator_failed(const cx_operator *called, size_t number, ctxrt_status status,
                                    bool explained)
{
    const cx_operator_name name = cx_operator_text(called, number);
    const ctxrt_error *error = ctxrt_last_error();
    if (!explained)
        return cx_error(status, "%s failed: %s", name.text, ctxrt_status_text(status));
    return cx_error_driver_call(status, error->driver_call, error->driver_result,
                                error->driver_result_name, "%s failed: %s", name.text,
                                error->message);
}

ctxrt_status cx_operator_run(const cx_thread *thread, const cx_operator *called, size_t number)
{
    uint32_t depth = cx_thread_depth(thread);
    unsigned long errors = cx_error_count();
    ctxrt_status status = called->run(called->user_data);
    if (status != CTXRT_SUCCESS)
        return operator_failed(called, number, status,
                               cx_error_count() != errors && ctxrt_last_error()->status == status);
    if (cx_thread_depth(thread) != depth)
        return cx_error(CTXRT_ERROR_STACK_LEFTOVER,
                        "%s left the stack with %u frames instead of %u",
                        cx_operator_text(called, number).text, cx_thread_depth(thread), depth);
    return CTXRT_SUCCESS;
}
