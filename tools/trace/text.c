#include "trace/text.h"

#include "check/names.h"
#include "trace/calls.h"
#include "trace/origins.h"

#include <inttypes.h>
#include <stdlib.h>

/* The thread whose next call began first; NULL: there are no more. */
static const trace_thread *next_thread(const trace_process *self, const size_t *at)
{
    const trace_thread *first = NULL;
    uint64_t start = 0;
    for (size_t i = 0; i < self->thread_count; i++) {
        const trace_thread *thread = &self->threads[i];
        if (at[i] < thread->count && (first == NULL || thread->calls[at[i]]->start < start)) {
            first = thread;
            start = thread->calls[at[i]]->start;
        }
    }
    return first;
}

/* "  0.001234567 main [2] context 1 of GPU 0: cuCtxPopCurrent_v2(...) = SUCCESS 0.3 us, a.c:7 in
 * f()" */
static void write_call(const trace *all, const trace_process *self, const trace_thread *thread,
                       const cx_trace_call *call, FILE *to)
{
    char name[64], context[128], result[64];
    static char arguments[TRACE_TEXT];
    uint64_t time = call->start - all->begun;
    uint64_t taken = trace_call_over(self, call) - call->start;
    trace_thread_text(self, thread, name, sizeof name);
    trace_context_text(self, call->before, call->start, context, sizeof context);
    trace_arguments_text(self, call, arguments, sizeof arguments);
    trace_result_text(call, result, sizeof result);
    const cx_trace_api *api = trace_api_of(self, thread, call);
    fprintf(to, "%3" PRIu64 ".%09" PRIu64 " %s [%u] %s: %s%s%s(%s) = %s", time / 1000000000,
            time % 1000000000, name, call->depth_before, context, api != NULL ? api->name : "",
            api != NULL ? ": " : "", call_name(call->slot), arguments, result);
    fprintf(to, " %" PRIu64 ".%03" PRIu64 " us", taken / 1000, taken % 1000);
    const char *origin = trace_origin_text(self, call);
    fprintf(to, "%s%s\n", *origin != '\0' ? ", " : "", origin);
}

static bool write_process(const trace *all, const trace_process *self, FILE *to)
{
    size_t *at = calloc(self->thread_count + 1, sizeof *at);
    if (at == NULL)
        return false;
    for (const trace_thread *thread = next_thread(self, at); thread != NULL;
         thread = next_thread(self, at)) {
        size_t *next = &at[thread - self->threads];
        write_call(all, self, thread, thread->calls[(*next)++], to);
    }
    free(at);
    return true;
}

bool trace_write_text(const trace *self, FILE *to)
{
    for (size_t i = 0; i < self->count; i++) {
        const trace_process *process = &self->processes[i];
        fprintf(to, "process %d %s", process->head->pid, trace_file_name(process->head->program));
        if (process->head->forked_from != 0)
            fprintf(to, " forked from %d", process->head->forked_from);
        fprintf(to, ": %zu call%s\n", process->call_count, process->call_count == 1 ? "" : "s");
        if (trace_lost(process) > 0)
            fprintf(to, "%" PRIu64 " calls of process %d are missing: there was no room\n",
                    trace_lost(process), process->head->pid);
        if (!write_process(self, process, to))
            return false;
    }
    return fflush(to) == 0 && ferror(to) == 0;
}
