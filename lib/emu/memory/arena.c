#include "emu/memory/arena.h"

#include "base/file.h"
#include "emu/base/driver_mapping.h"
#include "emu/base/refusal.h"
#include "emu/device/device.h"
#include "emu/memory/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef RB_HEAD(range_tree, cx_emu_range) range_tree;

/* For large arenas; tools that read all mappings of a process, such as memcheck, touch all of
 * it. */
#define SEGMENT_LEAST ((size_t)32 << 20)

/* The first address of a GPU's segment is a multiple of this, so that its ranges can be. */
#define SEGMENT_ALIGNMENT CX_EMU_LARGE_ALIGNMENT

/* An aligned request looks at so many of the tightest gaps before it takes a wide one. */
#define TIGHT_GAPS 16

/* A host's arena keeps the pages of about this much free memory, as malloc does: repeated
 * allocating and freeing makes no system call. */
#define HOST_KEEPS_BYTES ((size_t)4 << 20)

struct cx_emu_arena {
    size_t segment_most; /* except for a larger request */
    size_t mapped_bytes; /* of all segments */
    size_t kept_bytes;   /* of all free ranges */
    size_t page_bytes;
    bool host_access;
    bool of_host; /* plain pages: no file, no second mapping, never unmapped */
    size_t segment_count;
    cx_emu_segment *segments;
    range_tree free_ranges;
};

struct cx_emu_segment {
    cx_emu_arena *arena;
    unsigned char *user;
    unsigned char *alias; /* equals `user` with host access */
    cx_emu_driver_mapping driver_mapping; /* the alias, if it is another address */
    size_t bytes;
    int file; /* behind both mappings, for other processes; -1: none */
    bool sealed; /* with the first export */
    dev_t file_device;
    ino_t file_number;
    cx_emu_segment *next, **link; /* of all segments of the arena */
};

/* By size, then by address: the tightest gap is taken, and the lowest of equal ones. */
static int range_compare(const cx_emu_range *left, const cx_emu_range *right)
{
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? -1 : 1;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return 0;
}

RB_GENERATE_INTERNAL(range_tree, cx_emu_range, by_size, range_compare,
                     __attribute__((unused)) static)

static bool segment_map_host(cx_emu_segment *segment)
{
    segment->user = mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    segment->alias = segment->user;
    if (segment->user == MAP_FAILED)
        cx_emu_refused_by_system("mmap", segment->bytes);
    return segment->user != MAP_FAILED;
}

/* Reserves addresses that begin at a multiple of SEGMENT_ALIGNMENT; NULL: there are none. */
static unsigned char *reserve_aligned(size_t bytes)
{
    size_t slack = SEGMENT_ALIGNMENT - 1, spare;
    if (bytes > SIZE_MAX - slack)
        return NULL;
    unsigned char *start = mmap(NULL, bytes + slack, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    spare = -(uintptr_t)start & slack;
    if (spare > 0)
        munmap(start, spare);
    if (spare < slack)
        munmap(start + spare + bytes, slack - spare);
    return start + spare;
}

static bool segment_map(cx_emu_segment *segment, int file)
{
    int protection = segment->arena->host_access ? PROT_READ | PROT_WRITE : PROT_NONE;
    unsigned char *place = reserve_aligned(segment->bytes);
    if (place == NULL)
        return false;
    segment->user = mmap(place, segment->bytes, protection,
                         MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0);
    if (segment->user == MAP_FAILED) {
        int error = errno;
        munmap(place, segment->bytes);
        errno = error;
        return false;
    }
    segment->alias = segment->user;
    if (!segment->arena->host_access)
        segment->alias =
            mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (segment->alias == MAP_FAILED) {
        int error = errno;
        munmap(segment->user, segment->bytes);
        errno = error;
        return false;
    }
    /* A forked child has no GPU memory (I4), and must not reach its parent's through these
     * mappings. */
    madvise(segment->user, segment->bytes, MADV_DONTFORK);
    madvise(segment->alias, segment->bytes, MADV_DONTFORK);
    if (segment->alias != segment->user)
        cx_emu_driver_mapping_open(&segment->driver_mapping, segment->alias, segment->bytes);
    return true;
}

/* Programs that close every descriptor do no harm: the number may name another file by then. */
static bool file_present(const cx_emu_segment *segment)
{
    struct stat found;
    return segment->file >= 0 && fstat(segment->file, &found) == 0 &&
           found.st_dev == segment->file_device && found.st_ino == segment->file_number;
}

/* Takes over the descriptor: cuIpcGetMemHandle leads other processes to it. */
static void file_keep(cx_emu_segment *segment, int file)
{
    struct stat found;
    if (fstat(file, &found) != 0) {
        cx_file_close(file);
        return;
    }
    segment->file = file;
    segment->file_device = found.st_dev;
    segment->file_number = found.st_ino;
}

static bool segment_map_file(cx_emu_segment *segment)
{
    int file = cx_emu_sealed_file_begin(CX_EMU_SEALED_SEGMENT, segment->bytes);
    if (file < 0)
        return false;
    bool opened = segment_map(segment, file);
    if (!opened)
        cx_emu_refused_by_system("mmap", segment->bytes);
    if (opened)
        file_keep(segment, file);
    else
        cx_file_close(file);
    return opened;
}

static bool segment_open(cx_emu_segment *segment, size_t bytes)
{
    const size_t page_bytes = segment->arena->page_bytes;
    if (__builtin_add_overflow(bytes, page_bytes - 1, &segment->bytes))
        return false;
    segment->bytes &= ~(page_bytes - 1);
    segment->file = -1;
    return segment->arena->of_host ? segment_map_host(segment) : segment_map_file(segment);
}

static void segment_link(cx_emu_segment *segment)
{
    cx_emu_arena *arena = segment->arena;
    segment->link = &arena->segments;
    segment->next = arena->segments;
    if (segment->next != NULL)
        segment->next->link = &segment->next;
    arena->segments = segment;
    arena->segment_count++;
    arena->mapped_bytes += segment->bytes;
}

static void segment_close(cx_emu_segment *segment)
{
    cx_emu_driver_mapping_close(&segment->driver_mapping);
    if (segment->alias != segment->user)
        munmap(segment->alias, segment->bytes);
    munmap(segment->user, segment->bytes);
    if (file_present(segment))
        cx_file_close(segment->file);
    *segment->link = segment->next;
    if (segment->next != NULL)
        segment->next->link = segment->link;
    segment->arena->segment_count--;
    segment->arena->mapped_bytes -= segment->bytes;
    free(segment);
}

/* An eighth of the present memory, so that there are never many segments. */
static size_t segment_size(const cx_emu_arena *arena, size_t bytes)
{
    size_t wanted = arena->mapped_bytes / 8;
    if (wanted < SEGMENT_LEAST)
        wanted = SEGMENT_LEAST;
    if (wanted > arena->segment_most)
        wanted = arena->segment_most;
    return wanted > bytes ? wanted : bytes;
}

/* Maps a new segment, which is one free range; NULL: impossible. */
static cx_emu_range *arena_grow(cx_emu_arena *arena, size_t bytes)
{
    cx_emu_range *range = calloc(1, sizeof(*range));
    cx_emu_segment *segment = calloc(1, sizeof(*segment));
    if (range == NULL || segment == NULL)
        goto fail;
    segment->arena = arena;
    if (!segment_open(segment, segment_size(arena, bytes)) && !segment_open(segment, bytes))
        goto fail;
    range->address = (uintptr_t)segment->user;
    range->mapped = segment->alias;
    range->bytes = segment->bytes;
    range->segment = segment;
    segment_link(segment);
    RB_INSERT(range_tree, &arena->free_ranges, range);
    return range;

fail:
    free(segment);
    free(range);
    return NULL;
}

/* Frees the pages from `start` up to `end`, both relative to the segment. False: there are none, or
 * the host keeps them (mlock). */
static bool pages_drop(const cx_emu_segment *segment, size_t start, size_t end)
{
    return start < end && madvise(segment->alias + start, end - start,
                                  segment->arena->of_host ? MADV_DONTNEED : MADV_REMOVE) == 0;
}

static size_t page_floor(const cx_emu_segment *segment, size_t offset)
{
    return offset & ~(segment->arena->page_bytes - 1);
}

static size_t page_ceiling(const cx_emu_segment *segment, size_t offset)
{
    return page_floor(segment, offset + segment->arena->page_bytes - 1);
}

/* Merges `right` into its neighbour `left`; neither is in the tree. */
static void range_merge(cx_emu_range *left, cx_emu_range *right)
{
    left->bytes += right->bytes;
    left->kept_bytes += right->kept_bytes;
    left->next = right->next;
    if (right->next != NULL)
        right->next->previous = left;
    free(right);
}

static bool range_split(cx_emu_range *range, size_t bytes)
{
    cx_emu_range *rest = calloc(1, sizeof(*rest));
    if (rest == NULL)
        return false;
    rest->address = range->address + bytes;
    rest->mapped = range->mapped + bytes;
    rest->bytes = range->bytes - bytes;
    rest->segment = range->segment;
    rest->previous = range;
    rest->next = range->next;
    if (range->next != NULL)
        range->next->previous = rest;
    range->next = rest;
    /* The lowest bytes are most often those that were used before. */
    if (range->kept_bytes > bytes) {
        rest->kept_bytes = range->kept_bytes - bytes;
        range->kept_bytes = bytes;
    }
    range->bytes = bytes;
    RB_INSERT(range_tree, &range->segment->arena->free_ranges, rest);
    return true;
}

cx_emu_arena *cx_emu_arena_create(size_t quota_bytes, bool host_access)
{
    cx_emu_arena *arena = calloc(1, sizeof(*arena));
    if (arena == NULL || __builtin_mul_overflow(quota_bytes, 2, &arena->segment_most)) {
        free(arena);
        return NULL;
    }
    arena->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    arena->host_access = host_access;
    RB_INIT(&arena->free_ranges);
    return arena;
}

cx_emu_arena *cx_emu_arena_create_of_host(size_t memory_bytes)
{
    cx_emu_arena *arena = cx_emu_arena_create(memory_bytes, true);
    if (arena != NULL)
        arena->of_host = true;
    return arena;
}

void cx_emu_arena_destroy(cx_emu_arena *arena)
{
    if (arena == NULL)
        return;
    cx_emu_range *range, *following;
    RB_FOREACH_SAFE (range, range_tree, &arena->free_ranges, following) {
        RB_REMOVE(range_tree, &arena->free_ranges, range);
        segment_close(range->segment);
        free(range);
    }
    free(arena);
}

/* Joins the range with its free neighbours; it is not in the tree. */
static cx_emu_range *range_join(cx_emu_arena *arena, cx_emu_range *range)
{
    if (range->next != NULL && !range->next->taken) {
        RB_REMOVE(range_tree, &arena->free_ranges, range->next);
        range_merge(range, range->next);
    }
    if (range->previous != NULL && !range->previous->taken) {
        range = range->previous;
        RB_REMOVE(range_tree, &arena->free_ranges, range);
        range_merge(range, range->next);
    }
    return range;
}

static size_t gap_before(const cx_emu_range *range, size_t alignment)
{
    return -range->address & (alignment - 1);
}

static bool holds_aligned(const cx_emu_range *range, size_t bytes, size_t alignment)
{
    size_t gap = gap_before(range, alignment);
    return range->bytes >= gap && range->bytes - gap >= bytes;
}

/* A free range that holds an aligned one; NULL: none is found. */
static cx_emu_range *find_free(cx_emu_arena *arena, size_t bytes, size_t alignment)
{
    cx_emu_range key = {.bytes = bytes};
    cx_emu_range *range = RB_NFIND(range_tree, &arena->free_ranges, &key);
    for (int i = 0; range != NULL && i < TIGHT_GAPS; i++) {
        if (holds_aligned(range, bytes, alignment))
            return range;
        range = RB_NEXT(range_tree, &arena->free_ranges, range);
    }
    if (range == NULL || __builtin_add_overflow(bytes, alignment, &key.bytes))
        return NULL;
    return RB_NFIND(range_tree, &arena->free_ranges, &key);
}

cx_emu_range *cx_emu_arena_take(cx_emu_arena *arena, size_t bytes)
{
    return cx_emu_arena_take_aligned(arena, bytes, 1);
}

cx_emu_range *cx_emu_arena_take_aligned(cx_emu_arena *arena, size_t bytes, size_t alignment)
{
    cx_emu_range *range = find_free(arena, bytes, alignment);
    if (range == NULL)
        range = arena_grow(arena, bytes);
    if (range == NULL)
        return NULL;
    RB_REMOVE(range_tree, &arena->free_ranges, range);
    size_t gap = gap_before(range, alignment);
    if (gap > 0) {
        if (!range_split(range, gap)) {
            RB_INSERT(range_tree, &arena->free_ranges, range);
            return NULL;
        }
        RB_INSERT(range_tree, &arena->free_ranges, range);
        range = range->next;
        RB_REMOVE(range_tree, &arena->free_ranges, range);
    }
    if (range->bytes > bytes && !range_split(range, bytes)) {
        range = range_join(arena, range);
        RB_INSERT(range_tree, &arena->free_ranges, range);
        return NULL;
    }
    range->taken = true;
    arena->kept_bytes -= range->kept_bytes;
    range->kept_bytes = 0;
    return range;
}

void cx_emu_range_discard(const cx_emu_range *range)
{
    const cx_emu_segment *segment = range->segment;
    size_t offset = range->address - (uintptr_t)segment->user;
    pages_drop(segment, page_ceiling(segment, offset), page_floor(segment, offset + range->bytes));
}

void cx_emu_range_clear(const cx_emu_range *range, size_t begin, size_t end)
{
    const cx_emu_segment *segment = range->segment;
    const size_t offset = range->address - (uintptr_t)segment->user;
    const size_t start = offset + begin, stop = offset + end;
    size_t first = page_ceiling(segment, start), last = page_floor(segment, stop);

    if (!pages_drop(segment, first, last))
        first = last = stop;
    memset(segment->alias + start, 0, first - start);
    memset(segment->alias + last, 0, stop - last);
}

static bool segment_seal(cx_emu_segment *segment)
{
    if (!segment->sealed)
        segment->sealed =
            cx_emu_sealed_file_seal(segment->file, CX_EMU_SEALED_SEGMENT, segment->bytes, NULL,
                                    cx_emu_export_table_bytes(segment->bytes));
    return segment->sealed;
}

static cxu_result write_export(cx_emu_range *range, cx_emu_export facts, size_t offset)
{
    const cx_emu_segment *segment = range->segment;
    if (!cx_emu_random(&facts.id, sizeof(facts.id)) || facts.id == 0)
        return CXU_OPERATING_SYSTEM;
    cxu_result result = cx_emu_export_write(segment->file, segment->bytes, offset, &facts);
    if (result == CXU_SUCCESS)
        range->export_id = facts.id;
    return result;
}

cxu_result cx_emu_range_export(cx_emu_range *range, const cx_emu_export *facts,
                               cx_emu_process_file *out_file, uint64_t *out_offset)
{
    cx_emu_segment *segment = range->segment;
    size_t offset = range->address - (uintptr_t)segment->user;
    if (!file_present(segment))
        return CXU_NOT_SUPPORTED;
    if (!segment_seal(segment))
        return CXU_OUT_OF_MEMORY;
    if (!cx_emu_process_file_name(segment->file, CX_EMU_SEALED_SEGMENT, out_file))
        return CXU_NOT_SUPPORTED;
    *out_offset = offset;
    return range->export_id != 0 ? CXU_SUCCESS : write_export(range, *facts, offset);
}

static void withdraw(cx_emu_range *range)
{
    const cx_emu_segment *segment = range->segment;
    if (range->export_id != 0 && file_present(segment))
        cx_emu_export_withdraw(segment->file, segment->bytes,
                               range->address - (uintptr_t)segment->user);
    range->export_id = 0;
}

bool cx_emu_arena_overlaps(const cx_emu_arena *arena, uintptr_t address, size_t bytes)
{
    const cx_emu_segment *segment = arena != NULL ? arena->segments : NULL;
    while (segment != NULL && (address - (uintptr_t)segment->user >= segment->bytes &&
                               (uintptr_t)segment->user - address >= bytes))
        segment = segment->next;
    return segment != NULL;
}

bool cx_emu_range_is_kept(const cx_emu_range *range)
{
    const cx_emu_arena *arena = range->segment->arena;
    return arena->of_host && range->bytes <= HOST_KEEPS_BYTES - arena->kept_bytes;
}

static void give_of_host(cx_emu_arena *arena, cx_emu_range *range)
{
    bool kept = cx_emu_range_is_kept(range);
    range->kept_bytes = range->bytes;
    arena->kept_bytes += range->bytes;
    range = range_join(arena, range);
    if (!kept) {
        cx_emu_range_discard(range);
        arena->kept_bytes -= range->kept_bytes;
        range->kept_bytes = 0;
    }
    RB_INSERT(range_tree, &arena->free_ranges, range);
}

static void give_of_gpu(cx_emu_arena *arena, cx_emu_range *range)
{
    cx_emu_segment *segment = range->segment;
    size_t first_page = page_floor(segment, range->address - (uintptr_t)segment->user);
    size_t last_page =
        page_ceiling(segment, range->address - (uintptr_t)segment->user + range->bytes);

    range = range_join(arena, range);
    if (range->bytes == segment->bytes && arena->segment_count > 1) {
        segment_close(segment);
        free(range);
    } else {
        /* The outermost pages may be shared with other ranges, and are freed only if they are
         * not. */
        size_t start = page_ceiling(segment, range->address - (uintptr_t)segment->user);
        size_t end = page_floor(segment, range->address - (uintptr_t)segment->user + range->bytes);
        pages_drop(segment, start > first_page ? start : first_page,
                   end < last_page ? end : last_page);
        RB_INSERT(range_tree, &arena->free_ranges, range);
    }
}

void cx_emu_arena_give(cx_emu_range *range)
{
    cx_emu_arena *arena = range->segment->arena;
    withdraw(range);
    range->taken = false;
    if (arena->of_host)
        give_of_host(arena, range);
    else
        give_of_gpu(arena, range);
}
