/* The report as text. */
#include "count/count.h"

#include "check/names.h"

#include <inttypes.h>
#include <string.h>

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_head(const count_process *self, FILE *to)
{
    const cx_count_region *region = self->region;
    const char *slash = strrchr(region->program, '/');
    fprintf(to, "process %d %s", (int)region->pid, slash != NULL ? slash + 1 : region->program);
    if (region->forked_from != 0)
        fprintf(to, " forked from %d", (int)region->forked_from);
    fprintf(to, ": %" PRIu64 " call%s, %.3f ms\n", self->all.calls, plural(self->all.calls),
            (double)self->all.ns / 1e6);
}

static void print_calls(const count_process *self, FILE *to)
{
    fprintf(to, "%12s %8s %14s %8s  %s\n", "calls", "failed", "time, ms", "share", "call");
    for (size_t i = 0; i < self->call_count; i++) {
        const count_call *call = &self->calls[i];
        double share = self->all.ns != 0 ? 100.0 * (double)call->ns / (double)self->all.ns : 0;
        fprintf(to, "%12" PRIu64 " %8" PRIu64 " %14.3f %6.1f %%  %s\n", call->calls, call->failed,
                (double)call->ns / 1e6, share, call_name((int)call->slot));
    }
}

static void print_devices(const count_process *self, FILE *to)
{
    bool headed = false;
    for (int i = 0; i < CX_COUNT_DEVICES; i++) {
        const cx_count_device *device = &self->region->devices[i];
        char name[16];
        if (!count_used_device(device))
            continue;
        if (!headed)
            fprintf(to, "%12s %8s %14s %8s  %s\n", "device", "contexts", "primary, times", "green",
                    "peak memory");
        headed = true;
        count_name_device(self, i, name);
        fprintf(to, "%12s %8llu %14llu %8llu  ", name, device->contexts, device->primary_retains,
                device->green_contexts);
        if (device->total_bytes != 0)
            fprintf(to, "%.1f of %.1f MiB\n", (double)device->peak_bytes / (1 << 20),
                    (double)device->total_bytes / (1 << 20));
        else
            fprintf(to, "not known\n");
    }
}

static void print_unsupported(const count_process *self, FILE *to)
{
    for (size_t i = 0; i < self->call_count; i++)
        if (self->calls[i].unsupported != 0)
            fprintf(to, "not supported: %s, %" PRIu64 " time%s\n",
                    call_name((int)self->calls[i].slot), self->calls[i].unsupported,
                    plural(self->calls[i].unsupported));
    for (int i = 0; i < CX_COUNT_ABSENT; i++) {
        const cx_count_absent *absent = &self->region->absent[i];
        if (absent->state == 2)
            fprintf(to, "not supported: %.*s, %u time%s\n", CX_COUNT_SYMBOL - 1, absent->symbol,
                    absent->count, plural(absent->count));
    }
}

static void print_failures(const count_process *self, FILE *to)
{
    const cx_count_region *region = self->region;
    for (int i = 0; i < CX_COUNT_FAILURES && region->failures[i].key != 0; i++) {
        const cx_count_failure *failure = &region->failures[i];
        fprintf(to, "failed: %s, %s, %llu time%s, first after %.6f s in thread %d\n",
                count_failed_call(failure->key), count_failed_result(failure->key), failure->count,
                plural(failure->count), (double)failure->first / 1e9, (int)failure->tid);
    }
    if (region->failures_beyond != 0)
        fprintf(to, "failed: %llu calls in other ways\n", region->failures_beyond);
}

bool counts_write_text(const counts *self, FILE *to)
{
    fprintf(to, "the program ran for %.3f s\n", (double)self->ns / 1e9);
    if (self->lost != 0)
        fprintf(to, "%u process%s called the driver and could not be counted: there was no room "
                "for %s\n", self->lost, self->lost == 1 ? "" : "es",
                self->lost == 1 ? "its file" : "their files");
    for (size_t i = 0; i < self->count; i++) {
        const count_process *process = &self->processes[i];
        fprintf(to, "\n");
        print_head(process, to);
        print_calls(process, to);
        print_devices(process, to);
        print_unsupported(process, to);
        print_failures(process, to);
    }
    return fflush(to) == 0 && ferror(to) == 0;
}
