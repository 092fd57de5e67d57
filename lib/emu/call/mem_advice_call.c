/* Advice about managed memory, and prefetching it. */
#include "emu/base/state.h"
#include "emu/call/batch.h"
#include "emu/graph/capture.h"
#include "emu/memory/allocation.h"
#include "emu/schedule/stream.h"

#include <stdlib.h>
#include <string.h>

#define DEVICE_CPU (-1)
#define DEVICE_NONE (-2)

/* ---- the memory, and the place ---- */

typedef struct advice_range {
    cx_emu_allocation *allocation;
    size_t begin, end;
} advice_range;

static cxu_result find_range(CUdeviceptr pointer, size_t bytes, advice_range *out_range)
{
    cx_emu_allocation *allocation = bytes > 0 ? cx_emu_allocation_find(pointer, bytes) : NULL;

    if (allocation == NULL || allocation->kind != CX_EMU_MEMORY_MANAGED)
        return CXU_INVALID_VALUE;
    *out_range = (advice_range){allocation, pointer - allocation->address,
                                pointer - allocation->address + bytes};
    return cx_emu_allocation_error(allocation);
}

static cxu_result split_at(const advice_range *range)
{
    return cx_emu_mem_advices_split(&range->allocation->advices, range->allocation->bytes,
                                    range->begin, range->end);
}

static cxu_mem_location location_of(CUdevice device)
{
    return device == DEVICE_CPU ? (cxu_mem_location){CXU_MEM_LOCATION_TYPE_HOST, 0}
                                : (cxu_mem_location){CXU_MEM_LOCATION_TYPE_DEVICE, device};
}

static cxu_result check_location(const cxu_mem_location *location)
{
    switch (location->type) {
    case CXU_MEM_LOCATION_TYPE_DEVICE:
        return cx_emu_device_find(location->id) != NULL ? CXU_SUCCESS : CXU_INVALID_DEVICE;
    case CXU_MEM_LOCATION_TYPE_HOST:
    case CXU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        return CXU_SUCCESS;
    case CXU_MEM_LOCATION_TYPE_HOST_NUMA: /* the machine is taken for one node */
        return location->id == 0 ? CXU_SUCCESS : CXU_INVALID_DEVICE;
    default:
        return CXU_INVALID_VALUE;
    }
}

static unsigned int accessor_bit(const cxu_mem_location *location)
{
    return location->type == CXU_MEM_LOCATION_TYPE_DEVICE ? 1 + (unsigned int)location->id : 0;
}

/* ---- advice ---- */

typedef struct given_advice {
    cxu_mem_advise what;
    cxu_mem_location location;
} given_advice;

static void change_advice(cx_emu_mem_advice *advice, const void *argument)
{
    const given_advice *given = argument;
    unsigned int bit = accessor_bit(&given->location);
    uint64_t *word = &advice->accessed_by[bit / 64], mask = (uint64_t)1 << bit % 64;

    switch (given->what) {
    case CXU_MEM_ADVISE_SET_READ_MOSTLY:
    case CXU_MEM_ADVISE_UNSET_READ_MOSTLY:
        advice->read_mostly = given->what == CXU_MEM_ADVISE_SET_READ_MOSTLY;
        break;
    case CXU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        advice->preferred = given->location;
        break;
    case CXU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        advice->preferred = (cxu_mem_location){CXU_MEM_LOCATION_TYPE_INVALID, 0};
        break;
    case CXU_MEM_ADVISE_SET_ACCESSED_BY:
        *word |= mask;
        break;
    case CXU_MEM_ADVISE_UNSET_ACCESSED_BY:
        *word &= ~mask;
        break;
    }
}

/* Two kinds of advice ignore the location. */
static cxu_result check_advice(const given_advice *given)
{
    switch (given->what) {
    case CXU_MEM_ADVISE_SET_READ_MOSTLY:
    case CXU_MEM_ADVISE_UNSET_READ_MOSTLY:
    case CXU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        return CXU_SUCCESS;
    case CXU_MEM_ADVISE_SET_ACCESSED_BY:
    case CXU_MEM_ADVISE_UNSET_ACCESSED_BY:
        if (given->location.type > CXU_MEM_LOCATION_TYPE_HOST)
            return CXU_INVALID_VALUE;
        return check_location(&given->location);
    case CXU_MEM_ADVISE_SET_PREFERRED_LOCATION:
        return check_location(&given->location);
    default:
        return CXU_INVALID_VALUE;
    }
}

static cxu_result advise(CUdeviceptr pointer, size_t bytes, given_advice given)
{
    advice_range range;
    cxu_result result = cx_emu_enter();

    if (result == CXU_SUCCESS)
        result = check_advice(&given);
    if (result != CXU_SUCCESS)
        return result;
    if (given.what == CXU_MEM_ADVISE_SET_READ_MOSTLY ||
        given.what == CXU_MEM_ADVISE_UNSET_READ_MOSTLY ||
        given.what == CXU_MEM_ADVISE_UNSET_PREFERRED_LOCATION)
        given.location = (cxu_mem_location){CXU_MEM_LOCATION_TYPE_HOST, 0};
    cx_lock_enter(&cx_emu_lock);
    result = find_range(pointer, bytes, &range);
    if (result == CXU_SUCCESS)
        result = split_at(&range);
    if (result == CXU_SUCCESS)
        cx_emu_mem_advices_change(&range.allocation->advices, range.begin, range.end, change_advice,
                                  &given);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_advise(CUdeviceptr pointer, size_t bytes, cxu_mem_advise what,
                                  CUdevice device)
{
    return advise(pointer, bytes, (given_advice){what, location_of(device)});
}

cxu_result cx_emu_call_mem_advise_v2(CUdeviceptr pointer, size_t bytes, cxu_mem_advise what,
                                     cxu_mem_location location)
{
    return advise(pointer, bytes, (given_advice){what, location});
}

/* ---- prefetching: a place in the stream, and what is remembered ---- */

static void write_prefetched(cx_emu_mem_advice *advice, const void *argument)
{
    advice->prefetched = *(const cxu_mem_location *)argument;
}

/* The range was split before. */
static void remember_prefetch(const advice_range *range, const cxu_mem_location *location)
{
    cx_emu_mem_advices_change(&range->allocation->advices, range->begin, range->end,
                              write_prefetched, location);
}

static cxu_result find_stream(CUstream handle, cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_stream_find(handle, out_stream);

    if (result == CXU_SUCCESS)
        result = cx_emu_capture_check(*out_stream);
    if (result == CXU_SUCCESS && (*out_stream)->branch != NULL)
        result = cx_emu_capture_refuse(*out_stream);
    return result;
}

static cxu_result prefetch(CUdeviceptr pointer, size_t bytes, const cxu_mem_location *location,
                           CUstream handle)
{
    advice_range range;
    cx_emu_stream *stream;
    cxu_result result = find_stream(handle, &stream);

    if (result == CXU_SUCCESS)
        result = check_location(location);
    if (result == CXU_SUCCESS)
        result = find_range(pointer, bytes, &range);
    if (result == CXU_SUCCESS)
        result = split_at(&range);
    if (result == CXU_SUCCESS)
        result = cx_emu_work_submit_locked_call(handle, range.allocation, NULL, NULL);
    if (result == CXU_SUCCESS)
        remember_prefetch(&range, location);
    return result;
}

cxu_result cx_emu_call_mem_prefetch_async_v2(CUdeviceptr pointer, size_t bytes,
                                             cxu_mem_location location, unsigned int flags,
                                             CUstream stream)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (flags != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = prefetch(pointer, bytes, &location, stream);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_prefetch_async(CUdeviceptr pointer, size_t bytes, CUdevice device,
                                          CUstream stream)
{
    return cx_emu_call_mem_prefetch_async_v2(pointer, bytes, location_of(device), 0, stream);
}

/* ---- batches of ranges that are discarded, prefetched, or both (CUDA 13.0) ---- */

/* The caller's arrays of a batch. */
typedef struct range_lists {
    const CUdeviceptr *pointers;
    const size_t *sizes;
    size_t count;
    bool discards, prefetches;
    const cxu_mem_location *locations;
    const size_t *first_ranges; /* of each location: rising, from 0 on */
    size_t location_count;
} range_lists;

/* The ranges of a batch, and the pieces of work that it becomes. */
typedef struct range_batch {
    advice_range *ranges;
    cx_emu_work_piece *pieces;
    cx_emu_work **works;
} range_batch;

static bool open_ranges(range_batch *all, size_t count)
{
    all->ranges = calloc(count, sizeof *all->ranges);
    all->pieces = calloc(count, sizeof *all->pieces);
    all->works = calloc(count, sizeof(cx_emu_work *));
    return all->ranges != NULL && all->pieces != NULL && all->works != NULL;
}

static void free_ranges(range_batch *all)
{
    free(all->ranges);
    free(all->pieces);
    free(all->works);
}

/* The contents are lost: a discarded range reads as zeroes until it is written. */
static void run_discard(void *argument)
{
    const advice_range *range = argument;

    cx_emu_allocation_clear(range->allocation, range->begin, range->end);
}

static cx_emu_work_request request_for(advice_range *range, bool discards)
{
    cx_emu_work_request request = {.kind = CX_EMU_WORK_LOCKED, .uses = {{range->allocation, 0}}};

    if (discards) {
        request.kind = CX_EMU_WORK_CALL;
        request.call = run_discard;
        request.argument = range;
        request.argument_bytes = sizeof *range;
        request.cost_bytes = range->end - range->begin;
    }
    return request;
}

static cxu_result make_ranges(const range_lists *given, range_batch *all)
{
    for (size_t i = 0; i < given->count; i++) {
        advice_range *range = &all->ranges[i];
        cxu_result result = find_range(given->pointers[i], given->sizes[i], range);

        if (result == CXU_SUCCESS && given->prefetches)
            result = split_at(range);
        if (result != CXU_SUCCESS)
            return result;
        all->pieces[i].request = request_for(range, given->discards);
    }
    return CXU_SUCCESS;
}

static cxu_result submit_ranges(cx_emu_stream *stream, const range_batch *all, size_t count)
{
    const cx_emu_work_batch work = {.pieces = all->pieces, .count = count};
    cx_emu_work *end;
    cxu_result result = cx_emu_work_submit_batch(stream, &work, all->works, &end);

    if (result != CXU_SUCCESS)
        return result;
    for (size_t i = 0; i < count; i++)
        cx_emu_work_drop(all->works[i]);
    cx_emu_work_drop(end);
    return CXU_SUCCESS;
}

static void remember_prefetches(const range_lists *given, const range_batch *all)
{
    size_t location = 0;

    for (size_t i = 0; i < given->count; i++) {
        if (location + 1 < given->location_count && given->first_ranges[location + 1] == i)
            location++;
        remember_prefetch(&all->ranges[i], &given->locations[location]);
    }
}

static cxu_result find_stream_of_batch(CUstream handle, cx_emu_stream **out_stream)
{
    cxu_result result = cx_emu_stream_find(handle, out_stream);

    if (result == CXU_SUCCESS &&
        (cx_emu_stream_is_default(*out_stream) || !cx_emu_managed_access_is_concurrent()))
        return CXU_INVALID_VALUE;
    return result == CXU_SUCCESS ? find_stream(handle, out_stream) : result;
}

static cxu_result run_lists(const range_lists *given, range_batch *all, CUstream handle)
{
    cx_emu_stream *stream;
    cxu_result result = find_stream_of_batch(handle, &stream);

    for (size_t i = 0; i < given->location_count && result == CXU_SUCCESS; i++)
        result = check_location(&given->locations[i]);
    if (result == CXU_SUCCESS)
        result = make_ranges(given, all);
    if (result == CXU_SUCCESS)
        result = submit_ranges(stream, all, given->count);
    if (result == CXU_SUCCESS && given->prefetches)
        remember_prefetches(given, all);
    return result;
}

static bool lists_valid(const range_lists *given)
{
    return given->count > 0 && given->pointers != NULL && given->sizes != NULL &&
           (!given->prefetches ||
            (given->locations != NULL &&
             cx_emu_batch_firsts_valid(given->first_ranges, given->location_count, given->count)));
}

static cxu_result submit_lists(const range_lists *given, unsigned long long flags, CUstream stream)
{
    range_batch all = {0};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (flags != 0 || !lists_valid(given))
        return CXU_INVALID_VALUE;
    result = CXU_OUT_OF_MEMORY;
    if (open_ranges(&all, given->count)) {
        cx_lock_enter(&cx_emu_lock);
        result = run_lists(given, &all, stream);
        cx_lock_leave(&cx_emu_lock);
    }
    free_ranges(&all);
    return result;
}

cxu_result cx_emu_call_mem_prefetch_batch_async(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                                cxu_mem_location *locations, size_t *first_ranges,
                                                size_t location_count, unsigned long long flags,
                                                CUstream stream)
{
    const range_lists given = {.pointers = pointers,
                               .sizes = sizes,
                               .count = count,
                               .prefetches = true,
                               .locations = locations,
                               .first_ranges = first_ranges,
                               .location_count = location_count};

    return submit_lists(&given, flags, stream);
}

cxu_result cx_emu_call_mem_discard_batch_async(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                               unsigned long long flags, CUstream stream)
{
    const range_lists given = {
        .pointers = pointers, .sizes = sizes, .count = count, .discards = true};

    return submit_lists(&given, flags, stream);
}

cxu_result cx_emu_call_mem_discard_and_prefetch_batch_async(
    CUdeviceptr *pointers, size_t *sizes, size_t count, cxu_mem_location *locations,
    size_t *first_ranges, size_t location_count, unsigned long long flags, CUstream stream)
{
    const range_lists given = {.pointers = pointers,
                               .sizes = sizes,
                               .count = count,
                               .discards = true,
                               .prefetches = true,
                               .locations = locations,
                               .first_ranges = first_ranges,
                               .location_count = location_count};

    return submit_lists(&given, flags, stream);
}

/* Attaches managed memory to a stream. Every stream may use it here, so only the order counts. */
static cxu_result attach(CUstream handle, CUdeviceptr pointer, size_t bytes, unsigned int flags)
{
    cx_emu_stream *stream;
    cx_emu_allocation *allocation;
    cxu_result result = find_stream(handle, &stream);

    if (result != CXU_SUCCESS)
        return result;
    allocation = cx_emu_allocation_at_start(pointer);
    if (allocation == NULL || allocation->kind != CX_EMU_MEMORY_MANAGED ||
        (bytes != 0 && bytes != allocation->bytes) ||
        (flags == CXU_MEM_ATTACH_SINGLE && stream == stream->context->legacy))
        return CXU_INVALID_VALUE;
    return cx_emu_work_submit_locked_call(handle, allocation, NULL, NULL);
}

cxu_result cx_emu_call_stream_attach_mem_async(CUstream stream, CUdeviceptr pointer, size_t bytes,
                                               unsigned int flags)
{
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (flags != CXU_MEM_ATTACH_GLOBAL && flags != CXU_MEM_ATTACH_HOST &&
        flags != CXU_MEM_ATTACH_SINGLE)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = attach(stream, pointer, bytes, flags);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- what is remembered ---- */

static bool same_location(cxu_mem_location one, cxu_mem_location other)
{
    return one.type == other.type && one.id == other.id;
}

/* The advice that holds for all of the range; parts that differ have none in common. */
static cx_emu_mem_advice common_advice(const advice_range *range)
{
    const cx_emu_mem_advices *advices = &range->allocation->advices;
    cx_emu_mem_advice all = {0};
    bool first = true;

    for (size_t i = 0; i < advices->count; i++) {
        const cx_emu_mem_advice *each = &advices->items[i];

        if (each->end <= range->begin || range->end <= each->begin)
            continue;
        if (first)
            all = *each;
        first = false;
        all.read_mostly = all.read_mostly && each->read_mostly;
        if (!same_location(all.preferred, each->preferred))
            all.preferred = (cxu_mem_location){CXU_MEM_LOCATION_TYPE_INVALID, 0};
        if (!same_location(all.prefetched, each->prefetched))
            all.prefetched = (cxu_mem_location){CXU_MEM_LOCATION_TYPE_INVALID, 0};
        for (int word = 0; word < 2; word++)
            all.accessed_by[word] &= each->accessed_by[word];
    }
    return all;
}

static int number_of(const cxu_mem_location *location)
{
    if (location->type == CXU_MEM_LOCATION_TYPE_INVALID)
        return DEVICE_NONE;
    return location->type == CXU_MEM_LOCATION_TYPE_DEVICE ? location->id : DEVICE_CPU;
}

static void write_accessors(const cx_emu_mem_advice *advice, int *out, size_t count)
{
    size_t written = 0;

    for (unsigned int bit = 0; bit <= CX_EMU_DEVICES_MAX && written < count; bit++)
        if (advice->accessed_by[bit / 64] & (uint64_t)1 << bit % 64)
            out[written++] = (int)bit - 1; /* the host is DEVICE_CPU */
    while (written < count)
        out[written++] = DEVICE_NONE;
}

static bool fits(cxu_mem_range_attribute attribute, size_t bytes)
{
    if (attribute < CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        attribute > CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
        return false;
    return attribute == CXU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY ? bytes > 0 && bytes % sizeof(int) == 0
                                                            : bytes == sizeof(int);
}

static void write_attribute(const cx_emu_mem_advice *advice, cxu_mem_range_attribute attribute,
                            int *out, size_t bytes)
{
    switch (attribute) {
    case CXU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        *out = advice->read_mostly;
        break;
    case CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        *out = number_of(&advice->preferred);
        break;
    case CXU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
        write_accessors(advice, out, bytes / sizeof(int));
        break;
    case CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        *out = number_of(&advice->prefetched);
        break;
    case CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        *out = (int)advice->preferred.type;
        break;
    case CXU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        *out = advice->preferred.id;
        break;
    case CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        *out = (int)advice->prefetched.type;
        break;
    case CXU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
        *out = advice->prefetched.id;
        break;
    }
}

cxu_result cx_emu_call_mem_range_get_attributes(void **out_values, size_t *sizes,
                                                cxu_mem_range_attribute *attributes, size_t count,
                                                CUdeviceptr pointer, size_t bytes)
{
    advice_range range;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_values == NULL || sizes == NULL || attributes == NULL || count == 0)
        return CXU_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!fits(attributes[i], sizes[i]) || out_values[i] == NULL)
            return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    result = find_range(pointer, bytes, &range);
    if (result == CXU_SUCCESS) {
        cx_emu_mem_advice advice = common_advice(&range);

        for (size_t i = 0; i < count; i++)
            write_attribute(&advice, attributes[i], out_values[i], sizes[i]);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_mem_range_get_attribute(void *out_value, size_t size,
                                               cxu_mem_range_attribute attribute,
                                               CUdeviceptr pointer, size_t bytes)
{
    return cx_emu_call_mem_range_get_attributes(&out_value, &size, &attribute, 1, pointer, bytes);
}
