#include "layer/names.h"

cx_layer_names_list cx_layer_names_own = {.size = sizeof cx_layer_names_own};
static const cx_layer_names_list *_Atomic in_use = &cx_layer_names_own;

void cx_layer_names_add(const cx_layer_names *names)
{
    for (int i = 0; i < CX_LAYER_NAMES_MAX; i++) {
        const cx_layer_names *there = NULL;
        if (atomic_compare_exchange_strong(&cx_layer_names_own.all[i], &there, names) ||
            there == names)
            return;
    }
}

void cx_layer_names_use(const cx_layer_names_list *list)
{
    atomic_store(&in_use, list);
}

const cx_layer_names_list *cx_layer_names_in_use(void)
{
    return atomic_load(&in_use);
}

static const cx_layer_names *names_at(int index)
{
    return atomic_load(&cx_layer_names_in_use()->all[index]);
}

bool cx_layer_name_frame(char *text, size_t size)
{
    for (int i = 0; i < CX_LAYER_NAMES_MAX && names_at(i) != NULL; i++)
        if (names_at(i)->frame != NULL && names_at(i)->frame(text, size))
            return true;
    return false;
}

bool cx_layer_name_object(cx_handle_kind kind, uintptr_t handle, char *text, size_t size)
{
    for (int i = 0; i < CX_LAYER_NAMES_MAX && names_at(i) != NULL; i++)
        if (names_at(i)->object != NULL && names_at(i)->object(kind, handle, text, size))
            return true;
    return false;
}

cx_layer_hint cx_layer_hint_now(void)
{
    cx_layer_hint (*ask)(void) = atomic_load(&cx_layer_names_in_use()->hint);
    return ask != NULL ? ask() : CX_LAYER_NO_HINT;
}

int cx_layer_gpu(int device)
{
    int first = cx_layer_names_in_use()->host_devices;
    return device < first ? -1 : device - first;
}
