/* What debug mode is asked for: by options, or by CTXRT_DEBUG_MEMORY. */
#include "base/error.h"
#include "base/option.h"
#include "memory/guard.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

/* One word of the list: a name, or a name and a value. */
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

static ctxrt_status parse(const char *text, ctxrt_allocator_debug *out_options)
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

static bool asks_for_anything(const ctxrt_allocator_debug *options)
{
    return options->flags != 0 || options->quarantine_bytes != 0 ||
           options->context_limit_bytes != 0 || options->fail_call != 0;
}

ctxrt_status cx_guard_choose(const char *call, const ctxrt_allocator_debug *options,
                             ctxrt_allocator_debug *out_options, bool *out_wanted)
{
    ctxrt_status status = CTXRT_SUCCESS;
    const char *text = cx_option("CTXRT_DEBUG_MEMORY");
    *out_options = (ctxrt_allocator_debug)CTXRT_ALLOCATOR_DEBUG_INIT;
    if (options != NULL)
        *out_options = *options;
    else if (text != NULL)
        status = parse(text, out_options);
    if (options != NULL && options->struct_size != sizeof *options)
        return cx_error(
            CTXRT_ERROR_INVALID_ARGUMENT,
            "%s: struct_size of the debug options is %zu, not %zu: start from "
            "CTXRT_ALLOCATOR_DEBUG_INIT",
            call, options->struct_size, sizeof *options);
    if ((out_options->flags & ~(unsigned int)(CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON)) != 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s: there are no debug flags %#x", call, out_options->flags);
    *out_wanted = status == CTXRT_SUCCESS && asks_for_anything(out_options);
    return status;
}
