#include "check/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- fingerprints ---- */

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++ != '\0');
    return hash;
}

static const char *file_name(const char *path)
{
    const char *name = strrchr(path, '/');
    return name != NULL ? name + 1 : path;
}

/* Functions of the C library differ from machine to machine, and lines from edit to edit. */
static uint64_t mix_trace(uint64_t hash, const report_process *process, uint32_t number)
{
    const cx_region_trace *trace = report_trace(process, number);
    for (uint32_t i = 0; trace != NULL && i < trace->count; i++) {
        place_name names[SYMBOLS_INLINED];
        const char *module = report_module(process, trace->frames[i].module);
        int count = report_names(process, &trace->frames[i], names);
        if (symbols_in_c_library(module))
            continue;
        for (int j = 0; j < count; j++)
            hash = mix(mix(hash, names[j].function), place_file(&names[j]));
        hash = mix(hash, file_name(module));
        if (strcmp(names[count - 1].function, "main") == 0)
            break;
    }
    return hash;
}

static uint64_t hash_of(const report_process *process, const cx_region_finding *finding)
{
    const char *call = call_name(finding->slot);
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), kind_row(finding->kind)->name);
    hash = mix_trace(mix(hash, call != NULL ? call : ""), process, finding->trace);
    for (uint32_t i = 0; i < finding->note_count && i < CX_REGION_NOTES; i++)
        hash = mix_trace(mix(hash, finding->notes[i].role), process, finding->notes[i].trace);
    return hash;
}

void baseline_fingerprint(const report_process *process, const cx_region_finding *finding,
                          char out_text[BASELINE_FINGERPRINT])
{
    snprintf(out_text, BASELINE_FINGERPRINT, "%016" PRIx64, hash_of(process, finding));
}

/* ---- files ---- */

static bool add(report_options *self, uint64_t hash)
{
    if (self->known_count == self->known_capacity) {
        size_t more = self->known_capacity != 0 ? 2 * self->known_capacity : 64;
        uint64_t *grown = realloc(self->known, more * sizeof *grown);
        if (grown == NULL)
            return false;
        self->known = grown;
        self->known_capacity = more;
    }
    self->known[self->known_count++] = hash;
    return true;
}

bool baseline_read(report_options *self, const char *path)
{
    char line[1024], *end;
    int number = 0;
    FILE *file = fopen(path, "re");
    bool good = file != NULL;
    if (file == NULL)
        fprintf(stderr, "ctxrt check: cannot read %s: %s\n", path, strerror(errno));
    while (good && fgets(line, sizeof line, file) != NULL) {
        number++;
        if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
            continue;
        uint64_t hash = strtoull(line, &end, 16);
        good = end == line + 16 && *end == ' ' && add(self, hash);
        if (!good)
            fprintf(stderr,
                    "ctxrt check: %s:%d: a line of a baseline is what ctxrt check --learn wrote\n",
                    path, number);
    }
    if (file != NULL)
        (void)fclose(file);
    return good;
}

bool baseline_has(const report_options *self, const report_process *process,
                  const cx_region_finding *finding)
{
    if (self->known_count == 0)
        return false;
    const uint64_t hash = hash_of(process, finding);
    for (size_t i = 0; i < self->known_count; i++)
        if (self->known[i] == hash)
            return true;
    return false;
}

static void write_line(const report_process *process, const cx_region_finding *finding, void *file)
{
    char text[BASELINE_FINGERPRINT];
    place_name name;
    baseline_fingerprint(process, finding, text);
    fprintf(file, "%s %s", text, kind_row(finding->kind)->name);
    if (report_place(process, finding, &name))
        fprintf(file, " %s in %s", place_file(&name), name.readable);
    fputc('\n', file);
}

bool baseline_write(const report *self, const char *path)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return false;
    fputs("# Findings that are known, written by ctxrt check --learn.\n", file);
    report_each_told(self, write_line, file);
    const bool written = ferror(file) == 0;
    return fclose(file) == 0 && written;
}
