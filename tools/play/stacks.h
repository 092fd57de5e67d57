/*
 * Every thread's stack of contexts, as the steps so far have left it. No driver reports how deep a
 * stack is or what is beneath its top, so this follows the successful calls.
 */
#ifndef CX_PLAY_STACKS_H
#define CX_PLAY_STACKS_H

#include "play/player.h"

typedef struct cx_stack_entry {
    cx_cell context;
    const char *name; /* its name when it was pushed; a handle may be reused */
    bool destroyed;
    struct cx_stack_entry *below;
} cx_stack_entry;

typedef struct cx_stack {
    const char *thread;
    cx_stack_entry *top;
    struct cx_stack *next; /* in the order in which their threads appeared */
} cx_stack;

/* Follows a call. Only on the conductor's thread. */
void cx_stacks_step(cx_stacks *stacks, const cx_call *call);

/* The context that is current on a thread; 0 if none is. */
cx_cell cx_stacks_current(const cx_stacks *stacks, const char *thread);

/* Draws all stacks on stdout. */
void cx_stacks_draw(const cx_stacks *stacks);

#endif
