#include "emu/emu.h"
#include "shim/shim.h"

/* The prototypes are in cuda.h; symbols.def has ours. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CX_PER_THREAD_NONE(slot, symbol, arity, parameters)
#define CX_PER_THREAD_PTDS(slot, symbol, arity, parameters) \
    CX_PER_THREAD(slot, symbol##_ptds, arity, parameters)
#define CX_PER_THREAD_PTSZ(slot, symbol, arity, parameters) \
    CX_PER_THREAD(slot, symbol##_ptsz, arity, parameters)
#define CX_PER_THREAD(slot, symbol, arity, parameters)                         \
    cxu_result cx_shim_call_##symbol CX_DECLARE(arity, parameters)             \
    {                                                                          \
        cx_emu_set_per_thread_default(true);                                   \
        cxu_result result = cx_shim_driver()->slot CX_PASS(arity, parameters); \
        cx_emu_set_per_thread_default(false);                                  \
        return result;                                                         \
    }                                                                          \
    CX_SHIM_EXPORT(symbol, cx_shim_call_##symbol)

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    cxu_result cx_shim_call_##name##suffix CX_DECLARE(arity, parameters)      \
    {                                                                         \
        return cx_shim_driver()->slot CX_PASS(arity, parameters);             \
    }                                                                         \
    CX_SHIM_EXPORT(name##suffix, cx_shim_call_##name##suffix)                 \
    CX_PER_THREAD_##stream(slot, name##suffix, arity, parameters)
#include "driver/symbols.def"

#define CX_ALIAS(symbol, row) CX_SHIM_EXPORT(symbol, cx_shim_call_##row)
#define CX_OWN(symbol)
#include "shim/served.def"
