/* The report as JSON. */
#include "count/count.h"

#include "check/names.h"
#include "json_text.h"

#include <string.h>

static json_t *calls_json(const count_process *self)
{
    json_t *calls = json_array();
    for (size_t i = 0; i < self->call_count; i++) {
        const count_call *call = &self->calls[i];
        double share = self->all.ns != 0 ? (double)call->ns / (double)self->all.ns : 0;
        json_array_append_new(
            calls, json_pack("{s:s, s:I, s:I, s:I, s:I, s:f}", "call", call_name((int)call->slot),
                             "count", (json_int_t)call->calls, "failed", (json_int_t)call->failed,
                             "not_supported", (json_int_t)call->unsupported, "ns",
                             (json_int_t)call->ns, "share", share));
    }
    return calls;
}

static json_t *known_bytes(const cx_count_device *device, uint64_t bytes)
{
    return device->total_bytes != 0 ? json_integer((json_int_t)bytes) : json_null();
}

static json_t *devices_json(const count_process *self)
{
    json_t *devices = json_array();
    for (int i = 0; i < CX_COUNT_DEVICES; i++) {
        const cx_count_device *device = &self->region->devices[i];
        char name[16];
        if (!count_used_device(device))
            continue;
        count_name_device(self, i, name);
        json_array_append_new(
            devices,
            json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "device", name, "contexts",
                      (json_int_t)device->contexts, "green_contexts",
                      (json_int_t)device->green_contexts, "primary_retains",
                      (json_int_t)device->primary_retains, "peak_bytes",
                      known_bytes(device, device->peak_bytes), "total_bytes",
                      known_bytes(device, device->total_bytes)));
    }
    return devices;
}

/* Calls that no row of the driver table has. */
static json_t *unserved_json(const count_process *self)
{
    json_t *unserved = json_array();
    for (int i = 0; i < CX_COUNT_ABSENT; i++) {
        const cx_count_absent *absent = &self->region->absent[i];
        char symbol[CX_COUNT_SYMBOL];
        if (absent->state != 2)
            continue;
        snprintf(symbol, sizeof symbol, "%.*s", CX_COUNT_SYMBOL - 1, absent->symbol);
        json_array_append_new(unserved, json_pack("{s:o, s:I}", "call", json_text(symbol), "count",
                                                  (json_int_t)absent->count));
    }
    return unserved;
}

static json_t *failures_json(const count_process *self)
{
    json_t *failures = json_array();
    for (int i = 0; i < CX_COUNT_FAILURES && self->region->failures[i].key != 0; i++) {
        const cx_count_failure *failure = &self->region->failures[i];
        json_array_append_new(
            failures,
            json_pack("{s:s, s:s, s:I, s:I, s:i}", "call", count_failed_call(failure->key),
                      "result", count_failed_result(failure->key), "count",
                      (json_int_t)failure->count, "first_ns", (json_int_t)failure->first, "thread",
                      (int)failure->tid));
    }
    return failures;
}

static json_t *process_json(const count_process *self)
{
    const cx_count_region *region = self->region;
    char program[sizeof region->program];
    snprintf(program, sizeof program, "%.*s", (int)sizeof program - 1, region->program);
    return json_pack("{s:i, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:I}", "pid", (int)region->pid,
                     "forked_from",
                     region->forked_from != 0 ? json_integer(region->forked_from) : json_null(),
                     "program", json_text(program), "call_count", (json_int_t)self->all.calls,
                     "ns", (json_int_t)self->all.ns, "calls", calls_json(self), "devices",
                     devices_json(self), "unserved", unserved_json(self), "failures",
                     failures_json(self), "other_failures", (json_int_t)region->failures_beyond);
}

bool counts_write_json(const counts *self, char **program, int status, FILE *to)
{
    json_t *arguments = json_array(), *processes = json_array();
    for (char **each = program; *each != NULL; each++)
        json_array_append_new(arguments, json_text(*each));
    for (size_t i = 0; i < self->count; i++)
        json_array_append_new(processes, process_json(&self->processes[i]));
    json_t *all = json_pack("{s:i, s:o, s:i, s:I, s:o, s:i}", "version", 1, "program", arguments,
                            "status", status, "ns", (json_int_t)self->ns, "processes", processes,
                            "lost_processes", (int)self->lost);
    bool good = all != NULL && json_dumpf(all, to, JSON_INDENT(2)) == 0 && fputc('\n', to) != EOF;
    json_decref(all);
    return good && fflush(to) == 0;
}
