/* Findings in the log, where no `ctxrt check` reads them. */
#include "layer/check/finding.h"

#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { LINE_BYTES = 1000 };

/* " at library+0x1234 < program+0x567": functions and lines need a reader of debug information. */
static void add_place(cx_text *self, cx_origin origin)
{
    const cx_region_trace *trace = &cx_region_here->all_traces[origin];
    for (uint32_t i = 0; origin != 0 && i < trace->count && i < 2; i++) {
        const cx_region_frame *frame = &trace->frames[i];
        const char *name = cx_origin_file_name(frame->module);
        cx_text_add(self, "%s%s+%#llx", i == 0 ? " at " : " < ", name != NULL ? name : "unknown",
                    (unsigned long long)frame->offset);
    }
}

static void add_call(cx_text *self, const cx_region_finding *found)
{
    if (found->slot < 0)
        return;
    const char *result = cx_origin_is_of_library(found->trace)
                             ? cx_runtime_error_name(found->result)
                             : cx_result_name((cxu_result)found->result);
    cx_text_add(self, ": %s", cx_origin_call(found->trace, (cx_slot)found->slot));
    if (found->result != 0)
        cx_text_add(self, " gave %s", result != NULL ? result : "an unknown error");
    add_place(self, found->trace);
}

void cx_finding_log(const cx_region_finding *found)
{
    const cx_kind_row *row = &cx_kind_rows[found->kind];
    char text[LINE_BYTES] = "";
    cx_text self = {text, sizeof text, 0};
    if (cx_region_in_file || cx_kind_is_leak(found->kind))
        return;
    const cx_kind_words words = cx_origin_is_of_library(found->trace)
                                    ? cx_kind_words_for(row, &cx_kind_runtime[found->kind])
                                    : (cx_kind_words){row->title, row->advice};
    cx_text_add(&self, "check: %s: %s", row->name, words.title);
    add_call(&self, found);
    const char *advice = words.advice;
    for (uint32_t i = 0; i < found->note_count; i++) {
        if (strcmp(found->notes[i].role, CX_FINDING_ADVICE) == 0) {
            advice = found->notes[i].text;
            continue;
        }
        cx_text_add(&self, "; %s: %s", found->notes[i].role, found->notes[i].text);
        add_place(&self, found->notes[i].trace);
    }
    cx_text_add(&self, "; advice: %s; `ctxrt check` names functions and lines", advice);
    cx_log(row->severity == CX_SEVERITY_NOTE ? CTXRT_LOG_INFO : CTXRT_LOG_WARNING, "%s", self.text);
}

/* A callback of the log may be gone by now: the line goes to stderr. */
void cx_finding_summarise(void)
{
    const cx_region *region = cx_region_here;
    unsigned counts[CX_KIND_COUNT] = {0};
    unsigned count = atomic_load(&((cx_region *)region)->findings), told = 0;
    char text[LINE_BYTES] = "";
    cx_text self = {text, sizeof text, 0};
    for (unsigned i = 0; i < count; i++)
        if (cx_kind_rows[region->all_findings[i].kind].severity != CX_SEVERITY_NOTE &&
            !cx_kind_is_leak(region->all_findings[i].kind)) {
            counts[region->all_findings[i].kind]++;
            told++;
        }
    if (cx_region_in_file || told == 0 || !cx_log_enabled(CTXRT_LOG_WARNING))
        return;
    for (int kind = 0; kind < CX_KIND_COUNT; kind++)
        if (counts[kind] != 0)
            cx_text_add(&self, ", %s %u", cx_kind_rows[kind].name, counts[kind]);
    fprintf(stderr, "ctxrt: check: %u finding%s%s\n", told, told == 1 ? "" : "s", self.text);
}
