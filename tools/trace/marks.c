#include "trace/marks.h"

#include <stdlib.h>

/* NULL: no memory. */
static char *text_of(const report_process *process, const cx_region_finding *finding)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL)
        return NULL;
    report_print(process, finding, to);
    if (fclose(to) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static bool add(trace_marks *self, const report_process *process, const cx_region_finding *finding)
{
    char *text = text_of(process, finding);
    trace_mark *all = reallocarray(self->all, self->count + 1, sizeof *all);
    if (all != NULL)
        self->all = all;
    if (text == NULL || all == NULL) {
        free(text);
        return false;
    }
    all[self->count++] = (trace_mark){.pid = process->region->pid,
                                      .tid = finding->tid,
                                      .time = finding->time,
                                      .kind = kind_row(finding->kind)->name,
                                      .severity = severity_name(finding->kind),
                                      .text = text};
    return true;
}

bool trace_marks_of(const report *findings, trace_marks *out)
{
    bool good = true;
    *out = (trace_marks){.count = 0};
    for (int i = 0; i < findings->process_count; i++) {
        const report_process *process = &findings->processes[i];
        for (unsigned j = 0; good && j < process->told; j++) {
            const cx_region_finding *finding = &process->region->all_findings[j];
            if (report_tells(findings, process, finding))
                good = add(out, process, finding);
        }
    }
    if (!good)
        trace_marks_free(out);
    return good;
}

void trace_marks_free(trace_marks *self)
{
    for (size_t i = 0; i < self->count; i++)
        free(self->all[i].text);
    free(self->all);
    *self = (trace_marks){.count = 0};
}
