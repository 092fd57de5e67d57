#include "memory/past.h"

#include "memory/pointer_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAST_MAX 1024

/* Lock "pointers". Sorted by address, without overlaps. */
static cx_past all[PAST_MAX];
static _Atomic size_t count;

static size_t past_count(void)
{
    return atomic_load_explicit(&count, memory_order_relaxed);
}

/* The first one that ends behind an address. */
static size_t first_behind(uintptr_t address)
{
    size_t low = 0, high = past_count();
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void remove_at(size_t index)
{
    memmove(&all[index], &all[index + 1], (past_count() - index - 1) * sizeof all[0]);
    atomic_fetch_sub(&count, 1);
}

/* Merges the closest two neighbours, with the gap between them: the system is asked about the
 * host's memory there as well. */
static void merge_closest(void)
{
    size_t best = 0;
    for (size_t i = 1; i + 1 < past_count(); i++)
        if (all[i + 1].begin - all[i].end < all[best + 1].begin - all[best].end)
            best = i;
    all[best + 1].begin = all[best].begin;
    all[best + 1].size_bytes += all[best].size_bytes;
    remove_at(best);
}

static void insert_at(size_t index, const cx_past *past)
{
    memmove(&all[index + 1], &all[index], (past_count() - index) * sizeof all[0]);
    all[index] = *past;
    atomic_fetch_add(&count, 1);
}

void cx_past_leave(uintptr_t begin, uintptr_t end)
{
    size_t i = first_behind(begin);
    while (i < past_count() && all[i].begin < end) {
        cx_past *past = &all[i];
        if (past->begin < begin && past->end > end) {
            cx_past rest = *past;
            if (past_count() == PAST_MAX)
                return; /* it stays: the system is asked about the host's memory */
            past->end = begin;
            rest.begin = end;
            insert_at(i + 1, &rest);
            return;
        }
        if (past->begin < begin) {
            past->end = begin;
            i++;
        } else if (past->end > end) {
            past->begin = end;
            return;
        } else {
            remove_at(i);
        }
    }
}

void cx_past_enter(const cx_past *past)
{
    cx_past_leave(past->begin, past->end);
    if (past_count() == PAST_MAX)
        merge_closest();
    size_t place = first_behind(past->begin);
    /* merged neighbours may enclose it */
    if (place < past_count() && all[place].begin < past->end)
        return;
    insert_at(place, past);
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

static bool find_past(uintptr_t begin, uintptr_t end, cx_past *out_past)
{
    size_t i = first_behind(begin);
    bool found = i < past_count() && all[i].begin < end;
    if (found)
        *out_past = all[i];
    return found;
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
static bool leave_to_host(uintptr_t begin, uintptr_t end, cx_past *out_past)
{
    cx_past left;
    while (find_past(begin, end, out_past)) {
        uintptr_t first = out_past->begin > begin ? out_past->begin : begin;
        uintptr_t last = (out_past->end < end ? out_past->end : end) - 1;
        if (!host_reaches(first) || !host_reaches(last))
            return true;
        cx_past_leave(begin, end);
        if (find_past(begin, end, &left) && left.begin <= begin && left.end >= end)
            return false; /* there was no room to split it: it stays, and these bytes are the
                           * host's */
    }
    return false;
}

bool cx_past_find(const void *pointer, size_t size_bytes, cx_past *out_past)
{
    uintptr_t begin = (uintptr_t)pointer, end = begin + size_bytes;
    if (__builtin_expect(atomic_load_explicit(&count, memory_order_acquire) == 0, 1))
        return false;
    cx_pointers_lock();
    bool found = find_past(begin, end, out_past);
    cx_pointers_unlock();
    if (!found || !host_has(out_past->begin > begin ? out_past->begin : begin))
        return found;
    int reason = errno;
    cx_pointers_lock();
    found = leave_to_host(begin, end, out_past);
    cx_pointers_unlock();
    errno = reason;
    return found;
}
