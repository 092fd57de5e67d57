#include "shim/exports.h"

#include "shim/shim.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* This unit needs only the addresses; the signatures stand with the definitions. */
#define CX_EXPORT(name, suffix, ending, since) void name##suffix##ending(void);
#include "shim/exports.def"

typedef struct export_row {
    const char *name;
    const char *suffix;
    const char *ending;
    int since;
    bool per_thread;
    void (*function)(void);
} export_row;

static const export_row exports[] = {
#define CX_EXPORT(name, suffix, ending, since) \
    {#name, #suffix, #ending, since, sizeof #ending > 1, name##suffix##ending},
#include "shim/exports.def"
};

cx_shim_query cx_shim_find(const char *name, int version, bool per_thread,
                           void (**out_function)(void))
{
    const export_row *best = NULL;
    cx_shim_query status = CX_SHIM_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < sizeof exports / sizeof exports[0]; i++) {
        const export_row *row = &exports[i];
        if (row->since > cx_shim_version || strcmp(row->name, name) != 0)
            continue;
        if (row->since > version) {
            status = CX_SHIM_VERSION_NOT_SUFFICIENT;
            continue;
        }
        if (row->per_thread && !per_thread)
            continue;
        int order = best == NULL ? 1 : strcmp(row->suffix, best->suffix);
        if (order > 0 || (order == 0 && row->per_thread))
            best = row;
    }
    if (best == NULL)
        return status;
    *out_function = best->function;
    return CX_SHIM_FOUND;
}

/* ---- in front of another library ---- */

static const char *const not_in_front[] = {
    "cuGetExportTable",
#define CX_UNSERVED(symbol) #symbol,
#include "lib/shim/unserved.def"
};

static bool is_in_table(const export_row *row)
{
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s%s%s", row->name, row->suffix, row->ending);
    for (size_t i = 0; i < sizeof not_in_front / sizeof not_in_front[0]; i++)
        if (strcmp(not_in_front[i], symbol) == 0)
            return false;
    return true;
}

/* The rows of a name are in the order of their versions. */
static const export_row *find_row(const char *name, int version, bool per_thread,
                                  cx_shim_is_it *is_it, const void *question)
{
    for (size_t i = sizeof exports / sizeof exports[0]; i-- > 0;)
        if (exports[i].per_thread == per_thread && exports[i].since <= version &&
            strcmp(exports[i].name, name) == 0 && is_it(exports[i].since, question))
            return &exports[i];
    return NULL;
}

cx_shim_function cx_shim_find_in_front(const char *name, int version, bool per_thread,
                                       cx_shim_is_it *is_it, const void *question)
{
    const export_row *row = NULL;
    if (per_thread)
        row = find_row(name, version, true, is_it, question);
    if (row == NULL)
        row = find_row(name, version, false, is_it, question);
    return row != NULL && is_in_table(row) ? row->function : NULL;
}
