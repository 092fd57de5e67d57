#include "alloc/scarcity.h"

#define RELIEF 3 /* a byte placed while little is live makes up for so many */

/* Without an overflow for whatever room. */
static uint64_t part_of(const cx_scarcity *self, uint64_t parts, uint64_t of)
{
    return self->room_bytes / of * parts;
}

void cx_scarcity_note(cx_scarcity *self, uint64_t live_bytes, uint64_t size_bytes)
{
    uint64_t pressed = self->pressed_bytes;
    uint64_t left = self->room_bytes > pressed ? self->room_bytes - pressed : 0;
    if (live_bytes >= part_of(self, 22, 25))
        self->pressed_bytes += size_bytes < left ? size_bytes : left;
    else
        self->pressed_bytes = size_bytes < pressed / RELIEF ? pressed - RELIEF * size_bytes : 0;
}

bool cx_scarcity_is_here(const cx_scarcity *self, uint64_t live_bytes)
{
    return self->room_bytes != 0 && (live_bytes >= part_of(self, 11, 12) ||
                                     self->pressed_bytes > self->room_bytes / 2);
}
