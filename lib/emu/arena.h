/*
 * A GPU's memory: address space that the host may not touch, over pages that the driver reaches
 * through a second mapping. And memory of the host's own, whose addresses no other code of the
 * process ever gets.
 *
 * The addresses come in segments, mapped when first needed. When no gap of any segment is wide
 * enough a further segment is mapped, so fragmentation never makes an allocation fail while quota
 * is free; one that is free altogether is unmapped, but for the last. Pages come with the first
 * touch and go with the range they belong to.
 * No lock of its own: the caller holds emu.state, except where said.
 */
#ifndef CX_EMU_ARENA_H
#define CX_EMU_ARENA_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_emu_arena cx_emu_arena;
typedef struct cx_emu_segment cx_emu_segment;

/* A piece of a segment, taken or free. */
typedef struct cx_emu_range {
    uintptr_t address;     /* what the user sees */
    unsigned char *mapped; /* the same bytes, for the driver */
    size_t bytes;
    size_t kept_bytes; /* a free one of the host: about so many have pages */
    bool taken;
    cx_emu_segment *segment;
    struct cx_emu_range *previous, *next; /* neighbours in the segment */
    RB_ENTRY(cx_emu_range) by_size;       /* among the free ranges of the arena */
} cx_emu_range;

/* An arena without any segment, or NULL: no memory. With `host_access` the host may read and write
 * what the user sees, and there is no second mapping. */
cx_emu_arena *cx_emu_arena_create(size_t quota_bytes, bool host_access);

/*
 * The same for memory that the host may touch: its segments stay mapped until it is destroyed, so
 * that a write to an address that was given back never reaches memory of other code. Pages may
 * outlive their range, up to a few megabytes in all. NULL: no memory.
 */
cx_emu_arena *cx_emu_arena_create_of_host(size_t memory_bytes);

/* Whether a byte of [address, address + bytes) is in a segment, taken or not; at least one byte. A
 * NULL arena has none. */
bool cx_emu_arena_overlaps(const cx_emu_arena *arena, uintptr_t address, size_t bytes);

/* Every range was given back. NULL is harmless. */
void cx_emu_arena_destroy(cx_emu_arena *arena);

/* Takes a range; `bytes` is a multiple of CX_EMU_ALIGNMENT, not 0, and the range is aligned to it;
 * where all that is ever taken are multiples of a larger power of two up to a page, to that.
 * NULL if the host has no memory or address space for it; then nothing has changed. The quota is
 * the caller's to keep. */
cx_emu_range *cx_emu_arena_take(cx_emu_arena *arena, size_t bytes);

/* Gives a range and its pages back. Never fails. */
void cx_emu_arena_give(cx_emu_range *range);

/* Whether cx_emu_arena_give would leave the pages of a taken range. */
bool cx_emu_range_is_kept(const cx_emu_range *range);

/* Drops the pages of a taken range ahead of cx_emu_arena_give, which is then quick. Needs no lock.
 */
void cx_emu_range_discard(const cx_emu_range *range);

#endif
