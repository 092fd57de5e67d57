/*
 * The arguments of each driver call as a struct: cx_arguments_ctx_push has a field `context`.
 */
#ifndef CX_LAYER_ARGUMENTS_H
#define CX_LAYER_ARGUMENTS_H

#include "driver/table.h"

/* CX_EACH(2, (int, a, char *, b), DO, of) is DO(of, int, a) DO(of, char *, b). */
#define CX_EACH(arity, list, do, of) CX_EACH_(arity, do, of, CX_UNPACK list)
#define CX_EACH_(arity, do, of, ...) CX_EACH__(arity, do, of, __VA_ARGS__)
#define CX_EACH__(arity, do, of, ...) CX_EACH_##arity(do, of, __VA_ARGS__)
#define CX_EACH_0(do, of, ...)
#define CX_EACH_1(do, of, t, n) do(of, t, n)
#define CX_EACH_2(do, of, t, n, ...) do(of, t, n) CX_EACH_1(do, of, __VA_ARGS__)
#define CX_EACH_3(do, of, t, n, ...) do(of, t, n) CX_EACH_2(do, of, __VA_ARGS__)
#define CX_EACH_4(do, of, t, n, ...) do(of, t, n) CX_EACH_3(do, of, __VA_ARGS__)
#define CX_EACH_5(do, of, t, n, ...) do(of, t, n) CX_EACH_4(do, of, __VA_ARGS__)
#define CX_EACH_6(do, of, t, n, ...) do(of, t, n) CX_EACH_5(do, of, __VA_ARGS__)
#define CX_EACH_7(do, of, t, n, ...) do(of, t, n) CX_EACH_6(do, of, __VA_ARGS__)
#define CX_EACH_8(do, of, t, n, ...) do(of, t, n) CX_EACH_7(do, of, __VA_ARGS__)
#define CX_EACH_9(do, of, t, n, ...) do(of, t, n) CX_EACH_8(do, of, __VA_ARGS__)
#define CX_EACH_10(do, of, t, n, ...) do(of, t, n) CX_EACH_9(do, of, __VA_ARGS__)
#define CX_EACH_11(do, of, t, n, ...) do(of, t, n) CX_EACH_10(do, of, __VA_ARGS__)
#define CX_UNPACK(...) __VA_ARGS__

#define CX_FIELD(slot, type, name) type name;
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    typedef struct cx_arguments_##slot {                                      \
        CX_EACH(arity, parameters, CX_FIELD, slot)                            \
    } cx_arguments_##slot;
#include "driver/symbols.def"

#endif
