#include "layer/layer.h"

#include "layer/arguments.h"

static const cx_layer *in_front;
static const cx_driver_table *behind;

/* Arguments without their parentheses. */
#define CX_BARE(arguments) CX_UNPACK arguments

#define CX_SYMBOL(slot_, name, suffix, since, stream, need, arity, parameters)       \
    static cxu_result pass_##slot_ CX_DECLARE(arity, parameters)                     \
    {                                                                                \
        const cx_arguments_##slot_ arguments = {CX_BARE(CX_PASS(arity, parameters))}; \
        cx_layer_call call = {.slot = CX_SLOT_##slot_, .arguments = &arguments};     \
        in_front->call_begins(&call);                                                \
        call.result = behind->slot_ CX_PASS(arity, parameters);                      \
        in_front->call_ended(&call);                                                 \
        return call.result;                                                          \
    }
#include "driver/symbols.def"

void cx_layer_put(const cx_layer *layer, const cx_driver_table *below, cx_driver_table *out_table)
{
    in_front = layer;
    behind = below;
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    out_table->slot = pass_##slot;
#include "driver/symbols.def"
}
