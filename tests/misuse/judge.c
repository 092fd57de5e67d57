/*
 * Compares a report of `ctxrt check --json` with what the head of a program of tests/misuse
 * expects.
 *
 *     judge PROGRAM.c REPORT.json STATUS
 *
 * It prints a line for each difference and then exits with 1.
 */
#include "config.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPECTED_MOST = 8, ORIGINS_MOST = 8, WORD = 96 };

typedef struct expected_origin {
    char role[WORD], function[WORD];
} expected_origin;

/* A finding that has to be there. */
typedef struct expected_finding {
    char kind[WORD], at[WORD];
    expected_origin origins[ORIGINS_MOST];
    int origin_count;
    char texts[ORIGINS_MOST][WORD];
    int text_count;
} expected_finding;

typedef struct head {
    expected_finding all[EXPECTED_MOST];
    int count;
    char provoked[WORD]; /* a kind of notes that are right: the program provokes the failure */
    int exit;            /* -1: as the kinds say */
} head;

static int differences;

#define DIFFERS(...) (differences++, printf(__VA_ARGS__), putchar('\n'))

/* ---- the head ---- */

static _Noreturn void give_up(const char *path, const char *why)
{
    printf("%s: %s\n", path, why);
    exit(1);
}

static void take_line(head *self, const char *path, const char *key, const char *value)
{
    expected_finding *last = self->count > 0 ? &self->all[self->count - 1] : NULL;
    if (strcmp(key, "expect") == 0) {
        if (strcmp(value, "nothing") == 0)
            return;
        if (self->count == EXPECTED_MOST)
            give_up(path, "expects too many findings");
        snprintf(self->all[self->count++].kind, WORD, "%s", value);
    } else if (strcmp(key, "at") == 0) {
        if (last == NULL)
            give_up(path, "at: stands before any expect:");
        snprintf(last->at, WORD, "%s", value);
    } else if (strcmp(key, "origin") == 0) {
        if (last == NULL || last->origin_count == ORIGINS_MOST)
            give_up(path, "origin: stands before any expect:, or there are too many");
        expected_origin *origin = &last->origins[last->origin_count++];
        if (sscanf(value, "%95s %95s", origin->role, origin->function) != 2)
            give_up(path, "origin: is ROLE FUNCTION");
    } else if (strcmp(key, "says") == 0) {
        if (last == NULL || last->text_count == ORIGINS_MOST)
            give_up(path, "says: stands before any expect:, or there are too many");
        snprintf(last->texts[last->text_count++], WORD, "%s", value);
    } else if (strcmp(key, "provokes") == 0) {
        snprintf(self->provoked, WORD, "%s", value);
    } else if (strcmp(key, "exit") == 0) {
        self->exit = atoi(value);
    }
}

static void read_head(head *self, const char *path)
{
    char line[512], key[WORD], value[WORD];
    FILE *file = fopen(path, "re");
    if (file == NULL)
        give_up(path, "cannot be read");
    self->exit = -1;
    while (fgets(line, sizeof line, file) != NULL && strncmp(line, " */", 3) != 0)
        if (sscanf(line, " * %95[a-z]: %95[^\n]", key, value) == 2)
            take_line(self, path, key, value);
    (void)fclose(file);
}

/* ---- the report ---- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* The function that made the call of a trace; "-": none. */
static const char *function_of(const json_t *frames)
{
    const char *name = text_of(json_array_get(frames, 0), "function");
    return *name != '\0' ? name : "-";
}

static bool has_origin(const json_t *finding, const expected_origin *wanted)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(finding, "notes"), i, note)
        if (strcmp(text_of(note, "role"), wanted->role) == 0 &&
            strcmp(function_of(json_object_get(note, "where")), wanted->function) == 0)
            return true;
    return false;
}

static bool says(const json_t *finding, const char *text)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(finding, "notes"), i, note)
        if (strstr(text_of(note, "text"), text) != NULL)
            return true;
    return false;
}

static void print_origins(const json_t *finding)
{
    size_t i;
    json_t *note;
    printf("  found at: %s\n", function_of(json_object_get(finding, "at")));
    json_array_foreach(json_object_get(finding, "notes"), i, note)
        printf("  found origin: %s %s (%s)\n", text_of(note, "role"),
               function_of(json_object_get(note, "where")), text_of(note, "text"));
}

/* Without libdw there are no names of functions to compare. */
#ifdef HAVE_LIBDW
static const bool names_functions = true;
#else
static const bool names_functions = false;
#endif

static bool fits(const json_t *finding, const expected_finding *wanted)
{
    if (strcmp(text_of(finding, "kind"), wanted->kind) != 0)
        return false;
    for (int i = 0; i < wanted->text_count; i++)
        if (!says(finding, wanted->texts[i]))
            return false;
    if (!names_functions)
        return true;
    if (wanted->at[0] != '\0' &&
        strcmp(function_of(json_object_get(finding, "at")), wanted->at) != 0)
        return false;
    for (int i = 0; i < wanted->origin_count; i++)
        if (!has_origin(finding, &wanted->origins[i]))
            return false;
    return true;
}

static const json_t *find(const json_t *findings, const expected_finding *wanted)
{
    size_t i;
    json_t *finding;
    json_array_foreach(findings, i, finding)
        if (fits(finding, wanted))
            return finding;
    return NULL;
}

static bool is_expected(const head *self, const char *kind)
{
    for (int i = 0; i < self->count; i++)
        if (strcmp(self->all[i].kind, kind) == 0)
            return true;
    return false;
}

/* A program with a misuse may have notes besides; its clean twin has nothing at all. */
static void compare_findings(const head *self, const json_t *findings)
{
    size_t i;
    json_t *finding;
    for (int j = 0; j < self->count; j++)
        if (find(findings, &self->all[j]) == NULL)
            DIFFERS("%s was not found from these places", self->all[j].kind);
    json_array_foreach(findings, i, finding)
        if (!is_expected(self, text_of(finding, "kind")) &&
            ((self->count == 0 && strcmp(text_of(finding, "kind"), self->provoked) != 0) ||
             strcmp(text_of(finding, "severity"), "note") != 0))
            DIFFERS("%s is not expected", text_of(finding, "kind"));
    json_array_foreach(findings, i, finding)
        if (differences != 0) {
            printf("found %s: %s\n", text_of(finding, "kind"), text_of(finding, "call"));
            print_origins(finding);
        }
}

static int expected_status(const head *self, const json_t *findings)
{
    size_t i;
    json_t *finding;
    if (self->exit >= 0)
        return self->exit;
    json_array_foreach(findings, i, finding)
        if (is_expected(self, text_of(finding, "kind")) &&
            strcmp(text_of(finding, "severity"), "error") == 0)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static head expected;
    json_error_t error;
    if (argc != 4)
        give_up(argv[0], "PROGRAM.c REPORT.json STATUS");
    read_head(&expected, argv[1]);
    json_t *report = json_load_file(argv[2], 0, &error);
    if (report == NULL)
        give_up(argv[2], error.text);
    const json_t *findings = json_object_get(report, "findings");
    if (!json_is_array(findings))
        give_up(argv[2], "it has no findings");
    compare_findings(&expected, findings);
    if (atoi(argv[3]) != expected_status(&expected, findings))
        DIFFERS("the exit status is %s, expected is %d", argv[3],
                expected_status(&expected, findings));
    json_decref(report);
    return differences != 0;
}
