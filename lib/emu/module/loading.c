#include "emu/module/loading.h"

#include "base/option.h"
#include "emu/schedule/work.h"
#include <stdatomic.h>
#include <string.h>

static _Atomic bool waits;

static bool read_choice(bool *out_waits)
{
    const char *text = cx_option("CTXRT_EMU_LOADING");

    *out_waits = text != NULL && strcmp(text, "waits") == 0;
    return text == NULL || *out_waits || strcmp(text, "free") == 0;
}

bool cx_emu_loading_valid(void)
{
    bool unused;

    return read_choice(&unused);
}

bool cx_emu_loading_choose(void)
{
    bool found;

    if (!read_choice(&found))
        return false;
    atomic_store(&waits, found);
    return true;
}

void cx_emu_loading_begin(const cx_emu_function *function)
{
    if (!function->loaded && atomic_load(&waits))
        cx_emu_work_wait_context(function->module->context);
}
