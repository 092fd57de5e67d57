#include "device/environment.h"

#include "base/error.h"
#include "base/log.h"
#include "base/option.h"
#include "base/variable.h"
#include "device/layers.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

ctxrt_status cx_environment_allocator_source(ctxrt_allocator_source *out_source)
{
    static const char *const names[] = {
        [CTXRT_ALLOCATOR_SOURCE_ALLOC] = "alloc",
        [CTXRT_ALLOCATOR_SOURCE_VMM] = "vmm",
        [CTXRT_ALLOCATOR_SOURCE_DIRECT] = "direct",
    };
    const char *text = cx_option("CTXRT_ALLOCATOR");
    *out_source = CTXRT_ALLOCATOR_SOURCE_DEFAULT;
    if (text == NULL)
        return CTXRT_SUCCESS;
    for (int i = CTXRT_ALLOCATOR_SOURCE_ALLOC; i <= CTXRT_ALLOCATOR_SOURCE_DIRECT; i++)
        if (strcmp(text, names[i]) == 0) {
            *out_source = (ctxrt_allocator_source)i;
            return CTXRT_SUCCESS;
        }
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "CTXRT_ALLOCATOR=%s: it can be alloc, vmm or direct", text);
}

/* ---- debug mode ---- */

#define QUARANTINE_USUAL ((uint64_t)16 << 20)

static bool parse_bytes(const char *text, uint64_t *out_bytes)
{
    size_t bytes;
    bool parsed = cx_parse_size(text, &bytes);
    if (parsed)
        *out_bytes = bytes;
    return parsed;
}

static bool parse_number(const char *text, uint64_t *out_number)
{
    int number;
    bool parsed = cx_parse_int(text, 1, INT_MAX, &number);
    if (parsed)
        *out_number = (uint64_t)number;
    return parsed;
}

/* Parses one word of the list: a name, or a name and a value. */
static bool parse_word(char *word, ctxrt_allocator_debug *options)
{
    char *value = strchr(word, '=');
    if (value != NULL)
        *value++ = '\0';
    if (strcmp(word, "canary") == 0 && value == NULL)
        options->flags |= CTXRT_DEBUG_CANARY;
    else if (strcmp(word, "poison") == 0 && value == NULL)
        options->flags |= CTXRT_DEBUG_POISON;
    else if (strcmp(word, "quarantine") == 0 && value == NULL)
        options->quarantine_bytes = QUARANTINE_USUAL;
    else if (strcmp(word, "quarantine") == 0)
        return parse_bytes(value, &options->quarantine_bytes);
    else if (strcmp(word, "limit") == 0 && value != NULL)
        return parse_bytes(value, &options->context_limit_bytes);
    else if (strcmp(word, "fail") == 0 && value != NULL)
        return parse_number(value, &options->fail_call);
    else
        return false;
    return true;
}

static ctxrt_status parse_words(const char *text, ctxrt_allocator_debug *out_options)
{
    char *rest, *words = strdup(text);
    if (words == NULL)
        return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory to read CTXRT_DEBUG_MEMORY");
    bool good = true;
    for (char *word = strtok_r(words, ",", &rest); word != NULL && good;
         word = strtok_r(NULL, ",", &rest))
        good = parse_word(word, out_options);
    free(words);
    if (good)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "CTXRT_DEBUG_MEMORY=%s: it is a list of canary, poison, quarantine[=SIZE], "
                    "limit=SIZE and fail=NUMBER",
                    text);
}

ctxrt_status cx_environment_debug_memory(ctxrt_allocator_debug *options)
{
    const char *text = cx_option("CTXRT_DEBUG_MEMORY");
    return text != NULL ? parse_words(text, options) : CTXRT_SUCCESS;
}

/* ---- checking ---- */

static ctxrt_status check_log(void)
{
    const char *text = cx_option("CTXRT_LOG");
    ctxrt_log_level level;
    if (text == NULL || cx_log_parse(text, &level))
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "CTXRT_LOG=%s: it can be off, error, warning, info or debug", text);
}

ctxrt_status cx_environment_check(void)
{
    ctxrt_allocator_source source;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_status status = check_log();
    cx_variables_check();
    if (status == CTXRT_SUCCESS)
        status = cx_environment_allocator_source(&source);
    if (status == CTXRT_SUCCESS)
        status = cx_environment_debug_memory(&debug);
    if (status == CTXRT_SUCCESS)
        status = cx_device_check_layers();
    return status;
}
