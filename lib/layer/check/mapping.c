/* Memory of cuMemCreate and its mappings. It is of its device: contexts come and go. */
#include "layer/check/check.h"

#include <stdlib.h>

static cx_object *created_memory(CUmemGenericAllocationHandle handle)
{
    cx_object *memory = cx_object_find(CX_OBJECT_CREATED_MEMORY, (uintptr_t)handle);
    return memory != NULL && memory->live ? memory : NULL;
}

/* ---- handles ---- */

/* A handle that was given before is to be released once more. */
static void give(cx_check_call *call, CUmemGenericAllocationHandle handle, size_t bytes)
{
    cx_object *memory = created_memory(handle);
    if (memory != NULL)
        memory->attached++;
    else
        (void)cx_object_make(CX_OBJECT_CREATED_MEMORY, (uintptr_t)handle, bytes, NULL,
                             call->origin);
}

static void created(cx_check_call *call)
{
    const cx_arguments_mem_create *given = CX_CALL(call, mem_create);
    if (!cx_check_failed(call))
        give(call, *given->out_handle, given->bytes);
}

static void imported(cx_check_call *call)
{
    if (!cx_check_failed(call))
        give(call, *CX_CALL(call, mem_import_from_shareable_handle)->out_handle, 0);
}

static void retained(cx_check_call *call)
{
    const cx_arguments_mem_retain_allocation_handle *given =
        CX_CALL(call, mem_retain_allocation_handle);
    const cx_object *mapping = cx_object_find_memory((uintptr_t)given->address);
    if (!cx_check_failed(call))
        give(call, *given->out_handle, mapping != NULL ? mapping->bytes : 0);
}

/* Before the driver does: it may give the value out anew at once. */
static void release(cx_check_call *call)
{
    cx_object *memory = created_memory(CX_CALL(call, mem_release)->handle);
    call->ending = memory;
    if (memory != NULL && memory->attached > 0)
        memory->attached--;
    else if (memory != NULL)
        cx_object_end(memory, (int)call->slot, call->origin);
}

static void released(cx_check_call *call)
{
    cx_object *memory = call->ending;
    if (memory == NULL || !cx_check_failed(call))
        return;
    if (memory->live)
        memory->attached++;
    else
        cx_object_revive(memory);
}

/* ---- mappings ---- */

static void mapped(cx_check_call *call)
{
    const cx_arguments_mem_map *given = CX_CALL(call, mem_map);
    if (!cx_check_failed(call))
        (void)cx_object_make(CX_OBJECT_MAPPED_MEMORY, (uintptr_t)given->pointer, given->bytes, NULL,
                             call->origin);
}

static void unmapped(cx_check_call *call)
{
    const cx_arguments_mem_unmap *given = CX_CALL(call, mem_unmap);
    cx_object *mapping;
    while (!cx_check_failed(call) &&
           (mapping = cx_object_find_range((uintptr_t)given->pointer, given->bytes)) != NULL)
        cx_object_end(mapping, (int)call->slot, call->origin);
}

const cx_check_hooks cx_check_mapping[CX_SLOT_COUNT] = {
    [CX_SLOT_mem_create] = {NULL, created},
    [CX_SLOT_mem_import_from_shareable_handle] = {NULL, imported},
    [CX_SLOT_mem_retain_allocation_handle] = {NULL, retained},
    [CX_SLOT_mem_release] = {release, released},
    [CX_SLOT_mem_map] = {NULL, mapped},
    [CX_SLOT_mem_unmap] = {NULL, unmapped},
};
