/* Explains failures beyond their result, with what the files below have noted. */
#include "emu/base/refusal.h"
#include "emu/base/state.h"
#include "emu/context/context.h"
#include "emu/report/failure.h"

#include <stdio.h>

static uint64_t current_id(void)
{
    cx_emu_context *context;
    return cx_emu_context_identify(NULL, &context) == CXU_SUCCESS ? cx_emu_context_id(context) : 0;
}

static bool explain_work(cxu_result result, char *text, size_t size)
{
    cx_lock_enter(&cx_emu_lock);
    const char *found = cx_emu_failure_find(current_id(), result);
    if (found != NULL)
        snprintf(text, size, "earlier work failed with it: %s", found);
    cx_lock_leave(&cx_emu_lock);
    return found != NULL;
}

bool cx_emu_explain(cxu_result result, char *text, size_t size)
{
    if (cx_emu_refusal_phrase(result, text, size))
        return true;
    return result == CXU_OUT_OF_MEMORY ? cx_emu_refusal_describe(text, size)
                                       : explain_work(result, text, size);
}

const char *cx_emu_advise(cxu_result result)
{
    return result == CXU_OUT_OF_MEMORY && cx_emu_refusal_is_by_gpu()
               ? "CTXRT_EMU_MEMORY sets how much memory emulated GPUs have"
               : NULL;
}
