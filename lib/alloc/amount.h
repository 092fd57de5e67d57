/*
 * Amounts: a number of bytes and a count, now, at the peak and in total. Callers make sure that one
 * thread at a time changes an amount.
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
