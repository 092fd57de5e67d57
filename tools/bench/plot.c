#include "bench/plot.h"

#include "command.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS_MAX = 8 };

/* The figures of a row that are drawn. */
typedef struct columns {
    const char *keys[COLUMNS_MAX];
    int count;
} columns;

bool plot_find_gnuplot(char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders != '\0') {
        size_t length = strcspn(folders, ":");
        if (length > 0 &&
            snprintf(path, PATH_MAX, "%.*s/gnuplot", (int)length, folders) < PATH_MAX &&
            access(path, X_OK) == 0)
            return true;
        folders += folders[length] == ':' ? length + 1 : length;
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The best times of both sides, where a table has those; else every figure. */
static columns choose_columns(json_t *row)
{
    columns best = {.count = 0}, all = {.count = 0};
    const char *key;
    json_t *value;
    json_object_foreach(row, key, value) {
        if (!json_is_number(value))
            continue;
        if (all.count < COLUMNS_MAX)
            all.keys[all.count++] = key;
        if (ends_with(key, "_best_ns") && strcmp(key, "added_best_ns") != 0 &&
            best.count < COLUMNS_MAX)
            best.keys[best.count++] = key;
    }
    return best.count > 0 ? best : all;
}

/* A row for each line of the plot: its name in quotes, and its figures. */
static void write_rows(json_t *rows, const columns *chosen, FILE *to)
{
    size_t i;
    json_t *row;
    fprintf(to, "$rows << end_of_rows\nname");
    for (int c = 0; c < chosen->count; c++)
        fprintf(to, " %s", chosen->keys[c]);
    fprintf(to, "\n");
    json_array_foreach(rows, i, row) {
        const char *name = json_string_value(json_object_get(row, "name"));
        fprintf(to, "\"%s\"", name != NULL ? name : "");
        for (int c = 0; c < chosen->count; c++) {
            json_t *value = json_object_get(row, chosen->keys[c]);
            if (json_is_number(value))
                fprintf(to, " %g", json_number_value(value));
            else
                fprintf(to, " NaN");
        }
        fprintf(to, "\n");
    }
    fprintf(to, "end_of_rows\n");
}

static void write_script(const char *title, json_t *rows, const char *file, FILE *to)
{
    const columns chosen = choose_columns(json_array_get(rows, 0));
    write_rows(rows, &chosen, to);
    fprintf(to,
            "set terminal svg size 900,480 background rgb 'white'\nset output '%s'\n"
            "set title '%s' noenhanced\nset style data histograms\nset style fill solid 0.8\n"
            "set logscale y\nset grid y\nset key top left noenhanced\n"
            "set xtics rotate by -30 noenhanced\nset auto x\n"
            "plot for [i=2:%d] $rows using i:xtic(1) title columnheader(i)\n",
            file, title, chosen.count + 1);
}

static int draw_rows(const char *command, const char *title, json_t *rows, const char *file)
{
    FILE *gnuplot = popen("exec gnuplot", "we");
    if (gnuplot == NULL)
        return command_error(command, COMMAND_FAILED, "cannot run gnuplot: %s", strerror(errno));
    write_script(title, rows, file, gnuplot);
    return pclose(gnuplot) == 0
               ? COMMAND_GOOD
               : command_error(command, COMMAND_FAILED, "gnuplot could not draw %s", file);
}

int plot_draw(const char *command, FILE *json, const char *file)
{
    json_t *all = json_loadf(json, 0, NULL);
    json_t *table = json_array_get(json_object_get(all, "tables"), 0);
    json_t *rows = json_object_get(table, "rows");
    const char *bench = json_string_value(json_object_get(all, "bench"));
    const char *name = json_string_value(json_object_get(table, "table"));
    char title[128];
    int status;
    if (json_array_size(rows) == 0) {
        status = command_error(command, COMMAND_FAILED, "there are no figures to draw");
    } else {
        snprintf(title, sizeof title, "ctxrt bench %s: %s", bench != NULL ? bench : "",
                 name != NULL ? name : "");
        status = draw_rows(command, title, rows, file);
    }
    json_decref(all);
    return status;
}
