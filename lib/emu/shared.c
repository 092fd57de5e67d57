#include "emu/shared.h"

#include "base/file.h"
#include "emu/device.h"
#include "emu/explain.h"
#include "emu/pool.h"
#include "emu/state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char mark[8] = "ctxipc1";

static cx_emu_shared *opened;

bool cx_emu_shared_describe(const cx_emu_allocation *allocation, cx_emu_shared_place *out_place)
{
    cx_emu_process_file where;
    size_t offset;
    int file;

    if (!cx_emu_range_file(allocation->range, &file, &offset) ||
        !cx_emu_process_file_name(file, &where))
        return false;
    *out_place = (cx_emu_shared_place){
        .where = where,
        .offset = offset,
        .bytes = allocation->bytes,
        .board = allocation->device->board,
        .host = allocation->kind == CX_EMU_MEMORY_PINNED,
    };
    memcpy(out_place->mark, mark, sizeof mark);
    return true;
}

bool cx_emu_shared_is_place(const cx_emu_shared_place *place)
{
    uint64_t end;

    return memcmp(place->mark, mark, sizeof mark) == 0 && place->where.process > 0 &&
           place->where.file >= 0 &&
           place->bytes > 0 && !__builtin_add_overflow(place->offset, place->bytes, &end) &&
           end <= SIZE_MAX / 2;
}

static bool same_place(const cx_emu_shared_place *a, const cx_emu_shared_place *b)
{
    return a->where.device == b->where.device && a->where.number == b->where.number &&
           a->offset == b->offset && a->bytes == b->bytes;
}

cx_emu_shared *cx_emu_shared_find(const cx_emu_shared_place *place, const cx_emu_pool *pool)
{
    for (cx_emu_shared *each = opened; each; each = each->next)
        if (same_place(&each->place, place) && !each->allocation->freed &&
            each->allocation->pool == pool)
            return each;
    return NULL;
}

bool cx_emu_shared_still_open(cx_emu_allocation *allocation)
{
    if (!allocation->shared || allocation->shared->opened == 1)
        return false;
    allocation->shared->opened--;
    return true;
}

/* ---- opening ---- */

/* Returns a descriptor, or -1. */
static int open_file(const cx_emu_shared_place *place)
{
    struct stat found;
    int file = cx_emu_process_file_open(&place->where);

    if (file >= 0 && (fstat(file, &found) != 0 ||
                      (uint64_t)found.st_size < place->offset + place->bytes)) {
        cx_file_close(file);
        file = -1;
    }
    return file;
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
    bool host_access = cx_emu_configuration()->host_access || shared->place.host;
    size_t first = shared->place.offset - before;

    shared->mapped_bytes = before + shared->place.bytes;
    shared->user = map_part(file, host_access ? PROT_READ | PROT_WRITE : PROT_NONE,
                            shared->mapped_bytes, first);
    if (!shared->user)
        return false;
    shared->alias = host_access ? shared->user
                                : map_part(file, PROT_READ | PROT_WRITE, shared->mapped_bytes,
                                           first);
    if (!shared->alias)
        munmap(shared->user, shared->mapped_bytes);
    else if (shared->alias != shared->user)
        cx_emu_view_open(&shared->view, shared->alias, shared->mapped_bytes);
    return shared->alias != NULL;
}

static void unmap_file(cx_emu_shared *shared)
{
    cx_emu_view_close(&shared->view);
    if (shared->alias != shared->user)
        munmap(shared->alias, shared->mapped_bytes);
    munmap(shared->user, shared->mapped_bytes);
}

static cxu_result publish(cx_emu_shared *shared, cx_emu_device *device, cx_emu_context *context,
                          size_t before)
{
    cx_emu_allocation *allocation = calloc(1, sizeof *allocation);

    if (!allocation)
        return CXU_OUT_OF_MEMORY;
    allocation->device = device;
    allocation->kind = CX_EMU_MEMORY_SHARED;
    allocation->address = (uintptr_t)shared->user + before;
    allocation->mapped = shared->alias + before;
    allocation->bytes = allocation->reserved_bytes = shared->place.bytes;
    allocation->shared = shared;
    shared->allocation = allocation;
    shared->opened = 1;
    shared->next = opened;
    opened = shared;
    cx_emu_allocation_publish_shared(allocation, context);
    return CXU_SUCCESS;
}

cxu_result cx_emu_shared_open(const cx_emu_shared_place *place, cx_emu_device *device,
                              cx_emu_context *context, cx_emu_shared **out_shared)
{
    size_t before = place->offset % (size_t)sysconf(_SC_PAGESIZE);
    cx_emu_shared *shared = calloc(1, sizeof *shared);
    cxu_result result = CXU_OUT_OF_MEMORY;
    int file;

    cx_emu_refusal_begin();
    if (!shared)
        return CXU_OUT_OF_MEMORY;
    shared->place = *place;
    file = open_file(place);
    if (file < 0) {
        free(shared);
        return CXU_INVALID_HANDLE;
    }
    if (map_file(shared, file, before)) {
        result = publish(shared, device, context, before);
        if (result != CXU_SUCCESS)
            unmap_file(shared);
    }
    cx_file_close(file);
    if (result == CXU_SUCCESS)
        *out_shared = shared;
    else
        free(shared);
    return result;
}

void cx_emu_shared_close(cx_emu_shared *shared)
{
    cx_emu_shared **link = &opened;

    while (*link != shared)
        link = &(*link)->next;
    *link = shared->next;
    unmap_file(shared);
    free(shared);
}
