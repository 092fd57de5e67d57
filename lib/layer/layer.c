#include "layer/layer.h"

#include "driver/entry.h"
#include "layer/arguments.h"

/* The chain, the outermost first; `in_front` is the layer itself where it is the only one. */
static const cx_layer *chain[CX_LAYERS_MAX];
static int chain_length;
static const cx_layer *in_front;
static const cx_driver_table *behind;

static void begin_in_chain(const cx_layer_call *call)
{
    for (int i = 0; i < chain_length; i++)
        chain[i]->call_begins(call);
}

static void end_in_chain(const cx_layer_call *call)
{
    for (int i = chain_length; i-- > 0;)
        chain[i]->call_ended(call);
}

static const cx_layer all_in_chain = {begin_in_chain, end_in_chain};

/* Arguments without their parentheses. */
#define CX_BARE(arguments) CX_UNPACK arguments

#define CX_SYMBOL(slot_, name, suffix, since, stream, need, arity, parameters)       \
    static cxu_result pass_##slot_ CX_DECLARE(arity, parameters)                     \
    {                                                                                \
        const cx_arguments_##slot_ arguments = {CX_BARE(CX_PASS(arity, parameters))}; \
        uint64_t began = 0;                                                          \
        const void *caller = cx_entry_caller;                                         \
        cx_layer_call call = {                                                       \
            .slot = CX_SLOT_##slot_,                                                 \
            .arguments = &arguments,                                                 \
            .began = &began,                                                         \
            .caller = caller != NULL ? caller : __builtin_return_address(0),         \
        };                                                                           \
        in_front->call_begins(&call);                                                \
        call.result = behind->slot_ CX_PASS(arity, parameters);                      \
        in_front->call_ended(&call);                                                 \
        return call.result;                                                          \
    }
#include "driver/symbols.def"

static bool is_in_chain(const cx_layer *layer)
{
    for (int i = 0; i < chain_length; i++)
        if (chain[i] == layer)
            return true;
    return false;
}

void cx_layer_put(const cx_layer *layer, const cx_driver_table *below, cx_driver_table *out_table)
{
    if (!is_in_chain(layer) && chain_length < CX_LAYERS_MAX)
        chain[chain_length++] = layer;
    in_front = chain_length == 1 ? chain[0] : &all_in_chain;
    behind = below;
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    out_table->slot = pass_##slot;
#include "driver/symbols.def"
}
