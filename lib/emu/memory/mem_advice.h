/*
 * The advice that a user gave about managed memory. It is only kept as state: nothing here depends
 * on it. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_MEM_ADVICE_H
#define CX_EMU_MEM_ADVICE_H

#include "emu/device/device.h"

/* The advice for a part of an allocation, in bytes from its beginning. */
typedef struct cx_emu_mem_advice {
    size_t begin, end;
    bool read_mostly;
    cxu_mem_location preferred, prefetched; /* INVALID: none */
    uint64_t accessed_by[2];                /* bits: 0 the host, 1 + ordinal a device */
} cx_emu_mem_advice;

/* The advice for the parts of an allocation: in order, without gaps. Empty: there was none. */
typedef struct cx_emu_mem_advices {
    cx_emu_mem_advice *items;
    size_t count;
} cx_emu_mem_advices;

/* Makes parts begin and end at [begin, end) of an allocation of `bytes`, without changing any
 * advice. CXU_OUT_OF_MEMORY. */
cxu_result cx_emu_mem_advices_split(cx_emu_mem_advices *advices, size_t bytes, size_t begin,
                                    size_t end);

/* Lets `change` change the advice for [begin, end), which was split before. */
void cx_emu_mem_advices_change(cx_emu_mem_advices *advices, size_t begin, size_t end,
                               void (*change)(cx_emu_mem_advice *advice, const void *argument),
                               const void *argument);

void cx_emu_mem_advices_free(cx_emu_mem_advices *advices);

#endif
