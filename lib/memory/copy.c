#include "memory/copy.h"

#include "base/error.h"
#include <stdlib.h>
#include <string.h>

#define STAGE_BYTES ((size_t)1 << 20)

static const char *const kind_names[] = {"any", "host to host", "host to device", "device to host",
                                         "device to device"};

static ctxrt_status contradiction(ctxrt_copy_kind kind, const char *end, const cx_place *place)
{
    if (place->device == NULL)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "a copy %s: the %s is not known to any driver",
                        kind_names[kind], end);
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "a copy %s: the %s is memory of %s that the host cannot touch",
                    kind_names[kind], end, cx_device_text(place->device->id));
}

ctxrt_status cx_copy_check_kind(const cx_place *destination, const cx_place *source, ctxrt_copy_kind kind)
{
    if ((unsigned int)kind > CTXRT_COPY_DEVICE_TO_DEVICE)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "there is no kind of copy %d", (int)kind);
    bool from_host = kind == CTXRT_COPY_HOST_TO_HOST || kind == CTXRT_COPY_HOST_TO_DEVICE;
    bool to_host = kind == CTXRT_COPY_HOST_TO_HOST || kind == CTXRT_COPY_DEVICE_TO_HOST;
    if (kind == CTXRT_COPY_ANY)
        return CTXRT_SUCCESS;
    if (from_host ? !cx_place_host(source) : source->device == NULL)
        return contradiction(kind, "source", source);
    if (to_host ? !cx_place_host(destination) : destination->device == NULL)
        return contradiction(kind, "destination", destination);
    return CTXRT_SUCCESS;
}

bool cx_copy_host_only(const cx_place *destination, const cx_place *source, ctxrt_copy_kind kind)
{
    return kind == CTXRT_COPY_HOST_TO_HOST ||
           (kind == CTXRT_COPY_ANY && destination->device == NULL && source->device == NULL);
}

/* Memory that the host may touch is host memory to every other driver. */
static bool reaches(const cx_driver *driver, const cx_place *place)
{
    return place->device == NULL || place->device->driver == driver || cx_place_host(place);
}

cx_route cx_copy_route(const cx_place *destination, const cx_place *source, const cx_driver *driver)
{
    return reaches(driver, destination) && reaches(driver, source) ? CX_ROUTE_DRIVER : CX_ROUTE_STAGED;
}

/* One leg, through the driver of the end that the host cannot touch. */
static ctxrt_status leg(void *destination, const void *source, size_t size_bytes, const cx_place *place)
{
    cx_context *context;
    cx_excursion excursion;
    ctxrt_status status = cx_context_primary(place->device, &context);
    if (status == CTXRT_SUCCESS)
        status = cx_excursion_begin(context, &excursion);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(context->driver, memcpy_unified,
                            ((CUdeviceptr)(uintptr_t)destination, (CUdeviceptr)(uintptr_t)source, size_bytes));
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(context->driver, ctx_synchronize, ());
    cx_excursion_end(&excursion);
    return status;
}

ctxrt_status cx_copy_staged(void *destination, const cx_place *to, const void *source, const cx_place *from,
                            size_t size_bytes)
{
    if (cx_place_host(to) && cx_place_host(from)) {
        memmove(destination, source, size_bytes);
        return CTXRT_SUCCESS;
    }
    if (cx_place_host(to))
        return leg(destination, source, size_bytes, from);
    if (cx_place_host(from))
        return leg(destination, source, size_bytes, to);
    size_t stage_bytes = size_bytes < STAGE_BYTES ? size_bytes : STAGE_BYTES;
    unsigned char *stage = malloc(stage_bytes);
    if (stage == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to stage a copy between two drivers");
    ctxrt_status status = CTXRT_SUCCESS;
    for (size_t done = 0; done < size_bytes && status == CTXRT_SUCCESS; done += stage_bytes) {
        size_t bytes = size_bytes - done < stage_bytes ? size_bytes - done : stage_bytes;
        status = leg(stage, (const unsigned char *)source + done, bytes, from);
        if (status == CTXRT_SUCCESS)
            status = leg((unsigned char *)destination + done, stage, bytes, to);
    }
    free(stage);
    return status;
}

/* ---- linear copies ---- */

typedef struct linear_copy {
    void *destination;
    const void *source;
    size_t size_bytes;
    ctxrt_copy_kind kind;
    cx_place to, from;
} linear_copy;

static ctxrt_status check(linear_copy *copy)
{
    if (copy->destination == NULL || copy->source == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "the %s of a copy is NULL",
                        copy->destination == NULL ? "destination" : "source");
    copy->to = cx_place_of(copy->destination);
    copy->from = cx_place_of(copy->source);
    ctxrt_status status = cx_copy_check_kind(&copy->to, &copy->from, copy->kind);
    if (status == CTXRT_SUCCESS)
        status = cx_place_check(&copy->to, copy->destination, copy->size_bytes, "the destination of a copy");
    if (status == CTXRT_SUCCESS)
        status = cx_place_check(&copy->from, copy->source, copy->size_bytes, "the source of a copy");
    return status;
}

static ctxrt_status check_empty(ctxrt_copy_kind kind)
{
    return (unsigned int)kind > CTXRT_COPY_DEVICE_TO_DEVICE
               ? cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "there is no kind of copy %d", (int)kind)
               : CTXRT_SUCCESS;
}

/* A staged copy comes behind the work of the stream, and the host waits for both. */
static ctxrt_status submit(const linear_copy *copy, const cx_stream_target *target)
{
    if (cx_copy_route(&copy->to, &copy->from, target->driver) == CX_ROUTE_STAGED) {
        ctxrt_status status = CX_DRIVER_CALL(target->driver, stream_synchronize, (target->native));
        return status == CTXRT_SUCCESS
                   ? cx_copy_staged(copy->destination, &copy->to, copy->source, &copy->from, copy->size_bytes)
                   : status;
    }
    cx_excursion excursion;
    ctxrt_status status = cx_excursion_begin(target->context, &excursion);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target->driver, memcpy_unified_async,
                            ((CUdeviceptr)(uintptr_t)copy->destination, (CUdeviceptr)(uintptr_t)copy->source,
                             copy->size_bytes, target->native));
    cx_excursion_end(&excursion);
    return status;
}

ctxrt_status ctxrt_copy(void *destination, const void *source, size_t size_bytes, ctxrt_copy_kind kind)
{
    linear_copy copy = {.destination = destination, .source = source, .size_bytes = size_bytes, .kind = kind};
    cx_stream_target target;
    ctxrt_status status = cx_runtime_enter();
    if (status != CTXRT_SUCCESS || size_bytes == 0)
        return status == CTXRT_SUCCESS ? check_empty(kind) : status;
    status = check(&copy);
    if (status != CTXRT_SUCCESS)
        return status;
    if (cx_copy_host_only(&copy.to, &copy.from, kind)) {
        memmove(destination, source, size_bytes);
        return CTXRT_SUCCESS;
    }
    status = cx_stream_resolve(NULL, &target);
    if (status == CTXRT_SUCCESS)
        status = submit(&copy, &target);
    if (status == CTXRT_SUCCESS)
        status = CX_DRIVER_CALL(target.driver, stream_synchronize, (target.native));
    return status;
}

ctxrt_status ctxrt_copy_async(void *destination, const void *source, size_t size_bytes, ctxrt_copy_kind kind,
                              ctxrt_stream *stream)
{
    linear_copy copy = {.destination = destination, .source = source, .size_bytes = size_bytes, .kind = kind};
    cx_stream_target target;
    ctxrt_status status = cx_stream_resolve(stream, &target);
    if (status != CTXRT_SUCCESS || size_bytes == 0)
        return status == CTXRT_SUCCESS ? check_empty(kind) : status;
    status = check(&copy);
    return status == CTXRT_SUCCESS ? submit(&copy, &target) : status;
}

/* ---- between devices ---- */

static ctxrt_status copy_between(const linear_copy *copy, cx_device *to, cx_device *from,
                                 const cx_stream_target *target)
{
    cx_context *to_context, *from_context;
    cx_excursion excursion;
    ctxrt_status status = cx_context_primary(to, &to_context);
    if (status == CTXRT_SUCCESS)
        status = cx_context_primary(from, &from_context);
    if (status == CTXRT_SUCCESS)
        status = cx_excursion_begin(target->context, &excursion);
    if (status != CTXRT_SUCCESS)
        return status;
    status = CX_DRIVER_CALL(target->driver, memcpy_peer_async,
                            ((CUdeviceptr)(uintptr_t)copy->destination, to_context->native,
                             (CUdeviceptr)(uintptr_t)copy->source, from_context->native, copy->size_bytes,
                             target->native));
    cx_excursion_end(&excursion);
    return status;
}

static ctxrt_status check_owner(const cx_place *place, const cx_device *device, const char *end)
{
    if (place->device != NULL && place->kind == CTXRT_MEMORY_DEVICE && place->device != device)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "the %s is memory of %s, not of %s", end,
                        cx_device_text(place->device->id), cx_device_text(device->id));
    return CTXRT_SUCCESS;
}

ctxrt_status ctxrt_copy_peer(void *destination, ctxrt_device destination_device, const void *source,
                             ctxrt_device source_device, size_t size_bytes, ctxrt_stream *stream)
{
    linear_copy copy = {.destination = destination, .source = source, .size_bytes = size_bytes};
    cx_device *to, *from;
    cx_stream_target target;
    ctxrt_status status = cx_stream_resolve(stream, &target);
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(destination_device, &to);
    if (status == CTXRT_SUCCESS)
        status = cx_device_find(source_device, &from);
    if (status != CTXRT_SUCCESS || size_bytes == 0)
        return status;
    copy.kind = CTXRT_COPY_DEVICE_TO_DEVICE;
    status = check(&copy);
    if (status == CTXRT_SUCCESS)
        status = check_owner(&copy.to, to, "destination");
    if (status == CTXRT_SUCCESS)
        status = check_owner(&copy.from, from, "source");
    if (status != CTXRT_SUCCESS)
        return status;
    if (to->driver != target.driver || from->driver != target.driver)
        return submit(&copy, &target);
    return copy_between(&copy, to, from, &target);
}
