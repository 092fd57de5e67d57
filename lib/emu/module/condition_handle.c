#include "emu/module/condition_handle.h"

#include <stdlib.h>

static cx_emu_condition_handle *handles;
static uint64_t last_id;

void cx_emu_condition_handle_drop(cx_emu_condition_handle *handle)
{
    if (--handle->references > 0)
        return;
    *(handle->previous != NULL ? &handle->previous->next : &handles) = handle->next;
    if (handle->next != NULL)
        handle->next->previous = handle->previous;
    free(handle);
}

cx_emu_condition_handle *cx_emu_condition_handle_make(const struct cx_emu_graph *graph,
                                                      unsigned int value, bool assign)
{
    cx_emu_condition_handle *handle = calloc(1, sizeof *handle);

    if (handle == NULL)
        return NULL;
    handle->id = ++last_id;
    handle->references = 1;
    handle->graph = graph;
    handle->value_at_launch = value;
    handle->assigned_at_launch = assign;
    handle->next = handles;
    if (handles != NULL)
        handles->previous = handle;
    handles = handle;
    return handle;
}

cx_emu_condition_handle *cx_emu_condition_handle_first(void)
{
    return handles;
}

void cx_emu_condition_handle_set(uint64_t id, unsigned int value)
{
    for (cx_emu_condition_handle *each = handles; each != NULL; each = each->next)
        if (each->id == id)
            each->value = value;
}
