#include "memory/freed_ranges.h"

#include "memory/pointer_table.h"

#include <bsd/sys/tree.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAST_MAX 1024

typedef struct range_record {
    cx_freed_range range;
    RB_ENTRY(range_record) by_address;
    struct range_record *next_spare;
} range_record;

typedef RB_HEAD(range_tree, range_record) range_tree;

static int compare_records(const range_record *left, const range_record *right)
{
    return (left->range.begin > right->range.begin) - (left->range.begin < right->range.begin);
}

RB_GENERATE_INTERNAL(range_tree, range_record, by_address, compare_records,
                     __attribute__((unused)) static)

/* Lock "pointers". None overlaps another. */
static range_tree all = RB_INITIALIZER(&all);
static range_record records[PAST_MAX];
static size_t used; /* of `records`, ever */
static range_record *spare;
static _Atomic size_t count;

static bool is_full(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed) == PAST_MAX;
}

/* The last one that begins at an address or before it; NULL: none. */
static range_record *last_up_to(uintptr_t address)
{
    range_record *found = NULL;
    for (range_record *each = RB_ROOT(&all); each != NULL;) {
        if (each->range.begin > address) {
            each = RB_LEFT(each, by_address);
        } else {
            found = each;
            each = RB_RIGHT(each, by_address);
        }
    }
    return found;
}

/* The last one with a byte in [begin, end); NULL: none. */
static range_record *last_overlapping(uintptr_t begin, uintptr_t end)
{
    range_record *found = last_up_to(end - 1);
    return found != NULL && found->range.end > begin ? found : NULL;
}

static void remove_record(range_record *gone)
{
    RB_REMOVE(range_tree, &all, gone);
    gone->next_spare = spare;
    spare = gone;
    atomic_fetch_sub(&count, 1);
}

/* There is a record left. */
static void add_record(const cx_freed_range *range)
{
    range_record *added = spare;
    if (added != NULL)
        spare = added->next_spare;
    else
        added = &records[used++];
    added->range = *range;
    RB_INSERT(range_tree, &all, added);
    atomic_fetch_add(&count, 1);
}

/* Extends a neighbour, with the gap in between. */
static void join_record(range_record *neighbour, const cx_freed_range *range)
{
    if (range->begin < neighbour->range.begin)
        neighbour->range.begin = range->begin;
    else
        neighbour->range.end = range->end;
    neighbour->range.size_bytes += range->size_bytes;
}

/* Joins neighbours without a gap, as most are that a program frees in order. False: there is a
 * gap. */
static bool join_touching(const cx_freed_range *range)
{
    range_record *before = last_up_to(range->begin);
    range_record *behind =
        before != NULL ? RB_NEXT(range_tree, &all, before) : RB_MIN(range_tree, &all);
    range_record *neighbour = before != NULL && before->range.end == range->begin   ? before
                              : behind != NULL && behind->range.begin == range->end ? behind
                                                                                    : NULL;
    if (neighbour != NULL)
        join_record(neighbour, range);
    return neighbour != NULL;
}

/* Merges the closest two neighbours, with the gap between them: the system is asked about the
 * host's memory there as well. */
static void merge_closest(void)
{
    range_record *best = NULL, *next;
    uintptr_t gap, least = UINTPTR_MAX;
    for (range_record *each = RB_MIN(range_tree, &all);
         (next = RB_NEXT(range_tree, &all, each)) != NULL; each = next) {
        gap = next->range.begin - each->range.end;
        if (best == NULL || gap < least) {
            best = each;
            least = gap;
        }
    }
    next = RB_NEXT(range_tree, &all, best);
    const cx_freed_range range = best->range;
    remove_record(best);
    join_record(next, &range);
}

void cx_freed_ranges_leave(uintptr_t begin, uintptr_t end)
{
    range_record *each;
    while ((each = last_overlapping(begin, end)) != NULL) {
        cx_freed_range *range = &each->range;
        if (range->begin >= begin && range->end <= end) {
            remove_record(each);
        } else if (range->begin >= begin) {
            range->begin = end; /* its place in the tree stays */
        } else if (range->end <= end) {
            range->end = begin;
        } else if (is_full()) {
            return; /* it stays: the system is asked about the host's memory */
        } else {
            cx_freed_range rest = *range;
            range->end = begin;
            rest.begin = end;
            add_record(&rest);
        }
    }
}

void cx_freed_ranges_enter(const cx_freed_range *range)
{
    cx_freed_ranges_leave(range->begin, range->end);
    if (is_full()) {
        /* merged neighbours may enclose it */
        if (last_overlapping(range->begin, range->end) != NULL || join_touching(range))
            return;
        merge_closest();
        if (last_overlapping(range->begin, range->end) != NULL)
            return;
    }
    add_record(range);
}

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

/* The first one with a byte in [begin, end). */
static bool find_range(uintptr_t begin, uintptr_t end, cx_freed_range *out_range)
{
    range_record *found = last_up_to(begin);
    if (found == NULL || found->range.end <= begin)
        found = found != NULL ? RB_NEXT(range_tree, &all, found) : RB_MIN(range_tree, &all);
    if (found == NULL || found->range.begin >= end)
        return false;
    *out_range = found->range;
    return true;
}

/* True if the host reaches an address that no driver keeps; a driver may get it meanwhile. */
static bool host_has(uintptr_t address)
{
    int reason = errno;
    bool has = !is_kept_by_driver(address) && host_reaches(address) && !is_kept_by_driver(address);
    errno = reason;
    return has;
}

/* Lock held. Forgets what the host reaches; true: it does not reach all. */
static bool leave_to_host(uintptr_t begin, uintptr_t end, cx_freed_range *out_range)
{
    cx_freed_range left;
    while (find_range(begin, end, out_range)) {
        uintptr_t first = out_range->begin > begin ? out_range->begin : begin;
        uintptr_t last = (out_range->end < end ? out_range->end : end) - 1;
        if (!host_reaches(first) || !host_reaches(last))
            return true;
        cx_freed_ranges_leave(begin, end);
        if (find_range(begin, end, &left) && left.begin <= begin && left.end >= end)
            return false; /* there was no room to split it: it stays, and these bytes are the
                           * host's */
    }
    return false;
}

bool cx_freed_ranges_find(const void *pointer, size_t size_bytes, cx_freed_range *out_range)
{
    uintptr_t begin = (uintptr_t)pointer, end = begin + size_bytes;
    if (__builtin_expect(atomic_load_explicit(&count, memory_order_acquire) == 0, 1))
        return false;
    cx_pointers_lock();
    bool found = find_range(begin, end, out_range);
    cx_pointers_unlock();
    if (!found || !host_has(out_range->begin > begin ? out_range->begin : begin))
        return found;
    int reason = errno;
    cx_pointers_lock();
    found = leave_to_host(begin, end, out_range);
    cx_pointers_unlock();
    errno = reason;
    return found;
}
