#include "emu/schedule/fault.h"

#include "base/log.h"
#include "base/option.h"
#include "emu/base/refusal.h"
#include "emu/context/context.h"
#include "emu/device/device.h"
#include "emu/device/sticky.h"
#include "emu/memory/allocation.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 32
#define WORD_BYTES 64

typedef enum kind { FAIL_CALL, FAIL_WORK, LOSE_DEVICE, LIMIT_MEMORY } kind;
typedef enum moment { ALWAYS, AT, EVERY, FROM } moment;

typedef struct entry {
    kind kind;
    moment moment;
    unsigned long number; /* of `moment` */
    int device;
    size_t bytes;
    cxu_result error;
    bool any; /* every call; `slots` has all of them */
    bool slots[CX_SLOT_COUNT];
    atomic_ulong calls;
} entry;

/* Never freed: a call may still read it after another plan has replaced it. */
typedef struct plan {
    struct plan *previous;
    char *text;
    size_t memory_limit;
    int count;
    entry entries[ENTRIES_MAX];
} plan;

static plan *_Atomic current_plan;
static plan *all_plans;

CX_EMU_THREAD_LOCAL cx_emu_call cx_emu_call_in_progress = {-1, CXU_SUCCESS};

/* The latest reasons of all threads: a text of each thread's own would cost every thread room that
 * a library loaded late hardly has. */
enum { REASONS = 16 };
static char reasons[REASONS][256];
static _Thread_local const char *reason;

/* ---- reading ---- */

__attribute__((format(printf, 1, 2))) static bool refuse(const char *format, ...)
{
    static _Atomic unsigned int count;
    char *text = reasons[atomic_fetch_add(&count, 1) % REASONS];
    int at = snprintf(text, sizeof reasons[0], "CTXRT_EMU_FAULT: ");
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text + at, sizeof reasons[0] - (size_t)at, format, arguments);
    va_end(arguments);
    reason = text;
    return false;
}

/* The parts of an entry, each a text of its own; NULL if it is missing. */
typedef struct parts {
    char text[3 * WORD_BYTES];
    char *what, *when, *error, *mode;
} parts;

static char *cut_text(char *text, char mark)
{
    char *found = text != NULL ? strchr(text, mark) : NULL;

    if (found == NULL)
        return NULL;
    *found = '\0';
    return found + 1;
}

static bool split_entry(const char *text, size_t length, parts *out)
{
    if (length == 0)
        return refuse("an entry is empty");
    if (length >= sizeof out->text)
        return refuse("an entry is too long");
    memcpy(out->text, text, length);
    out->text[length] = '\0';
    out->what = out->text;
    out->error = cut_text(out->what, ':');
    out->mode = cut_text(out->error, ':');
    out->when = cut_text(out->what, '@');
    return true;
}

static bool read_number(const char *text, unsigned long *out_number)
{
    int number;

    if (!cx_parse_int(text, 1, INT_MAX, &number))
        return false;
    *out_number = (unsigned long)number;
    return true;
}

static bool read_moment(char *when, entry *out)
{
    size_t length = when != NULL ? strlen(when) : 0;

    out->moment = ALWAYS;
    if (when == NULL)
        return true;
    out->moment = out->any ? EVERY : AT;
    if (length > 1 && when[length - 1] == '+') {
        when[length - 1] = '\0';
        out->moment = FROM;
    }
    return read_number(when, &out->number) ||
           refuse("'%s' after @ is not the number of a call", when);
}

static bool read_error(const char *text, cxu_result *out_error)
{
    static const char prefix[] = "CUDA_ERROR_";
    size_t skip = sizeof prefix - 1;
    int number = 0;

    if (cx_parse_int(text, 1, 999, &number) && cx_result_name((cxu_result)number) != NULL) {
        *out_error = (cxu_result)number;
        return true;
    }
    if (strncmp(text, prefix, skip) == 0)
        text += skip;
    for (number = 1; number <= 999; number++) {
        const char *name = cx_result_name((cxu_result)number);

        if (name != NULL && strcmp(name + skip, text) == 0) {
            *out_error = (cxu_result)number;
            return true;
        }
    }
    return refuse("'%s' is no error of the driver", text);
}

/* The error that a call may return though its arguments are right. */
static cxu_result usual_error(const char *call)
{
    static const struct {
        const char *part;
        cxu_result error;
    } usual[] = {
        {"cuInit", CXU_NO_DEVICE},          {"GetAllocation", CXU_INVALID_VALUE},
        {"Reserve", CXU_OUT_OF_MEMORY},     {"cuMemMap", CXU_OUT_OF_MEMORY},
        {"RetainAllocation", CXU_INVALID_VALUE}, {"Import", CXU_OUT_OF_MEMORY},
        {"Alloc", CXU_OUT_OF_MEMORY},
        {"Create", CXU_OUT_OF_MEMORY},      {"Retain", CXU_OUT_OF_MEMORY},
        {"Register", CXU_OUT_OF_MEMORY},    {"Open", CXU_OUT_OF_MEMORY},
        {"Instantiate", CXU_OUT_OF_MEMORY}, {"Launch", CXU_LAUNCH_OUT_OF_RESOURCES},
        {"Synchronize", CXU_LAUNCH_FAILED}, {"Query", CXU_LAUNCH_FAILED},
    };

    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strstr(call, usual[i].part) != NULL)
            return usual[i].error;
    return CXU_UNKNOWN;
}

/* True if the call submits work that can fail. */
static bool gives_work(const char *call)
{
    static const char *const beginnings[] = {"cuMemcpy", "cuMemset", "cuLaunch",
                                             "cuStreamAddCallback", "cuGraphLaunch"};

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (strncmp(call, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Matches all calls, except those that name errors. */
static void match_any(entry *out)
{
    out->any = true;
    for (int slot = 0; slot < CX_SLOT_COUNT; slot++)
        out->slots[slot] = slot != CX_SLOT_get_error_name && slot != CX_SLOT_get_error_string;
}

static bool match_call(const char *name, entry *out)
{
    bool found = false;

    for (int slot = 0; slot < CX_SLOT_COUNT; slot++) {
        out->slots[slot] =
            strcmp(name, cx_symbols[slot].name) == 0 || strcmp(name, cx_symbols[slot].symbol) == 0;
        found |= out->slots[slot];
    }
    return found || refuse("'%s' is no call of the driver", name);
}

static bool read_call(parts *from, entry *out)
{
    out->kind = FAIL_CALL;
    if (strcmp(from->what, "*") == 0)
        match_any(out);
    else if (!match_call(from->what, out))
        return false;
    out->error = usual_error(from->what);
    if (!read_moment(from->when, out) ||
        (from->error != NULL && !read_error(from->error, &out->error)))
        return false;
    if (from->mode == NULL)
        return true;
    if (strcmp(from->mode, "async") != 0)
        return refuse("'%s' is not async", from->mode);
    if (!gives_work(from->what))
        return refuse("'%s' gives no work to a stream that could fail there", from->what);
    if (!cx_emu_error_is_asynchronous(out->error))
        return refuse("work does not fail with '%s'", from->error);
    out->kind = FAIL_WORK;
    return true;
}

static bool read_device(parts *from, entry *out)
{
    out->kind = LOSE_DEVICE;
    out->error = CXU_DEVICE_UNAVAILABLE;
    match_any(out);
    if (!cx_parse_int(from->what + strlen("device"), 0, CX_EMU_DEVICES_MAX, &out->device))
        return refuse("'%s' is no device", from->what);
    if (from->mode != NULL)
        return refuse("a device has no '%s'", from->mode);
    if (!read_moment(from->when, out) ||
        (from->error != NULL && !read_error(from->error, &out->error)))
        return false;
    out->moment = out->moment == ALWAYS ? ALWAYS : FROM;
    return true;
}

static bool read_memory(parts *from, entry *out)
{
    out->kind = LIMIT_MEMORY;
    if (from->when == NULL || !cx_parse_size(from->when, &out->bytes))
        return refuse("memory needs a size after @, such as memory@64M");
    return from->error == NULL || refuse("memory has no error of its own");
}

static bool read_entry(const char *text, size_t length, entry *out)
{
    parts found;

    if (!split_entry(text, length, &found))
        return false;
    if (strcmp(found.what, "memory") == 0)
        return read_memory(&found, out);
    if (strncmp(found.what, "device", strlen("device")) == 0)
        return read_device(&found, out);
    return read_call(&found, out);
}

static bool read_plan(const char *text, plan *out)
{
    out->memory_limit = SIZE_MAX;
    while (text != NULL) {
        size_t length = strcspn(text, ",");
        entry *next = &out->entries[out->count++];

        if (out->count > ENTRIES_MAX)
            return refuse("there are more than %d entries", ENTRIES_MAX);
        if (!read_entry(text, length, next))
            return false;
        if (next->kind == LIMIT_MEMORY && next->bytes < out->memory_limit)
            out->memory_limit = next->bytes;
        text = text[length] ? text + length + 1 : NULL;
    }
    return true;
}

static cxu_result make_plan(const char *text, plan **out_plan)
{
    plan *made = calloc(1, sizeof *made);
    char *copy = strdup(text);
    cxu_result result = made != NULL && copy != NULL ? CXU_SUCCESS : CXU_OUT_OF_MEMORY;

    if (result == CXU_SUCCESS && !read_plan(text, made))
        result = CXU_INVALID_VALUE;
    if (result != CXU_SUCCESS) {
        free(made);
        free(copy);
        return result;
    }
    made->text = copy;
    *out_plan = made;
    return CXU_SUCCESS;
}

bool cx_emu_faults_valid(const char **out_reason)
{
    const char *text = cx_option("CTXRT_EMU_FAULT");
    plan read = {0};
    bool valid = text == NULL || read_plan(text, &read);

    if (!valid)
        *out_reason = reason;
    return valid;
}

cxu_result cx_emu_faults_choose(void)
{
    const char *text = cx_option("CTXRT_EMU_FAULT");
    plan *now = atomic_load(&current_plan), *made = NULL;

    if (text != NULL && now != NULL && strcmp(text, now->text) == 0)
        return CXU_SUCCESS;
    if (text != NULL) {
        cxu_result result = make_plan(text, &made);
        if (result != CXU_SUCCESS)
            return result;
        made->previous = all_plans;
        all_plans = made;
    }
    atomic_store(&current_plan, made);
    cx_emu_allocation_set_limit(made != NULL ? made->memory_limit : SIZE_MAX);
    return CXU_SUCCESS;
}

/* ---- during calls ---- */

static bool is_due(entry *one)
{
    unsigned long call = atomic_fetch_add(&one->calls, 1) + 1;

    switch (one->moment) {
    case AT:
        return call == one->number;
    case EVERY:
        return call % one->number == 0;
    case FROM:
        return call >= one->number;
    default:
        return true;
    }
}

static cx_emu_device *find_gpu(int index)
{
    for (int ordinal = 0; ordinal < cx_emu_device_total(); ordinal++) {
        cx_emu_device *device = cx_emu_device_find(ordinal);

        if (!device->host && index-- == 0)
            return device;
    }
    return NULL;
}

/* Before cuInit there is no device yet; a lost device stays lost. */
static void lose_device(const entry *one)
{
    cx_lock_enter(&cx_emu_lock);
    cx_emu_device *device = find_gpu(one->device);
    if (device != NULL && atomic_load(&device->lost) == CXU_SUCCESS)
        cx_emu_device_lose(device, one->error);
    cx_lock_leave(&cx_emu_lock);
}

static void fail_current(cxu_result error)
{
    cx_emu_context *context;

    cx_lock_enter(&cx_emu_lock);
    if (cx_emu_context_identify(NULL, &context) == CXU_SUCCESS)
        cx_emu_context_fail(context, error, "CTXRT_EMU_FAULT names the call");
    cx_lock_leave(&cx_emu_lock);
}

static cxu_result apply_plan(plan *of, cx_slot slot)
{
    cxu_result result = CXU_SUCCESS;

    for (entry *each = of->entries; each < of->entries + of->count; each++) {
        if (!each->slots[slot] || !is_due(each))
            continue;
        if (each->kind == LOSE_DEVICE)
            lose_device(each);
        else if (each->kind == FAIL_WORK)
            cx_emu_call_in_progress.work_fault = each->error;
        else if (result == CXU_SUCCESS)
            result = each->error;
    }
    return result;
}

cxu_result cx_emu_fault_begin(cx_slot slot)
{
    plan *now = atomic_load(&current_plan);
    cxu_result result;

    cx_emu_call_in_progress = (cx_emu_call){(int)slot, CXU_SUCCESS};
    if (now == NULL || (cx_emu_enter() != CXU_SUCCESS && slot != CX_SLOT_init))
        return CXU_SUCCESS;
    result = apply_plan(now, slot);
    if (result != CXU_SUCCESS) {
        cx_emu_refusal_begin();
        cx_log(CTXRT_LOG_INFO, "CTXRT_EMU_FAULT: %s fails with %s", cx_symbols[slot].symbol,
               cx_result_name(result));
        if (cx_emu_error_is_asynchronous(result))
            fail_current(result);
    }
    return result;
}
