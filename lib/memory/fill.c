#include "base/error.h"
#include "memory/place.h"
#include "work/stream.h"

#include <string.h>

static ctxrt_status check(void *destination, int value, size_t size_bytes, cx_place *out_place)
{
    if (value < 0 || value > 255)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the value %d of a fill is not a byte", value);
    if (size_bytes == 0)
        return CTXRT_SUCCESS;
    if (destination == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "the destination of a fill is NULL");
    *out_place = cx_place_of(destination);
    return cx_place_check(out_place, destination, size_bytes, "the destination of a fill");
}

/* Memory that the stream's driver does not know is filled by the host, behind the stream's work. */
static ctxrt_status submit(void *destination, int value, size_t size_bytes, const cx_place *place,
                           const cx_stream_target *target)
{
    cx_excursion excursion;
    ctxrt_status status;
    if (place->device == NULL || (place->device->driver != target->driver && cx_place_host(place))) {
        status = CX_DRIVER_CALL(target->driver, stream_synchronize, (target->native));
        if (status == CTXRT_SUCCESS)
            memset(destination, value, size_bytes);
        return status;
    }
    if (place->device->driver != target->driver)
        return cx_error(CTXRT_ERROR_WRONG_CONTEXT, "memory of %s cannot be filled in a stream of another driver",
                        cx_device_text(place->device->id));
    status = cx_excursion_begin(target->context, &excursion);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target->driver, memset_d8_async,
                            ((CUdeviceptr)(uintptr_t)destination, (unsigned char)value, size_bytes, target->native));
    cx_excursion_end(&excursion);
    return status;
}

ctxrt_status ctxrt_fill(void *destination, int value, size_t size_bytes)
{
    cx_place place = {0};
    cx_stream_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status == CTXRT_SUCCESS)
        status = check(destination, value, size_bytes, &place);
    if (status != CTXRT_SUCCESS || size_bytes == 0)
        return status;
    if (place.device == NULL) {
        memset(destination, value, size_bytes);
        return CTXRT_SUCCESS;
    }
    status = cx_stream_resolve(NULL, &target);
    if (status == CTXRT_SUCCESS)
        status = submit(destination, value, size_bytes, &place, &target);
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(target.driver, stream_synchronize, (target.native));
    return status;
}

ctxrt_status ctxrt_fill_async(void *destination, int value, size_t size_bytes, ctxrt_stream *stream)
{
    cx_place place = {0};
    cx_stream_target target;
    ctxrt_status status = cx_stream_resolve(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = check(destination, value, size_bytes, &place);
    if (status != CTXRT_SUCCESS || size_bytes == 0)
        return status;
    return submit(destination, value, size_bytes, &place, &target);
}
