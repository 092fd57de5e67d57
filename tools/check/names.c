#include "check/names.h"

#include <string.h>

static const cx_kind_row kinds[CX_KIND_COUNT] = {
#define CX_KIND(id, name, severity, title, explanation, advice, rules) \
    [CX_KIND_##id] = {name, CX_SEVERITY_##severity, title, explanation, advice, rules},
#include "layer/check/kinds.def"
};

const cx_kind_row *kind_row(uint32_t kind)
{
    return &kinds[kind];
}

static const cx_kind_words runtime_words[CX_KIND_COUNT] = {
#define CX_RUNTIME_KIND(id, title, advice) [CX_KIND_##id] = {title, advice},
#include "layer/check/kinds_runtime.def"
};

cx_kind_words kind_words(uint32_t kind, bool runtime)
{
    const cx_kind_row *row = kind_row(kind);
    return runtime ? cx_kind_words_for(row, &runtime_words[kind])
                   : (cx_kind_words){row->title, row->advice};
}

bool kind_find(const char *name, cx_check_kind *out_kind)
{
    for (int kind = 0; kind < CX_KIND_COUNT; kind++)
        if (strcmp(kinds[kind].name, name) == 0) {
            *out_kind = (cx_check_kind)kind;
            return true;
        }
    return false;
}

const char *severity_name(uint32_t kind)
{
    static const char *const names[] = {"note", "warning", "error"};
    return names[kinds[kind].severity];
}

const char *call_name(int slot)
{
    static const char *const names[CX_SLOT_COUNT] = {
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    [CX_SLOT_##slot] = #name #suffix,
#include "driver/symbols.def"
    };
    return slot >= 0 && slot < CX_SLOT_COUNT ? names[slot] : NULL;
}

static const char *driver_result_name(int result)
{
    switch (result) {
#define CX_RESULT(name, value, text) \
    case value:                      \
        return value == 0 ? "CUDA_SUCCESS" : "CUDA_ERROR_" #name;
#include "driver/results.def"
    default:
        return NULL;
    }
}

static const char *runtime_error_name(int error)
{
    switch (error) {
#define CX_ERROR(name, spelling, value, text) \
    case value:                               \
        return "cuda" #spelling;
#include "driver/runtime_errors.def"
    default:
        return NULL;
    }
}

const char *result_name(int result, bool runtime)
{
    return runtime ? runtime_error_name(result) : driver_result_name(result);
}

const char *object_name(uint32_t kind)
{
    static const char *const names[CX_OBJECT_KINDS] = {
#define CX_OBJECT_NAME(kind, text, left) [kind] = text,
#include "layer/check/objects.def"
    };
    return kind < CX_OBJECT_KINDS && names[kind] != NULL ? names[kind] : "object";
}
