/* Fills. */
#include "base/error.h"
#include "copy/copy.h"
#include <string.h>

/* Host memory that no driver can fill: the host does, when the work before it is done. */
static ctxrt_status fill_on_host(void *destination, int value, size_t size_bytes,
                                 ctxrt_stream *stream, bool wait)
{
    ctxrt_status status = CTXRT_SUCCESS;
    if (!wait && cx_route_wanted(stream))
        status = ctxrt_stream_synchronize(stream);
    if (status == CTXRT_SUCCESS)
        memset(destination, value, size_bytes);
    return status;
}

static ctxrt_status fill_on_driver(const cx_pointer_view *view, void *destination, int value,
                                   size_t size_bytes, ctxrt_stream *stream, bool wait)
{
    cx_route route;
    ctxrt_status status = cx_route_begin(stream, view, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_route_touch(&route, view);
    status = CX_DRIVER_CALL(route.target.driver, memset_d8_async,
                            ((uintptr_t)destination, (unsigned char)value, size_bytes,
                             route.target.native));
    return cx_route_end(&route, status, wait);
}

static ctxrt_status fill(const char *call, void *destination, int value, size_t size_bytes,
                         ctxrt_stream *stream, bool wait)
{
    cx_pointer_view view;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (value < 0 || value > 255)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the value %d is not 0 to 255", call,
                        value);
    if (size_bytes == 0)
        return CTXRT_SUCCESS;
    status = cx_copy_check_range(call, "destination", destination, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_look(destination, size_bytes, &view);
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_check(call, "destination", destination, size_bytes, &view);
    if (status != CTXRT_SUCCESS)
        return status;
    bool host = view.driver == NULL ||
                (view.kind == CTXRT_MEMORY_PINNED && (wait || !cx_route_wanted(stream)));
    return host ? fill_on_host(destination, value, size_bytes, stream, wait)
                : fill_on_driver(&view, destination, value, size_bytes, stream, wait);
}

ctxrt_status ctxrt_fill(void *destination, int value, size_t size_bytes)
{
    return fill("ctxrt_fill", destination, value, size_bytes, NULL, true);
}

ctxrt_status ctxrt_fill_async(void *destination, int value, size_t size_bytes, ctxrt_stream *stream)
{
    return fill("ctxrt_fill_async", destination, value, size_bytes, stream, false);
}
