#include "differences.h"

#include "play/rule.h"


#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text)
{
    size_t length = 0;
    while ((unsigned char)text[length] >= ' ')
        length++;
    return strndup(text, length);
}

void differences_add(differences *self, const char *rule, const char *where, const char *first,
                     const char *second)
{
    if (self->count == self->room) {
        size_t room = self->room * 2 + 64;
        difference *rows = reallocarray(self->rows, room, sizeof *rows);
        if (rows == NULL) {
            self->failed = true;
            return;
        }
        self->rows = rows;
        self->room = room;
    }
    difference *row = &self->rows[self->count++];
    *row = (difference){copy(rule), copy(where), copy(first), copy(second)};
    if (row->rule == NULL || row->where == NULL || row->first == NULL || row->second == NULL)
        self->failed = true;
}

void differences_free(differences *self)
{
    for (size_t i = 0; i < self->count; i++) {
        free(self->rows[i].rule);
        free(self->rows[i].where);
        free(self->rows[i].first);
        free(self->rows[i].second);
    }
    free(self->rows);
}

typedef struct widths {
    int where, first;
} widths;

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static bool is_known(const char *id)
{
    for (size_t i = 0; i < all_rules_count; i++)
        if (strcmp(all_rules[i].id, id) == 0)
            return true;
    return false;
}

/* Rows of one rule, or with NULL those of no rule. */
static void print_rows(const differences *self, const driver_rule *of, widths width)
{
    bool titled = false;
    for (size_t i = 0; i < self->count; i++) {
        const difference *row = &self->rows[i];
        if (of != NULL ? strcmp(row->rule, of->id) != 0 : is_known(row->rule))
            continue;
        if (!titled && of != NULL)
            printf("%s [%s] %s\n", of->id, of->evidence, of->text);
        else if (!titled)
            printf("Choices where the rules are silent\n");
        titled = true;
        printf("  %-*s  %-*s  %s\n", width.where, row->where, width.first, row->first, row->second);
    }
}

void differences_print(const differences *self, const char *first_title, const char *second_title)
{
    widths width = {4, wider(1, first_title)};
    for (size_t i = 0; i < self->count; i++) {
        width.where = wider(width.where, self->rows[i].where);
        width.first = wider(width.first, self->rows[i].first);
    }
    printf("  %-*s  %-*s  %s\n", width.where, "", width.first, first_title, second_title);
    for (size_t i = 0; i < all_rules_count; i++)
        print_rows(self, &all_rules[i], width);
    print_rows(self, NULL, width);
}
