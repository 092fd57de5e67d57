/* Findings in the log, where no `ctxrt check` reads them. */
#include "layer/check/finding.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line that grows; what does not fit is left out. */
typedef struct line {
    char text[1000];
    size_t length;
} line;

__attribute__((format(printf, 2, 3))) static void add(line *self, const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof self->text - self->length;
    va_start(arguments, format);
    int length = vsnprintf(self->text + self->length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        self->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* " at library+0x1234 < program+0x567": functions and lines need a reader of debug information. */
static void add_place(line *self, cx_origin origin)
{
    const cx_region_trace *trace = &cx_region_here->all_traces[origin];
    for (uint32_t i = 0; origin != 0 && i < trace->count && i < 2; i++) {
        const cx_region_frame *frame = &trace->frames[i];
        const char *path = frame->module < CX_REGION_MODULES
                               ? cx_region_here->paths[frame->module]
                               : "unknown";
        const char *name = strrchr(path, '/');
        add(self, "%s%s+%#llx", i == 0 ? " at " : " < ", name != NULL ? name + 1 : path,
            (unsigned long long)frame->offset);
    }
}

static void add_call(line *self, const cx_region_finding *found)
{
    const char *result = cx_result_name((cxu_result)found->result);
    if (found->slot < 0)
        return;
    add(self, ": %s", cx_symbols[found->slot].symbol);
    if (found->result != 0)
        add(self, " gave %s", result != NULL ? result : "an unknown error");
    add_place(self, found->trace);
}

static bool is_read(void)
{
    return secure_getenv("CTXRT_CHECK_FOLDER") != NULL;
}

void cx_finding_log(const cx_region_finding *found)
{
    const cx_kind_row *row = &cx_kind_rows[found->kind];
    line self = {.length = 0};
    if (is_read())
        return;
    add(&self, "check: %s: %s", row->name, row->title);
    add_call(&self, found);
    for (uint32_t i = 0; i < found->note_count; i++) {
        add(&self, "; %s: %s", found->notes[i].role, found->notes[i].text);
        add_place(&self, found->notes[i].trace);
    }
    add(&self, "; advice: %s; `ctxrt check` names functions and lines", row->advice);
    cx_log(row->severity == CX_SEVERITY_NOTE ? CTXRT_LOG_INFO : CTXRT_LOG_WARNING, "%s", self.text);
}

/* A callback of the log may be gone by now: the line goes to stderr. */
void cx_finding_summarise(void)
{
    const cx_region *region = cx_region_here;
    unsigned counts[CX_KIND_COUNT] = {0};
    unsigned count = atomic_load(&((cx_region *)region)->findings), told = 0;
    line self = {.length = 0};
    for (unsigned i = 0; i < count; i++)
        if (cx_kind_rows[region->all_findings[i].kind].severity != CX_SEVERITY_NOTE) {
            counts[region->all_findings[i].kind]++;
            told++;
        }
    if (is_read() || told == 0 || !cx_log_enabled(CTXRT_LOG_WARNING))
        return;
    for (int kind = 0; kind < CX_KIND_COUNT; kind++)
        if (counts[kind] != 0)
            add(&self, ", %s %u", cx_kind_rows[kind].name, counts[kind]);
    fprintf(stderr, "ctxrt: check: %u finding%s%s\n", told, told == 1 ? "" : "s", self.text);
}
