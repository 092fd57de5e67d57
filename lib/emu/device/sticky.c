#include "emu/device/sticky.h"

#include "base/log.h"
#include "base/option.h"
#include "emu/report/failure.h"
#include <string.h>

typedef enum reach { REACH_NONE, REACH_ONCE, REACH_CONTEXT, REACH_PROCESS } reach;

typedef struct choice {
    reach launch; /* F1 */
    reach ecc;    /* F4 */
} choice;

static choice chosen = {REACH_PROCESS, REACH_CONTEXT};
static cxu_result process_error;

bool cx_emu_failures;

/* ---- the choice ---- */

static bool parse_word(const char *word, size_t length, choice *out)
{
    static const struct {
        const char *text;
        reach launch, ecc;
    } words[] = {
        {"process", REACH_PROCESS, REACH_NONE},     {"context", REACH_CONTEXT, REACH_NONE},
        {"ecc:process", REACH_NONE, REACH_PROCESS}, {"ecc:context", REACH_NONE, REACH_CONTEXT},
        {"ecc:once", REACH_NONE, REACH_ONCE},
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].text) != length || memcmp(words[i].text, word, length) != 0)
            continue;
        if (words[i].launch != REACH_NONE)
            out->launch = words[i].launch;
        else
            out->ecc = words[i].ecc;
        return true;
    }
    return false;
}

static bool parse_choice(const char *text, choice *out)
{
    *out = (choice){REACH_PROCESS, REACH_CONTEXT};
    while (text != NULL) {
        size_t length = strcspn(text, ",");

        if (!parse_word(text, length, out))
            return false;
        text = text[length] ? text + length + 1 : NULL;
    }
    return true;
}

bool cx_emu_sticky_valid(void)
{
    choice unused;

    return parse_choice(cx_option("CTXRT_EMU_STICKY"), &unused);
}

bool cx_emu_sticky_choose(void)
{
    choice found;

    if (!parse_choice(cx_option("CTXRT_EMU_STICKY"), &found))
        return false;
    chosen = found;
    return true;
}

/* ---- failing ---- */

static reach reach_of(cxu_result error)
{
    switch (error) {
    case CXU_ASSERT:
        return REACH_CONTEXT;
    case CXU_ECC_UNCORRECTABLE:
    case CXU_NVLINK_UNCORRECTABLE:
        return chosen.ecc;
    default:
        return cx_result_sticks(error) ? chosen.launch : REACH_NONE;
    }
}

bool cx_emu_error_is_asynchronous(cxu_result error)
{
    return reach_of(error) != REACH_NONE;
}

static cxu_result *place_of(cx_emu_context *context, reach scope)
{
    if (scope == REACH_ONCE)
        return &context->error_once;
    return scope == REACH_PROCESS ? &process_error : &context->error;
}

void cx_emu_context_fail(cx_emu_context *context, cxu_result error, const char *what)
{
    reach scope = reach_of(error);

    if (scope == REACH_NONE)
        return;
    if (scope == REACH_PROCESS && context->device->host)
        scope = REACH_CONTEXT;
    cx_log(CTXRT_LOG_INFO, "embedded driver: work on device %d failed with %s",
           context->device->ordinal, cx_result_name(error));
    cx_emu_failures = true;
    cxu_result *kept = place_of(context, scope);
    if (*kept != CXU_SUCCESS)
        return;
    *kept = error;
    cx_emu_failure_note(cx_emu_context_id(context), error, what);
}

void cx_emu_context_abandon(cx_emu_context *context)
{
    if (context->error == CXU_SUCCESS)
        context->error = CXU_CONTEXT_IS_DESTROYED;
}

void cx_emu_device_lose(cx_emu_device *device, cxu_result error)
{
    int none = CXU_SUCCESS;

    cx_log(CTXRT_LOG_INFO, "embedded driver: device %d is lost", device->ordinal);
    atomic_compare_exchange_strong(&device->lost, &none, (int)error);
    cx_emu_failures = true;
}

/* ---- checks ---- */

cxu_result cx_emu_device_error_slowly(const cx_emu_device *device)
{
    cxu_result lost = (cxu_result)atomic_load(&device->lost);

    if (lost != CXU_SUCCESS)
        return lost;
    return device->host ? CXU_SUCCESS : process_error;
}

cxu_result cx_emu_context_blocked(const cx_emu_context *context)
{
    return context->error != CXU_SUCCESS ? context->error : cx_emu_device_error(context->device);
}

cxu_result cx_emu_context_error_slowly(cx_emu_context *context)
{
    cxu_result error = cx_emu_context_blocked(context);

    if (error == CXU_SUCCESS) {
        error = context->error_once;
        context->error_once = CXU_SUCCESS;
    }
    return error;
}
