/*
 * The arguments of each driver call as a struct: cx_arguments_ctx_push has a field `context`.
 */
#ifndef CX_LAYER_ARGUMENTS_H
#define CX_LAYER_ARGUMENTS_H

#include "driver/table.h"

#define CX_FIELDS(arity, list) CX_FIELDS_(arity, list)
#define CX_FIELDS_(arity, list) CX_FIELDS_##arity list
#define CX_FIELDS_0() char none;
#define CX_FIELDS_1(t1, n1) t1 n1;
#define CX_FIELDS_2(t1, n1, ...) t1 n1; CX_FIELDS_1(__VA_ARGS__)
#define CX_FIELDS_3(t1, n1, ...) t1 n1; CX_FIELDS_2(__VA_ARGS__)
#define CX_FIELDS_4(t1, n1, ...) t1 n1; CX_FIELDS_3(__VA_ARGS__)
#define CX_FIELDS_5(t1, n1, ...) t1 n1; CX_FIELDS_4(__VA_ARGS__)
#define CX_FIELDS_6(t1, n1, ...) t1 n1; CX_FIELDS_5(__VA_ARGS__)
#define CX_FIELDS_7(t1, n1, ...) t1 n1; CX_FIELDS_6(__VA_ARGS__)
#define CX_FIELDS_8(t1, n1, ...) t1 n1; CX_FIELDS_7(__VA_ARGS__)
#define CX_FIELDS_9(t1, n1, ...) t1 n1; CX_FIELDS_8(__VA_ARGS__)
#define CX_FIELDS_10(t1, n1, ...) t1 n1; CX_FIELDS_9(__VA_ARGS__)
#define CX_FIELDS_11(t1, n1, ...) t1 n1; CX_FIELDS_10(__VA_ARGS__)

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    typedef struct cx_arguments_##slot {                                      \
        CX_FIELDS(arity, parameters)                                          \
    } cx_arguments_##slot;
#include "driver/symbols.def"

#endif
