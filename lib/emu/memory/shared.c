#include "emu/memory/shared.h"

#include "base/file.h"
#include "emu/base/refusal.h"
#include "emu/device/device.h"
#include "emu/memory/pool.h"
#include "emu/base/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char mark[8] = "ctxipc2";

static cx_emu_shared *opened;

cxu_result cx_emu_shared_describe(const cx_emu_allocation *allocation, uint64_t origin,
                                  cx_emu_shared_place *out_place)
{
    cx_emu_allocation_mark_all(allocation);
    const cx_emu_export facts = {
        .bytes = allocation->bytes,
        .origin = origin,
        .board = allocation->device->board,
        .host = allocation->kind == CX_EMU_MEMORY_PINNED,
    };
    cx_emu_shared_place place = {.offset = 0};
    cxu_result result;

    cx_emu_refusal_begin();
    result = cx_emu_range_export(allocation->range, &facts, &place.where, &place.offset);
    if (result != CXU_SUCCESS)
        return result;
    place.id = allocation->range->export_id;
    memcpy(place.mark, mark, sizeof mark);
    *out_place = place;
    return CXU_SUCCESS;
}

cx_emu_shared *cx_emu_shared_find(const cx_emu_shared_place *place, const cx_emu_pool *pool)
{
    for (cx_emu_shared *each = opened; each != NULL; each = each->next)
        if (memcmp(&each->place, place, sizeof *place) == 0 && !each->allocation->freed &&
            each->allocation->pool == pool)
            return each;
    return NULL;
}

bool cx_emu_shared_still_open(cx_emu_allocation *allocation)
{
    if (allocation->shared == NULL || allocation->shared->opened == 1)
        return false;
    allocation->shared->opened--;
    return true;
}

/* ---- opening ---- */

bool cx_emu_shared_look(const cx_emu_shared_place *place, cx_emu_shared_offer *out_offer)
{
    cx_emu_shared_offer offer = {.place = *place};
    cx_emu_sealed label;

    if (memcmp(place->mark, mark, sizeof mark) != 0)
        return false;
    offer.file = cx_emu_process_file_open(&place->where, CX_EMU_SEALED_SEGMENT, &label);
    if (offer.file < 0)
        return false;
    if (!cx_emu_export_read(offer.file, &label, place->offset, place->id, &offer.facts)) {
        cx_file_close(offer.file);
        return false;
    }
    *out_offer = offer;
    return true;
}

bool cx_emu_shared_is_withdrawn(const cx_emu_shared *shared)
{
    const cx_emu_shared_place *place = &shared->place;
    cx_emu_sealed label;
    cx_emu_export facts;
    const int file = cx_emu_process_file_open(&place->where, CX_EMU_SEALED_SEGMENT, &label);
    bool withdrawn;

    if (file < 0)
        return false;
    withdrawn = !cx_emu_export_read(file, &label, place->offset, place->id, &facts);
    cx_file_close(file);
    return withdrawn;
}

void cx_emu_shared_offer_end(cx_emu_shared_offer *offer)
{
    cx_file_close(offer->file);
}

static unsigned char *map_part(int file, int protection, size_t bytes, size_t offset)
{
    void *part = mmap(NULL, bytes, protection, MAP_SHARED | MAP_NORESERVE, file, (off_t)offset);

    if (part == MAP_FAILED) {
        cx_emu_refused_by_system("mmap", bytes);
        return NULL;
    }
    madvise(part, bytes, MADV_DONTFORK); /* a forked child has no GPU memory (I4) */
    return part;
}

/* As in arena.c: two mappings, of which the user's cannot be touched. */
static bool map_file(cx_emu_shared *shared, int file, size_t before)
{
    bool host_access = cx_emu_configuration()->host_access || shared->facts.host;
    size_t first = shared->place.offset - before;

    shared->mapped_bytes = before + shared->facts.bytes;
    shared->user = map_part(file, host_access ? PROT_READ | PROT_WRITE : PROT_NONE,
                            shared->mapped_bytes, first);
    if (shared->user == NULL)
        return false;
    shared->alias = host_access ? shared->user
                                : map_part(file, PROT_READ | PROT_WRITE, shared->mapped_bytes,
                                           first);
    if (shared->alias == NULL)
        munmap(shared->user, shared->mapped_bytes);
    else if (shared->alias != shared->user)
        cx_emu_driver_mapping_open(&shared->driver_mapping, shared->alias, shared->mapped_bytes);
    return shared->alias != NULL;
}

static void unmap_file(cx_emu_shared *shared)
{
    cx_emu_driver_mapping_close(&shared->driver_mapping);
    if (shared->alias != shared->user)
        munmap(shared->alias, shared->mapped_bytes);
    munmap(shared->user, shared->mapped_bytes);
}

static cxu_result publish(cx_emu_shared *shared, cx_emu_device *device, cx_emu_context *context,
                          size_t before)
{
    cx_emu_allocation *allocation = calloc(1, sizeof *allocation);

    if (allocation == NULL)
        return CXU_OUT_OF_MEMORY;
    allocation->device = device;
    allocation->kind = CX_EMU_MEMORY_SHARED;
    allocation->address = (uintptr_t)shared->user + before;
    allocation->mapped = shared->alias + before;
    allocation->bytes = allocation->reserved_bytes = shared->facts.bytes;
    allocation->shared = shared;
    shared->allocation = allocation;
    shared->opened = 1;
    shared->next = opened;
    opened = shared;
    cx_emu_allocation_publish_shared(allocation, context);
    return CXU_SUCCESS;
}

cxu_result cx_emu_shared_open(const cx_emu_shared_offer *offer, cx_emu_device *device,
                              cx_emu_context *context, cx_emu_shared **out_shared)
{
    size_t before = offer->place.offset % (size_t)sysconf(_SC_PAGESIZE);
    cx_emu_shared *shared = calloc(1, sizeof *shared);
    cxu_result result = CXU_OUT_OF_MEMORY;

    cx_emu_refusal_begin();
    if (shared == NULL)
        return CXU_OUT_OF_MEMORY;
    shared->place = offer->place;
    shared->facts = offer->facts;
    if (map_file(shared, offer->file, before)) {
        result = publish(shared, device, context, before);
        if (result != CXU_SUCCESS)
            unmap_file(shared);
    }
    if (result == CXU_SUCCESS)
        *out_shared = shared;
    else
        free(shared);
    return result;
}

void cx_emu_shared_close(cx_emu_allocation *allocation)
{
    cx_emu_shared *shared = allocation->shared;
    cx_emu_shared **link = &opened;

    while (*link != shared)
        link = &(*link)->next;
    *link = shared->next;
    unmap_file(shared);
    free(shared);
}
