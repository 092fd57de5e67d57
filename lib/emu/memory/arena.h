/*
 * A GPU's memory: address space that the host may not touch, over pages that the driver reaches
 * through a second mapping. Also host memory at addresses that no other code of the process ever
 * gets.
 *
 * The addresses come in segments, mapped when first needed. If no gap is wide enough a further
 * segment is mapped, so fragmentation never makes an allocation fail while quota is free. A wholly
 * free segment is unmapped, except the last. Pages are allocated at the first touch and freed with
 * their range.
 * No lock of its own: the caller holds emu.state unless a comment says otherwise.
 */
#ifndef CX_EMU_ARENA_H
#define CX_EMU_ARENA_H

#include "emu/memory/export.h"
#include "emu/base/process_file.h"

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_emu_arena cx_emu_arena;
typedef struct cx_emu_segment cx_emu_segment;

/* A range of a segment, taken or free. */
typedef struct cx_emu_range {
    uintptr_t address;     /* the user's address */
    unsigned char *mapped; /* the same bytes, for the driver */
    size_t bytes;
    size_t kept_bytes; /* a free one of the host: about this many bytes have pages */
    bool taken;
    uint64_t export_id; /* 0: other processes cannot open it */
    cx_emu_segment *segment;
    struct cx_emu_range *previous, *next; /* neighbours in the segment */
    RB_ENTRY(cx_emu_range) by_size;       /* among the free ranges of the arena */
} cx_emu_range;

/* Makes an arena without any segment; NULL: no memory. With `host_access` the host may read and
 * write the user's addresses, and there is no second mapping. */
cx_emu_arena *cx_emu_arena_create(size_t quota_bytes, bool host_access);

/*
 * Makes an arena of memory that the host may touch: its segments stay mapped until it is destroyed,
 * so that a write to freed memory never reaches memory of other code. Pages may outlive their
 * range, up to a few megabytes in all. NULL: no memory.
 */
cx_emu_arena *cx_emu_arena_create_of_host(size_t memory_bytes);

/* True if a byte of [address, address + bytes) is in a segment, taken or not; at least one byte. A
 * NULL arena has none. */
bool cx_emu_arena_overlaps(const cx_emu_arena *arena, uintptr_t address, size_t bytes);

/* All ranges were freed before. NULL is harmless. */
void cx_emu_arena_destroy(cx_emu_arena *arena);

/* Takes a range; `bytes` is a multiple of CX_EMU_ALIGNMENT, not 0, and the range is aligned to
 * that. If all requests are multiples of a larger power of two up to a page, to that. NULL if the
 * host has no memory or address space for it; nothing has changed then. The caller keeps the
 * quota. */
cx_emu_range *cx_emu_arena_take(cx_emu_arena *arena, size_t bytes);

/* The same, at a multiple of `alignment`, a power of two up to CX_EMU_LARGE_ALIGNMENT; arenas of
 * the host: 1. The gap before the range stays free for smaller ones. */
cx_emu_range *cx_emu_arena_take_aligned(cx_emu_arena *arena, size_t bytes, size_t alignment);

/* Frees a range and its pages. Never fails. */
void cx_emu_arena_give(cx_emu_range *range);

/* True if cx_emu_arena_give would leave the pages of a taken range allocated. */
bool cx_emu_range_is_kept(const cx_emu_range *range);

/*
 * Lets other processes open a taken range, until it is given: its entry has these facts, and
 * `export_id` as its id, from the first time on. Says where it is.
 *
 * CXU_NOT_SUPPORTED: there is no file, or the program closed it; CXU_OUT_OF_MEMORY;
 * CXU_OPERATING_SYSTEM.
 */
cxu_result cx_emu_range_export(cx_emu_range *range, const cx_emu_export *facts,
                               cx_emu_process_file *out_file, uint64_t *out_offset);

/* Frees the pages of a taken range ahead of cx_emu_arena_give, which is quick then. Needs no
 * lock. */
void cx_emu_range_discard(const cx_emu_range *range);

/* Zeroes the bytes [begin, end) of a taken range. Whole pages among them are freed until the next
 * touch. Needs no lock. */
void cx_emu_range_clear(const cx_emu_range *range, size_t begin, size_t end);

#endif
