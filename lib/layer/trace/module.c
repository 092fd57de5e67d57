#include "config.h"
#include "layer/module_file.h"
#include "layer/trace/thread.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static bool is_known(const cx_trace_thread *self, uintptr_t begin)
{
    for (int i = 0; i < CX_TRACE_MODULES; i++)
        if (self->modules[i].begin == begin)
            return true;
    return false;
}

/* The range and the path of the module that has the address. Takes no lock. */
static bool find(uintptr_t address, cx_trace_range *out_range, const char **out_path)
{
#ifdef HAVE__DL_FIND_OBJECT
    struct dl_find_object found;
    if (_dl_find_object((void *)address, &found) != 0)
        return false;
    *out_range = (cx_trace_range){(uintptr_t)found.dlfo_map_start,
                                  (uintptr_t)found.dlfo_map_end - (uintptr_t)found.dlfo_map_start};
    *out_path = found.dlfo_link_map->l_name;
    return true;
#else
    (void)address, (void)out_range, (void)out_path;
    return false;
#endif
}

/* Code without a module, as that of a compiler at run time, is looked for each time. */
void cx_trace_module_note(cx_trace_thread *self, uintptr_t caller)
{
    cx_trace_range range;
    const char *path;
    if (!find(caller, &range, &path))
        return;
    self->module = range;
    if (is_known(self, range.begin))
        return;
    cx_trace_record *record = cx_trace_take(self, sizeof(cx_trace_module));
    if (record == NULL)
        return;
    cx_trace_module *module = (cx_trace_module *)record;
    module->record = (cx_trace_record){sizeof *module, CX_TRACE_MODULE, 0};
    module->begin = range.begin;
    module->end = range.begin + range.bytes;
    if (*path == '\0' || *path == '/' ||
        !cx_module_file_path((const void *)caller, module->path, sizeof module->path))
        (void)strncpy(module->path, path, sizeof module->path - 1);
    self->modules[self->module_turn++ % CX_TRACE_MODULES] = range;
}
