#include "emu/warp.h"

#include "base/option.h"
#include <stdatomic.h>
#include <string.h>

static _Atomic bool independent;

static bool read_choice(bool *out_independent)
{
    const char *text = cx_option("CTXRT_EMU_WARP");

    *out_independent = text && strcmp(text, "independent") == 0;
    return !text || *out_independent || strcmp(text, "lockstep") == 0;
}

bool cx_emu_warp_valid(void)
{
    bool unused;

    return read_choice(&unused);
}

bool cx_emu_warp_choose(void)
{
    bool found;

    if (!read_choice(&found))
        return false;
    atomic_store(&independent, found);
    return true;
}

bool cx_emu_warp_is_independent(void)
{
    return atomic_load(&independent);
}
