#include "trace/origins.h"

#include "check/symbols.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Processes may have different code at one address. */
typedef struct place {
    const trace_process *process;
    uint64_t caller;
} place;

typedef struct origin {
    place place;
    char *text;
    UT_hash_handle hh;
} origin;

static origin *origins;

static const cx_trace_module *find_module(const trace_process *self, uint64_t caller)
{
    for (size_t i = self->module_count; i-- > 0;)
        if (caller >= self->modules[i]->begin && caller < self->modules[i]->end)
            return self->modules[i];
    return NULL;
}

/* A return address is behind the call. */
static void describe(const trace_process *self, uint64_t caller, char *text, size_t size)
{
    const cx_trace_module *module = find_module(self, caller);
    place_name name;
    *text = '\0';
    if (module == NULL)
        return;
    const char *path = module->path[0] != '\0' ? module->path : self->head->program;
    const uint64_t offset = caller - 1 - module->begin;
    symbols_find((symbols_module){.path = path}, offset, &name);
    int used = name.path[0] != '\0'
                   ? snprintf(text, size, "%s:%d", place_file(&name), name.line)
                   : snprintf(text, size, "%s+0x%" PRIx64, trace_file_name(path), offset);
    if (name.function[0] != '\0' && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, " in %s%s", name.readable,
                 place_parentheses(&name));
}

static origin *make_origin(const trace_process *self, const place *of)
{
    char text[TRACE_ORIGIN];
    origin *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    describe(self, of->caller, text, sizeof text);
    made->place = *of;
    made->text = strdup(text);
    if (made->text == NULL) {
        free(made);
        return NULL;
    }
    HASH_ADD(hh, origins, place, sizeof made->place, made);
    return made;
}

const char *trace_origin_text(const trace_process *self, const cx_trace_call *call)
{
    origin *found;
    const place of = {self, call->caller};
    HASH_FIND(hh, origins, &of, sizeof of, found);
    if (found == NULL)
        found = make_origin(self, &of);
    return found != NULL ? found->text : "";
}

void trace_origins_close(void)
{
    origin *one, *next;
    HASH_ITER(hh, origins, one, next)
    {
        HASH_DEL(origins, one);
        free(one->text);
        free(one);
    }
}
