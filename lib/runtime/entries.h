/*
 * The exported functions of one version of libcudart: entries_11.c and its like define
 * CX_CUDART_ENTRIES, the list of them that exports.awk made, and include this file.
 */
#include "runtime/calls.h"
#include "runtime/driver.h"
#include "runtime/refusal.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CX_CALL_OF(name, per_thread_)                                             \
    {                                                                             \
        .origin = {#name, __builtin_return_address(0)}, .per_thread = per_thread_ \
    }
#define CX_ENTRY(symbol, name, body, per_thread, arity, parameters)                       \
    __attribute__((visibility("default"))) cxr_error symbol CX_DECLARE(arity, parameters) \
    {                                                                                     \
        cx_cudart_call call = CX_CALL_OF(name, per_thread);                               \
        cx_cudart_call_begin(&call);                                                      \
        return cx_cudart_call_end(&call, cxr_##body CX_PASS(arity, parameters));          \
    }
#define CX_ENTRY_FUNCTION(result, symbol, name, body, arity, parameters)               \
    __attribute__((visibility("default"))) result symbol CX_DECLARE(arity, parameters) \
    {                                                                                  \
        cx_cudart_call call = CX_CALL_OF(name, false);                                 \
        cx_cudart_call_begin(&call);                                                   \
        result made = cxr_##body CX_PASS(arity, parameters);                           \
        cx_cudart_call_leave(&call);                                                   \
        return made;                                                                   \
    }
#define CX_ENTRY_PROCEDURE(symbol, name, body, arity, parameters)                    \
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
