/*
 * User objects: a pointer of the user's with counted references, some of which graphs own. The
 * user's function is called once the last is gone. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_USER_OBJECT_H
#define CX_EMU_USER_OBJECT_H

#include "driver/cuda_abi.h"
#include <stdbool.h>

typedef struct cx_emu_user_object cx_emu_user_object;

/* References that a graph owns. */
typedef struct cx_emu_holding {
    cx_emu_user_object *object;
    unsigned int count;
} cx_emu_holding;

/* All zeroes: none. */
typedef struct cx_emu_holdings {
    cx_emu_holding *items;
    size_t count;
} cx_emu_holdings;

/* The references of a copy of a graph. False: no memory, and nothing was retained. */
bool cx_emu_holdings_copy(const cx_emu_holdings *from, cx_emu_holdings *out_copy);

/* Releases all references. */
void cx_emu_holdings_drop(cx_emu_holdings *holdings);

#endif
