#include "compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 4 * 1024 * 1024, VALUE_MAX = 400 };

struct observation {
    const char *name, *value;
};

struct recording {
    const char *path;
    char *text;
    struct observation *observations;
    size_t count;
};

static _Bool fail(const struct recording *recording, size_t line, const char *what)
{
    if (line == 0)
        fprintf(stderr, "probe: %s: %s\n", recording->path, what);
    else
        fprintf(stderr, "probe: %s:%zu: %s\n", recording->path, line, what);
    return 0;
}

static _Bool read_text(struct recording *recording)
{
    FILE *file = fopen(recording->path, "r");
    if (file == NULL)
        return fail(recording, 0, "cannot be opened");
    recording->text = malloc(FILE_MAX + 1);
    size_t length = recording->text != NULL ? fread(recording->text, 1, FILE_MAX + 1, file) : 0;
    _Bool good = recording->text != NULL && !ferror(file);
    fclose(file);
    if (!good)
        return fail(recording, 0, "cannot be read");
    if (length > FILE_MAX)
        return fail(recording, 0, "is too long for a recording");
    recording->text[length] = '\0';
    if (strlen(recording->text) != length)
        return fail(recording, 0, "has a zero byte");
    if (length > 0 && recording->text[length - 1] != '\n')
        return fail(recording, 0, "ends in the middle of a line");
    return 1;
}

static _Bool is_name(const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
    return name[0] != '\0' && name[strspn(name, allowed)] == '\0' && strchr(name, '.') != NULL;
}

static const char *value_of(const struct recording *recording, const char *name)
{
    for (size_t i = 0; i < recording->count; i++)
        if (strcmp(recording->observations[i].name, name) == 0)
            return recording->observations[i].value;
    return NULL;
}

static _Bool add_line(struct recording *recording, char *line, size_t number)
{
    if (line[0] == '\0' || line[0] == '#')
        return 1;
    char *value = strstr(line, " = ");
    if (value == NULL)
        return fail(recording, number, "is not 'NAME = VALUE'");
    *value = '\0';
    value += 3;
    if (!is_name(line))
        return fail(recording, number, "has no observation's name before the '='");
    if (value[0] == '\0' || strlen(value) > VALUE_MAX)
        return fail(recording, number, "has no value, or too long a one");
    for (const char *c = value; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return fail(recording, number, "has a control character");
    if (value_of(recording, line) != NULL)
        return fail(recording, number, "repeats an observation");
    recording->observations[recording->count++] = (struct observation){line, value};
    return 1;
}

static _Bool load(struct recording *recording)
{
    size_t lines = 0, number = 0;
    if (!read_text(recording))
        return 0;
    for (const char *c = recording->text; *c != '\0'; c++)
        lines += *c == '\n';
    recording->observations = calloc(lines + 1, sizeof *recording->observations);
    if (recording->observations == NULL)
        return fail(recording, 0, "is too long for the memory there is");
    for (char *line = recording->text, *next; *line != '\0'; line = next) {
        next = strchr(line, '\n');
        *next++ = '\0';
        if (!add_line(recording, line, ++number))
            return 0;
    }
    return recording->count > 0 ? 1 : fail(recording, 0, "has no observations");
}

static size_t wider(size_t width, const char *text)
{
    size_t length = text == NULL ? 1 : strlen(text);
    return length > width ? length : width;
}

struct table {
    size_t name_width, first_width;
    int rows;
    _Bool print;
};

static void row(struct table *table, const char *name, const char *first, const char *second)
{
    if (first != NULL && second != NULL && strcmp(first, second) == 0)
        return;
    table->rows++;
    if (table->print) {
        printf("%-*s  %-*s  %s\n", (int)table->name_width, name, (int)table->first_width,
               first == NULL ? "-" : first, second == NULL ? "-" : second);
        return;
    }
    table->name_width = wider(table->name_width, name);
    table->first_width = wider(table->first_width, first);
}

static void rows(struct table *table, const struct recording *first, const struct recording *second)
{
    for (size_t i = 0; i < first->count; i++) {
        const char *name = first->observations[i].name;
        row(table, name, first->observations[i].value, value_of(second, name));
    }
    for (size_t i = 0; i < second->count; i++) {
        const char *name = second->observations[i].name;
        if (value_of(first, name) == NULL)
            row(table, name, NULL, second->observations[i].value);
    }
}

int compare(const char *first_path, const char *second_path)
{
    struct recording first = {.path = first_path}, second = {.path = second_path};
    int status = 2;
    if (load(&first) && load(&second)) {
        struct table table = {.name_width = 4};
        table.first_width = wider(1, first_path);
        rows(&table, &first, &second);
        status = table.rows == 0 ? 0 : 1;
        if (status == 1) {
            printf("%-*s  %-*s  %s\n", (int)table.name_width, "NAME", (int)table.first_width,
                   first_path, second_path);
            table.print = 1;
            rows(&table, &first, &second);
        }
    }
    free(first.observations);
    free(first.text);
    free(second.observations);
    free(second.text);
    return status;
}
