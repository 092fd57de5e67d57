#include "emu/schedule/copy.h"

#include "driver/access_log.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/memory/array.h"
#include "emu/memory/reservation.h"
#include "emu/memory/shared.h"
#include "emu/schedule/schedule.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- ranges ---- */

bool cx_emu_box_bytes(size_t pitch_bytes, size_t slice_bytes, size_t width_bytes, size_t height,
                      size_t depth, size_t *out_bytes)
{
    size_t rows, slices, sum;

    if (__builtin_mul_overflow(pitch_bytes, height - 1, &rows) ||
        __builtin_mul_overflow(slice_bytes, depth - 1, &slices) ||
        __builtin_add_overflow(rows, slices, &sum) ||
        __builtin_add_overflow(sum, width_bytes, &sum))
        return false;
    *out_bytes = sum;
    return true;
}

static cx_emu_place place_of(const cx_emu_allocation *allocation)
{
    switch (allocation->kind) {
    case CX_EMU_MEMORY_PINNED:
    case CX_EMU_MEMORY_REGISTERED:
        return CX_EMU_PLACE_PINNED;
    case CX_EMU_MEMORY_MANAGED:
        return CX_EMU_PLACE_MANAGED;
    case CX_EMU_MEMORY_SHARED:
        return allocation->shared->facts.host ? CX_EMU_PLACE_PINNED : CX_EMU_PLACE_DEVICE;
    default:
        return CX_EMU_PLACE_DEVICE;
    }
}

/* True if some of the range, which no allocation holds, is memory that the host may not touch, or
 * freed memory of the driver. */
static bool touches_device(uintptr_t address, size_t bytes)
{
    const cx_emu_allocation *allocation = cx_emu_allocation_overlapping(address, bytes);

    return (allocation != NULL && (uintptr_t)allocation->mapped != allocation->address) ||
           cx_emu_reservation_overlapping(address, bytes) ||
           cx_emu_host_memory_overlaps(address, bytes) ||
           (bytes > 0 && cx_emu_gpu_memory_overlaps(address, bytes));
}

/* Device memory that was freed may be nobody's by now. Only for addresses of which the caller does
 * not say that they are the host's: this is a call of the system. */
static bool is_mapped(uintptr_t address, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = address / page * page;

    return bytes == 0 || msync((void *)first, address - first + bytes, MS_ASYNC) == 0 ||
           errno != ENOMEM;
}

static cxu_result refuse_range(uintptr_t address, size_t bytes)
{
    const cx_emu_allocation *first = cx_emu_allocation_find(address, 1);

    if (first != NULL && bytes > first->bytes - (address - first->address))
        return cx_emu_refuse_numbers(CXU_INVALID_VALUE,
                                     "# bytes do not fit: # are left of the allocation", bytes,
                                     first->bytes - (address - first->address));
    return cx_emu_refuse(CXU_INVALID_VALUE,
                         first != NULL ? "the memory is not what the call takes it for"
                                       : "no allocation of the driver has the address");
}

cxu_result cx_emu_span_find(cxu_memory_type type, uintptr_t address, size_t bytes,
                            cx_emu_reach reach, cx_emu_span *out_span)
{
    cx_emu_allocation *allocation;
    uintptr_t end;

    if (!address || __builtin_add_overflow(address, bytes, &end))
        return cx_emu_refuse(CXU_INVALID_VALUE, address == 0 ? "an address is NULL"
                                                             : "a range ends beyond all memory");
    allocation = reach.latest ? cx_emu_allocation_find_for_work(address, bytes, reach.latest)
                              : cx_emu_allocation_find(address, bytes);
    if (allocation != NULL) {
        *out_span = (cx_emu_span){cx_emu_allocation_at(allocation, address), {allocation, end},
                                  place_of(allocation)};
        if (!cx_emu_allocation_accessible(out_span->use, reach.device, reach.writes))
            return cx_emu_refuse(CXU_INVALID_VALUE,
                                 reach.writes
                                     ? "the device has no access to write the memory; "
                                       "cuMemSetAccess or cuMemPoolSetAccess gives it"
                                     : "the device has no access to the memory; cuMemSetAccess or "
                                       "cuMemPoolSetAccess gives it");
        if (reach.writes)
            cx_emu_allocation_mark_written(allocation, address, bytes);
        return cx_emu_allocation_error(allocation);
    }
    if (type == CXU_MEMORYTYPE_DEVICE || touches_device(address, bytes) ||
        (type == CXU_MEMORYTYPE_UNIFIED && !is_mapped(address, bytes)))
        return refuse_range(address, bytes);
    *out_span = (cx_emu_span){(unsigned char *)address, {NULL, end}, CX_EMU_PLACE_PAGEABLE};
    return CXU_SUCCESS;
}

/* ---- the copy itself ---- */

static bool is_tight(const cx_emu_transfer *shape, const cx_emu_box *side)
{
    return (shape->height == 1 || side->pitch_bytes == shape->width_bytes) &&
           (shape->depth == 1 || side->slice_bytes == shape->width_bytes * shape->height);
}

/* Adds what nothing has written of the allocation that the box is of. */
static void look_at_box(const cx_emu_allocation *allocation, uintptr_t address,
                        const cx_emu_transfer *shape, cx_access_log_unwritten *found)
{
    const cx_emu_box *from = &shape->source;

    for (size_t z = 0; z < shape->depth; z++)
        for (size_t y = 0; y < shape->height; y++)
            cx_emu_allocation_look(allocation,
                                   address + z * from->slice_bytes + y * from->pitch_bytes,
                                   shape->width_bytes, found);
}

static void tell_unwritten(const cx_emu_transfer *shape)
{
    cx_access_log_unwritten found = {0};
    char text[64];

    look_at_box(shape->watched, shape->address, shape, &found);
    if (found.bytes == 0)
        return;
    snprintf(text, sizeof text, "%llu bytes, the first one is byte %llu of it",
             (unsigned long long)found.bytes,
             (unsigned long long)(found.address - shape->watched->address));
    cx_access_log_watched()->hazard(shape->ticket,
                                    &(cx_access_log_hazard){.kind = CX_ACCESS_COPIED_UNWRITTEN,
                                                            .second = text,
                                                            .memory = found.address});
}

/* If the two sides overlap that is the user's mistake; memmove keeps it harmless here. */
static void run_transfer(void *argument)
{
    const cx_emu_transfer *shape = argument;
    const cx_emu_box *to = &shape->destination, *from = &shape->source;

    if (shape->ticket != 0 && cx_access_log_wants_starts())
        cx_access_log_watched()->starts(shape->ticket);
    if (shape->watched != NULL)
        tell_unwritten(shape);
    if (is_tight(shape, to) && is_tight(shape, from)) {
        memmove(to->bytes, from->bytes, shape->width_bytes * shape->height * shape->depth);
        return;
    }
    for (size_t z = 0; z < shape->depth; z++)
        for (size_t y = 0; y < shape->height; y++)
            memmove(to->bytes + z * to->slice_bytes + y * to->pitch_bytes,
                    from->bytes + z * from->slice_bytes + y * from->pitch_bytes,
                    shape->width_bytes);
}

static void release_transfer(void *argument)
{
    const cx_emu_transfer *shape = argument;

    if (shape->ticket != 0)
        cx_access_log_watched()->told(shape->ticket, 0, NULL, 0);
    free(shape->staged);
}

static void stage_source(cx_emu_transfer *shape, void *staged)
{
    cx_emu_transfer first = *shape;

    first.destination =
        (cx_emu_box){staged, shape->width_bytes, shape->width_bytes * shape->height};
    run_transfer(&first);
    shape->source = first.destination;
    shape->staged = staged;
}

/* ---- when the caller waits ---- */

static bool is_synchronous(const cx_emu_span *span)
{
    return span->use.allocation != NULL && span->use.allocation->sync_memops;
}

/* Rule T13, for a source that is not pageable, or was staged. */
static bool must_wait(const cx_emu_span *to, const cx_emu_span *from, cx_emu_copy_mode mode)
{
    if (to->place == CX_EMU_PLACE_PAGEABLE || is_synchronous(to) || is_synchronous(from))
        return true;
    return mode == CX_EMU_COPY_SYNC &&
           (to->place != CX_EMU_PLACE_DEVICE || from->place != CX_EMU_PLACE_DEVICE);
}

/* A pageable source is staged if the caller would not wait otherwise: the copy must not delay it.
 * GPUs stage every one, and return before the last part has arrived: where the schedule is to show
 * what is not waited for, the embedded driver does too. */
static bool must_stage(const cx_emu_span *to, const cx_emu_span *from, size_t bytes,
                       cx_emu_copy_mode mode)
{
    return from->place == CX_EMU_PLACE_PAGEABLE && to->place == CX_EMU_PLACE_DEVICE &&
           !is_synchronous(to) &&
           (mode == CX_EMU_COPY_ASYNC || bytes <= CX_EMU_TINY_BYTES ||
            cx_emu_schedule_one_at_a_time());
}

static cx_emu_work_request request_for(cx_emu_transfer *shape, const cx_emu_span *to,
                                       const cx_emu_span *from)
{
    return (cx_emu_work_request){
        .kind = CX_EMU_WORK_CALL,
        .call = run_transfer,
        .release = release_transfer,
        .argument = shape,
        .argument_bytes = sizeof *shape,
        .cost_bytes = shape->width_bytes * shape->height * shape->depth,
        .uses = {to->use, from->use},
    };
}

static cxu_result submit_transfer(cx_emu_stream *stream, cx_emu_transfer *shape,
                                  const cx_emu_span *to, const cx_emu_span *from, bool wait)
{
    cx_emu_work_request request = request_for(shape, to, from);
    cx_emu_work *work;
    cxu_result result;

    request.waited = wait;
    result = cx_emu_work_submit(stream, &request, wait ? &work : NULL);
    if (result != CXU_SUCCESS && shape->ticket != 0)
        cx_access_log_watched()->told(shape->ticket, 0, NULL, 0);

    if (result == CXU_SUCCESS && wait) {
        result = cx_emu_work_wait(work);
        cx_emu_work_drop(work);
    }
    return result;
}

/*
 * Copies the source to a buffer with the lock released, so that the copy can be queued. The stream
 * may be gone afterwards, so it is looked up again. `behind`: the source is read once the stream
 * has got there.
 */
static cxu_result submit_staged(CUstream handle, cx_emu_stream *stream, cx_emu_transfer *shape,
                                const cx_emu_span *to, const cx_emu_span *from, bool behind)
{
    void *staged;
    cxu_result result;

    cx_emu_allocation_use(to->use);
    result = behind ? cx_emu_work_wait_stream(stream) : CXU_SUCCESS;
    if (result != CXU_SUCCESS) {
        cx_emu_work_drop_allocation(to->use);
        return result;
    }
    cx_lock_leave(&cx_emu_lock);
    staged = malloc(shape->width_bytes * shape->height * shape->depth);
    if (staged != NULL)
        stage_source(shape, staged);
    cx_lock_enter(&cx_emu_lock);
    result = staged != NULL ? cx_emu_stream_find(handle, &stream) : CXU_OUT_OF_MEMORY;
    if (result == CXU_SUCCESS)
        result = submit_transfer(stream, shape, to, from, false);
    if (result != CXU_SUCCESS)
        free(staged);
    cx_emu_work_drop_allocation(to->use);
    return result;
}

/* The two sides of a copy, and the transfer. */
typedef struct path {
    cx_emu_span to, from;
    size_t from_bytes;
    cx_emu_transfer shape;
} path;

static const cx_emu_device *reacher_of(const cx_emu_copy_side *side, const cx_emu_device *device)
{
    return side->device != NULL ? side->device : device;
}

/* True if the box is one of elements of the array. */
static bool array_has(const cx_emu_array *array, const cx_emu_copy_side *side,
                      const cx_emu_copy *copy)
{
    return side->x_bytes % array->element_bytes == 0 &&
           copy->width_bytes % array->element_bytes == 0 && side->x_bytes <= array->width_bytes &&
           copy->width_bytes <= array->width_bytes - side->x_bytes && side->y <= array->height &&
           copy->height <= array->height - side->y && side->z <= array->depth &&
           copy->depth <= array->depth - side->z;
}

static cxu_result locate_in_array(const cx_emu_copy_side *side, const cx_emu_copy *copy,
                                  cx_emu_span *out_span, cx_emu_box *out_box)
{
    cx_emu_array *array;
    size_t offset;
    cxu_result result = cx_emu_array_find(side->array, &array);

    if (result == CXU_INVALID_HANDLE || (result == CXU_SUCCESS && !array_has(array, side, copy)))
        return cx_emu_refuse(CXU_INVALID_VALUE,
                             result != CXU_SUCCESS ? "the array is none, or was destroyed"
                                                   : "the region is not inside the array");
    if (result != CXU_SUCCESS)
        return result;
    offset = array->offset + side->z * cx_emu_array_slice_bytes(array) +
             side->y * array->width_bytes + side->x_bytes;
    *out_span = (cx_emu_span){array->memory->mapped + offset,
                              {array->memory, array->memory->address + array->memory->bytes},
                              CX_EMU_PLACE_DEVICE};
    *out_box =
        (cx_emu_box){out_span->bytes, array->width_bytes, cx_emu_array_slice_bytes(array)};
    return CXU_SUCCESS;
}

/* `out_bytes`: from the first to the last byte of the box. */
static cxu_result locate_side(const cx_emu_copy_side *side, const cx_emu_copy *copy,
                              cx_emu_reach reach, cx_emu_span *out_span, cx_emu_box *out_box,
                              size_t *out_bytes)
{
    cxu_result result;

    if (side->type == CXU_MEMORYTYPE_ARRAY) {
        *out_bytes = copy->width_bytes * copy->height * copy->depth;
        return locate_in_array(side, copy, out_span, out_box);
    }
    if (!cx_emu_box_bytes(side->pitch_bytes, side->slice_bytes, copy->width_bytes, copy->height,
                          copy->depth, out_bytes))
        return CXU_INVALID_VALUE;
    result = cx_emu_span_find(side->type, side->address, *out_bytes, reach, out_span);
    if (result == CXU_SUCCESS)
        *out_box = (cx_emu_box){out_span->bytes, side->pitch_bytes, side->slice_bytes};
    return result;
}

static cxu_result locate_path(const cx_emu_copy *copy, const cx_emu_device *device, uint64_t latest,
                              path *out_path)
{
    const cx_emu_copy_side *to = &copy->destination, *from = &copy->source;
    size_t to_bytes;
    cxu_result result;

    out_path->shape = (cx_emu_transfer){
        .width_bytes = copy->width_bytes, .height = copy->height, .depth = copy->depth};
    result = locate_side(to, copy, (cx_emu_reach){reacher_of(to, device), true, latest},
                         &out_path->to, &out_path->shape.destination, &to_bytes);
    return result == CXU_SUCCESS
               ? locate_side(from, copy, (cx_emu_reach){reacher_of(from, device), false, latest},
                             &out_path->from, &out_path->shape.source, &out_path->from_bytes)
               : result;
}

cxu_result cx_emu_copy_request(const cx_emu_copy *copy, const cx_emu_device *device,
                               uint64_t latest, cx_emu_transfer *out_transfer,
                               cx_emu_work_request *out_request)
{
    path found;
    cxu_result result = locate_path(copy, device, latest, &found);

    if (result != CXU_SUCCESS)
        return result;
    *out_transfer = found.shape;
    *out_request = request_for(out_transfer, &found.to, &found.from);
    out_request->release = NULL; /* nothing is staged */
    return CXU_SUCCESS;
}

cxu_result cx_emu_copy_stage(cx_emu_work_request *request)
{
    cx_emu_transfer *shape = request->argument;
    void *staged = malloc(shape->width_bytes * shape->height * shape->depth);

    if (staged == NULL)
        return CXU_OUT_OF_MEMORY;
    stage_source(shape, staged);
    request->release = release_transfer;
    return CXU_SUCCESS;
}

void cx_emu_copy_unstage(cx_emu_work_request *request)
{
    if (request->release != NULL)
        request->release(request->argument);
}

/* ---- copies that are alone in their contexts ---- */

enum { ALONE_CONTEXTS = 3 };

/* Finds the contexts, each once, and the stream's last; the lock is held until they are used. */
static cxu_result find_alone(const cx_emu_copy *copy, const cx_emu_stream *stream,
                             cx_emu_context *out_contexts[ALONE_CONTEXTS], size_t *out_count)
{
    cxu_result result = cx_emu_context_find(copy->alone[0], &out_contexts[0]);

    *out_count = 1;
    if (result == CXU_SUCCESS)
        result = cx_emu_context_find(copy->alone[1], &out_contexts[1]);
    if (result != CXU_SUCCESS)
        return result;
    *out_count += out_contexts[1] != out_contexts[0];
    for (size_t i = 0; i < *out_count; i++)
        if (out_contexts[i] == stream->context)
            return CXU_SUCCESS;
    out_contexts[(*out_count)++] = stream->context;
    return CXU_SUCCESS;
}

/* A piece behind all work of the contexts, which the caller drops. */
static cxu_result gather_work(cx_emu_context *const *contexts, size_t count, cx_emu_work **out_all)
{
    cx_emu_work *all = NULL;

    for (size_t i = 0; i < count; i++) {
        cx_emu_work_request request = {
            .kind = CX_EMU_WORK_LOCKED, .after = {all}, .after_context = contexts[i]};
        cx_emu_work *next;
        cxu_result result = cx_emu_work_submit(NULL, &request, &next);

        cx_emu_work_drop(all);
        if (result != CXU_SUCCESS)
            return result;
        all = next;
    }
    *out_all = all;
    return CXU_SUCCESS;
}

/* Later work waits for the copy; without memory for that the caller does, true. */
static bool hold_back(cx_emu_context *const *contexts, size_t count, cx_emu_work *work)
{
    const cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED, .after = {work}};

    for (size_t i = 0; i < count && !work->done; i++)
        if (cx_emu_work_put_barrier(&contexts[i]->legacy->barrier, &request) != CXU_SUCCESS)
            return true;
    return false;
}

/* Rule T13: cuMemcpyPeer is serialised with all work of the contexts. The lock was released if the
 * work is done. */
static cxu_result submit_alone(const cx_emu_copy *copy, cx_emu_stream *stream, path *found,
                               bool wait)
{
    cx_emu_work_request request = request_for(&found->shape, &found->to, &found->from);
    cx_emu_context *contexts[ALONE_CONTEXTS];
    cx_emu_work *before, *work;
    size_t count;
    cxu_result result = find_alone(copy, stream, contexts, &count);

    if (result == CXU_SUCCESS)
        result = gather_work(contexts, count, &before);
    if (result != CXU_SUCCESS)
        return result;
    request.after[0] = before;
    request.waited = wait;
    result = cx_emu_work_submit(stream, &request, &work);
    cx_emu_work_drop(before);
    if (result != CXU_SUCCESS)
        return result;
    if (hold_back(contexts, count, work) || wait)
        result = cx_emu_work_wait(work);
    cx_emu_work_drop(work);
    return result;
}

cxu_result cx_emu_copy_check(const cx_emu_copy *copy, const cx_emu_device *device)
{
    path found;

    return locate_path(copy, device, 0, &found);
}

/* Looks for the memory again: the lock was released. For who wants to know: every copy to the host
 * that its call waits for comes here. */
static void note_unwritten(uintptr_t address, const cx_emu_transfer *shape)
{
    const cx_emu_box *from = &shape->source;
    size_t bytes;

    if (!cx_access_log_wants_hazards() ||
        !cx_emu_box_bytes(from->pitch_bytes, from->slice_bytes, shape->width_bytes, shape->height,
                          shape->depth, &bytes))
        return;
    const cx_emu_allocation *allocation = cx_emu_allocation_find(address, bytes);
    if (allocation != NULL)
        look_at_box(allocation, address, shape, &cx_access_log_copied);
}

/* The copy itself looks for what nothing has written, as other work may write the memory until it
 * runs. The call has a ticket if somebody wants to know. */
static void watch_copy(path *found, const cx_emu_copy *copy)
{
    const cx_emu_allocation *source = found->from.use.allocation;
    const bool to_host = found->to.place == CX_EMU_PLACE_PINNED;

    if (cx_access_log_ticket == 0 || !cx_access_log_wants_hazards() || copy->alone[0] != NULL)
        return;
    found->shape.ticket = cx_access_log_ticket;
    if (to_host && copy->source.array == NULL && source != NULL && source->written != NULL) {
        found->shape.watched = source;
        found->shape.address = copy->source.address;
    }
    cx_access_log_watched()->promised(cx_access_log_ticket, 0);
}

cxu_result cx_emu_copy_submit(const cx_emu_copy *copy, CUstream handle, cx_emu_stream *stream,
                              cx_emu_copy_mode mode)
{
    path found;
    bool wait;
    cxu_result result = locate_path(copy, stream->context->device, 0, &found);

    if (result != CXU_SUCCESS)
        return result;
    if (must_stage(&found.to, &found.from, found.from_bytes, mode))
        return submit_staged(handle, stream, &found.shape, &found.to, &found.from,
                             mode == CX_EMU_COPY_SYNC && found.from_bytes > CX_EMU_TINY_BYTES);
    wait = found.from.place == CX_EMU_PLACE_PAGEABLE || must_wait(&found.to, &found.from, mode);
    const cx_emu_transfer shape = found.shape;
    const bool to_host = found.to.place == CX_EMU_PLACE_PAGEABLE ||
                         found.to.place == CX_EMU_PLACE_PINNED;
    if (!wait)
        watch_copy(&found, copy);
    result = copy->alone[0] != NULL
                 ? submit_alone(copy, stream, &found, wait)
                 : submit_transfer(stream, &found.shape, &found.to, &found.from, wait);
    if (result == CXU_SUCCESS && wait && to_host && copy->source.array == NULL)
        note_unwritten(copy->source.address, &shape);
    return result;
}
