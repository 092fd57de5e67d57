#include "infinirt/status.h"

enum { DRIVER_INVALID_VALUE = 1, DRIVER_INVALID_HANDLE = 400 }; /* of CUresult */

static infiniStatus_t of_driver_error(int result)
{
    switch (result) {
    case DRIVER_INVALID_VALUE:
    case DRIVER_INVALID_HANDLE:
        return INFINI_STATUS_BAD_PARAM;
    default:
        return INFINI_STATUS_INTERNAL_ERROR;
    }
}

infiniStatus_t cx_infini_status(ctxrt_status status)
{
    switch (status) {
    case CTXRT_SUCCESS:
        return INFINI_STATUS_SUCCESS;
    case CTXRT_ERROR_NULL_POINTER:
        return INFINI_STATUS_NULL_POINTER;
    case CTXRT_ERROR_INVALID_ARGUMENT:
    case CTXRT_ERROR_INVALID_HANDLE:
    case CTXRT_ERROR_CONTEXT_DESTROYED:
    case CTXRT_ERROR_WRONG_CONTEXT:
    case CTXRT_ERROR_IN_USE:
        return INFINI_STATUS_BAD_PARAM;
    case CTXRT_ERROR_INVALID_DEVICE:
        return INFINI_STATUS_DEVICE_NOT_FOUND;
    case CTXRT_ERROR_NOT_SUPPORTED:
        return INFINI_STATUS_NOT_IMPLEMENTED;
    case CTXRT_ERROR_NO_DEVICE:
    case CTXRT_ERROR_SHUTDOWN:
    case CTXRT_ERROR_FORKED:
        return INFINI_STATUS_DEVICE_NOT_INITIALIZED;
    case CTXRT_ERROR_DRIVER:
        return of_driver_error(ctxrt_last_error()->driver_result);
    default:
        return INFINI_STATUS_INTERNAL_ERROR;
    }
}
