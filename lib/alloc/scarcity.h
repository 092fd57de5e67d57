/*
 * Whether memory that is mapped is scarce: nearly all of what there is is live, or has been close
 * to that for long. Known without a look at free ranges: fits of many sizes still place everything
 * while a tenth is free, and fail soon after.
 *
 * No lock; nothing but arithmetic.
 */
#ifndef CX_ALLOC_SCARCITY_H
#define CX_ALLOC_SCARCITY_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: it is never scarce. */
typedef struct cx_scarcity {
    uint64_t room_bytes; /* what there is, live or not; 0: it is never scarce */
    /* requests placed while much was live, less three times those while it was not; at most as many
     * as there is room */
    uint64_t pressed_bytes;
} cx_scarcity;

/* A request is placed while so many bytes are live. */
void cx_scarcity_note(cx_scarcity *self, uint64_t live_bytes, uint64_t size_bytes);

/* Eleven twelfths are live, or half the room was asked for while more than 0.88 were. */
bool cx_scarcity_is_here(const cx_scarcity *self, uint64_t live_bytes);

#endif
