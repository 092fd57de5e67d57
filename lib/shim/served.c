#include "emu/emu.h"
#include "shim/shim.h"

/* The prototypes are cuda.h's; we have them as symbols.def. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#define CX_PER_THREAD_NONE(slot, symbol, arity, parameters)
#define CX_PER_THREAD_PTDS(slot, symbol, arity, parameters) \
    CX_PER_THREAD(slot, symbol##_ptds, arity, parameters)
#define CX_PER_THREAD_PTSZ(slot, symbol, arity, parameters) \
    CX_PER_THREAD(slot, symbol##_ptsz, arity, parameters)
#define CX_PER_THREAD(slot, symbol, arity, parameters)                         \
    CX_SHIM_EXPORT cxu_result symbol CX_DECLARE(arity, parameters)             \
    {                                                                          \
        cx_emu_set_per_thread_default(true);                                   \
        cxu_result result = cx_shim_driver()->slot CX_PASS(arity, parameters); \
        cx_emu_set_per_thread_default(false);                                  \
        return result;                                                         \
    }

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    CX_SHIM_EXPORT cxu_result name##suffix CX_DECLARE(arity, parameters)      \
    {                                                                         \
        return cx_shim_driver()->slot CX_PASS(arity, parameters);             \
    }                                                                         \
    CX_PER_THREAD_##stream(slot, name##suffix, arity, parameters)
#include "driver/symbols.def"

#define CX_ALIAS(symbol, row) CX_SHIM_EXPORT __typeof__(row) symbol __attribute__((alias(#row)));
#define CX_OWN(symbol)
#include "shim/served.def"
