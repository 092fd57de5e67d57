#include "emu/base/warp.h"

#include "base/option.h"
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#define WITH_SEED "independent:"

static _Atomic bool independent;
static _Atomic int seed;

static bool read_choice(bool *out_independent, int *out_seed)
{
    const char *text = cx_option("CTXRT_EMU_WARP");

    *out_seed = 0;
    *out_independent = text != NULL && strncmp(text, "independent", strlen("independent")) == 0;
    if (text != NULL && strncmp(text, WITH_SEED, strlen(WITH_SEED)) == 0)
        return cx_parse_int(text + strlen(WITH_SEED), 1, INT_MAX, out_seed);
    return text == NULL || strcmp(text, "independent") == 0 || strcmp(text, "lockstep") == 0;
}

bool cx_emu_warp_valid(void)
{
    bool unused;
    int unused_too;

    return read_choice(&unused, &unused_too);
}

bool cx_emu_warp_choose(void)
{
    bool found;
    int number;

    if (!read_choice(&found, &number))
        return false;
    atomic_store(&independent, found);
    atomic_store(&seed, number);
    return true;
}

bool cx_emu_warp_is_independent(void)
{
    return atomic_load(&independent);
}

uint64_t cx_emu_warp_seed(void)
{
    return (uint64_t)atomic_load(&seed);
}
