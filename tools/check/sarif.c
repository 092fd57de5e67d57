/* The report as SARIF 2.1.0, which code hosts and editors read. */
#include "check/baseline.h"
#include "check/report.h"
#include "config.h"
#include "json_text.h"

#include <string.h>

static json_t *message_of(const char *text)
{
    return json_pack("{s:o}", "text", json_text(text));
}

static json_t *rule_of(uint32_t kind)
{
    static const char *const levels[] = {"note", "warning", "error"};
    const cx_kind_row *row = kind_row(kind);
    return json_pack("{s:s, s:o, s:o, s:o, s:{s:s}}", "id", row->name, "shortDescription",
                     message_of(row->title), "fullDescription", message_of(row->explanation),
                     "help", message_of(row->advice), "defaultConfiguration", "level",
                     levels[row->severity]);
}

static json_t *rules(void)
{
    json_t *all = json_array();
    for (uint32_t kind = 0; kind < CX_KIND_COUNT; kind++)
        json_array_append_new(all, rule_of(kind));
    return all;
}

/* NULL: the place has no line. */
static json_t *location_of(const report_process *process, uint32_t trace, const char *text)
{
    place_name name;
    if (!report_place_of(process, trace, &name))
        return NULL;
    json_t *self =
        json_pack("{s:{s:{s:o}, s:{s:i}}}", "physicalLocation", "artifactLocation", "uri",
                  json_text(report_source(&name)), "region", "startLine", name.line);
    if (name.readable[0] != '\0')
        json_object_set_new(self, "logicalLocations",
                            json_pack("[{s:o, s:s}]", "fullyQualifiedName",
                                      json_text(name.readable), "kind", "function"));
    if (text != NULL)
        json_object_set_new(self, "message", message_of(text));
    return self;
}

static void append(json_t *array, json_t *value)
{
    if (value != NULL)
        json_array_append_new(array, value);
}

static json_t *result_of(const report_process *process, const cx_region_finding *finding)
{
    char text[4096], fingerprint[BASELINE_FINGERPRINT];
    json_t *locations = json_array(), *related = json_array();
    append(locations, location_of(process, report_trace_of(finding), NULL));
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++)
        if (!report_is_advice(&finding->notes[i]))
            append(related,
                   location_of(process, finding->notes[i].trace, finding->notes[i].text));
    report_message(process, finding, text, sizeof text);
    baseline_fingerprint(process, finding, fingerprint);
    return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:{s:s}, s:i}", "ruleId",
                     kind_row(finding->kind)->name, "ruleIndex", (int)finding->kind, "level",
                     severity_name(finding->kind), "message", message_of(text), "locations",
                     locations, "relatedLocations", related, "partialFingerprints", "ctxrt/v1",
                     fingerprint, "occurrenceCount",
                     (int)atomic_load(&((cx_region_finding *)finding)->count));
}

static void add_result(const report_process *process, const cx_region_finding *finding,
                       void *results)
{
    append(results, result_of(process, finding));
}

bool report_write_sarif(const report *self, FILE *out)
{
    json_t *results = json_array();
    report_each_told(self, add_result, results);
    json_t *root = json_pack(
        "{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:o}]}", "$schema",
        "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs", "tool",
        "driver", "name", "ctxrt check", "version", PACKAGE_VERSION, "rules", rules(), "results",
        results);
    bool written = root != NULL && json_dumpf(root, out, JSON_INDENT(2)) == 0 &&
                   fputc('\n', out) != EOF && fflush(out) == 0;
    json_decref(root);
    return written;
}
