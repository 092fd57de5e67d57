#include "layer/layer.h"

#include "layer/arguments.h"

static const cx_layer *in_front;
static const cx_driver_table *behind;

#define CX_SYMBOL(slot_, name, suffix, since, stream, need, arity, parameters)       \
    static cxu_result pass_##slot_ CX_DECLARE(arity, parameters)                     \
    {                                                                                \
        const cx_arguments_##slot_ arguments = CX_INITIAL(arity, parameters);        \
        cx_layer_call call = {.slot = CX_SLOT_##slot_, .arguments = &arguments};     \
        in_front->call_begins(&call);                                                \
        call.result = behind->slot_ CX_PASS(arity, parameters);                      \
        in_front->call_ended(&call);                                                 \
        return call.result;                                                          \
    }
#define CX_INITIAL(arity, list) CX_INITIAL_(arity, list)
#define CX_INITIAL_(arity, list) CX_INITIAL_##arity list
#define CX_INITIAL_0() {0}
#define CX_INITIAL_1(t1, n1) {n1}
#define CX_INITIAL_2(t1, n1, t2, n2) {n1, n2}
#define CX_INITIAL_3(t1, n1, t2, n2, t3, n3) {n1, n2, n3}
#define CX_INITIAL_4(t1, n1, t2, n2, t3, n3, t4, n4) {n1, n2, n3, n4}
#define CX_INITIAL_5(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5) {n1, n2, n3, n4, n5}
#define CX_INITIAL_6(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6) {n1, n2, n3, n4, n5, n6}
#define CX_INITIAL_7(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7) \
    {n1, n2, n3, n4, n5, n6, n7}
#define CX_INITIAL_8(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8) \
    {n1, n2, n3, n4, n5, n6, n7, n8}
#define CX_INITIAL_9(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9) \
    {n1, n2, n3, n4, n5, n6, n7, n8, n9}
#define CX_INITIAL_10(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                      n10)                                                                         \
    {n1, n2, n3, n4, n5, n6, n7, n8, n9, n10}
#define CX_INITIAL_11(t1, n1, t2, n2, t3, n3, t4, n4, t5, n5, t6, n6, t7, n7, t8, n8, t9, n9, t10, \
                      n10, t11, n11)                                                               \
    {n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11}
#include "driver/symbols.def"

void cx_layer_put(const cx_layer *layer, const cx_driver_table *below, cx_driver_table *out_table)
{
    in_front = layer;
    behind = below;
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    out_table->slot = pass_##slot;
#include "driver/symbols.def"
}
