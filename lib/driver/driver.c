#include "driver/driver.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* A newer driver has results that our list lacks. */
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

/* The first call that met a sticky error, for drivers that do not explain their errors: its thread
 * in the upper half, then its slot + 1 and its result, in 16 bits each. 0: none. */
static _Atomic uint64_t first_error;

void cx_driver_forget_errors(void)
{
    atomic_store(&first_error, 0);
}

static void describe_first(cx_slot slot, cxu_result result, char *text, size_t size)
{
    uint64_t first = 0;
    uint64_t own = (uint64_t)(uint32_t)syscall(SYS_gettid) << 32 | (uint64_t)(slot + 1) << 16 |
                   (uint64_t)result;
    if (atomic_compare_exchange_strong(&first_error, &first, own)) {
        snprintf(text, size, "earlier work failed with it; calls return it from now on");
        return;
    }
    int thread = (int)(first >> 32);
    const char *symbol = cx_symbols[(first >> 16 & 0xffff) - 1].symbol;
    if ((first & 0xffff) == (uint64_t)result)
        snprintf(text, size, "earlier work failed with it, and %s of thread %d was told first",
                 symbol, thread);
    else
        snprintf(text, size, "after %s failed with error %d in thread %d", symbol,
                 (int)(first & 0xffff), thread);
}

void cx_driver_explain(const cx_driver *driver, cxu_result result, char *text, size_t size)
{
    text[0] = '\0';
    if (driver->explain != NULL)
        (void)driver->explain(result, text, size);
}

void cx_driver_room_text(const cx_driver *driver, char *text, size_t size)
{
    size_t free_bytes = 0, total_bytes = 0;
    cx_driver_explain(driver, CXU_OUT_OF_MEMORY, text, size);
    (void)driver->table.mem_get_info(&free_bytes, &total_bytes);
    if (text[0] == '\0')
        snprintf(text, size, "%zu of its device's %zu bytes are free", free_bytes, total_bytes);
}

const char *cx_driver_advice(const cx_driver *driver, cxu_result result)
{
    const char *advice = driver->advise != NULL ? driver->advise(result) : NULL;
    return advice != NULL ? advice : "";
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
    char more[400];
    cx_driver_explain(driver, result, more, sizeof more);
    if (driver->explain == NULL && cx_result_sticks(result))
        describe_first(slot, result, more, sizeof more);
    const char *advice = cx_driver_advice(driver, result);
    return cx_error_driver_call(status, symbol, result, name, "%s failed: %s, %d (%s)%s%s%s%s",
                                symbol, name, (int)result, cx_driver_result_text(driver, result),
                                more[0] != '\0' ? "; " : "", more, advice[0] != '\0' ? "; " : "",
                                advice);
}
