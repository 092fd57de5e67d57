#include "play/names.h"

#include <stdlib.h>
#include <string.h>
/* Memory that runs out is reported and does not exit. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(entry) ((entry)->lost = true)
#include <uthash.h>

typedef struct entry {
    const char *name;
    cx_kind kind;
    cx_thread_name thread;
    bool lost;
    UT_hash_handle hh;
} entry;

struct cx_names {
    entry *things, *values, *threads;
};

cx_names *cx_names_create(void)
{
    return calloc(1, sizeof(cx_names));
}

static void clear_table(entry **table)
{
    entry *each, *next;
    HASH_ITER (hh, *table, each, next) {
        HASH_DEL(*table, each);
        free(each);
    }
}

void cx_names_destroy(cx_names *names)
{
    if (names == NULL)
        return;
    clear_table(&names->things);
    clear_table(&names->values);
    clear_table(&names->threads);
    free(names);
}

static entry *find_entry(entry *table, const char *name)
{
    entry *found;
    HASH_FIND_STR(table, name, found);
    return found;
}

static entry *find_or_add(entry **table, const char *name)
{
    entry *found = find_entry(*table, name);
    if (found != NULL)
        return found;
    found = calloc(1, sizeof *found);
    if (found == NULL)
        return NULL;
    found->name = found->thread.name = name;
    HASH_ADD_KEYPTR(hh, *table, found->name, strlen(name), found);
    if (!found->lost)
        return found;
    free(found);
    return NULL;
}

bool cx_names_declare(cx_names *names, const char *name, cx_kind kind)
{
    entry *thing = find_or_add(&names->things, name);
    if (thing != NULL)
        thing->kind = kind;
    return thing != NULL;
}

bool cx_names_kind(const cx_names *names, const char *name, cx_kind *out_kind)
{
    const entry *thing = find_entry(names->things, name);
    if (thing != NULL)
        *out_kind = thing->kind;
    return thing != NULL;
}

bool cx_names_carry(cx_names *to, const cx_names *from, cx_kind kind)
{
    for (const entry *each = from->things; each != NULL; each = each->hh.next)
        if (each->kind == kind && !cx_names_declare(to, each->name, kind))
            return false;
    return true;
}

bool cx_names_see(cx_names *names, const char *name)
{
    return find_or_add(&names->values, name) != NULL;
}

bool cx_names_seen(const cx_names *names, const char *name)
{
    return find_entry(names->values, name) != NULL;
}

cx_thread_name *cx_names_thread(cx_names *names, const char *name)
{
    entry *thread = find_or_add(&names->threads, name);
    return thread != NULL ? &thread->thread : NULL;
}

const cx_thread_name *cx_names_begun(const cx_names *names)
{
    for (const entry *each = names->threads; each != NULL; each = each->hh.next)
        if (each->thread.begun != NULL)
            return &each->thread;
    return NULL;
}
