#include "driver/driver.h"

ctxrt_status cx_driver_status(cxu_result result)
{
    switch (result) {
    case CXU_SUCCESS:
        return CTXRT_SUCCESS;
    case CXU_OUT_OF_MEMORY:
        return CTXRT_ERROR_OUT_OF_MEMORY;
    case CXU_NOT_SUPPORTED:
        return CTXRT_ERROR_NOT_SUPPORTED;
    case CXU_NOT_READY:
        return CTXRT_ERROR_NOT_READY;
    case CXU_INVALID_DEVICE:
        return CTXRT_ERROR_INVALID_DEVICE;
    case CXU_CONTEXT_IS_DESTROYED:
        return CTXRT_ERROR_CONTEXT_DESTROYED;
    case CXU_NOT_PERMITTED:
        return CTXRT_ERROR_NOT_PERMITTED;
    case CXU_DEINITIALIZED:
        return CTXRT_ERROR_SHUTDOWN;
    default:
        return CTXRT_ERROR_DRIVER;
    }
}

/* A driver newer than our list knows results that we do not. */
const char *cx_driver_result_name(const cx_driver *driver, cxu_result result)
{
    const char *name = cx_result_name(result);
    if (name == NULL && driver->table.get_error_name(result, &name) != CXU_SUCCESS)
        name = NULL;
    return name != NULL ? name : "an unknown result";
}

const char *cx_driver_result_text(const cx_driver *driver, cxu_result result)
{
    const char *text = cx_result_text(result);
    if (text == NULL && driver->table.get_error_string(result, &text) != CXU_SUCCESS)
        text = NULL;
    return text != NULL ? text : "no text";
}

ctxrt_status cx_driver_error(const cx_driver *driver, cx_slot slot, cxu_result result)
{
    const char *symbol = cx_symbols[slot].symbol;
    const char *name = cx_driver_result_name(driver, result);
    ctxrt_status status = cx_driver_status(result);

    if (!driver->loaded)
        return cx_error_driver_call(status, symbol, result, name, "%s was not called: %s", symbol,
                                    driver->reason);
    if (driver->missing[slot])
        return cx_error_driver_call(status, symbol, result, name,
                                    "%s is not in the driver %s (CUDA %d.%d)", symbol, driver->name,
                                    driver->version / 1000, driver->version % 1000 / 10);
    return cx_error_driver_call(status, symbol, result, name, "%s failed: %s, %d (%s)", symbol,
                                name, (int)result, cx_driver_result_text(driver, result));
}
