#include "emu/base/refusal.h"

#include "base/cancel.h"
#include "base/text.h"
#include "emu/base/machine.h"
#include "emu/base/state.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

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

/* ---- calls ---- */

CX_EMU_THREAD_LOCAL const char *cx_emu_why;
static CX_EMU_THREAD_LOCAL unsigned long long why_numbers[2];
static CX_EMU_THREAD_LOCAL cxu_result why_result;

cxu_result cx_emu_refuse_numbers(cxu_result result, const char *why, unsigned long long first,
                                 unsigned long long second)
{
    cx_emu_why = why;
    why_numbers[0] = first;
    why_numbers[1] = second;
    why_result = result;
    return result;
}

cxu_result cx_emu_refuse(cxu_result result, const char *why)
{
    return cx_emu_refuse_numbers(result, why, 0, 0);
}

bool cx_emu_refusal_phrase(cxu_result result, char *text, size_t size)
{
    cx_text self = {text, size, 0};
    int number = 0;
    if (cx_emu_why == NULL || why_result != result)
        return false;
    for (const char *each = cx_emu_why; *each != '\0'; each++)
        if (*each == '#' && number < 2)
            cx_text_add(&self, "%llu", why_numbers[number++]);
        else
            cx_text_add(&self, "%c", *each);
    return true;
}

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

bool cx_emu_refusal_describe(char *text, size_t size)
{
    if (latest.by == NO_REFUSAL)
        return false;
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
    return true;
}

bool cx_emu_refusal_is_by_gpu(void)
{
    return latest.by == NO_REFUSAL && latest.by_gpu;
}
