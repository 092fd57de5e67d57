/*
 * The calling thread's stack of contexts. No other thread reads it, so it needs no lock. An entry
 * is a handle and the id that the context had when the entry was made. An ordinary context's entry
 * is usable while that very context lives; a primary context's entry is usable while the primary is
 * active (C2, C4, P4, P5).
 */
#ifndef CX_EMU_STACK_H
#define CX_EMU_STACK_H

#include "emu/context/context.h"

typedef struct cx_emu_entry {
    cx_emu_context *context;
    uint64_t id;
} cx_emu_entry;

/* Makes an entry of a handle, or returns CXU_INVALID_CONTEXT. An inactive primary may be current
 * (P4). Takes no lock. */
cxu_result cx_emu_entry_make(CUcontext handle, cx_emu_entry *out_entry);

/* The top entry, usable or not; NULL if the stack is empty. Valid until the stack changes. */
const cx_emu_entry *cx_emu_stack_top(void);

static inline bool cx_emu_entry_usable(const cx_emu_entry *entry)
{
    uint64_t id = cx_emu_context_id(entry->context);
    return entry->context->primary ? id != 0 : id == entry->id;
}

/* CXU_SUCCESS if the top entry is usable at this moment, CXU_INVALID_CONTEXT if the stack is empty,
 * CXU_CONTEXT_IS_DESTROYED if the context is gone. The answer holds only while the lock is held. */
static inline cxu_result cx_emu_stack_check(void)
{
    const cx_emu_entry *top = cx_emu_stack_top();
    if (top == NULL)
        return CXU_INVALID_CONTEXT;
    return cx_emu_entry_usable(top) ? CXU_SUCCESS : CXU_CONTEXT_IS_DESTROYED;
}

/* Makes room for one more entry, so that the next push cannot fail. False: out of memory. */
bool cx_emu_stack_reserve(void);
void cx_emu_stack_push(cx_emu_entry entry);

/* Removes the top entry if it is this one. */
void cx_emu_stack_drop(cx_emu_entry entry);

#endif
