#include "emu/graph/graph_memory.h"
#include "emu/memory/allocation.h"
#include "emu/graph/graph.h"
#include "emu/base/state.h"
#include "emu/report/not_supported.h"
#include "emu/schedule/work.h"
#include <stdlib.h>
#include <string.h>

static cx_emu_block *blocks;

/* The highest of what is used and reserved, by device. */
static struct {
    uint64_t used, reserved;
} highest[CX_EMU_DEVICES_MAX];

/* ---- blocks ---- */

static cxu_result check_pool(const char *call, const cxu_mem_alloc_node_params *params)
{
    const cxu_mem_pool_properties *pool = &params->pool;

    if (params->bytes == 0 || (params->access_count > 0 && params->accesses == NULL))
        return CXU_INVALID_VALUE;
    if ((pool->type != CXU_MEM_ALLOCATION_TYPE_PINNED &&
         pool->type != CXU_MEM_ALLOCATION_TYPE_MANAGED) ||
        pool->handle_types != 0)
        return CXU_INVALID_VALUE;
    if (pool->type == CXU_MEM_ALLOCATION_TYPE_MANAGED ||
        pool->location.type != CXU_MEM_LOCATION_TYPE_DEVICE)
        return cx_emu_not_supported(call, "memory that is not a device's");
    return cx_emu_device_find(pool->location.id) != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

static bool copy_accesses(cx_emu_block *block, const cxu_mem_alloc_node_params *params)
{
    size_t count = params->access_count;
    cxu_mem_access *copy;

    block->params.accesses = NULL;
    if (count == 0)
        return true;
    copy = count <= CX_EMU_DEVICES_MAX ? calloc(count, sizeof *copy) : NULL;
    if (copy == NULL)
        return false;
    memcpy(copy, params->accesses, count * sizeof *copy);
    block->params.accesses = copy;
    for (size_t i = 0; i < count; i++)
        if (copy[i].location.type == CXU_MEM_LOCATION_TYPE_DEVICE &&
            cx_emu_device_find(copy[i].location.id) != NULL)
            block->access[copy[i].location.id] = (unsigned char)copy[i].flags;
    return true;
}

static void free_block(cx_emu_block *block)
{
    free((void *)(uintptr_t)block->params.accesses);
    free(block);
}

cxu_result cx_emu_block_create(const char *call, const cxu_mem_alloc_node_params *params,
                               cx_emu_block **out_block)
{
    cx_emu_block *block;
    cxu_result result = check_pool(call, params);

    if (result != CXU_SUCCESS)
        return result;
    block = calloc(1, sizeof *block);
    if (block == NULL)
        return CXU_OUT_OF_MEMORY;
    block->params = *params;
    result = CXU_OUT_OF_MEMORY;
    if (copy_accesses(block, params))
        result = cx_emu_allocation_create(cx_emu_device_find(params->pool.location.id), NULL,
                                          CX_EMU_MEMORY_ASYNC, params->bytes, 0, &block->memory);
    if (result != CXU_SUCCESS) {
        free_block(block);
        return result;
    }
    block->references = 1;
    block->memory->block = block;
    block->memory->opened_to = block->access;
    block->params.address = block->memory->address;
    block->next = blocks;
    if (blocks != NULL)
        blocks->previous = block;
    blocks = block;
    *out_block = block;
    return CXU_SUCCESS;
}

void cx_emu_block_retain(cx_emu_block *block)
{
    block->references++;
}

void cx_emu_block_drop(cx_emu_block *block)
{
    if (--block->references > 0)
        return;
    *(block->previous != NULL ? &block->previous->next : &blocks) = block->next;
    if (block->next != NULL)
        block->next->previous = block->previous;
    block->memory->block = NULL;
    block->memory->opened_to = NULL;
    cx_emu_allocation_free(block->memory);
    free_block(block);
}

cx_emu_block *cx_emu_block_at(CUdeviceptr address)
{
    cx_emu_allocation *allocation = cx_emu_allocation_at_start(address);

    return allocation != NULL ? allocation->block : NULL;
}

/* ---- figures ---- */

typedef struct figures {
    uint64_t used, reserved;
} figures;

static figures figures_of(const cx_emu_device *device)
{
    figures sum = {0, 0};

    for (const cx_emu_block *each = blocks; each != NULL; each = each->next) {
        if (each->memory->device != device)
            continue;
        sum.used += each->allocated ? each->memory->reserved_bytes : 0;
        sum.reserved += each->reserved ? each->memory->reserved_bytes : 0;
    }
    return sum;
}

static void note_highest(const cx_emu_device *device)
{
    figures now = figures_of(device);

    if (now.used > highest[device->ordinal].used)
        highest[device->ordinal].used = now.used;
    if (now.reserved > highest[device->ordinal].reserved)
        highest[device->ordinal].reserved = now.reserved;
}

/* ---- launches ---- */

static void set_allocated(cx_emu_block *block, bool allocated)
{
    if (block->allocated == allocated)
        return;
    block->allocated = allocated;
    if (!allocated) {
        cx_emu_block_drop(block);
        return;
    }
    block->reserved = true;
    cx_emu_block_retain(block);
    note_highest(block->memory->device);
}

static cxu_result refuse_free(void)
{
    return cx_emu_refuse(CXU_INVALID_VALUE, "no launch of the graph has allocated the memory since "
                                            "it was freed");
}

cxu_result cx_emu_block_free(cx_emu_block *block)
{
    if (!block->allocated)
        return refuse_free();
    set_allocated(block, false);
    return CXU_SUCCESS;
}

static void drop_block(void *argument)
{
    cx_emu_block_drop(argument);
}

cxu_result cx_emu_block_free_in_stream(cx_emu_block *block, CUstream stream)
{
    cxu_result result;

    if (!block->allocated)
        return refuse_free();
    block->allocated = false;
    result = cx_emu_work_submit_locked_call(stream, block->memory, drop_block, block);
    if (result != CXU_SUCCESS)
        block->allocated = true;
    return result;
}

/* True if a node of the graph allocates the block. */
static bool allocates(const cx_emu_graph *graph, const cx_emu_block *block)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        if ((each->node_params.type == CXU_GRAPH_NODE_TYPE_MEM_ALLOC &&
             each->node_params.of.block == block) ||
            (each->node_params.type == CXU_GRAPH_NODE_TYPE_GRAPH &&
             allocates(each->node_params.of.child, block)))
            return true;
    return false;
}

static cxu_result check_launch(const cx_emu_graph *graph, const cx_emu_graph *whole,
                               bool free_first)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next) {
        const cx_emu_node_params *node_params = &each->node_params;
        cxu_result result = CXU_SUCCESS;

        switch (node_params->type) {
        case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
            if (node_params->of.block->allocated && !free_first)
                return cx_emu_refuse(CXU_INVALID_VALUE,
                                     "memory that the launch before allocated is not freed; "
                                     "CU_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH frees it");
            break;
        case CXU_GRAPH_NODE_TYPE_MEM_FREE:
            if (!node_params->of.block->allocated && !allocates(whole, node_params->of.block))
                return cx_emu_refuse(CXU_INVALID_VALUE,
                                     "the graph frees memory that is not allocated");
            break;
        case CXU_GRAPH_NODE_TYPE_GRAPH:
            result = check_launch(node_params->of.child, whole, free_first);
            break;
        default:
            break;
        }
        if (result != CXU_SUCCESS)
            return result;
    }
    return CXU_SUCCESS;
}

static void apply_launch(const cx_emu_graph *graph, cxu_graph_node_type which)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next) {
        const cx_emu_node_params *node_params = &each->node_params;

        if (node_params->type == CXU_GRAPH_NODE_TYPE_GRAPH)
            apply_launch(node_params->of.child, which);
        if (node_params->type == which)
            set_allocated(node_params->of.block, which == CXU_GRAPH_NODE_TYPE_MEM_ALLOC);
    }
}

cxu_result cx_emu_graph_memory_check(const cx_emu_graph *graph, bool free_first)
{
    return check_launch(graph, graph, free_first);
}

void cx_emu_graph_memory_launched(const cx_emu_graph *graph)
{
    apply_launch(graph, CXU_GRAPH_NODE_TYPE_MEM_ALLOC);
    apply_launch(graph, CXU_GRAPH_NODE_TYPE_MEM_FREE);
}

/* ---- calls about a device's memory of graphs ---- */

cxu_result cx_emu_call_device_graph_mem_trim(CUdevice ordinal)
{
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    cx_lock_enter(&cx_emu_lock);
    for (cx_emu_block *each = blocks; each != NULL; each = each->next)
        if (each->memory->device == device && !each->allocated && each->memory->users == 0)
            each->reserved = false;
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_device_get_graph_mem_attribute(CUdevice ordinal,
                                                      cxu_graph_mem_attribute attribute,
                                                      void *out_value)
{
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    figures now;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    if (out_value == NULL || (unsigned int)attribute > CXU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    now = figures_of(device);
    const uint64_t values[] = {
        [CXU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = now.used,
        [CXU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = highest[ordinal].used,
        [CXU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = now.reserved,
        [CXU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] = highest[ordinal].reserved,
    };
    memcpy(out_value, &values[attribute], sizeof values[attribute]);
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}

/* Only the highest values are set, and only to what is there now. */
cxu_result cx_emu_call_device_set_graph_mem_attribute(CUdevice ordinal,
                                                      cxu_graph_mem_attribute attribute,
                                                      void *value)
{
    const cx_emu_device *device = cx_emu_device_find(ordinal);
    uint64_t wanted;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    if (value == NULL || (attribute != CXU_GRAPH_MEM_ATTR_USED_MEM_HIGH &&
                          attribute != CXU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH))
        return CXU_INVALID_VALUE;
    memcpy(&wanted, value, sizeof wanted);
    if (wanted != 0)
        return CXU_INVALID_VALUE;
    cx_lock_enter(&cx_emu_lock);
    if (attribute == CXU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
        highest[ordinal].used = figures_of(device).used;
    else
        highest[ordinal].reserved = figures_of(device).reserved;
    cx_lock_leave(&cx_emu_lock);
    return CXU_SUCCESS;
}
