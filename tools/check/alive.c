/* Objects that a process left alive: LIFE, and parts of PRIMARY and CAPTURE. */
#include "check/report.h"

#include <string.h>

/* The kind that speaks of an object that is left; CX_KIND_COUNT: none does. */
static cx_check_kind kind_of_left(const cx_region_object *object)
{
    static const cx_check_kind kinds[CX_OBJECT_KINDS] = {
        [CX_HANDLE_NONE] = CX_KIND_COUNT,
#define CX_OBJECT_NAME(kind, text, left) [kind] = left,
#include "layer/check/objects.def"
    };
    if (object->kind >= CX_OBJECT_KINDS ||
        (object->kind == CX_HANDLE_CONTEXT && (object->primary || object->made == 0)))
        return CX_KIND_COUNT;
    return kinds[object->kind];
}

/* What the runtime library keeps for the whole process: nobody else can end it. */
static bool is_of_runtime(const report_process *process, const cx_region_object *object)
{
    const char *api = report_api(process, object->made);
    if (api == NULL)
        return false;
    return object->kind == CX_OBJECT_RETAIN ||
           ((object->kind == CX_HANDLE_LIBRARY || object->kind == CX_HANDLE_KERNEL) &&
            strncmp(api, "cudaLibrary", 11) != 0);
}

static void leave(report_process *process, cx_check_kind kind, const cx_region_object *object)
{
    const char *name = object_name(object->kind);
    cx_region_finding finding = {.kind = kind, .slot = -1, .trace = object->made, .note_count = 1};
    cx_region_note *note = &finding.notes[0];
    atomic_store(&finding.count, 1);
    strcpy(note->role, "made");
    note->trace = object->made;
    if (object->bytes != 0)
        snprintf(note->text, sizeof note->text, "%llu bytes of %s",
                 (unsigned long long)object->bytes, name);
    else if (object->device >= 0)
        snprintf(note->text, sizeof note->text, "%s %u of GPU %d", name, object->number,
                 (int)object->device);
    else
        snprintf(note->text, sizeof note->text, "%s %u", name, object->number);
    report_leave(process, &finding);
}

void report_judge_alive(report_process *process)
{
    const cx_region *region = process->region;
    unsigned objects = atomic_load(&((cx_region *)region)->objects);
    if (report_gave_up(process))
        return;
    if (objects > CX_REGION_OBJECTS)
        objects = CX_REGION_OBJECTS;
    for (unsigned i = 0; i < objects; i++) {
        const cx_region_object *object = &region->all_objects[i];
        cx_check_kind kind = kind_of_left(object);
        if (object->kind == CX_HANDLE_CONTEXT && object->primary && !object->worked &&
            object->device >= 0 && cx_region_works_elsewhere(region, object->device))
            leave(process, CX_KIND_PRIMARY_STRAY, object);
        if (kind != CX_KIND_COUNT && !is_of_runtime(process, object) &&
            !(cx_kind_is_leak(kind) && atomic_load(&((cx_region *)region)->stuck) != 0))
            leave(process, kind, object);
    }
}
