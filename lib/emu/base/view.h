/*
 * Views: addresses at which the driver itself reaches memory, where the user's addresses of that
 * are others. No other code gets these while they last. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_VIEW_H
#define CX_EMU_VIEW_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_emu_view {
    uintptr_t begin;
    size_t bytes; /* 0: it is not open */
    RB_ENTRY(cx_emu_view) by_address;
} cx_emu_view;

/* `begin` was mapped, and nothing else is a view there; at least one byte. */
void cx_emu_view_open(cx_emu_view *view, const void *begin, size_t bytes);

/* Before the addresses are unmapped. Does nothing for one that is not open. */
void cx_emu_view_close(cx_emu_view *view);

/* True if a byte of [address, address + bytes) is in a view; at least one byte. */
bool cx_emu_views_overlap(uintptr_t address, size_t bytes);

#endif
