/*
 * The exported functions of one version of libcudart: version_11.c and its like define
 * CX_CUDART_ENTRIES, the list of them that exports.awk made, and include this file.
 */
#include "runtime/calls.h"
#include "runtime/driver.h"
#include "runtime/refusal.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CX_ENTRY(symbol, body, per_thread_, arity, parameters)                                  \
    __attribute__((visibility("default"))) cxr_error symbol CX_DECLARE(arity, parameters)       \
    {                                                                                           \
        cx_cudart_call call = {                                                                 \
            .name = #symbol, .caller = __builtin_return_address(0), .per_thread = per_thread_}; \
        cx_cudart_call_begin(&call);                                                            \
        return cx_cudart_call_end(&call, cxr_##body CX_PASS(arity, parameters));                \
    }
#define CX_ENTRY_FUNCTION(result, symbol, body, arity, parameters)                     \
    __attribute__((visibility("default"))) result symbol CX_DECLARE(arity, parameters) \
    {                                                                                  \
        return cxr_##body CX_PASS(arity, parameters);                                  \
    }
#define CX_ENTRY_PROCEDURE(symbol, body, arity, parameters)                          \
    __attribute__((visibility("default"))) void symbol CX_DECLARE(arity, parameters) \
    {                                                                                \
        cxr_##body CX_PASS(arity, parameters);                                       \
    }
/* Nothing is known of its parameters: the caller passes them, and the callee leaves them alone. */
#define CX_ENTRY_REFUSED(symbol)                                  \
    __attribute__((visibility("default"))) cxr_error symbol(void) \
    {                                                             \
        static atomic_flag is_said = ATOMIC_FLAG_INIT;            \
        return cx_cudart_refuse(#symbol, &is_said);               \
    }
#include CX_CUDART_ENTRIES
