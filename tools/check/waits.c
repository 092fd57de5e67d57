/* Calls that waited when the program was ended: PROCESS-HANG. */
#include "check/report.h"

#include <string.h>

static void name_object(const cx_region_wait *wait, char *text, size_t size)
{
    if (wait->primary)
        snprintf(text, size, "the primary context of GPU %d", (int)wait->object_device);
    else if (wait->object_device >= 0)
        snprintf(text, size, "%s %u of GPU %d", object_name(wait->object_kind),
                 wait->object_number, (int)wait->object_device);
    else
        snprintf(text, size, "%s %u", object_name(wait->object_kind), wait->object_number);
}

static cx_region_note *add_note(cx_region_finding *finding, const char *role, uint32_t trace)
{
    cx_region_note *note = &finding->notes[finding->note_count++];
    strcpy(note->role, role);
    note->trace = trace;
    return note;
}

static void leave_wait(report_process *process, const cx_region_wait *wait, uint64_t waited_ns)
{
    char object[80];
    cx_region_finding finding = {.kind = CX_KIND_PROCESS_HANG,
                                 .slot = wait->slot,
                                 .trace = wait->trace,
                                 .thread = (int32_t)wait->thread};
    memcpy(finding.thread_name, wait->name, sizeof finding.thread_name - 1);
    atomic_store(&finding.count, 1);
    name_object(wait, object, sizeof object);
    cx_region_note *note = add_note(&finding, "waits", wait->object_kind != 0 ? wait->made : 0);
    snprintf(note->text, sizeof note->text, "for %.1f s%s%s", (double)waited_ns / 1e9,
             wait->object_kind != 0 ? ", for " : "", wait->object_kind != 0 ? object : "");
    if (wait->object_kind != 0 && wait->last_slot >= 0) {
        const char *api = report_api(process, wait->last_trace);
        const char *call = api != NULL ? api : call_name(wait->last_slot);
        note = add_note(&finding, "launched", wait->last_trace);
        snprintf(note->text, sizeof note->text, "its latest work, by %s on thread %d",
                 call != NULL ? call : "a call", (int)wait->last_thread);
    }
    report_leave(process, &finding);
}

void report_judge_waits(report_process *process, uint64_t ended, uint64_t least_ns)
{
    const cx_region *region = process->region;
    for (int i = 0; i < CX_REGION_WAITS; i++) {
        const cx_region_wait *wait = &region->waits[i];
        if (__atomic_load_n(&wait->thread, __ATOMIC_ACQUIRE) != 0 && ended > wait->since &&
            ended - wait->since >= least_ns)
            leave_wait(process, wait, ended - wait->since);
    }
}
