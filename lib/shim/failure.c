#include "shim/failure.h"

#include "base/log.h"
#include "driver/entry.h"
#include "emu/emu.h"
#include "shim/shim.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LINES_MOST = 16 };

static bool tell = true;

void cx_shim_tell_failures(bool wanted)
{
    tell = wanted;
}

static bool is_provoked(cx_slot slot, cxu_result result)
{
    switch (result) {
    case CXU_NOT_READY:
    case CXU_DEINITIALIZED:
    case CXU_PEER_ACCESS_ALREADY_ENABLED:
    case CXU_PEER_ACCESS_NOT_ENABLED:
    case CXU_HOST_MEMORY_ALREADY_REGISTERED:
    case CXU_HOST_MEMORY_NOT_REGISTERED:
        return true;
    case CXU_INVALID_CONTEXT: /* the loop that empties the stack */
        return slot == CX_SLOT_ctx_pop;
    case CXU_NOT_SUPPORTED: /* the embedded driver, or the call that it lacks, logs that */
        return true;
    default:
        return false;
    }
}

/* Attributes, properties, the current context: programs ask to see whether they get an answer. */
static bool only_asks(cx_slot slot)
{
    const char *symbol = cx_symbols[slot].symbol;
    return slot != CX_SLOT_device_get && slot != CX_SLOT_module_get_function &&
           slot != CX_SLOT_library_get_kernel &&
           (strstr(symbol, "Get") != NULL || strstr(symbol, "Query") != NULL);
}

/* Two results of a call may share a bit: then the second one is not told. */
static bool is_first(cx_slot slot, cxu_result result)
{
    static _Atomic uint64_t told[CX_SLOT_COUNT], told_sticky;
    uint64_t bit = UINT64_C(1) << ((unsigned int)result * 2654435769u >> 26);
    _Atomic uint64_t *place = cx_result_sticks(result) ? &told_sticky : &told[slot];
    return (atomic_load_explicit(place, memory_order_relaxed) & bit) == 0 &&
           (atomic_fetch_or(place, bit) & bit) == 0;
}

static void explain_room(char *text, size_t size)
{
    size_t available, total;
    if (cx_emu_table.mem_get_info(&available, &total) == CXU_SUCCESS)
        snprintf(text, size, "%zu of the device's %zu bytes are free", available, total);
}

static void explain_context(char *text, size_t size)
{
    CUcontext current;
    if (cx_emu_table.ctx_get_current(&current) == CXU_SUCCESS && current == NULL)
        snprintf(text, size, "no context is current on this thread");
}

/* Leaves the text if there is nothing to say. */
static void explain(cxu_result result, char *text, size_t size)
{
    if (cx_shim_is_in_front() || cx_emu_explain(result, text, size))
        return;
    if (result == CXU_OUT_OF_MEMORY)
        explain_room(text, size);
    else if (result == CXU_INVALID_CONTEXT)
        explain_context(text, size);
}

/* Where the program made the call: what addr2line takes. Leaves the text if that is unknown, or if
 * another stand-in made it, which is in front. */
static void find_place(char *text, size_t size)
{
    Dl_info info;
    const char *caller = cx_entry_caller;
    if (caller == NULL || dladdr(caller - 1, &info) == 0 || info.dli_fname == NULL)
        return;
    const char *folder = strrchr(info.dli_fname, '/');
    const char *name = folder != NULL ? folder + 1 : info.dli_fname;
    if (strncmp(name, "libcuda.so", 10) != 0)
        snprintf(text, size, "; called at %s+%#zx", name,
                 (size_t)(caller - 1 - (const char *)info.dli_fbase));
}

static void write_line(cx_slot slot, cxu_result result)
{
    char why[440] = "", where[160] = "";
    const cx_entry_origin *origin = cx_entry_origin_now;
    const char *name = cx_result_name(result), *text = cx_result_text(result);
    explain(result, why, sizeof why);
    find_place(where, sizeof where);
    cx_log(CTXRT_LOG_WARNING, "%s%s%s failed: %s, %d (%s)%s%s%s",
           origin != NULL ? origin->name : "", origin != NULL ? ": " : "", cx_symbols[slot].symbol,
           name != NULL ? name : "an unknown result", (int)result, text != NULL ? text : "no text",
           why[0] != '\0' ? "; " : "", why, where);
}

void cx_shim_failed(cx_slot slot, cxu_result result)
{
    static atomic_int lines;
    if (!tell || !cx_log_enabled(CTXRT_LOG_WARNING) || is_provoked(slot, result) ||
        (only_asks(slot) && !cx_result_sticks(result)) || !is_first(slot, result))
        return;
    int line = atomic_fetch_add(&lines, 1);
    if (line < LINES_MOST)
        write_line(slot, result);
    if (line == 0 || line == LINES_MOST)
        cx_log(CTXRT_LOG_WARNING, "%s; run the program under `ctxrt check` for more",
               line == 0 ? "the same failure is not logged again"
                         : "further failures are not logged");
}
