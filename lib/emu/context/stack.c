#include "emu/context/stack.h"

#include "emu/base/slot.h"
#include "emu/base/state.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_ENTRIES 8

typedef struct stack {
    cx_emu_entry *entries; /* `first`, or allocated once that is full */
    size_t depth;
    size_t capacity;
    cx_emu_entry first[FIRST_ENTRIES];
} stack;

static CX_EMU_THREAD_LOCAL stack mine;

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static void end_thread(void *entries)
{
    free(entries);
    mine.entries = NULL;
    mine.depth = mine.capacity = 0;
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, end_thread) == 0;
}

static bool grow_stack(void)
{
    if (mine.capacity == 0) {
        mine.entries = mine.first;
        mine.capacity = FIRST_ENTRIES;
        return true;
    }
    pthread_once(&key_once, make_key);
    if (!key_made || mine.capacity > SIZE_MAX / 2 / sizeof *mine.entries)
        return false;

    size_t capacity = 2 * mine.capacity;
    cx_emu_entry *entries = malloc(capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    if (pthread_setspecific(key, entries) != 0) {
        free(entries);
        return false;
    }
    memcpy(entries, mine.entries, mine.depth * sizeof *entries);
    if (mine.entries != mine.first)
        free(mine.entries);
    mine.entries = entries;
    mine.capacity = capacity;
    return true;
}

bool cx_emu_stack_reserve(void)
{
    return mine.depth < mine.capacity || grow_stack();
}

void cx_emu_stack_push(cx_emu_entry entry)
{
    mine.entries[mine.depth++] = entry;
}

const cx_emu_entry *cx_emu_stack_top(void)
{
    return mine.depth != 0 ? &mine.entries[mine.depth - 1] : NULL;
}

void cx_emu_stack_drop(cx_emu_entry entry)
{
    const cx_emu_entry *top = cx_emu_stack_top();
    if (top != NULL && top->context == entry.context && top->id == entry.id)
        mine.depth--;
}

cxu_result cx_emu_entry_make(CUcontext handle, cx_emu_entry *out_entry)
{
    cx_emu_context *context = cx_emu_slot_of(handle);
    if (context == NULL)
        return CXU_INVALID_CONTEXT;
    uint64_t id = cx_emu_context_id(context);
    if (id == 0 && !context->primary)
        return CXU_INVALID_CONTEXT;
    *out_entry = (cx_emu_entry){context, id};
    return CXU_SUCCESS;
}

static cxu_result push_entry(CUcontext handle)
{
    cx_emu_entry entry;
    cxu_result result = cx_emu_entry_make(handle, &entry);
    if (result != CXU_SUCCESS)
        return result;
    if (!cx_emu_stack_reserve())
        return CXU_OUT_OF_MEMORY;
    cx_emu_stack_push(entry);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_push(CUcontext context)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    return context != NULL ? push_entry(context)
                           : cx_emu_refuse(CXU_INVALID_VALUE, "the context is NULL");
}

cxu_result cx_emu_call_ctx_pop(CUcontext *out_context)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (mine.depth == 0)
        return CXU_INVALID_CONTEXT;
    mine.depth--;
    if (out_context != NULL)
        *out_context = cx_emu_context_handle(mine.entries[mine.depth].context);
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_ctx_set_current(CUcontext context)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (context == NULL) {
        if (mine.depth != 0)
            mine.depth--;
        return CXU_SUCCESS;
    }
    if (mine.depth == 0)
        return push_entry(context);
    return cx_emu_entry_make(context, &mine.entries[mine.depth - 1]);
}

cxu_result cx_emu_call_ctx_get_current(CUcontext *out_context)
{
    cxu_result result = cx_emu_enter();
    if (result != CXU_SUCCESS)
        return result;
    if (out_context == NULL)
        return CXU_INVALID_VALUE;
    *out_context =
        mine.depth != 0 ? cx_emu_context_handle(mine.entries[mine.depth - 1].context) : NULL;
    return CXU_SUCCESS;
}
