#include "emu/memory/allocation.h"

#include "emu/base/driver_mapping.h"
#include "emu/base/machine.h"
#include "emu/base/refusal.h"
#include "emu/base/state.h"
#include "emu/device/device.h"
#include "emu/memory/freed.h"
#include "emu/memory/mapping.h"
#include "emu/memory/quarantine.h"
#include "ptx/written.h"

#include <stdlib.h>
#include <unistd.h>

/* From this size on, pages are freed without the lock. */
#define FREED_UNLOCKED_BYTES ((size_t)1 << 20)

typedef RB_HEAD(address_tree, cx_emu_allocation) address_tree;

static int address_compare(const cx_emu_allocation *left, const cx_emu_allocation *right)
{
    if (left->address == right->address)
        return 0;
    return left->address < right->address ? -1 : 1;
}

RB_GENERATE_INTERNAL(address_tree, cx_emu_allocation, by_address, address_compare,
                     __attribute__((unused)) static)

/* One index for all devices, since their addresses are distinct; nothing in it overlaps. */
static address_tree by_address = RB_INITIALIZER(&by_address);

/* Arenas of all memory that the host may touch and the driver allocates. */
static cx_emu_arena *cpu_arena, *page_arena, *shareable_arena;

static uint64_t last_memory_id;
static const cx_emu_memory_hooks *hooks;
static size_t limit_bytes = SIZE_MAX;

void cx_emu_allocation_set_hooks(const cx_emu_memory_hooks *all)
{
    hooks = all;
}

void cx_emu_allocation_set_limit(size_t bytes)
{
    limit_bytes = bytes;
}

uint64_t cx_emu_memory_id(void)
{
    return ++last_memory_id;
}

uint64_t cx_emu_memory_latest(void)
{
    return last_memory_id;
}

/* The allocation with the greatest start that is not above `address`. */
static cx_emu_allocation *index_floor(uintptr_t address)
{
    cx_emu_allocation *floor = NULL;
    cx_emu_allocation *node = RB_ROOT(&by_address);
    while (node != NULL) {
        if (node->address <= address) {
            floor = node;
            node = RB_RIGHT(node, by_address);
        } else {
            node = RB_LEFT(node, by_address);
        }
    }
    return floor;
}

static size_t charged_bytes(const cx_emu_allocation *allocation)
{
    switch (allocation->kind) {
    case CX_EMU_MEMORY_PINNED:
    case CX_EMU_MEMORY_REGISTERED:
    case CX_EMU_MEMORY_MAPPED:
    case CX_EMU_MEMORY_SHARED:
        return 0;
    default:
        return allocation->reserved_bytes;
    }
}

static void owner_link(cx_emu_allocation *allocation, cx_emu_context *owner)
{
    allocation->context = owner;
    if (owner == NULL)
        return;
    allocation->context_id = cx_emu_context_id(owner);
    allocation->next = owner->allocations;
    if (allocation->next != NULL)
        allocation->next->previous = allocation;
    owner->allocations = allocation;
}

static void owner_unlink(cx_emu_allocation *allocation)
{
    if (allocation->context == NULL)
        return;
    if (allocation->previous != NULL)
        allocation->previous->next = allocation->next;
    else
        allocation->context->allocations = allocation->next;
    if (allocation->next != NULL)
        allocation->next->previous = allocation->previous;
    allocation->previous = allocation->next = NULL;
    allocation->context = NULL;
}

static void index_remove(cx_emu_allocation *allocation)
{
    if (allocation->indexed)
        RB_REMOVE(address_tree, &by_address, allocation);
    allocation->indexed = false;
}

/* Afterwards nothing refers to it, and its device may go. */
static void detach_allocation(cx_emu_allocation *allocation)
{
    index_remove(allocation);
    owner_unlink(allocation);
    cx_emu_freed_note(allocation);
    allocation->device->used_bytes -= charged_bytes(allocation);
    if (allocation->pool != NULL)
        hooks->leave_pool(allocation->pool, allocation->reserved_bytes);
}

/* Memory that only the driver reaches. */
static bool is_of_gpu(const cx_emu_allocation *allocation)
{
    return (uintptr_t)allocation->mapped != allocation->address &&
           (allocation->kind == CX_EMU_MEMORY_DEVICE || allocation->kind == CX_EMU_MEMORY_ASYNC);
}

static void dispose_detached(cx_emu_allocation *allocation)
{
    if (allocation->range != NULL && is_of_gpu(allocation))
        cx_emu_quarantine_give(allocation->range);
    else if (allocation->range != NULL)
        cx_emu_arena_give(allocation->range);
    if (hooks->dispose[allocation->kind] != NULL)
        hooks->dispose[allocation->kind](allocation);
    cx_emu_mem_advices_free(&allocation->advices);
    free(allocation->written);
    free(allocation->held);
    free(allocation);
}

static void dispose_allocation(cx_emu_allocation *allocation)
{
    detach_allocation(allocation);
    dispose_detached(allocation);
}

void cx_emu_allocation_evict_stale(uintptr_t address, size_t bytes)
{
    cx_emu_allocation *stale;
    while ((stale = cx_emu_allocation_overlapping(address, bytes)) != NULL) {
        index_remove(stale);
        if (!stale->freed)
            cx_emu_allocation_free(stale);
    }
}

static void publish_allocation(cx_emu_allocation *allocation, cx_emu_context *owner)
{
    cx_emu_allocation_evict_stale(allocation->address, allocation->bytes);
    allocation->buffer_id = cx_emu_memory_id();
    RB_INSERT(address_tree, &by_address, allocation);
    cx_emu_changes++;
    allocation->indexed = true;
    owner_link(allocation, owner);
    allocation->device->used_bytes += charged_bytes(allocation);
}

static bool round_up(size_t bytes, size_t unit, size_t *out_rounded)
{
    size_t sum;
    if (__builtin_add_overflow(bytes, unit - 1, &sum))
        return false;
    *out_rounded = sum & ~(unit - 1);
    return true;
}

static bool take_from(cx_emu_arena *arena, cx_emu_allocation *allocation, size_t bytes,
                      size_t alignment)
{
    allocation->range = arena != NULL ? cx_emu_arena_take_aligned(arena, bytes, alignment) : NULL;
    if (allocation->range == NULL)
        return false;
    allocation->address = allocation->range->address;
    allocation->mapped = allocation->range->mapped;
    return true;
}

static bool take_gpu_memory(cx_emu_allocation *allocation)
{
    cx_emu_device *device = allocation->device;
    if (device->arena == NULL)
        device->arena =
            cx_emu_arena_create(device->memory_bytes, cx_emu_configuration()->host_access);
    return take_from(device->arena, allocation,
                     allocation->reserved_bytes + cx_emu_redzone_bytes(),
                     allocation->bytes >= CX_EMU_LARGE_BYTES ? CX_EMU_LARGE_ALIGNMENT : 1);
}

/* Shareable memory of the host has a file behind it. */
static cx_emu_arena *arena_of_host(const cx_emu_allocation *allocation, bool device_memory)
{
    bool shareable = (allocation->flags & CX_EMU_SHAREABLE) != 0;
    cx_emu_arena **arena =
        device_memory ? &cpu_arena : shareable ? &shareable_arena : &page_arena;

    if (*arena == NULL)
        *arena = shareable ? cx_emu_arena_create(cx_emu_machine_total_bytes(), true)
                           : cx_emu_arena_create_of_host(cx_emu_machine_total_bytes());
    return *arena;
}

/* Pinned and managed memory begins at a page, and has its own arena. No arena is ever freed:
 * addresses from before a restart of the driver are not reused by other code either. */
static bool take_host_memory(cx_emu_allocation *allocation)
{
    size_t bytes = allocation->reserved_bytes;
    bool device_memory =
        allocation->kind == CX_EMU_MEMORY_DEVICE || allocation->kind == CX_EMU_MEMORY_ASYNC;
    /* The host would promise more than it has, and kill a process when the memory is touched. */
    if (allocation->bytes >= cx_emu_machine_total_bytes()) {
        cx_emu_refused_by_machine(allocation->bytes);
        return false;
    }
    return (device_memory || round_up(bytes, (size_t)sysconf(_SC_PAGESIZE), &bytes)) &&
           take_from(arena_of_host(allocation, device_memory), allocation, bytes, 1);
}

bool cx_emu_gpu_memory_overlaps(uintptr_t address, size_t bytes)
{
    for (int i = 0; i < cx_emu_device_total(); i++)
        if (cx_emu_arena_overlaps(cx_emu_device_find(i)->arena, address, bytes))
            return true;
    return false;
}

bool cx_emu_host_memory_overlaps(uintptr_t address, size_t bytes)
{
    return cx_emu_arena_overlaps(cpu_arena, address, bytes) ||
           cx_emu_arena_overlaps(page_arena, address, bytes) ||
           cx_emu_arena_overlaps(shareable_arena, address, bytes) ||
           cx_emu_driver_mappings_overlap(address, bytes);
}

static size_t quota_of(const cx_emu_device *device)
{
    return limit_bytes < device->memory_bytes ? limit_bytes : device->memory_bytes;
}

static bool fits_quota(const cx_emu_device *device, size_t bytes)
{
    size_t limit = quota_of(device), used = device->used_bytes + device->kept_bytes;
    return device->host || (used <= limit && bytes <= limit - used);
}

bool cx_emu_allocation_fits(cx_emu_device *device, size_t bytes)
{
    return fits_quota(device, bytes) || (hooks->reclaim(device) && fits_quota(device, bytes));
}

static bool within_quota(const cx_emu_allocation *allocation)
{
    return cx_emu_allocation_fits(allocation->device, charged_bytes(allocation));
}

/* True if it would fit if less of the quota were in use. */
static bool lacks_quota(const cx_emu_device *device, size_t bytes)
{
    return !fits_quota(device, bytes) && bytes <= quota_of(device);
}

static bool take_memory(cx_emu_allocation *allocation)
{
    bool on_gpu = !allocation->device->host && (allocation->kind == CX_EMU_MEMORY_DEVICE ||
                                                allocation->kind == CX_EMU_MEMORY_ASYNC);
    if (!round_up(allocation->bytes, CX_EMU_ALIGNMENT, &allocation->reserved_bytes))
        return false;
    if (!within_quota(allocation)) {
        cx_emu_refused_by_gpu();
        return false;
    }
    return on_gpu ? take_gpu_memory(allocation) : take_host_memory(allocation);
}

/* Freed memory of the device that still waits for its work, or NULL. */
static cx_emu_allocation *find_leaving(const cx_emu_device *device)
{
    cx_emu_allocation *allocation;
    RB_FOREACH (allocation, address_tree, &by_address) {
        if (allocation->freed && !allocation->awaited && allocation->device == device &&
            charged_bytes(allocation) > 0)
            return allocation;
    }
    return NULL;
}

/* Completes a search that found the allocation where the range begins. */
static cx_emu_allocation *complete_range(cx_emu_allocation *allocation, uintptr_t address,
                                         size_t bytes)
{
    size_t offset = address - allocation->address;
    if (offset > allocation->bytes)
        return NULL;
    size_t left = allocation->bytes - offset;
    for (cx_emu_allocation *last = allocation; left < bytes; left += last->bytes) {
        last = cx_emu_allocation_following(last);
        if (last == NULL)
            return NULL;
    }
    return allocation;
}

cx_emu_allocation *cx_emu_allocation_find(uintptr_t address, size_t bytes)
{
    cx_emu_allocation *allocation = index_floor(address);
    return allocation != NULL && !allocation->freed && !allocation->of_array
               ? complete_range(allocation, address, bytes)
               : NULL;
}

cx_emu_allocation *cx_emu_allocation_find_for_work(uintptr_t address, size_t bytes, uint64_t latest)
{
    cx_emu_allocation *allocation = index_floor(address);
    return allocation != NULL && !allocation->hidden && !allocation->of_array &&
                   allocation->buffer_id <= latest
               ? complete_range(allocation, address, bytes)
               : NULL;
}

cx_emu_allocation *cx_emu_allocation_following(cx_emu_allocation *mapping)
{
    cx_emu_allocation *next =
        mapping->mapping != NULL ? RB_NEXT(address_tree, &by_address, mapping) : NULL;
    if (next == NULL || next->mapping == NULL || next->freed ||
        next->address != mapping->address + mapping->bytes ||
        next->mapping->reservation != mapping->mapping->reservation)
        return NULL;
    return next;
}

cx_emu_allocation *cx_emu_allocation_next(cx_emu_allocation *allocation)
{
    return RB_NEXT(address_tree, &by_address, allocation);
}

cx_emu_allocation *cx_emu_allocation_at_start(uintptr_t address)
{
    cx_emu_allocation *allocation = cx_emu_allocation_find(address, 1);
    return allocation != NULL && allocation->address == address ? allocation : NULL;
}

const cx_emu_allocation *cx_emu_allocation_nearest(uintptr_t address)
{
    cx_emu_allocation *before = index_floor(address);
    cx_emu_allocation *after = before != NULL ? RB_NEXT(address_tree, &by_address, before)
                                              : RB_MIN(address_tree, &by_address);
    if (before == NULL || after == NULL || address - before->address < before->bytes)
        return before != NULL ? before : after;
    return address - before->address - before->bytes <= after->address - address ? before : after;
}

cx_emu_allocation *cx_emu_allocation_overlapping(uintptr_t address, size_t bytes)
{
    cx_emu_allocation *last = index_floor(address + (bytes - 1));
    if (last == NULL || (last->address < address && last->bytes <= address - last->address))
        return NULL;
    return last;
}

/* ---- what is written ---- */

void cx_emu_allocation_note_writes(cx_emu_allocation *allocation)
{
    if (cx_access_log_wants_hazards() && (uintptr_t)allocation->mapped != allocation->address)
        allocation->written = cx_ptx_written_new(allocation->bytes);
}

void cx_emu_allocation_mark_written(const cx_emu_allocation *allocation, uintptr_t address,
                                    size_t bytes)
{
    if (allocation->written != NULL)
        cx_ptx_written_mark(allocation->written, address - allocation->address, bytes);
}

void cx_emu_allocation_look(const cx_emu_allocation *allocation, uintptr_t address, size_t bytes,
                            cx_access_log_unwritten *found)
{
    const size_t begin = address - allocation->address;

    if (allocation->written == NULL || cx_ptx_written_whole(allocation->written, begin, bytes))
        return;
    for (size_t at = begin; at < begin + bytes; at++) {
        if (cx_ptx_written_whole(allocation->written, at, 1))
            continue;
        if (found->bytes++ == 0)
            found->address = allocation->address + at;
    }
}

void cx_emu_allocation_mark_all(const cx_emu_allocation *allocation)
{
    if (allocation->written != NULL)
        atomic_store(&allocation->written->all, true);
}

cxu_result cx_emu_allocation_create(cx_emu_device *device, cx_emu_context *owner,
                                    cx_emu_memory_kind kind, size_t bytes, unsigned int flags,
                                    cx_emu_allocation **out_allocation)
{
    uint64_t owner_id = owner == NULL ? 0 : cx_emu_context_id(owner);
    cx_emu_allocation *allocation = calloc(1, sizeof(*allocation));
    cx_emu_refusal_begin();
    if (allocation == NULL)
        return CXU_OUT_OF_MEMORY;
    allocation->device = device;
    allocation->kind = kind;
    allocation->bytes = bytes;
    allocation->flags = flags;
    while (!take_memory(allocation)) {
        cx_emu_allocation *leaving =
            lacks_quota(device, charged_bytes(allocation)) ? find_leaving(device) : NULL;
        if (leaving == NULL) {
            free(allocation);
            return CXU_OUT_OF_MEMORY;
        }
        cx_emu_allocation_free_and_wait(leaving);
        if (owner != NULL && cx_emu_context_id(owner) != owner_id) {
            free(allocation);
            return CXU_CONTEXT_IS_DESTROYED;
        }
    }
    publish_allocation(allocation, owner);
    *out_allocation = allocation;
    return CXU_SUCCESS;
}

cxu_result cx_emu_allocation_register(cx_emu_context *owner, uintptr_t address, size_t bytes,
                                      unsigned int flags)
{
    cx_emu_allocation *allocation = calloc(1, sizeof(*allocation));
    if (allocation == NULL)
        return CXU_OUT_OF_MEMORY;
    allocation->device = owner->device;
    allocation->kind = CX_EMU_MEMORY_REGISTERED;
    allocation->address = address;
    allocation->mapped = (unsigned char *)address;
    allocation->bytes = allocation->reserved_bytes = bytes;
    allocation->flags = flags;
    publish_allocation(allocation, owner);
    return CXU_SUCCESS;
}

void cx_emu_allocation_publish_mapping(cx_emu_allocation *mapping)
{
    publish_allocation(mapping, NULL);
}

void cx_emu_allocation_publish_shared(cx_emu_allocation *shared, cx_emu_context *owner)
{
    publish_allocation(shared, owner);
}

cxu_result cx_emu_allocation_await_quota(cx_emu_device *device, size_t bytes)
{
    while (!cx_emu_allocation_fits(device, bytes)) {
        cx_emu_allocation *leaving = lacks_quota(device, bytes) ? find_leaving(device) : NULL;
        if (leaving == NULL) {
            cx_emu_refused_by_gpu();
            return CXU_OUT_OF_MEMORY;
        }
        cx_emu_allocation_free_and_wait(leaving);
    }
    return CXU_SUCCESS;
}

void cx_emu_allocation_free(cx_emu_allocation *allocation)
{
    cx_emu_changes++;
    allocation->freed = allocation->hidden = true;
    allocation->gone = !allocation->of_module;
    if (allocation->users == 0 && !allocation->awaited)
        dispose_allocation(allocation);
}

void cx_emu_allocation_free_and_wait(cx_emu_allocation *allocation)
{
    cx_emu_changes++;
    if (!allocation->freed)
        allocation->hidden = true;
    allocation->freed = true;
    allocation->awaited = true;
    if (allocation->users > 0)
        hooks->wait_unused(allocation);
    detach_allocation(allocation);
    const cx_emu_range *range = allocation->range;
    if (range != NULL && range->bytes >= FREED_UNLOCKED_BYTES && !cx_emu_range_is_kept(range)) {
        cx_lock_leave(&cx_emu_lock);
        cx_emu_range_discard(range);
        cx_lock_enter(&cx_emu_lock);
    }
    dispose_detached(allocation);
}

void cx_emu_allocation_clear(const cx_emu_allocation *allocation, size_t begin, size_t end)
{
    cx_emu_range_clear(allocation->range, begin, end);
}

void cx_emu_allocation_drop_user(cx_emu_allocation *allocation)
{
    allocation->users--;
    if (allocation->users == 0 && allocation->freed && !allocation->awaited)
        dispose_allocation(allocation);
}

/* Queued work that names it fails; what runs there ends first. */
static void free_unreached(cx_emu_allocation *allocation)
{
    allocation->awaited = true;
    cx_emu_allocation_free(allocation);
    hooks->wait_unreached(allocation);
    allocation->awaited = false;
    if (allocation->users == 0)
        dispose_allocation(allocation);
}

void cx_emu_allocations_release(cx_emu_context *context)
{
    cx_emu_allocation *allocation;
    while ((allocation = context->allocations) != NULL) {
        owner_unlink(allocation);
        if (allocation->kind == CX_EMU_MEMORY_REGISTERED && !allocation->awaited)
            free_unreached(allocation);
        else
            cx_emu_allocation_free(allocation);
    }
}
