#include "emu/report/explain.h"

#include "base/cancel.h"
#include "emu/device/device.h"
#include "emu/base/machine.h"
#include "emu/base/state.h"
#include "emu/device/sticky.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define FAILURES_KEPT 16

/* The refusal of the thread's latest request for memory. Small: a library that is loaded late has
 * little room for initial-exec variables. */
typedef struct refusal {
    enum { NO_REFUSAL, BY_SYSTEM, BY_FILE_LIMIT, BY_MACHINE, TO_CONTEXT } by;
    int error;        /* errno */
    const char *call; /* the call that failed */
    size_t bytes;
    bool by_gpu; /* the GPU has no room; `by` is NO_REFUSAL */
} refusal;

static CX_EMU_THREAD_LOCAL refusal latest;

typedef struct failure {
    cxu_result error;
    uint64_t context_id;
    char text[400];
} failure;

/* The latest failures; lock "emu.state" held. */
static failure failures[FAILURES_KEPT];
static size_t failure_count;

/* ---- memory ---- */

void cx_emu_refusal_begin(void)
{
    latest.by = NO_REFUSAL;
    latest.by_gpu = false;
}

void cx_emu_refused_by_gpu(void)
{
    latest.by_gpu = true;
}

void cx_emu_refused_by_system(const char *call, size_t bytes)
{
    latest = (refusal){.by = BY_SYSTEM, .error = errno, .call = call, .bytes = bytes};
}

void cx_emu_refused_by_file_limit(size_t bytes)
{
    latest = (refusal){.by = BY_FILE_LIMIT, .bytes = bytes};
}

void cx_emu_refused_by_machine(size_t bytes)
{
    latest = (refusal){.by = BY_MACHINE, .bytes = bytes};
}

void cx_emu_refused_to_context(size_t bytes)
{
    latest = (refusal){.by = TO_CONTEXT, .bytes = bytes};
}

static void describe_limit(int resource, const char *name, const char *option, const char *noun,
                           char *text, size_t size)
{
    struct rlimit limit;
    text[0] = '\0';
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, size, ": the limit of the process is %llu %s (%s, ulimit %s)",
                 (unsigned long long)limit.rlim_cur, noun, name, option);
}

static size_t count_lines(const char *path)
{
    char line[512];
    size_t lines = 0;
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        lines += strchr(line, '\n') != NULL;
    if (file != NULL)
        fclose(file);
    return lines;
}

/* A process may have vm.max_map_count mappings; a call that splits some needs a few at once. */
static void describe_mappings(char *text, size_t size)
{
    unsigned long most = 0;
    const int cancel = cx_cancel_hold();
    const size_t count = count_lines("/proc/self/maps");
    FILE *file = fopen("/proc/sys/vm/max_map_count", "re");
    if (file != NULL && fscanf(file, "%lu", &most) == 1 && count + 8 >= most)
        snprintf(text, size,
                 ": the process has %zu mappings of the %lu it may have (vm.max_map_count)", count,
                 most);
    if (file != NULL)
        fclose(file);
    cx_cancel_restore(cancel);
}

static void describe_refusal(char *text, size_t size)
{
    char limit[112] = "", reason[64];
    if (latest.by == BY_FILE_LIMIT)
        describe_limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", "-f", "bytes a file", limit, sizeof limit);
    else if (latest.error == EMFILE)
        describe_limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", "-n", "open files", limit, sizeof limit);
    else if (latest.error == ENOMEM)
        describe_limit(RLIMIT_AS, "RLIMIT_AS", "-v", "bytes of addresses", limit, sizeof limit);
    if (latest.error == ENOMEM && limit[0] == '\0')
        describe_mappings(limit, sizeof limit);
    if (latest.by == BY_SYSTEM)
        snprintf(text, size, "the system refused %zu bytes, %s: %s%s", latest.bytes, latest.call,
                 strerror_r(latest.error, reason, sizeof reason), limit);
    else if (latest.by == BY_FILE_LIMIT)
        snprintf(text, size, "the system refuses a file of %zu bytes of memory%s", latest.bytes,
                 limit);
    else if (latest.by == TO_CONTEXT)
        snprintf(text, size,
                 "a context takes %zu bytes (CTXRT_EMU_CONTEXT_BYTES), and the GPU has less left",
                 latest.bytes);
    else
        snprintf(text, size, "%zu bytes are as much as the machine has, %zu, or more",
                 latest.bytes, cx_emu_machine_total_bytes());
}

/* ---- work ---- */

void cx_emu_failure_note(const cx_emu_context *context, cxu_result error, const char *what)
{
    failure *kept = &failures[failure_count++ % FAILURES_KEPT];
    kept->error = error;
    kept->context_id = cx_emu_context_id(context);
    snprintf(kept->text, sizeof kept->text, "%s", what);
}

/* Finds the failure of the current context, or else the latest one with that result: errors may
 * reach beyond the context, and calls may name streams of other contexts. */
static const failure *find_failure(cxu_result result)
{
    cx_emu_context *context = NULL;
    const failure *found = NULL;
    size_t count = failure_count < FAILURES_KEPT ? failure_count : FAILURES_KEPT;
    uint64_t id = cx_emu_context_identify(NULL, &context) == CXU_SUCCESS
                      ? cx_emu_context_id(context)
                      : 0;
    for (size_t i = 1; i <= count; i++) {
        const failure *each = &failures[(failure_count - i) % FAILURES_KEPT];
        if (each->error == result && each->context_id == id)
            return each;
        if (each->error == result && found == NULL)
            found = each;
    }
    return found;
}

static bool explain_work(cxu_result result, char *text, size_t size)
{
    cx_lock_enter(&cx_emu_lock);
    const failure *found = cx_emu_failures ? find_failure(result) : NULL;
    if (found != NULL)
        snprintf(text, size, "earlier work failed with it: %s", found->text);
    cx_lock_leave(&cx_emu_lock);
    return found != NULL;
}

bool cx_emu_explain(cxu_result result, char *text, size_t size)
{
    if (result != CXU_OUT_OF_MEMORY)
        return explain_work(result, text, size);
    if (latest.by != NO_REFUSAL)
        describe_refusal(text, size);
    return latest.by != NO_REFUSAL;
}

const char *cx_emu_advise(cxu_result result)
{
    return result == CXU_OUT_OF_MEMORY && latest.by == NO_REFUSAL && latest.by_gpu
               ? "CTXRT_EMU_MEMORY sets how much memory emulated GPUs have"
               : NULL;
}
