/* Resources of devices: multiprocessors, split into groups and described for green contexts. */
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/schedule/green.h"

#include <string.h>

#define SPLIT_FLAGS \
    (CXU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | \
     CXU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE)

/* The private part of a resource. */
typedef struct resource_tag {
    char mark[16];
    cx_emu_sm_range range;
} resource_tag;

_Static_assert(sizeof(resource_tag) <= sizeof(((cxu_dev_resource *)0)->padding) - 4,
               "the tag must fit in the private part");

static const char mark[16] = "ctxrt-sm-range1";

typedef struct resource_desc {
    cx_emu_handle_slot slot;
    cx_emu_sm_range range;
} resource_desc;

static cx_emu_handles descs = {.slot_bytes = sizeof(resource_desc)};
static uint64_t last_split;

/* ---- granularity ---- */

/* The least number of multiprocessors in a group, and what its number is a multiple of. */
typedef struct granularity {
    unsigned int least, multiple;
} granularity;

static int major_of(CUdevice ordinal)
{
    return cx_emu_attribute_value(cx_emu_device_find(ordinal),
                                  CXU_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
}

static granularity granularity_of(CUdevice ordinal, unsigned int flags)
{
    int major = major_of(ordinal);

    if (major < 8 || (flags & CXU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING))
        return (granularity){2, 2};
    return major == 8 ? (granularity){4, 2} : (granularity){8, 8};
}

/* ---- resources ---- */

cx_emu_sm_range cx_emu_resource_of_device(const cx_emu_device *device)
{
    int count = cx_emu_attribute_value(device, CXU_ATTRIBUTE_MULTIPROCESSOR_COUNT);

    return (cx_emu_sm_range){.device = device->ordinal, .count = (unsigned int)count};
}

cxu_dev_resource cx_emu_resource_make(const cx_emu_sm_range *range)
{
    granularity unit = granularity_of(range->device, 0);
    cxu_dev_resource resource = {
        .type = CXU_DEV_RESOURCE_TYPE_SM,
        .of.sm = {range->count, unit.least, unit.multiple},
    };
    resource_tag tag = {.range = *range};

    memcpy(tag.mark, mark, sizeof tag.mark);
    memcpy(resource.padding + 4, &tag, sizeof tag);
    return resource;
}

cxu_result cx_emu_resource_read(const cxu_dev_resource *resource, cx_emu_sm_range *out_range)
{
    resource_tag tag;

    if (resource->type != CXU_DEV_RESOURCE_TYPE_SM)
        return CXU_INVALID_RESOURCE_TYPE;
    memcpy(&tag, resource->padding + 4, sizeof tag);
    if (memcmp(tag.mark, mark, sizeof mark) != 0 || tag.range.count != resource->of.sm.count ||
        cx_emu_device_find(tag.range.device) == NULL)
        return CXU_INVALID_VALUE;
    *out_range = tag.range;
    return CXU_SUCCESS;
}

const cx_emu_sm_range *cx_emu_resource_described(CUdevResourceDesc desc)
{
    const resource_desc *found = (const void *)desc;

    return cx_emu_handle_live(&descs, found) ? &found->range : NULL;
}

static cxu_result check_type(const cxu_dev_resource *out_resource, cxu_dev_resource_type type)
{
    if (out_resource == NULL)
        return CXU_INVALID_VALUE;
    return type == CXU_DEV_RESOURCE_TYPE_SM ? CXU_SUCCESS : CXU_INVALID_RESOURCE_TYPE;
}

cxu_result cx_emu_call_device_get_dev_resource(CUdevice ordinal, cxu_dev_resource *out_resource,
                                               cxu_dev_resource_type type)
{
    const cx_emu_device *device;
    cx_emu_sm_range range;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    device = cx_emu_device_find(ordinal);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    result = check_type(out_resource, type);
    if (result != CXU_SUCCESS)
        return result;
    range = cx_emu_resource_of_device(device);
    *out_resource = cx_emu_resource_make(&range);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_get_dev_resource(CUcontext handle, cxu_dev_resource *out_resource,
                                            cxu_dev_resource_type type)
{
    const cx_emu_green *green;
    cx_emu_context *context;
    cx_emu_sm_range range;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_context_find_or_current(handle, &context);
    if (result == CXU_SUCCESS)
        result = check_type(out_resource, type);
    if (result == CXU_SUCCESS) {
        green = cx_emu_green_of(handle);
        range = green != NULL ? green->range : cx_emu_resource_of_device(context->device);
        *out_resource = cx_emu_resource_make(&range);
    }
    cx_lock_leave(&cx_emu_lock);
    return result;
}

cxu_result cx_emu_call_green_ctx_get_dev_resource(CUgreenCtx handle, cxu_dev_resource *out_resource,
                                                  cxu_dev_resource_type type)
{
    cx_emu_green *green;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_green_find(handle, &green);
    if (result == CXU_SUCCESS)
        result = check_type(out_resource, type);
    if (result == CXU_SUCCESS)
        *out_resource = cx_emu_resource_make(&green->range);
    cx_lock_leave(&cx_emu_lock);
    return result;
}

/* ---- splitting ---- */

static cxu_result check_split(const cx_emu_sm_range *input, unsigned int flags,
                              unsigned int least_count)
{
    if ((flags & ~(unsigned int)SPLIT_FLAGS) || least_count > input->count)
        return CXU_INVALID_VALUE;
    if ((flags & CXU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE) &&
        major_of(input->device) < 9)
        return CXU_INVALID_VALUE;
    return input->split == 0 ? CXU_SUCCESS : CXU_INVALID_RESOURCE_CONFIGURATION;
}

static unsigned int size_of_group(const cx_emu_sm_range *input, unsigned int flags,
                                  unsigned int least_count)
{
    granularity unit = granularity_of(input->device, flags);

    if (least_count < unit.least)
        least_count = unit.least;
    return (least_count + unit.multiple - 1) / unit.multiple * unit.multiple;
}

static void write_groups(const cx_emu_sm_range *input, unsigned int size, unsigned int groups,
                         cxu_dev_resource *out_groups, cxu_dev_resource *out_rest)
{
    cx_emu_sm_range part = {
        .device = input->device, .first = input->first, .count = size, .split = ++last_split};

    for (unsigned int i = 0; i < groups; i++, part.first += size)
        out_groups[i] = cx_emu_resource_make(&part);
    if (out_rest == NULL)
        return;
    part.count = input->count - groups * size;
    *out_rest = part.count > 0 ? cx_emu_resource_make(&part) : (cxu_dev_resource){0};
}

cxu_result cx_emu_call_dev_sm_resource_split_by_count(cxu_dev_resource *out_groups,
                                                      unsigned int *count,
                                                      const cxu_dev_resource *input,
                                                      cxu_dev_resource *out_rest,
                                                      unsigned int flags, unsigned int least_count)
{
    cx_emu_sm_range range;
    unsigned int size, groups;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (count == NULL || input == NULL)
        return CXU_INVALID_VALUE;
    result = cx_emu_resource_read(input, &range);
    if (result == CXU_SUCCESS)
        result = check_split(&range, flags, least_count);
    if (result != CXU_SUCCESS)
        return result;
    size = size_of_group(&range, flags, least_count);
    groups = range.count / size;
    if (groups == 0)
        return CXU_INVALID_RESOURCE_CONFIGURATION;
    if (out_groups != NULL) {
        if (*count == 0)
            return CXU_INVALID_VALUE;
        if (*count < groups)
            groups = *count;
        cx_lock_enter(&cx_emu_lock);
        write_groups(&range, size, groups, out_groups, out_rest);
        cx_lock_leave(&cx_emu_lock);
    }
    *count = groups;
    return CXU_SUCCESS;
}

/* ---- descriptors ---- */

static bool ranges_overlap(const cx_emu_sm_range *a, const cx_emu_sm_range *b)
{
    return a->first < b->first + b->count && b->first < a->first + a->count;
}

/* Several resources must come from one split, and no two may be the same. */
static cxu_result join_ranges(const cxu_dev_resource *resources, unsigned int count,
                              cx_emu_sm_range *out_all)
{
    cxu_result result = cx_emu_resource_read(&resources[0], out_all);

    for (unsigned int i = 1; i < count && result == CXU_SUCCESS; i++) {
        cx_emu_sm_range next, other;

        result = cx_emu_resource_read(&resources[i], &next);
        if (result != CXU_SUCCESS)
            return result;
        if (next.device != out_all->device || next.split == 0 || next.split != out_all->split)
            return CXU_INVALID_RESOURCE_CONFIGURATION;
        for (unsigned int j = 0; j < i; j++) {
            cx_emu_resource_read(&resources[j], &other);
            if (ranges_overlap(&next, &other))
                return CXU_INVALID_RESOURCE_CONFIGURATION;
        }
        out_all->count += next.count;
        if (next.first < out_all->first)
            out_all->first = next.first;
    }
    return result;
}

/* The API has no call that ends a descriptor. */
cxu_result cx_emu_call_dev_resource_generate_desc(CUdevResourceDesc *out_desc,
                                                  cxu_dev_resource *resources, unsigned int count)
{
    cx_emu_sm_range all;
    resource_desc *desc;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (out_desc == NULL || resources == NULL || count == 0)
        return CXU_INVALID_VALUE;
    result = join_ranges(resources, count, &all);
    if (result != CXU_SUCCESS)
        return result;
    cx_lock_enter(&cx_emu_lock);
    desc = cx_emu_handle_take(&descs);
    if (desc != NULL)
        desc->range = all;
    cx_lock_leave(&cx_emu_lock);
    if (desc == NULL)
        return CXU_OUT_OF_MEMORY;
    *out_desc = (CUdevResourceDesc)(void *)desc;
    return CXU_SUCCESS;
}
