#include "driver/entry.h"
#include "emu/emu.h"
#include "shim/failure.h"
#include "shim/shim.h"

#include <stddef.h>

/* The prototypes are in cuda.h; symbols.def has ours. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

/* A call that a library makes for the program is made where the program called that. */
static inline const void *find_caller(const void *return_address)
{
    const cx_entry_origin *origin = cx_entry_origin_now;
    return origin != NULL ? origin->caller : return_address;
}

static inline cxu_result judge(cx_slot slot, cxu_result result)
{
    if (__builtin_expect(result != CXU_SUCCESS, 0))
        cx_shim_failed(slot, result);
    return result;
}

/* For a symbol that is not the row's own. A call in a callback may be nested in another one. */
#define CX_ENTER_BY(entry, symbol, slot, arity, parameters)                           \
    cxu_result cx_shim_call_##symbol CX_DECLARE(arity, parameters)                    \
    {                                                                                 \
        cx_entry before = cx_entry_now;                                               \
        cx_entry_now = entry;                                                         \
        cx_entry_caller = find_caller(__builtin_return_address(0));                   \
        cx_emu_set_per_thread_default(entry == CX_ENTRY_PER_THREAD);                  \
        cxu_result result =                                                           \
            judge(CX_SLOT_##slot, cx_shim_driver()->slot CX_PASS(arity, parameters)); \
        cx_emu_set_per_thread_default(before == CX_ENTRY_PER_THREAD);                 \
        cx_entry_now = before;                                                        \
        return result;                                                                \
    }                                                                                 \
    CX_SHIM_EXPORT(symbol, cx_shim_call_##symbol)

#define CX_PER_THREAD_NONE(slot, symbol, arity, parameters)
#define CX_PER_THREAD_PTDS(slot, symbol, arity, parameters) \
    CX_ENTER_BY(CX_ENTRY_PER_THREAD, symbol##_ptds, slot, arity, parameters)
#define CX_PER_THREAD_PTSZ(slot, symbol, arity, parameters) \
    CX_ENTER_BY(CX_ENTRY_PER_THREAD, symbol##_ptsz, slot, arity, parameters)

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters)            \
    cxu_result cx_shim_call_##name##suffix CX_DECLARE(arity, parameters)                 \
    {                                                                                    \
        cx_entry_caller = find_caller(__builtin_return_address(0));                      \
        return judge(CX_SLOT_##slot, cx_shim_driver()->slot CX_PASS(arity, parameters)); \
    }                                                                                    \
    CX_SHIM_EXPORT(name##suffix, cx_shim_call_##name##suffix)                            \
    CX_PER_THREAD_##stream(slot, name##suffix, arity, parameters)
#include "driver/symbols.def"

#define CX_ALIAS(symbol, slot, arity, parameters) \
    CX_ENTER_BY(CX_ENTRY_OLD, symbol, slot, arity, parameters)
#define CX_OWN(symbol)
#include "shim/served.def"
