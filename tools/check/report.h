/*
 * The report of `ctxrt check`: what the checked processes left in their files, read while they run
 * and when they have ended.
 */
#ifndef CX_TOOLS_CHECK_REPORT_H
#define CX_TOOLS_CHECK_REPORT_H

#include "check/names.h"
#include "check/symbols.h"

#include <stdio.h>

enum { REPORT_PROCESSES = 2048, REPORT_RULES = 256 };

/* A line of a suppression file: KIND and up to four of WORD:PATTERN, each as in a shell. */
typedef struct report_rule {
    char kind[64], module[128], function[128], object[128], kernel[128];
} report_rule;

/* How findings are told. JSON and SARIF are written when the program has ended. */
typedef enum report_format {
    REPORT_TEXT,
    REPORT_JSON,
    REPORT_SARIF,
    REPORT_GITHUB
} report_format;

typedef struct report_options {
    bool chosen[CX_KIND_COUNT]; /* kinds that are told */
    bool notes, leaks;
    int limit; /* of each kind; 0: none */
    report_rule rules[REPORT_RULES];
    int rule_count;
    report_format format;
    uint64_t *known; /* fingerprints of a baseline */
    size_t known_count, known_capacity;
} report_options;

/* One process. */
typedef struct report_process {
    char path[512];
    const cx_region *region;
    bool first;              /* the first one that called the driver */
    unsigned told;           /* findings of it that were looked at */
    unsigned counts[3];      /* of each severity */
    cx_region_finding *left; /* found in what it left alive */
    unsigned left_count, left_capacity;
    bool judged;
    bool runs; /* it outlives the program */
} report_process;

typedef struct report {
    report_options options;
    const char *folder;
    report_process processes[REPORT_PROCESSES]; /* in the order in which they began */
    uint64_t files[REPORT_PROCESSES];           /* hashes of the names of their files, unordered */
    int process_count;
    bool more_processes;            /* than there is room for */
    unsigned unrecorded_processes;  /* for whose files there was no room */
    unsigned counts[CX_KIND_COUNT]; /* of each kind, with those beyond the limit */
    unsigned of_severity[3], suppressed;
} report;

/* Leaves out the kinds of what is alive at the end. */
void report_leave_out_leaks(report_options *options);

/* Chooses the kinds that are told unasked. */
void report_choose_usual(report_options *options);

/* Looks for new processes and new findings, and prints these. */
void report_look(report *self, FILE *out);

/* How the program ended. */
typedef struct report_end {
    int pid;
    bool whole;       /* by itself; else by a signal */
    bool stopped;     /* by a signal that asks it to end, or by --timeout */
    uint64_t time_ns; /* when, by the monotonic clock */
    uint64_t hang_ns; /* calls that had waited for so long are told */
} report_end;

/* The program has ended: judges what is alive, and what still waits. */
void report_judge(report *self, const report_end *end, FILE *out);

void report_summary(const report *self, FILE *out);

/* Writes everything as JSON (docs/check.schema.json). False with errno: it cannot be written. */
bool report_write_json(const report *self, const char *path, char **program, int status);

bool report_write_json_file(const report *self, FILE *out, char **program, int status);
bool report_write_sarif(const report *self, FILE *out);

void report_close(report *self);

/* ---- shared by the text and JSON ---- */

/* True if the finding is to be told: its kind, severity and suppressions. */
bool report_tells(const report *self, const report_process *process,
                  const cx_region_finding *finding);

/* Reads suppressions; prints what is wrong with the file. */
bool report_read_rules(report_options *self, const char *path);

/* The trace of a number, checked: the file is the process's to write. NULL: unknown. */
/* The call of the CUDA Runtime API at that place; NULL: the program called the driver itself. */
const char *report_api(const report_process *process, uint32_t number);

const cx_region_trace *report_trace(const report_process *process, uint32_t number);
const char *report_module(const report_process *process, uint32_t module);

/* The functions of a frame (symbols_find_all). */
int report_names(const report_process *process, const cx_region_frame *frame,
                 place_name out_names[SYMBOLS_INLINED]);

/* True for the note that is the advice of its finding. */
bool report_is_advice(const cx_region_note *note);

/* The advice of a finding: its own, or that of its kind. */
const char *report_advice(const report_process *process, const cx_region_finding *finding);

/* Calls `visit` for each finding that is told, also those beyond the limit. */
void report_each_told(const report *self,
                      void (*visit)(const report_process *process,
                                    const cx_region_finding *finding, void *argument),
                      void *argument);

/* The trace that says best where the finding is: of its call, or of what it is about. */
uint32_t report_trace_of(const cx_region_finding *finding);

/* The program's own innermost place that has a line. False: there is none. */
bool report_place_of(const report_process *process, uint32_t trace, place_name *out_name);
/* The path of its source, without the present folder. */
const char *report_source(const place_name *name);
bool report_place(const report_process *process, const cx_region_finding *finding,
                  place_name *out_name);

/* The finding in a few lines: title, call and result, notes, advice. */
void report_message(const report_process *process, const cx_region_finding *finding, char *text,
                    size_t size);

void report_print_github(const report_process *process, const cx_region_finding *finding,
                         FILE *out);
void report_print(const report_process *process, const cx_region_finding *finding, FILE *out);

/* True if the checker lacked memory in the process: it judged no later call. */
static inline bool report_gave_up(const report_process *process)
{
    return atomic_load(&((cx_region *)(uintptr_t)process->region)->gave_up) != 0;
}

/* Raises a finding about what is alive. */
void report_leave(report_process *process, const cx_region_finding *finding);

/* Looks at the calls of a process that waited when it was ended. */
void report_judge_waits(report_process *process, uint64_t ended, uint64_t least_ns);

/* Looks at the objects that are alive in a process that has ended. */
void report_judge_alive(report_process *process);

#endif
