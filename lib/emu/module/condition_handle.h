/*
 * Handles of conditional nodes: kernels give them their values. All functions: lock "emu.state"
 * held.
 *
 * A handle belongs to a graph and has one value, which executable graphs of that graph share.
 */
#ifndef CX_EMU_CONDITION_HANDLE_H
#define CX_EMU_CONDITION_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

struct cx_emu_graph;

typedef struct cx_emu_condition_handle {
    uint64_t id; /* as kernels get it; never used twice */
    int references;
    const struct cx_emu_graph *graph; /* NULL: it is gone */
    unsigned int value, value_at_launch;
    bool assigned_at_launch;
    bool decides; /* a node */
    struct cx_emu_condition_handle *previous, *next; /* all of them */
} cx_emu_condition_handle;

/* Makes a handle with one reference, the graph's. NULL: no memory. */
cx_emu_condition_handle *cx_emu_condition_handle_make(const struct cx_emu_graph *graph,
                                                      unsigned int value, bool assign);
void cx_emu_condition_handle_drop(cx_emu_condition_handle *handle); /* one reference */

/* The first of all handles; NULL: there is none. */
cx_emu_condition_handle *cx_emu_condition_handle_first(void);

/* Sets the value, as a kernel does. A handle that is gone is left alone. */
void cx_emu_condition_handle_set(uint64_t id, unsigned int value);

#endif
