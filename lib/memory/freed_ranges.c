#include "memory/freed_ranges.h"

#include "memory/address_index.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define REMEMBERED 64

/* Lock "pointers". A ring; an entry without bytes is unused. */
static cx_freed_range ranges[REMEMBERED];
static size_t next_place;

/* All ranges that the ring has forgotten lie in between; memory of others may, too. */
static uintptr_t lowest = UINTPTR_MAX, highest;

static _Atomic bool any;

static bool overlaps(const cx_freed_range *range, uintptr_t begin, uintptr_t end)
{
    return range->begin < range->end && range->begin < end && range->end > begin;
}

static void put_range(const cx_freed_range *range)
{
    cx_freed_range *place = &ranges[next_place];
    next_place = (next_place + 1) % REMEMBERED;
    if (place->begin < place->end) {
        lowest = place->begin < lowest ? place->begin : lowest;
        highest = place->end > highest ? place->end : highest;
    }
    *place = *range;
}

void cx_freed_ranges_leave(uintptr_t begin, uintptr_t end)
{
    for (size_t i = 0; i < REMEMBERED; i++) {
        cx_freed_range *range = &ranges[i], rest = *range;
        if (!overlaps(range, begin, end))
            continue;
        rest.begin = end;
        range->end = range->begin < begin ? begin : range->begin;
        if (rest.begin >= rest.end)
            continue;
        if (range->begin < range->end)
            put_range(&rest);
        else
            *range = rest;
    }
}

void cx_freed_ranges_enter(const cx_freed_range *range)
{
    cx_freed_ranges_leave(range->begin, range->end);
    put_range(range);
    atomic_store(&any, true);
}

/* ---- the host's memory ---- */

/* The kernel's read fails where the thread's own read would fault. */
static bool reads_by_pipe(uintptr_t address)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    bool reaches = write(ends[1], (const void *)address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return reaches;
}

static bool host_reaches(uintptr_t address)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)address, 1};
    ssize_t read = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    return read == 1 || (read < 0 && errno != EFAULT && reads_by_pipe(address));
}

/* True if a driver keeps an address without memory: the host never gets that one. */
static bool is_kept_by_driver(uintptr_t address)
{
    bool kept = false;
    for (int i = 0; i < cx_driver_count() && !kept; i++) {
        unsigned int mapped;
        const cx_driver *driver = &cx_drivers[i];
        kept = driver->loaded && driver->table.pointer_get_attribute(
                                     &mapped, CXU_POINTER_MAPPED, address) == CXU_SUCCESS;
    }
    return kept;
}

/* True if the host reaches all of these bytes, of which no driver keeps the first; a driver may get
 * them meanwhile. */
static bool host_has(uintptr_t begin, uintptr_t end)
{
    int reason = errno;
    bool has = !is_kept_by_driver(begin) && host_reaches(begin) && host_reaches(end - 1) &&
               !is_kept_by_driver(begin);
    errno = reason;
    return has;
}

/* ---- finding ---- */

/* The first range with one of these bytes, which are cut to it. */
static bool find_range(uintptr_t *begin, uintptr_t *end, cx_freed_range *out_range)
{
    const cx_freed_range *first = NULL;
    for (size_t i = 0; i < REMEMBERED; i++)
        if (overlaps(&ranges[i], *begin, *end) &&
            (first == NULL || ranges[i].begin < first->begin))
            first = &ranges[i];
    const cx_freed_range forgotten = {
        .begin = lowest, .end = highest, .how = CX_FREED_LONG_AGO};
    if (first == NULL && overlaps(&forgotten, *begin, *end))
        first = &forgotten;
    if (first == NULL)
        return false;
    *out_range = *first;
    *begin = first->begin > *begin ? first->begin : *begin;
    *end = first->end < *end ? first->end : *end;
    return true;
}

bool cx_freed_ranges_find(const void *pointer, size_t size_bytes, cx_freed_range *out_range)
{
    uintptr_t begin = (uintptr_t)pointer;
    const uintptr_t last = begin + size_bytes;
    while (atomic_load_explicit(&any, memory_order_acquire) && begin < last) {
        uintptr_t end = last;
        cx_pointers_lock();
        bool found = find_range(&begin, &end, out_range);
        cx_pointers_unlock();
        if (!found || !host_has(begin, end))
            return found;
        cx_pointers_lock();
        cx_freed_ranges_leave(begin, end);
        cx_pointers_unlock();
        begin = end;
    }
    return false;
}
