#include "emu/explain.h"

#include "emu/device.h"
#include "emu/machine.h"
#include "emu/state.h"
#include "emu/sticky.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define FAILURES_KEPT 16

static CX_EMU_THREAD_LOCAL char refusal[240];

typedef struct failure {
    cxu_result error;
    uint64_t context_id;
    char text[240];
} failure;

/* The latest ones; lock "emu.state" held. */
static failure failures[FAILURES_KEPT];
static size_t failure_count;

/* ---- memory ---- */

void cx_emu_refusal_begin(void)
{
    refusal[0] = '\0';
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

void cx_emu_refused_by_system(const char *call, size_t bytes)
{
    int error = errno;
    char limit[112] = "", reason[64];
    if (error == EMFILE)
        describe_limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", "-n", "open files", limit, sizeof limit);
    else if (error == ENOMEM)
        describe_limit(RLIMIT_AS, "RLIMIT_AS", "-v", "bytes of addresses", limit, sizeof limit);
    snprintf(refusal, sizeof refusal, "the system refused %zu bytes, %s: %s%s", bytes, call,
             strerror_r(error, reason, sizeof reason), limit);
}

void cx_emu_refused_by_file_limit(size_t bytes)
{
    char limit[112];
    describe_limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", "-f", "bytes a file", limit, sizeof limit);
    snprintf(refusal, sizeof refusal, "the system refuses a file of %zu bytes of memory%s", bytes,
             limit);
}

void cx_emu_refused_by_machine(size_t bytes)
{
    snprintf(refusal, sizeof refusal, "%zu bytes are as much as the machine has, %zu, or more",
             bytes, cx_emu_machine_total_bytes());
}

/* ---- work ---- */

void cx_emu_failure_note(const cx_emu_context *context, cxu_result error, const char *what)
{
    failure *kept = &failures[failure_count++ % FAILURES_KEPT];
    kept->error = error;
    kept->context_id = cx_emu_context_id(context);
    snprintf(kept->text, sizeof kept->text, "%s", what);
}

/* The failure of the current context, or else the latest one with that result: errors may reach
 * beyond the context, and calls name streams of others. */
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
    pthread_mutex_lock(&cx_emu_lock);
    const failure *found = cx_emu_failures ? find_failure(result) : NULL;
    if (found != NULL)
        snprintf(text, size, "earlier work failed with it: %s", found->text);
    pthread_mutex_unlock(&cx_emu_lock);
    return found != NULL;
}

bool cx_emu_explain(cxu_result result, char *text, size_t size)
{
    if (result != CXU_OUT_OF_MEMORY)
        return explain_work(result, text, size);
    snprintf(text, size, "%s", refusal);
    return refusal[0] != '\0';
}
