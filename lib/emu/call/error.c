#include "emu/emu.h"

#include <stddef.h>

/* These two work before cuInit and after the end (I1). For an unknown code they also clear the
 * text. */
static cxu_result give_text(const char *text, const char **out_text)
{
    if (out_text == NULL)
        return CXU_INVALID_VALUE;
    *out_text = text;
    return text != NULL ? CXU_SUCCESS : CXU_INVALID_VALUE;
}

cxu_result cx_emu_call_get_error_name(cxu_result error, const char **out_name)
{
    return give_text(cx_result_name(error), out_name);
}

cxu_result cx_emu_call_get_error_string(cxu_result error, const char **out_text)
{
    return give_text(cx_result_text(error), out_text);
}
