/*
 * timeline FILE says whether a file obeys the Trace Event Format: slices of a track nest, arrows
 * have two ends within slices of calls or work, counters do not go back in time. Prints how many
 * events of each category it has.
 */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CATEGORIES = 16 };

typedef struct event {
    const json_t *json;
    const char *phase, *name, *category;
    long long pid, tid, start, end; /* half ns */
    unsigned long long id;
} event;

static event *all;
static size_t count;
static int wrong;

static void complain(const event *at, const char *what)
{
    printf("%s '%s' at %lld ns: %s\n", at->phase, at->name, at->start / 2, what);
    wrong++;
}

static long long half_nanoseconds(const json_t *number)
{
    return llround(json_number_value(number) * 2000);
}

static const char *text_or(const json_t *object, const char *key, const char *other)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : other;
}

static bool is_phase(const char *phase)
{
    return strlen(phase) == 1 && strchr("XMCsfi", *phase) != NULL;
}

static void read_event(event *to, const json_t *from)
{
    const json_t *ts = json_object_get(from, "ts"), *dur = json_object_get(from, "dur");
    *to = (event){.json = from,
                  .phase = text_or(from, "ph", "?"),
                  .name = text_or(from, "name", ""),
                  .category = text_or(from, "cat", "none"),
                  .pid = json_integer_value(json_object_get(from, "pid")),
                  .tid = json_integer_value(json_object_get(from, "tid")),
                  .start = half_nanoseconds(ts),
                  .id = (unsigned long long)json_integer_value(json_object_get(from, "id"))};
    to->end = to->start + half_nanoseconds(dur);
    if (!is_phase(to->phase))
        complain(to, "its phase is none of X, M, C, s, f and i");
    if (*to->name == '\0')
        complain(to, "it has no name");
    if (!json_is_integer(json_object_get(from, "pid")) ||
        !json_is_integer(json_object_get(from, "tid")))
        complain(to, "it has no pid or no tid");
    if (*to->phase != 'M' && (!json_is_number(ts) || to->start < 0))
        complain(to, "it has no time");
    if (*to->phase == 'X' && (!json_is_number(dur) || to->end < to->start))
        complain(to, "it has no duration");
}

/* ---- slices ---- */

static int by_track(const void *one, const void *other)
{
    const event *first = one, *second = other;
    if (first->pid != second->pid)
        return first->pid < second->pid ? -1 : 1;
    if (first->tid != second->tid)
        return first->tid < second->tid ? -1 : 1;
    if (first->start != second->start)
        return first->start < second->start ? -1 : 1;
    return (first->end < second->end) - (first->end > second->end);
}

static bool is_slice(const event *one)
{
    return *one->phase == 'X';
}

static bool same_track(const event *one, const event *other)
{
    return one->pid == other->pid && one->tid == other->tid;
}

/* The events are in the order of by_track. */
static void check_nesting(void)
{
    const event **open = calloc(count + 1, sizeof *open);
    size_t depth = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_slice(&all[i]))
            continue;
        while (depth > 0 &&
               (!same_track(open[depth - 1], &all[i]) || open[depth - 1]->end <= all[i].start))
            depth--;
        if (depth > 0 && open[depth - 1]->end < all[i].end)
            complain(&all[i], "it overlaps a slice that it is not within");
        open[depth++] = &all[i];
    }
    free(open);
}

static bool has_name(const event *track)
{
    for (size_t i = 0; i < count; i++)
        if (*all[i].phase == 'M' && strcmp(all[i].name, "thread_name") == 0 &&
            same_track(&all[i], track))
            return true;
    return false;
}

static void check_names(void)
{
    for (size_t i = 0; i < count; i++)
        if (is_slice(&all[i]) && (i == 0 || !is_slice(&all[i - 1]) ||
                                  !same_track(&all[i - 1], &all[i])) && !has_name(&all[i]))
            complain(&all[i], "its track has no name");
}

/* ---- arrows and counters ---- */

/* The first and the last moment of a slice may be another slice's, too. */
static bool is_within(const event *end, const event *slice)
{
    return slice->start == slice->end ? end->start == slice->start
                                      : end->start > slice->start && end->start < slice->end;
}

static bool is_on_slice(const event *end)
{
    for (size_t i = 0; i < count; i++)
        if (is_slice(&all[i]) && strcmp(all[i].category, "context") != 0 &&
            same_track(&all[i], end) && is_within(end, &all[i]))
            return true;
    return false;
}

static int ends_of(const event *begin, const event **out_end)
{
    int ends = 0;
    for (size_t i = 0; i < count; i++)
        if (*all[i].phase == 'f' && all[i].id == begin->id) {
            *out_end = &all[i];
            ends++;
        } else if (*all[i].phase == 's' && all[i].id == begin->id && &all[i] != begin) {
            ends = 2;
        }
    return ends;
}

static void check_arrow(const event *begin)
{
    const event *end = NULL;
    if (ends_of(begin, &end) != 1) {
        complain(begin, "the arrow has not two ends");
        return;
    }
    if (strcmp(begin->category, end->category) != 0 || strcmp(begin->name, end->name) != 0)
        complain(begin, "the ends of the arrow differ");
    if (end->start < begin->start)
        complain(begin, "the arrow goes back in time");
    if (!is_on_slice(begin) || !is_on_slice(end))
        complain(begin, "an end of the arrow is within no slice of a call or of work");
    if (strcmp(text_or(end->json, "bp", ""), "e") != 0)
        complain(end, "it binds to the next slice");
}

static void check_arrows(void)
{
    long begins = 0, ends = 0;
    for (size_t i = 0; i < count; i++) {
        ends += *all[i].phase == 'f';
        if (*all[i].phase != 's')
            continue;
        begins++;
        check_arrow(&all[i]);
    }
    if (begins != ends)
        complain(&all[0], "arrows have different numbers of begins and ends");
}

/* In the order of the file. */
static void check_counters(const event *in_file)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; *in_file[i].phase == 'C' && j < count; j++)
            if (*in_file[j].phase == 'C' && strcmp(in_file[i].name, in_file[j].name) == 0) {
                if (in_file[j].start < in_file[i].start)
                    complain(&in_file[j], "the counter goes back in time");
                break;
            }
}

/* ---- counts ---- */

static void print_counts(void)
{
    const char *names[CATEGORIES];
    long counts[CATEGORIES] = {0};
    int used = 0;
    for (size_t i = 0; i < count; i++) {
        char phase = *all[i].phase;
        if (phase == 'M' || phase == 'f')
            continue;
        const char *name = phase == 'C' ? "counter" : phase == 's' ? "arrow" : all[i].category;
        int at = 0;
        while (at < used && strcmp(names[at], name) != 0)
            at++;
        if (at == used && used < CATEGORIES)
            names[used++] = name;
        if (at < used)
            counts[at]++;
    }
    for (int i = 0; i < used; i++)
        printf("%s %ld\n", names[i], counts[i]);
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *root = argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;
    const json_t *events = json_object_get(root, "traceEvents");
    if (!json_is_array(events)) {
        printf("no trace: %s\n", root == NULL ? error.text : "there are no traceEvents");
        return 1;
    }
    count = json_array_size(events);
    all = calloc(count + 1, sizeof *all);
    event *in_file = calloc(count + 1, sizeof *in_file);
    for (size_t i = 0; i < count; i++)
        read_event(&all[i], json_array_get(events, i));
    memcpy(in_file, all, count * sizeof *all);
    check_counters(in_file);
    qsort(all, count, sizeof *all, by_track);
    check_nesting();
    check_names();
    check_arrows();
    print_counts();
    free(all);
    free(in_file);
    json_decref(root);
    return wrong != 0;
}
