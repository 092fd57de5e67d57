/*
 * The calling thread's stack of contexts. No other thread ever looks at it, so it needs no lock. An
 * entry is a handle and the id that the context had when the entry was made: the entry of an
 * ordinary context is usable as long as that very context lives, the entry of a primary context
 * whenever the primary is active (C2, C4, P4, P5).
 */
#ifndef CX_EMU_STACK_H
#define CX_EMU_STACK_H

#include "emu/context.h"

typedef struct cx_emu_entry {
    cx_emu_context *context;
    uint64_t id;
} cx_emu_entry;

/* The entry that a handle makes now, or CXU_INVALID_CONTEXT. A primary that is not active may be
 * current (P4). Takes no lock. */
cxu_result cx_emu_entry_make(CUcontext handle, cx_emu_entry *out_entry);

/* The top entry, usable or not; NULL if the stack is empty. Good until the stack changes. */
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

/* Room for one more entry, so that the push that follows cannot fail. False if memory ran out. */
bool cx_emu_stack_reserve(void);
void cx_emu_stack_push(cx_emu_entry entry);

/* Takes the top entry away if it is this one. */
void cx_emu_stack_drop(cx_emu_entry entry);

#endif
