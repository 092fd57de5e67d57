#include "shim/passthrough.h"

#include "base/log.h"
#include "driver/entry.h"
#include "shim/real_driver.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The library's functions by the symbol that the program used. */
static cx_driver_table of_entry[CX_ENTRY_KINDS];

/* ---- the symbols of a call ---- */

static const char *const endings[CX_SLOT_COUNT] = {
#define CX_ENDING_NONE ""
#define CX_ENDING_PTDS "_ptds"
#define CX_ENDING_PTSZ "_ptsz"
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = CX_ENDING_##stream,
#include "driver/symbols.def"
};

static const char *const old_symbols[CX_SLOT_COUNT] = {
#define CX_ALIAS(symbol, slot, arity, parameters) [CX_SLOT_##slot] = #symbol,
#define CX_OWN(symbol)
#include "shim/served.def"
};

static bool has_several(int slot)
{
    return endings[slot][0] != '\0' || old_symbols[slot] != NULL;
}

/* ---- what the library lacks ---- */

cxu_result cx_passthrough_absent(const char *symbol)
{
    cx_log(CTXRT_LOG_WARNING, "%s is not in %s", symbol, cx_real_driver_path());
    return CXU_NOT_SUPPORTED;
}

static cxu_result refuse_row(cx_slot slot)
{
    static atomic_bool said[CX_SLOT_COUNT];
    char text[128];
    snprintf(text, sizeof text, "%s%s", cx_symbols[slot].symbol,
             has_several(slot) ? ", in the form that was called," : "");
    return atomic_exchange(&said[slot], true) ? CXU_NOT_SUPPORTED : cx_passthrough_absent(text);
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result absent_##slot CX_DECLARE(arity, parameters)             \
    {                                                                         \
        return refuse_row(CX_SLOT_##slot);                                    \
    }
#include "driver/symbols.def"

static const cx_driver_table absent = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) .slot = absent_##slot,
#include "driver/symbols.def"
};

/* ---- calls that have several symbols ---- */

/* A callback may make calls of its own meanwhile; a layer still looks afterwards. */
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result choose_##slot CX_DECLARE(arity, parameters)             \
    {                                                                         \
        cx_entry entry = cx_entry_now;                                        \
        cx_entry_now = CX_ENTRY_PLAIN;                                        \
        cxu_result result = of_entry[entry].slot CX_PASS(arity, parameters);  \
        cx_entry_now = entry;                                                 \
        return result;                                                        \
    }
#include "driver/symbols.def"

static const cx_driver_table choosing = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) .slot = choose_##slot,
#include "driver/symbols.def"
};

/* ---- cuInit ---- */

/* A library that only passes calls on may find the stand-in as its driver. */
static __attribute__((tls_model("initial-exec"))) _Thread_local bool inside;

static bool comes_back(void)
{
    if (inside)
        cx_log(
            CTXRT_LOG_ERROR,
            "%s passes its calls back to the stand-in in front of it: name the file of a libcuda "
            "that calls no other",
            cx_real_driver_path());
    return inside;
}

static cxu_result init_real_driver(unsigned int flags)
{
    if (comes_back())
        return CXU_SYSTEM_NOT_READY;
    inside = true;
    cxu_result result = of_entry[CX_ENTRY_PLAIN].init(flags);
    inside = false;
    return result;
}

static cxu_result get_real_version(int *out_version)
{
    if (comes_back())
        return CXU_SYSTEM_NOT_READY;
    inside = true;
    cxu_result result = of_entry[CX_ENTRY_PLAIN].driver_get_version(out_version);
    inside = false;
    return result;
}

/* ---- filling ---- */

static void *get_slot(const cx_driver_table *table, int slot)
{
    void *function;
    memcpy(&function, (const char *)table + (size_t)slot * sizeof function, sizeof function);
    return function;
}

static void set_slot(cx_driver_table *table, int slot, void *function)
{
    memcpy((char *)table + (size_t)slot * sizeof function, &function, sizeof function);
}

static void *find_symbol(const char *symbol, int slot)
{
    void *function = cx_real_driver_symbol(symbol);
    return function != NULL ? function : get_slot(&absent, slot);
}

static void fill_row(int slot, cx_driver_table *out_table)
{
    char per_thread[96];
    snprintf(per_thread, sizeof per_thread, "%s%s", cx_symbols[slot].symbol, endings[slot]);
    const char *old = old_symbols[slot];
    void *plain = find_symbol(cx_symbols[slot].symbol, slot);
    set_slot(&of_entry[CX_ENTRY_PLAIN], slot, plain);
    set_slot(&of_entry[CX_ENTRY_PER_THREAD], slot, find_symbol(per_thread, slot));
    set_slot(&of_entry[CX_ENTRY_OLD], slot, old != NULL ? find_symbol(old, slot) : plain);
    set_slot(out_table, slot, has_several(slot) ? get_slot(&choosing, slot) : plain);
}

void cx_passthrough_fill(cx_driver_table *out_table)
{
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        fill_row(slot, out_table);
    out_table->init = init_real_driver;
    out_table->driver_get_version = get_real_version;
}
