#include "check/report.h"

#include "check/baseline.h"
#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- processes ---- */

/* The file ends behind the last record that had room. */
static const cx_region *map_file(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return NULL;
    void *mapped =
        fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                status.st_size > (off_t)offsetof(cx_region, all_objects)
            ? mmap(NULL, sizeof(cx_region), PROT_READ, MAP_SHARED, file, 0)
            : MAP_FAILED;
    (void)close(file);
    return mapped != MAP_FAILED ? mapped : NULL;
}

/* FNV-1a: 64 bits tell the few files apart. The folder is read fifty times a second, and each file
 * is looked for among all that are known. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static bool is_known(const report *self, uint64_t file)
{
    for (int i = 0; i < self->process_count; i++)
        if (self->files[i] == file)
            return true;
    return false;
}

/* A file whose beginning is not yet written is looked at again. */
static void look_at_file(report *self, const char *name)
{
    char path[512];
    const uint64_t file = hash_of(name);
    if (name[0] == '.' || is_known(self, file) ||
        snprintf(path, sizeof path, "%s/%s", self->folder, name) >= (int)sizeof path)
        return;
    if (self->process_count == REPORT_PROCESSES) {
        self->more_processes = true;
        return;
    }
    const cx_region *region = map_file(path);
    if (region == NULL)
        return;
    if (region->magic != CX_REGION_MAGIC || region->version != CX_REGION_VERSION) {
        (void)munmap((void *)region, sizeof *region);
        return;
    }
    self->files[self->process_count] = file;
    report_process *process = &self->processes[self->process_count++];
    *process = (report_process){.region = region};
    memcpy(process->path, path, sizeof process->path);
}

static int compare_beginnings(const void *one, const void *other)
{
    const report_process *first = one, *second = other;
    return (first->region->begun > second->region->begun) -
           (first->region->begun < second->region->begun);
}

static void look_for_processes(report *self)
{
    int known = self->process_count;
    DIR *folder = opendir(self->folder);
    if (folder == NULL)
        return;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        look_at_file(self, entry->d_name);
    (void)closedir(folder);
    qsort(&self->processes[known], (size_t)(self->process_count - known), sizeof self->processes[0],
          compare_beginnings);
    self->processes[0].first = true;
}

const cx_region_trace *report_trace(const report_process *process, uint32_t number)
{
    const cx_region *region = process->region;
    unsigned traces = atomic_load(&((cx_region *)region)->traces);
    if (number == 0 || number > traces || number >= CX_REGION_TRACES)
        return NULL;
    const cx_region_trace *trace = &region->all_traces[number];
    return trace->count <= CX_REGION_FRAMES && trace->count > 0 ? trace : NULL;
}

const char *report_api(const report_process *process, uint32_t number)
{
    const cx_region_trace *trace = report_trace(process, number);
    return trace != NULL && trace->api > 0 && trace->api < CX_REGION_APIS
               ? process->region->apis[trace->api]
               : NULL;
}

const char *report_module(const report_process *process, uint32_t module)
{
    const cx_region *region = process->region;
    unsigned modules = atomic_load(&((cx_region *)region)->modules);
    return module < modules && module < CX_REGION_MODULES ? region->paths[module] : "";
}

int report_names(const report_process *process, const cx_region_frame *frame,
                 place_name out_names[SYMBOLS_INLINED])
{
    symbols_module module = {.path = report_module(process, frame->module)};
    if (*module.path != '\0') {
        const cx_region_id *id = &process->region->ids[frame->module];
        module.id = id->bytes;
        module.id_bytes = id->count <= CX_REGION_ID ? id->count : 0;
    }
    return symbols_find_all(module, frame->offset, out_names);
}

bool report_is_advice(const cx_region_note *note)
{
    return strncmp(note->role, "advice", sizeof note->role) == 0;
}

const char *report_advice(const report_process *process, const cx_region_finding *finding)
{
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++)
        if (report_is_advice(&finding->notes[i]))
            return finding->notes[i].text;
    return kind_words(finding->kind, report_api(process, finding->trace) != NULL).advice;
}

/* ---- what is told ---- */

/* Also one that was inlined; names of C++ as they are printed, too. */
static bool names_function(const report_rule *rule, const report_process *process,
                           const cx_region_frame *frame)
{
    place_name names[SYMBOLS_INLINED];
    int count = report_names(process, frame, names);
    for (int i = 0; i < count; i++)
        if (fnmatch(rule->function, names[i].function, 0) == 0 ||
            fnmatch(rule->function, names[i].readable, 0) == 0)
            return true;
    return false;
}

static bool rule_names_trace(const report_rule *rule, const report_process *process,
                             uint32_t number)
{
    const cx_region_trace *trace = report_trace(process, number);
    for (uint32_t i = 0; trace != NULL && i < trace->count; i++) {
        const char *module = report_module(process, trace->frames[i].module);
        const char *file = strrchr(module, '/');
        if (rule->module[0] != '\0' &&
            fnmatch(rule->module, file != NULL ? file + 1 : module, 0) != 0)
            continue;
        if (rule->function[0] == '\0' || names_function(rule, process, &trace->frames[i]))
            return true;
    }
    return false;
}

/* As a part of a note: "stream 3 of GPU 0". */
static bool names_object(const cx_region_finding *finding, const char *pattern)
{
    char whole[160];
    snprintf(whole, sizeof whole, "*%s*", pattern);
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++)
        if (fnmatch(whole, finding->notes[i].text, 0) == 0)
            return true;
    return false;
}

/* Notes name kernels as "kernel NAME, ..." or "kernel NAME ...". */
static bool names_kernel(const cx_region_finding *finding, const char *pattern)
{
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++) {
        const char *name = strstr(finding->notes[i].text, "kernel ");
        for (; name != NULL; name = strstr(name, "kernel ")) {
            char word[256];
            name += strlen("kernel ");
            snprintf(word, sizeof word, "%.*s", (int)strcspn(name, " ,:;"), name);
            if (fnmatch(pattern, word, 0) == 0)
                return true;
        }
    }
    return false;
}

static bool rule_fits(const report_rule *rule, const report_process *process,
                      const cx_region_finding *finding)
{
    if (fnmatch(rule->kind, kind_row(finding->kind)->name, 0) != 0)
        return false;
    if ((rule->object[0] != '\0' && !names_object(finding, rule->object)) ||
        (rule->kernel[0] != '\0' && !names_kernel(finding, rule->kernel)))
        return false;
    if ((rule->module[0] == '\0' && rule->function[0] == '\0') ||
        rule_names_trace(rule, process, finding->trace))
        return true;
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++)
        if (rule_names_trace(rule, process, finding->notes[i].trace))
            return true;
    return false;
}

bool report_tells(const report *self, const report_process *process,
                  const cx_region_finding *finding)
{
    const report_options *options = &self->options;
    if (finding->kind >= CX_KIND_COUNT || !options->chosen[finding->kind])
        return false;
    if (kind_row(finding->kind)->severity == CX_SEVERITY_NOTE && !options->notes)
        return false;
    for (int i = 0; i < options->rule_count; i++)
        if (rule_fits(&options->rules[i], process, finding))
            return false;
    return !baseline_has(options, process, finding);
}

void report_each_told(const report *self,
                      void (*visit)(const report_process *process,
                                    const cx_region_finding *finding, void *argument),
                      void *argument)
{
    for (int i = 0; i < self->process_count; i++) {
        const report_process *process = &self->processes[i];
        for (unsigned j = 0; j < process->told; j++)
            if (report_tells(self, process, &process->region->all_findings[j]))
                visit(process, &process->region->all_findings[j], argument);
        for (unsigned j = 0; j < process->left_count; j++)
            if (report_tells(self, process, &process->left[j]))
                visit(process, &process->left[j], argument);
    }
}

static void tell(report *self, report_process *process, const cx_region_finding *finding, FILE *out)
{
    if (!report_tells(self, process, finding)) {
        self->suppressed++;
        return;
    }
    self->counts[finding->kind]++;
    self->of_severity[kind_row(finding->kind)->severity]++;
    process->counts[kind_row(finding->kind)->severity]++;
    if (self->options.limit != 0 && self->counts[finding->kind] > (unsigned)self->options.limit)
        return;
    if (self->options.format == REPORT_TEXT)
        report_print(process, finding, out);
    else if (self->options.format == REPORT_GITHUB)
        report_print_github(process, finding, out);
}

void report_look(report *self, FILE *out)
{
    look_for_processes(self);
    for (int i = 0; i < self->process_count; i++) {
        report_process *process = &self->processes[i];
        unsigned count = atomic_load(&((cx_region *)process->region)->findings);
        while (process->told < count && process->told < CX_REGION_FINDINGS)
            tell(self, process, &process->region->all_findings[process->told++], out);
    }
}

/* ---- the end ---- */

void report_leave(report_process *process, const cx_region_finding *finding)
{
    for (unsigned i = 0; i < process->left_count; i++)
        if (process->left[i].kind == finding->kind && process->left[i].trace == finding->trace) {
            atomic_fetch_add(&process->left[i].count, 1);
            return;
        }
    if (process->left_count == process->left_capacity) {
        unsigned more = process->left_capacity != 0 ? 2 * process->left_capacity : 16;
        cx_region_finding *grown = realloc(process->left, more * sizeof *grown);
        if (grown == NULL)
            return;
        process->left = grown;
        process->left_capacity = more;
    }
    process->left[process->left_count++] = *finding;
}

/* True if the process still has its file mapped: its number may be another process's by now. The
 * system names a file without symbolic links: the names of folder and file are looked for. */
static bool still_runs(const report_process *process)
{
    char path[64], *line = NULL;
    size_t size = 0;
    bool found = false;
    const char *name = strrchr(process->path, '/');
    while (name > process->path && name[-1] != '/')
        name--;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)process->region->pid);
    FILE *maps = fopen(path, "re");
    while (maps != NULL && !found && getline(&line, &size, maps) > 0)
        found = strstr(line, name) != NULL;
    free(line);
    if (maps != NULL)
        (void)fclose(maps);
    return found;
}

void report_judge(report *self, const report_end *end, FILE *out)
{
    report_look(self, out);
    self->unrecorded_processes = child_count_empty_files(self->folder, "");
    for (int i = 0; i < self->process_count; i++) {
        report_process *process = &self->processes[i];
        const cx_region *region = process->region;
        bool ended = region->pid == end->pid ? end->whole
                                             : atomic_load(&((cx_region *)region)->exiting) != 0;
        process->runs = region->pid != end->pid && still_runs(process);
        if (process->judged || (!ended && !end->stopped))
            continue;
        process->judged = true;
        if (end->stopped)
            report_judge_waits(process, end->time_ns, end->hang_ns);
        if (ended)
            report_judge_alive(process);
        for (unsigned j = 0; j < process->left_count; j++)
            tell(self, process, &process->left[j], out);
    }
}

void report_close(report *self)
{
    for (int i = 0; i < self->process_count; i++) {
        (void)munmap((void *)self->processes[i].region, sizeof(cx_region));
        (void)unlink(self->processes[i].path);
        free(self->processes[i].left);
    }
    self->process_count = 0;
    free(self->options.known);
}

/* ---- kinds ---- */

/* Objects left alive are findings only when asked for: programs may leave them to the system. */
void report_leave_out_leaks(report_options *options)
{
    for (uint32_t kind = 0; kind < CX_KIND_COUNT; kind++)
        if (cx_kind_is_leak(kind))
            options->chosen[kind] = false;
}

void report_choose_usual(report_options *options)
{
    memset(options->chosen, 1, sizeof options->chosen);
    report_leave_out_leaks(options);
}

/* ---- suppressions ---- */

static bool parse_rule(char *line, report_rule *out)
{
    char *rest = NULL, *word = strtok_r(line, " \t\r\n", &rest);
    *out = (report_rule){.kind = ""};
    if (snprintf(out->kind, sizeof out->kind, "%s", word) >= (int)sizeof out->kind)
        return false;
    while ((word = strtok_r(NULL, " \t\r\n", &rest)) != NULL) {
        char *into = strncmp(word, "module:", 7) == 0     ? out->module
                     : strncmp(word, "function:", 9) == 0 ? out->function
                     : strncmp(word, "object:", 7) == 0   ? out->object
                     : strncmp(word, "kernel:", 7) == 0   ? out->kernel
                                                          : NULL;
        if (into == NULL || strlen(strchr(word, ':') + 1) >= sizeof out->module)
            return false;
        strcpy(into, strchr(word, ':') + 1);
    }
    return true;
}

bool report_read_rules(report_options *self, const char *path)
{
    char line[512];
    int number = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "ctxrt check: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        number++;
        if (line[strspn(line, " \t\r\n")] == '\0' || line[strspn(line, " \t")] == '#')
            continue;
        if (self->rule_count == REPORT_RULES || !parse_rule(line, &self->rules[self->rule_count])) {
            fprintf(stderr,
                    "ctxrt check: %s:%d: a suppression is KIND [module:PATTERN] "
                    "[function:PATTERN] [object:PATTERN] [kernel:PATTERN]; there can be %d\n",
                    path, number, REPORT_RULES);
            (void)fclose(file);
            return false;
        }
        self->rule_count++;
    }
    (void)fclose(file);
    return true;
}
