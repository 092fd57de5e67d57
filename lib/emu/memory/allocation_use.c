/* Memory that pieces of work use, and whether they may. */
#include "emu/device/sticky.h"
#include "emu/memory/allocation.h"
#include "emu/memory/mapping.h"
#include "emu/memory/pool.h"

/* The next mapping that a piece of work uses: none in between is freed while it does. */
static cx_emu_allocation *next_used(cx_emu_allocation *allocation, uintptr_t end)
{
    if (allocation->mapping == NULL || end - allocation->address <= allocation->bytes)
        return NULL;
    return cx_emu_allocation_next(allocation);
}

void cx_emu_allocation_use(cx_emu_use use)
{
    for (cx_emu_allocation *each = use.allocation; each != NULL; each = next_used(each, use.end))
        each->users++;
}

void cx_emu_allocation_drop(cx_emu_use use)
{
    cx_emu_allocation *next;
    for (cx_emu_allocation *each = use.allocation; each != NULL; each = next) {
        next = next_used(each, use.end);
        cx_emu_allocation_drop_user(each);
    }
}

const cx_emu_allocation *cx_emu_allocation_gone(cx_emu_use use)
{
    for (cx_emu_allocation *each = use.allocation; each != NULL; each = next_used(each, use.end)) {
        if (each->gone)
            return each;
    }
    return NULL;
}

bool cx_emu_allocation_used_by(const cx_emu_allocation *allocation, cx_emu_use use)
{
    if (use.allocation == allocation)
        return true;
    return use.allocation != NULL && use.allocation->mapping != NULL &&
           use.allocation->address < allocation->address && allocation->address < use.end;
}

cxu_result cx_emu_allocation_error(const cx_emu_allocation *allocation)
{
    return allocation->context != NULL ? cx_emu_context_error(allocation->context)
                                       : cx_emu_device_error(allocation->device);
}

bool cx_emu_allocation_accessible(cx_emu_use use, const cx_emu_device *device, bool writes)
{
    cxu_mem_access_flags wanted =
        writes ? CXU_MEM_ACCESS_FLAGS_PROT_READWRITE : CXU_MEM_ACCESS_FLAGS_PROT_READ;
    if (use.allocation == NULL || use.allocation->mapping == NULL)
        return true;
    for (cx_emu_allocation *each = use.allocation; each != NULL; each = next_used(each, use.end)) {
        if ((cx_emu_mapping_access(each->mapping, device) & wanted) != wanted)
            return false;
    }
    return true;
}

bool cx_emu_allocation_reachable(const cx_emu_allocation *allocation, const cx_emu_context *context)
{
    if (allocation->mapping != NULL)
        return cx_emu_mapping_access(allocation->mapping, context->device) != 0;
    if (allocation->pool != NULL && cx_emu_pool_of_host(allocation->pool))
        return cx_emu_pool_access(allocation->pool, context->device) != 0;
    if (allocation->kind != CX_EMU_MEMORY_DEVICE && allocation->kind != CX_EMU_MEMORY_ASYNC &&
        allocation->kind != CX_EMU_MEMORY_SHARED)
        return true;
    if (allocation->device == context->device)
        return true;
    if (allocation->kind == CX_EMU_MEMORY_SHARED && allocation->context == context)
        return true; /* opening enabled the access */
    if (allocation->pool != NULL && cx_emu_pool_access(allocation->pool, context->device) != 0)
        return true;
    if (allocation->opened_to != NULL && allocation->opened_to[context->device->ordinal] != 0)
        return true;
    for (int i = 0; i < context->peer_count; i++) {
        if (allocation->context != NULL && context->peers[i] == allocation->context &&
            context->peer_ids[i] == allocation->context_id)
            return true;
    }
    return false;
}
