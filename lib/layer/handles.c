#include "layer/arguments.h"
#include "layer/layer.h"

#include <stddef.h>

/* A parameter of no other handle is a number, or a pointer to what the program has. */
/* clang-format off */
#define KIND_ROW(type, tag, kind) type: CX_HANDLE_##kind,
/* clang-format on */
#define KIND_OF(type) \
    _Generic(*(type *)0, CX_HANDLE_TYPES(KIND_ROW, CX_HANDLE_NO_KIND) default : CX_HANDLE_NONE)

/* A parameter's place in the struct of a call's arguments, and its kind. */
typedef struct parameter {
    uint16_t offset;
    uint8_t kind;
    const char *name;
} parameter;

#define OF(slot, type, name) {offsetof(cx_arguments_##slot, name), KIND_OF(type), #name},
static const parameter parameters_of[CX_SLOT_COUNT][CX_LAYER_HANDLES_MAX + 1] = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = {CX_EACH(arity, parameters, OF, slot){0, 0, NULL}},
#include "driver/symbols.def"
};

int cx_layer_handles(const cx_layer_call *call, cx_layer_handle out_handles[CX_LAYER_HANDLES_MAX])
{
    int count = 0;
    const parameter *all = parameters_of[call->slot];
    for (int i = 0; all[i].name != NULL; i++) {
        if (all[i].kind == CX_HANDLE_NONE)
            continue;
        const char *place = (const char *)call->arguments + all[i].offset;
        out_handles[count++] = (cx_layer_handle){.kind = (cx_handle_kind)all[i].kind,
                                                 .value = *(const uintptr_t *)place,
                                                 .parameter = all[i].name};
    }
    return count;
}
