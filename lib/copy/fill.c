/* Fills, with bytes and with words of 32 bits. */
#include "base/error.h"
#include "copy/copy.h"
#include "copy/copy_fast_path.h"
#include <string.h>

/* The value that is repeated, and its size: 1 or 4. */
typedef struct pattern {
    uint32_t value;
    unsigned int bytes;
} pattern;

static void fill_here(void *destination, pattern with, size_t size_bytes)
{
    uint32_t *words = destination;
    if (with.bytes == 1)
        memset(destination, (int)with.value, size_bytes);
    else
        for (size_t i = 0; i < size_bytes / sizeof *words; i++)
            words[i] = with.value;
}

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

/* Fills memory of the CPU, once earlier work is done; `in_order`: there may be such work. */
static ctxrt_status fill_on_host(const cx_pointer_view *view, void *destination, pattern with,
                                 size_t size_bytes, ctxrt_stream *stream, bool in_order)
{
    cx_copy_pins pins;
    ctxrt_status status = CTXRT_SUCCESS;
    if (in_order)
        status = wait_for_work(stream);
    if (status == CTXRT_SUCCESS)
        status = cx_copy_pin_ends(view, NULL, size_bytes, &pins);
    if (status != CTXRT_SUCCESS)
        return status;
    fill_here(destination, with, size_bytes);
    cx_copy_unpin(&pins);
    return status;
}

static bool is_of_cpu(const cx_pointer_view *view)
{
    return view->device != NULL && view->device->id.type == CTXRT_DEVICE_CPU &&
           view->kind == CTXRT_MEMORY_DEVICE;
}

/* A fill, with its memory. */
typedef struct fill_plan {
    const cx_pointer_view *view;
    uintptr_t destination;
    pattern with;
    size_t size_bytes;
} fill_plan;

static cxu_result submit_fill(const fill_plan *plan, const cx_stream_target *target)
{
    const cx_driver_table *table = &target->driver->table;
    return plan->with.bytes == 1
               ? table->memset_d8_async(plan->destination, (unsigned char)plan->with.value,
                                        plan->size_bytes, target->native)
               : table->memset_d32_async(plan->destination, plan->with.value,
                                         plan->size_bytes / sizeof plan->with.value,
                                         target->native);
}

/* The driver may refuse memory of another device: nobody can ask whether it has access. */
static cxu_result try_fill(const fill_plan *plan, const cx_stream_target *target)
{
    if (plan->view->device == target->context->device)
        return submit_fill(plan, target);
    cx_layer_hint before = cx_thread_hint(CX_LAYER_CALL_IS_TRIED);
    cxu_result result = submit_fill(plan, target);
    (void)cx_thread_hint(before);
    return result;
}

static ctxrt_status check_fill(const fill_plan *plan, const cx_stream_target *target,
                               cxu_result result)
{
    return cx_driver_check(target->driver,
                           plan->with.bytes == 1 ? CX_SLOT_memset_d8_async
                                                 : CX_SLOT_memset_d32_async,
                           result);
}

/* Tells whether the driver refused because the stream's device has no access to another GPU's
 * memory. A capture takes no work of another context. */
static ctxrt_status ask_elsewhere(const fill_plan *plan, const cx_route *route, cxu_result result,
                                  bool *out_elsewhere)
{
    const cx_pointer_view *view = plan->view;
    bool capturing = true;
    *out_elsewhere = false;
    if (result != CXU_INVALID_VALUE || view->device == NULL ||
        view->kind != CTXRT_MEMORY_DEVICE || view->device == route->target.context->device)
        return CTXRT_SUCCESS;
    ctxrt_status status = cx_stream_is_capturing(&route->target, &capturing);
    *out_elsewhere = status == CTXRT_SUCCESS && !capturing;
    return status;
}

static ctxrt_status fill_at_memory(const fill_plan *plan, ctxrt_stream *stream)
{
    cx_route route;
    ctxrt_status status = cx_route_begin_at(stream, plan->view, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    status = check_fill(plan, &route.target, submit_fill(plan, &route.target));
    return cx_route_end(&route, status, true);
}

static ctxrt_status fill_on_driver(const fill_plan *plan, ctxrt_stream *stream, bool wait)
{
    cx_route route;
    ctxrt_status status = cx_route_begin(stream, plan->view, plan->view, NULL, &route);
    if (status != CTXRT_SUCCESS)
        return status;
    cxu_result result = try_fill(plan, &route.target);
    bool elsewhere;
    status = ask_elsewhere(plan, &route, result, &elsewhere);
    if (status == CTXRT_SUCCESS && !elsewhere)
        status = check_fill(plan, &route.target, result);
    if (!elsewhere)
        return cx_route_end(&route, status, wait);
    (void)cx_route_end(&route, CTXRT_SUCCESS, false);
    return fill_at_memory(plan, stream);
}

/* False: take the slow path. */
static bool fill_on_fast_path(const fill_plan *plan, ctxrt_stream *stream,
                              ctxrt_status *out_status)
{
    cx_fast_copy fast;
    if (!cx_fast_copy_begin((const void *)plan->destination, NULL, plan->size_bytes, stream, &fast,
                            out_status))
        return false;
    if (*out_status == CTXRT_SUCCESS) {
        *out_status = check_fill(plan, &fast.target, submit_fill(plan, &fast.target));
        cx_fast_copy_end(&fast);
    }
    return true;
}

static ctxrt_status fill_memory(const char *call, void *destination, pattern with,
                                size_t size_bytes, ctxrt_stream *stream, bool wait)
{
    cx_pointer_view view;
    fill_plan plan = {&view, (uintptr_t)destination, with, size_bytes};
    ctxrt_status status;
    if (size_bytes == 0)
        return CTXRT_SUCCESS;
    if (!wait && fill_on_fast_path(&plan, stream, &status))
        return status;
    status = cx_copy_check_range(call, "destination", destination, size_bytes);
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_look(destination, size_bytes, &view);
    if (status == CTXRT_SUCCESS)
        status = cx_pointer_check(call, "destination", destination, size_bytes, &view);
    if (status != CTXRT_SUCCESS)
        return status;
    if (view.driver == NULL)
        return fill_on_host(&view, destination, with, size_bytes, stream,
                            !wait && cx_route_wanted(stream));
    if (view.kind == CTXRT_MEMORY_PINNED && (wait || !cx_route_wanted(stream)))
        return fill_on_host(&view, destination, with, size_bytes, stream, false);
    if (wait && is_of_cpu(&view))
        return fill_on_host(&view, destination, with, size_bytes, stream, true);
    return fill_on_driver(&plan, stream, wait);
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
    return fill_memory(call, destination, (pattern){(uint32_t)value, 1}, size_bytes, stream, wait);
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
    return fill_memory(call, destination, (pattern){value, sizeof value}, size_bytes, stream, wait);
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
