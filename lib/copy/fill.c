/* Fills, with bytes and with words of 32 bits. */
#include "base/error.h"
#include "copy/copy.h"
#include "copy/copy_fast_path.h"
#include <string.h>

typedef struct fill {
    void *destination;
    uint32_t value;     /* that is repeated */
    size_t value_bytes; /* 1 or 4 */
    size_t size_bytes;
    ctxrt_stream *stream;
    bool wait;
    const cx_pointer_view *view; /* of the destination */
} fill;

/* ---- by the host ---- */

/* Waits for the stream's earlier work. A driver that tells an idle stream by a look is spared the
 * call. */
static ctxrt_status wait_for_work(ctxrt_stream *stream)
{
    cx_stream_target target;
    ctxrt_status status = cx_work_begin(stream, &target);
    if (status != CTXRT_SUCCESS)
        return status;
    const cx_driver *driver = target.driver;
    bool idle = driver->stream_is_idle != NULL && driver->stream_is_idle(target.native);
    if (idle)
        status = cx_context_waited(target.context, "stream", CTXRT_SUCCESS);
    cx_work_end();
    return idle ? status : ctxrt_stream_synchronize(stream);
}

/* Fills memory that the host may touch; `in_order`: once earlier work is done. */
static ctxrt_status fill_on_host(const fill *self, bool in_order)
{
    cx_copy_pins pins;
    uint32_t *words = self->destination;
    ctxrt_status status = in_order ? wait_for_work(self->stream) : CTXRT_SUCCESS;
    if (status == CTXRT_SUCCESS)
        status = cx_copy_pin_ends(self->view, NULL, self->size_bytes, &pins);
    if (status != CTXRT_SUCCESS)
        return status;
    if (self->value_bytes == 1)
        memset(self->destination, (int)self->value, self->size_bytes);
    else
        for (size_t i = 0; i < self->size_bytes / sizeof *words; i++)
            words[i] = self->value;
    cx_copy_unpin(&pins);
    return status;
}

/* ---- by a driver ---- */

static cxu_result submit_fill(const fill *self, const cx_stream_target *target)
{
    const cx_driver_table *table = &target->driver->table;
    uintptr_t begin = (uintptr_t)self->destination;
    return self->value_bytes == 1
               ? table->memset_d8_async(begin, (unsigned char)self->value, self->size_bytes,
                                        target->native)
               : table->memset_d32_async(begin, self->value, self->size_bytes / self->value_bytes,
                                         target->native);
}

static ctxrt_status check_fill(const fill *self, const cx_stream_target *target, cxu_result result)
{
    return cx_driver_check(
        target->driver,
        self->value_bytes == 1 ? CX_SLOT_memset_d8_async : CX_SLOT_memset_d32_async, result);
}

/* Tells whether the driver refused because the stream's device has no access to another GPU's
 * memory. A capture takes no work of another context. */
static ctxrt_status ask_elsewhere(const fill *self, const cx_stream_target *target,
                                  cxu_result result, bool *out_elsewhere)
{
    const cx_pointer_view *view = self->view;
    bool capturing = true;
    *out_elsewhere = false;
    if (result != CXU_INVALID_VALUE || view->device == NULL ||
        view->kind != CTXRT_MEMORY_DEVICE || view->device == target->context->device)
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_stream_is_capturing(target, &capturing);
    *out_elsewhere = status == CTXRT_SUCCESS && !capturing;
    return status;
}

static ctxrt_status fill_at_memory(const fill *self)
{
    cx_route route;
    ctxrt_status status = cx_route_begin_at(self->stream, self->view, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_fill(self, &route.target, submit_fill(self, &route.target));
    return cx_route_end(&route, status, true);
}

/* The driver may refuse memory of another device: nobody can ask whether it has access. */
static ctxrt_status fill_on_driver(const fill *self)
{
    cx_route route;
    bool elsewhere;
    ctxrt_status status = cx_route_begin(self->stream, self->view, self->view, NULL, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    cx_route_touch(&route, self->view, NULL);
    bool tried = self->view->device != route.target.context->device;
    cx_layer_hint before = tried ? cx_thread_hint(CX_LAYER_CALL_IS_TRIED) : CX_LAYER_NO_HINT;
    cxu_result result = submit_fill(self, &route.target);
    if (tried)
        (void)cx_thread_hint(before);
    status = ask_elsewhere(self, &route.target, result, &elsewhere);
    if (status == CTXRT_SUCCESS && !elsewhere)
        status = check_fill(self, &route.target, result);
    status = cx_route_end(&route, status, self->wait && !elsewhere);
    return elsewhere ? fill_at_memory(self) : status;
}

/* False: take the slow path. */
static bool fill_on_fast_path(const fill *self, ctxrt_status *out_status)
{
    cx_fast_copy fast;
    if (!cx_fast_copy_begin(self->destination, NULL, self->size_bytes, self->stream, &fast,
                            out_status))
        return false;
    if (*out_status == CTXRT_SUCCESS) {
        *out_status = check_fill(self, &fast.target, submit_fill(self, &fast.target));
        cx_fast_copy_end(&fast);
    }
    return true;
}

/* ---- all ---- */

static ctxrt_status run_fill(const char *call, fill wanted)
{
    ctxrt_status status;
    cx_pointer_view view;
    wanted.view = &view;
    if (wanted.size_bytes == 0)
        return CTXRT_SUCCESS;
    if (!wanted.wait && fill_on_fast_path(&wanted, &status))
        return status;
    status = cx_copy_check_range(call, "destination", wanted.destination, wanted.size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_look(wanted.destination, wanted.size_bytes, &view);
    if (status == CTXRT_SUCCESS)
        status =
            cx_pointer_check(call, "destination", wanted.destination, wanted.size_bytes, &view);
    if (status != CTXRT_SUCCESS)
        return status;
    if (view.driver == NULL || view.kind == CTXRT_MEMORY_PINNED) {
        bool ordered = !wanted.wait && cx_route_wanted(wanted.stream);
        if (view.driver == NULL || !ordered)
            return fill_on_host(&wanted, ordered);
    }
    if (wanted.wait && view.kind == CTXRT_MEMORY_DEVICE && view.device != NULL &&
        view.device->id.type == CTXRT_DEVICE_CPU)
        return fill_on_host(&wanted, true);
    return fill_on_driver(&wanted);
}

static ctxrt_status fill_bytes(const char *call, void *destination, int value, size_t size_bytes,
                               ctxrt_stream *stream, bool wait)
{
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (value < 0 || value > 255)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: the value %d is not 0 to 255", call,
                        value);
    return run_fill(call, (fill){destination, (uint32_t)value, 1, size_bytes, stream, wait, NULL});
}

static ctxrt_status fill_words(const char *call, void *destination, uint32_t value, size_t count,
                               ctxrt_stream *stream, bool wait)
{
    size_t size_bytes;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if ((uintptr_t)destination % sizeof value != 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: the destination %p is not at a multiple of 4", call, destination);
    if (__builtin_mul_overflow(count, sizeof value, &size_bytes))
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s: no memory has %zu words", call, count);
    return run_fill(call, (fill){destination, value, 4, size_bytes, stream, wait, NULL});
}

ctxrt_status ctxrt_fill(void *destination, int value, size_t size_bytes)
{
    return fill_bytes("ctxrt_fill", destination, value, size_bytes, NULL, true);
}

ctxrt_status ctxrt_fill_async(void *destination, int value, size_t size_bytes, ctxrt_stream *stream)
{
    return fill_bytes("ctxrt_fill_async", destination, value, size_bytes, stream, false);
}

ctxrt_status ctxrt_fill32(void *destination, uint32_t value, size_t count)
{
    return fill_words("ctxrt_fill32", destination, value, count, NULL, true);
}

ctxrt_status ctxrt_fill32_async(void *destination, uint32_t value, size_t count,
                                ctxrt_stream *stream)
{
    return fill_words("ctxrt_fill32_async", destination, value, count, stream, false);
}
