#include "shim/exports.h"

#include "shim/shim.h"

#include <stddef.h>
#include <string.h>

/* This unit needs only the addresses; the signatures stand with the definitions. */
#define CX_EXPORT(name, suffix, ending, since) void name##suffix##ending(void);
#include "shim/exports.def"

typedef struct export_row {
    const char *name;
    const char *suffix;
    int since;
    bool per_thread;
    void (*function)(void);
} export_row;

static const export_row exports[] = {
#define CX_EXPORT(name, suffix, ending, since) \
    {#name, #suffix, since, sizeof #ending > 1, name##suffix##ending},
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
