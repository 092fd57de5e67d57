/* Findings as text. */
#include "base/text.h"
#include "check/report.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static const char *without_folder(const char *path)
{
    const char *name = strrchr(path, '/');
    return name != NULL ? name + 1 : path;
}

/* A function of a backtrace: inlined ones are frames of their own. */
typedef struct shown_frame {
    place_name name;
    const char *module;
    uint64_t offset;
    uint32_t index; /* of the frame in the trace */
} shown_frame;

enum { SHOWN_MOST = CX_REGION_FRAMES * SYMBOLS_INLINED };

static int collect_frames(const report_process *process, const cx_region_trace *trace,
                          shown_frame all[SHOWN_MOST])
{
    int count = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        place_name names[SYMBOLS_INLINED];
        int more = report_names(process, &trace->frames[i], names);
        for (int j = 0; j < more; j++)
            all[count++] = (shown_frame){names[j], report_module(process, trace->frames[i].module),
                                         trace->frames[i].offset, i};
    }
    return count;
}

/* "main.c:41 in setup()" */
static void print_frame(const shown_frame *frame, FILE *out)
{
    const place_name *name = &frame->name;
    if (name->path[0] != '\0')
        fprintf(out, "%s:%d", place_file(name), name->line);
    else
        fprintf(out, "%s+%#llx",
                *frame->module != '\0' ? without_folder(frame->module) : "unknown",
                (unsigned long long)frame->offset);
    if (name->readable[0] != '\0')
        fprintf(out, " in %s%s", name->readable, place_parentheses(name));
}

/* Whether the C library alone called frame `at`: it starts threads and the program. */
static bool starts_in_c_library(const report_process *process, const cx_region_trace *trace,
                                uint32_t at)
{
    for (uint32_t i = at; i < trace->count; i++)
        if (!symbols_in_c_library(report_module(process, trace->frames[i].module)))
            return false;
    return true;
}

/* nvcc's own frames between the program's line and the call: the templates of cuda_runtime.h, and
 * the stub of a kernel, which the kernel's function on the host calls. */
static bool is_wrapper(const place_name *name, const place_name *callee)
{
    const char *stub = callee != NULL ? strstr(callee->function, "__device_stub_") : NULL;
    return strcmp(place_file(name), "cuda_runtime.h") == 0 ||
           strstr(name->function, "__cudaLaunchKernel_helper") != NULL ||
           strstr(name->function, "__device_stub_") != NULL ||
           (stub != NULL && name->function[0] != '\0' &&
            strncmp(stub + strlen("__device_stub_"), name->function, strlen(name->function)) == 0);
}

/* The program's own innermost function. */
static int first_frame(const cx_region_trace *trace, const shown_frame *all, int count)
{
    int i = 0;
    while (trace->api != 0 && i + 1 < count &&
           is_wrapper(&all[i].name, i > 0 ? &all[i - 1].name : NULL))
        i++;
    return i;
}

/* The innermost function, and those that called it, behind each other. Those that are inlined in a
 * frame come with it. */
static void print_trace(const report_process *process, uint32_t number, int most, FILE *out)
{
    static shown_frame all[SHOWN_MOST];
    const cx_region_trace *trace = report_trace(process, number);
    int count = trace != NULL ? collect_frames(process, trace, all) : 0;
    int first = trace != NULL ? first_frame(trace, all, count) : 0;
    for (int i = first; i < count && all[i].index < all[first].index + (uint32_t)most; i++) {
        if (i > first && starts_in_c_library(process, trace, all[i].index))
            break;
        fputs(i == first ? ", " : " < ", out);
        print_frame(&all[i], out);
        if (strcmp(all[i].name.function, "main") == 0)
            break;
    }
}

static void print_title(const report_process *process, const cx_region_finding *finding, FILE *out)
{
    const char *api = report_api(process, finding->trace);
    const char *call = finding->slot >= 0 && api != NULL ? api : call_name(finding->slot);
    const char *result = result_name(finding->result, api != NULL);
    fprintf(out, "ctxrt check: %s %s: %s", severity_name(finding->kind),
            kind_row(finding->kind)->name, kind_words(finding->kind, api != NULL).title);
    if (call != NULL)
        fprintf(out, ": %s", call);
    if (call != NULL && finding->result != 0)
        fprintf(out, " gave %s", result != NULL ? result : "an unknown error");
    fputc('\n', out);
}

uint32_t report_trace_of(const cx_region_finding *finding)
{
    for (uint32_t i = 0; finding->trace == 0 && i < finding->note_count; i++)
        if (finding->notes[i].trace != 0)
            return finding->notes[i].trace;
    return finding->trace;
}

bool report_place_of(const report_process *process, uint32_t number, place_name *out_name)
{
    static shown_frame all[SHOWN_MOST];
    const cx_region_trace *trace = report_trace(process, number);
    int count = trace != NULL ? collect_frames(process, trace, all) : 0;
    for (int i = trace != NULL ? first_frame(trace, all, count) : 0; i < count; i++)
        if (all[i].name.path[0] != '\0' && all[i].name.line > 0) {
            *out_name = all[i].name;
            return true;
        }
    return false;
}

const char *report_source(const place_name *name)
{
    static char folder[PATH_MAX];
    if (folder[0] == '\0' && getcwd(folder, sizeof folder) == NULL)
        return name->path;
    const size_t length = strlen(folder);
    return strncmp(name->path, folder, length) == 0 && name->path[length] == '/'
               ? name->path + length + 1
               : name->path;
}

bool report_place(const report_process *process, const cx_region_finding *finding,
                  place_name *out_name)
{
    return report_place_of(process, report_trace_of(finding), out_name);
}

void report_message(const report_process *process, const cx_region_finding *finding, char *text,
                    size_t size)
{
    const char *api = report_api(process, finding->trace), *call = call_name(finding->slot);
    const char *result = result_name(finding->result, api != NULL);
    cx_text self = {text, size, 0};
    text[0] = '\0';
    cx_text_add(&self, "%s", kind_words(finding->kind, api != NULL).title);
    if (call != NULL)
        cx_text_add(&self, ": %s", api != NULL ? api : call);
    if (call != NULL && finding->result != 0)
        cx_text_add(&self, " gave %s", result != NULL ? result : "an unknown error");
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++) {
        const cx_region_note *note = &finding->notes[i];
        place_name name;
        if (report_is_advice(note))
            continue;
        cx_text_add(&self, "\n%.15s: %.*s", note->role, CX_REGION_TEXT - 1, note->text);
        if (report_place_of(process, note->trace, &name))
            cx_text_add(&self, ", %s:%d in %s", place_file(&name), name.line, name.readable);
    }
    cx_text_add(&self, "\nadvice: %.*s", CX_REGION_TEXT - 1, report_advice(process, finding));
}

static void print_process(const report_process *process, FILE *out)
{
    const cx_region *region = process->region;
    fprintf(out, "process %d (%s)", (int)region->pid, without_folder(region->program));
    if (region->forked_from != 0)
        fprintf(out, " forked from %d", (int)region->forked_from);
}

/* "called by thread 2 "reader" of process 17 (program), main.c:41 in setup()" */
static void print_caller(const report_process *process, const cx_region_finding *finding, FILE *out)
{
    const char *before = finding->slot >= 0 ? "  called by" : "  of";
    if (finding->thread != 0)
        fprintf(out, "%s thread %d \"%.15s\"", before, finding->thread, finding->thread_name);
    if (!process->first) {
        fputs(finding->thread != 0 ? " of " : "  of ", out);
        print_process(process, out);
    }
    if (finding->slot >= 0)
        print_trace(process, finding->trace, 4, out);
    if (finding->slot >= 0 || finding->thread != 0 || !process->first)
        fputc('\n', out);
}

void report_print(const report_process *process, const cx_region_finding *finding, FILE *out)
{
    print_title(process, finding, out);
    print_caller(process, finding, out);
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++) {
        const cx_region_note *note = &finding->notes[i];
        if (report_is_advice(note))
            continue;
        fprintf(out, "  %.15s: %.*s", note->role, CX_REGION_TEXT - 1, note->text);
        /* A launch is a call of the program, which libraries make for it. */
        print_trace(process, note->trace, strcmp(note->role, "launched") == 0 ? 4 : 2, out);
        fputc('\n', out);
    }
    fprintf(out, "  advice: %.*s\n", CX_REGION_TEXT - 1, report_advice(process, finding));
    fflush(out);
}

/* "streams", "retains of a primary context", "blocks of device memory" */
static void print_objects(uint32_t kind, unsigned long long count, FILE *out)
{
    const char *name = object_name(kind), *of = strstr(name, " of ");
    const size_t length = strlen(name), memory = strlen("memory");
    int head = (int)(of != NULL ? (size_t)(of - name) : length);
    bool is_memory = length > memory && strcmp(name + length - memory, "memory") == 0;
    const char *plural = count != 1 ? "s" : "";
    if (is_memory)
        fprintf(out, "block%s of %s", plural, name);
    else
        fprintf(out, "%.*s%s%s", head, name, plural, name + head);
}

static void print_alive(const report_process *process, FILE *out)
{
    unsigned long long counts[CX_OBJECT_KINDS] = {0}, bytes[CX_OBJECT_KINDS] = {0};
    const cx_region *region = process->region;
    unsigned objects = atomic_load(&((cx_region *)region)->objects);
    for (unsigned i = 0; i < objects && i < CX_REGION_OBJECTS; i++) {
        const cx_region_object *object = &region->all_objects[i];
        if (object->kind > 0 && object->kind < CX_OBJECT_KINDS) {
            counts[object->kind]++;
            bytes[object->kind] += object->bytes;
        }
    }
    const char *before = "";
    fputs("  alive at the end of ", out);
    print_process(process, out);
    fputc(':', out);
    for (uint32_t kind = 1; kind < CX_OBJECT_KINDS; kind++) {
        if (counts[kind] == 0)
            continue;
        fprintf(out, "%s %llu ", before, counts[kind]);
        print_objects(kind, counts[kind], out);
        if (bytes[kind] != 0)
            fprintf(out, " (%llu byte%s)", bytes[kind], bytes[kind] == 1 ? "" : "s");
        before = ",";
    }
    fprintf(out, "%s\n", *before == '\0' ? " nothing" : "");
}

static void print_counts(const report *self, const unsigned counts[3], FILE *out)
{
    fprintf(out, "%u error%s, %u warning%s", counts[CX_SEVERITY_ERROR],
            counts[CX_SEVERITY_ERROR] == 1 ? "" : "s", counts[CX_SEVERITY_WARNING],
            counts[CX_SEVERITY_WARNING] == 1 ? "" : "s");
    if (self->options.notes)
        fprintf(out, ", %u note%s", counts[CX_SEVERITY_NOTE],
                counts[CX_SEVERITY_NOTE] == 1 ? "" : "s");
    fputc('\n', out);
}

static void print_missing(const report_process *process, FILE *out)
{
    cx_region *region = (cx_region *)process->region;
    unsigned findings = atomic_load(&region->unreported);
    unsigned objects = atomic_load(&region->unrecorded);
    unsigned traces = atomic_load(&region->untraced);
    unsigned followed = atomic_load(&region->followed);
    if (followed != 0)
        fprintf(out,
                "  %u more call%s of process %d failed since a context had ended: the findings "
                "above tell which one\n",
                followed, followed == 1 ? "" : "s", (int)region->pid);
    if (findings != 0)
        fprintf(out, "  %u more findings of process %d had no room\n", findings, (int)region->pid);
    if (objects != 0)
        fprintf(out, "  %u more objects of process %d had no room\n", objects, (int)region->pid);
    if (traces != 0)
        fprintf(out, "  %u backtraces of process %d had no room\n", traces, (int)region->pid);
    if (report_gave_up(process))
        fprintf(out,
                "  process %d had no memory for what is kept of it: later calls, and what it "
                "left alive, are not judged\n",
                (int)region->pid);
    if (process->runs)
        fprintf(out, "  process %d still runs: what it does from now on is not reported\n",
                (int)region->pid);
}

static void summarise_process(const report *self, const report_process *process, FILE *out)
{
    if (self->process_count > 1) {
        fputs("  ", out);
        print_process(process, out);
        fputs(": ", out);
        print_counts(self, process->counts, out);
    }
    if (!report_gave_up(process))
        print_alive(process, out);
    print_missing(process, out);
}

void report_summary(const report *self, FILE *out)
{
    fputs("ctxrt check: ", out);
    print_counts(self, self->of_severity, out);
    for (int kind = 0; kind < CX_KIND_COUNT; kind++)
        if (self->counts[kind] != 0)
            fprintf(out, "  %-26s %u\n", kind_row(kind)->name, self->counts[kind]);
    for (int i = 0; i < self->process_count; i++)
        summarise_process(self, &self->processes[i], out);
    if (self->more_processes)
        fprintf(out, "  more processes called the driver than there is room for: %d\n",
                REPORT_PROCESSES);
    if (self->unrecorded_processes != 0)
        fprintf(out,
                "  %u process%s called the driver, but %s had no room for a file: %s findings "
                "are in %s log only\n",
                self->unrecorded_processes, self->unrecorded_processes == 1 ? "" : "es",
                self->folder, self->unrecorded_processes == 1 ? "its" : "their",
                self->unrecorded_processes == 1 ? "its" : "their");
    else if (self->process_count == 0)
        fprintf(out, "  no process called the driver\n");
}
