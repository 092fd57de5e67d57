#include "lesson/findings.h"

#include "lesson/checks.h"
#include "lesson/language.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static const char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The first place of a backtrace that is in the student's file; NULL: there is none. */
static const json_t *place_in(const json_t *frames, const char *file)
{
    size_t index;
    json_t *frame;
    json_array_foreach(frames, index, frame) if (strcmp(name_of_file(text_of(frame, "file")),
                                                        name_of_file(file)) == 0) return frame;
    return NULL;
}

static void print_place(const char *before, const json_t *place)
{
    if (place != NULL)
        fprintf(stderr, lesson_tr("%sline %d, in %s()"), before,
                (int)json_integer_value(json_object_get(place, "line")),
                text_of(place, "function"));
}

static void print_finding(const json_t *finding, const char *file, const lesson *of)
{
    const char *call = text_of(finding, "call"),
               *hint = lesson_hint_for(of, text_of(finding, "kind"));
    size_t index;
    json_t *note;
    fprintf(stderr, "  ctxrt check: %s: %s", text_of(finding, "kind"), text_of(finding, "title"));
    if (*call != '\0')
        fprintf(stderr, lesson_tr("; call %s"), call);
    print_place(": ", place_in(json_object_get(finding, "at"), file));
    fprintf(stderr, "\n");
    json_array_foreach(json_object_get(finding, "notes"), index, note)
    {
        const json_t *place = place_in(json_object_get(note, "where"), file);
        if (place == NULL)
            continue;
        fprintf(stderr, "    %s", text_of(note, "role"));
        print_place(": ", place);
        fprintf(stderr, "\n");
    }
    check_hint(hint != NULL ? hint : text_of(finding, "advice"));
}

int findings_count(const char *report)
{
    json_t *all = json_load_file(report, 0, NULL);
    const json_t *findings = json_object_get(all, "findings");
    int count = json_is_array(findings) ? (int)json_array_size(findings) : FINDINGS_NONE_READ;
    json_decref(all);
    return count;
}

static bool is_chosen(const json_t *finding, const lesson *of, findings_choice choice)
{
    if (choice == FINDINGS_ERRORS)
        return strcmp(text_of(finding, "severity"), "error") == 0;
    return choice == FINDINGS_ALL || lesson_hint_for(of, text_of(finding, "kind")) != NULL;
}

void findings_print(const char *report, const char *file, const lesson *of, findings_choice choice)
{
    enum { PRINTED_MOST = 4 };
    int printed = 0;
    json_t *all = json_load_file(report, 0, NULL);
    const json_t *findings = json_object_get(all, "findings");
    for (size_t i = 0; i < json_array_size(findings) && printed < PRINTED_MOST; i++) {
        const json_t *finding = json_array_get(findings, i);
        if (!is_chosen(finding, of, choice))
            continue;
        print_finding(finding, file, of);
        printed++;
    }
    json_decref(all);
}
