#include "ptx/written.h"

#include <stdlib.h>

cx_ptx_written *cx_ptx_written_new(size_t bytes)
{
    return calloc(1, sizeof(cx_ptx_written) + (bytes / 64 + 1) * sizeof(uint64_t));
}

/* The bits of word `word` that lie in [offset, end). */
static uint64_t mask_of(size_t word, size_t offset, size_t end)
{
    const size_t first = word * 64 < offset ? offset - word * 64 : 0;
    const size_t last = end - word * 64 < 64 ? end - word * 64 : 64;

    return (last == 64 ? UINT64_MAX : ((uint64_t)1 << last) - 1) & (UINT64_MAX << first);
}

void cx_ptx_written_mark(cx_ptx_written *written, size_t offset, size_t bytes)
{
    const size_t end = offset + bytes;

    if (bytes == 0)
        return;
    if (!atomic_load_explicit(&written->any, memory_order_relaxed))
        atomic_store_explicit(&written->any, true, memory_order_relaxed);
    for (size_t word = offset / 64; word * 64 < end; word++) {
        const uint64_t mask = mask_of(word, offset, end);

        if (mask & ~atomic_load_explicit(&written->bits[word], memory_order_relaxed))
            atomic_fetch_or_explicit(&written->bits[word], mask, memory_order_relaxed);
    }
}

void cx_ptx_written_clear(cx_ptx_written *written, size_t offset, size_t bytes)
{
    const size_t end = offset + bytes;

    for (size_t word = offset / 64; word * 64 < end; word++)
        atomic_fetch_and_explicit(&written->bits[word], ~mask_of(word, offset, end),
                                  memory_order_relaxed);
}

bool cx_ptx_written_whole(const cx_ptx_written *written, size_t offset, size_t bytes)
{
    const size_t end = offset + bytes;

    if (atomic_load_explicit(&written->all, memory_order_relaxed))
        return true;
    for (size_t word = offset / 64; word * 64 < end; word++)
        if (mask_of(word, offset, end) &
            ~atomic_load_explicit(&written->bits[word], memory_order_relaxed))
            return false;
    return true;
}

bool cx_ptx_written_partly(const cx_ptx_written *written, size_t offset, size_t bytes)
{
    const size_t end = offset + bytes;

    if (atomic_load_explicit(&written->all, memory_order_relaxed))
        return true;
    for (size_t word = offset / 64; word * 64 < end; word++)
        if (mask_of(word, offset, end) &
            atomic_load_explicit(&written->bits[word], memory_order_relaxed))
            return true;
    return false;
}
