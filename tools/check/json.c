/* The report as JSON. */
#include "check/report.h"
#include "json_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static json_t *text_or_null(const char *text)
{
    return *text != '\0' ? json_text(text) : json_null();
}

static json_t *frame_of(const char *module, uint64_t offset, const place_name *name)
{
    json_t *frame = json_object();
    json_object_set_new(frame, "function", text_or_null(name->readable));
    if (strcmp(name->readable, name->function) != 0)
        json_object_set_new(frame, "linkage_name", json_text(name->function));
    json_object_set_new(frame, "file", text_or_null(place_file(name)));
    json_object_set_new(frame, "path", text_or_null(name->path));
    json_object_set_new(frame, "line", name->line > 0 ? json_integer(name->line) : json_null());
    if (name->inlined)
        json_object_set_new(frame, "inlined", json_true());
    json_object_set_new(frame, "module", text_or_null(module));
    json_object_set_new(frame, "offset", json_integer((json_int_t)offset));
    return frame;
}

static json_t *frames_of(const report_process *process, uint32_t number)
{
    json_t *frames = json_array();
    const cx_region_trace *trace = report_trace(process, number);
    bool in_main = false;
    for (uint32_t i = 0; trace != NULL && i < trace->count && !in_main; i++) {
        place_name names[SYMBOLS_INLINED];
        const char *module = report_module(process, trace->frames[i].module);
        int count = report_names(process, &trace->frames[i], names);
        for (int j = 0; j < count; j++)
            json_array_append_new(frames, frame_of(module, trace->frames[i].offset, &names[j]));
        /* Those who called main are the loader and the C library. */
        in_main = strcmp(names[count - 1].function, "main") == 0;
    }
    return frames;
}

static json_t *notes_of(const report_process *process, const cx_region_finding *finding)
{
    json_t *notes = json_array();
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++) {
        if (report_is_advice(&finding->notes[i]))
            continue;
        json_t *note = json_object();
        json_object_set_new(note, "role", json_string(finding->notes[i].role));
        json_object_set_new(note, "text", json_text(finding->notes[i].text));
        json_object_set_new(note, "where", frames_of(process, finding->notes[i].trace));
        json_array_append_new(notes, note);
    }
    return notes;
}

static json_t *finding_of(const report *all, const report_process *process,
                          const cx_region_finding *finding)
{
    const cx_kind_row *row = kind_row(finding->kind);
    const char *api = report_api(process, finding->trace);
    const char *driver_call = call_name(finding->slot);
    const char *call = driver_call != NULL && api != NULL ? api : driver_call;
    const char *result = call != NULL ? result_name(finding->result, api != NULL) : NULL;
    const cx_kind_words words = kind_words(finding->kind, api != NULL);
    json_t *self = json_object(), *thread = json_object();
    json_object_set_new(self, "kind", json_string(row->name));
    json_object_set_new(self, "severity", json_string(severity_name(finding->kind)));
    json_object_set_new(self, "title", json_string(words.title));
    json_object_set_new(self, "explanation", json_string(row->explanation));
    json_object_set_new(self, "advice", json_text(report_advice(process, finding)));
    json_object_set_new(self, "rules", json_string(row->rules));
    json_object_set_new(self, "process", json_integer(process - all->processes));
    json_object_set_new(self, "pid", json_integer(process->region->pid));
    json_object_set_new(self, "count",
                        json_integer(atomic_load(&((cx_region_finding *)finding)->count)));
    json_object_set_new(self, "call", call != NULL ? json_string(call) : json_null());
    if (api != NULL && driver_call != NULL)
        json_object_set_new(self, "driver_call", json_string(driver_call));
    json_object_set_new(self, "result", result != NULL ? json_string(result) : json_null());
    json_object_set_new(thread, "number", json_integer(finding->thread));
    json_object_set_new(thread, "name", text_or_null(finding->thread_name));
    json_object_set_new(self, "thread", thread);
    json_object_set_new(self, "at", frames_of(process, finding->trace));
    json_object_set_new(self, "notes", notes_of(process, finding));
    return self;
}

static json_t *alive_of(const report_process *process)
{
    json_t *all = json_array();
    const cx_region *region = process->region;
    unsigned objects = report_gave_up(process) ? 0 : atomic_load(&((cx_region *)region)->objects);
    for (unsigned i = 0; i < objects && i < CX_REGION_OBJECTS; i++) {
        const cx_region_object *object = &region->all_objects[i];
        if (object->kind == 0 || object->kind >= CX_OBJECT_KINDS)
            continue;
        json_t *one = json_object();
        json_object_set_new(one, "what", json_string(object_name(object->kind)));
        json_object_set_new(one, "number", json_integer(object->number));
        json_object_set_new(one, "device",
                            object->device >= 0 ? json_integer(object->device) : json_null());
        json_object_set_new(one, "bytes", json_integer((json_int_t)object->bytes));
        json_object_set_new(one, "made", frames_of(process, object->made));
        json_array_append_new(all, one);
    }
    return all;
}

static void set_counts(json_t *object, const unsigned counts[3])
{
    json_object_set_new(object, "errors", json_integer(counts[CX_SEVERITY_ERROR]));
    json_object_set_new(object, "warnings", json_integer(counts[CX_SEVERITY_WARNING]));
    json_object_set_new(object, "notes", json_integer(counts[CX_SEVERITY_NOTE]));
}

static json_t *process_of(const report_process *process)
{
    cx_region *region = (cx_region *)process->region;
    json_t *self = json_object();
    json_object_set_new(self, "pid", json_integer(region->pid));
    json_object_set_new(self, "forked_from",
                        region->forked_from != 0 ? json_integer(region->forked_from) : json_null());
    json_object_set_new(self, "program", json_text(region->program));
    set_counts(self, process->counts);
    json_object_set_new(self, "alive", alive_of(process));
    json_object_set_new(self, "consequences", json_integer(atomic_load(&region->followed)));
    json_object_set_new(self, "lost_findings", json_integer(atomic_load(&region->unreported)));
    json_object_set_new(self, "lost_objects", json_integer(atomic_load(&region->unrecorded)));
    json_object_set_new(self, "lost_backtraces", json_integer(atomic_load(&region->untraced)));
    json_object_set_new(self, "gave_up", json_boolean(report_gave_up(process)));
    return self;
}

typedef struct listed_findings {
    const report *report;
    json_t *all;
} listed_findings;

static void add_finding(const report_process *process, const cx_region_finding *finding,
                        void *argument)
{
    const listed_findings *list = argument;
    json_array_append_new(list->all, finding_of(list->report, process, finding));
}

bool report_write_json_file(const report *self, FILE *out, char **program, int status)
{
    json_t *root = json_object(), *findings = json_array(), *processes = json_array(),
           *words = json_array();
    for (; *program != NULL; program++)
        json_array_append_new(words, json_text(*program));
    for (int i = 0; i < self->process_count; i++)
        json_array_append_new(processes, process_of(&self->processes[i]));
    report_each_told(self, add_finding, &(listed_findings){self, findings});
    json_object_set_new(root, "version", json_integer(2));
    json_object_set_new(root, "program", words);
    json_object_set_new(root, "status", json_integer(status));
    set_counts(root, self->of_severity);
    json_object_set_new(root, "suppressed", json_integer(self->suppressed));
    json_object_set_new(root, "findings", findings);
    json_object_set_new(root, "processes", processes);
    json_object_set_new(root, "lost_processes", json_integer(self->unrecorded_processes));
    bool written = json_dumpf(root, out, JSON_INDENT(2)) == 0;
    json_decref(root);
    return written && fflush(out) == 0;
}

bool report_write_json(const report *self, const char *path, char **program, int status)
{
    if (strcmp(path, "-") == 0)
        return report_write_json_file(self, stdout, program, status);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return false;
    const bool written = report_write_json_file(self, file, program, status);
    return fclose(file) == 0 && written;
}
