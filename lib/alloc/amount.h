/*
 * Amounts: so many bytes in so many things, now, at most and ever. Whoever changes one sees to it
 * that one thread does at a time.
 */
#ifndef CX_ALLOC_AMOUNT_H
#define CX_ALLOC_AMOUNT_H

#include <ctxrt/allocator.h>

static inline void cx_amount_set(ctxrt_allocator_amount *amount, uint64_t bytes, uint64_t count)
{
    amount->current_bytes = bytes;
    amount->current_count = count;
    if (bytes > amount->peak_bytes)
        amount->peak_bytes = bytes;
    if (count > amount->peak_count)
        amount->peak_count = count;
}

static inline void cx_amount_add(ctxrt_allocator_amount *amount, uint64_t bytes)
{
    amount->total_bytes += bytes;
    amount->total_count++;
    cx_amount_set(amount, amount->current_bytes + bytes, amount->current_count + 1);
}

static inline void cx_amount_drop(ctxrt_allocator_amount *amount, uint64_t bytes)
{
    amount->current_bytes -= bytes;
    amount->current_count--;
}

#endif
