#include "layer/check/object.h"

#include "layer/check/thread.h"
#include "layer/names.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENDED_MOST = 4096 };

static cx_object *objects; /* of handles; captures and retains are in it under keys of their own */
static void *memory;       /* a tree of live memory by address */
static uint32_t last_numbers[CX_OBJECT_KINDS];
static uint32_t ended_count;
static uint64_t turn;
static cx_object *oldest, *newest;
static cx_object *kept_objects; /* contexts and modules that have ended */
static uintptr_t ended_begin = UINTPTR_MAX, ended_end; /* bounds of all memory that has ended */

/* ---- records in the region ---- */

static uint32_t free_records[1024];
static unsigned free_count;

static uint32_t take_record(void)
{
    cx_region *region = cx_region_here;
    if (free_count > 0)
        return free_records[--free_count];
    uint32_t record = atomic_load(&region->objects);
    if (!cx_region_has_room(CX_REGION_ALL_OBJECTS, record)) {
        atomic_fetch_add(&region->unrecorded, 1);
        return CX_REGION_OBJECTS;
    }
    atomic_store(&region->objects, record + 1);
    return record;
}

static cx_region_object *record_of(const cx_object *object)
{
    return object->record != CX_REGION_OBJECTS ? &cx_region_here->all_objects[object->record]
                                               : NULL;
}

static void fill_record(const cx_object *object)
{
    cx_region_object *record = record_of(object);
    if (record == NULL)
        return;
    record->number = object->number;
    record->device = object->device >= 0 ? cx_layer_gpu(object->device) : -1;
    record->made = object->made;
    record->bytes = object->bytes;
    record->context = object->context != NULL ? object->context->number : 0;
    record->worked = object->worked;
    record->primary = object->primary;
    __atomic_store_n(&record->kind, object->key.kind, __ATOMIC_RELEASE);
}

/* A record that no list of free ones takes stays empty. */
static void drop_record(cx_object *object)
{
    cx_region_object *record = record_of(object);
    if (record == NULL)
        return;
    record->kind = 0;
    if (free_count < sizeof free_records / sizeof *free_records)
        free_records[free_count++] = object->record;
    object->record = CX_REGION_OBJECTS;
}

static void forget_record(cx_object *object)
{
    object->met = true;
    object->record = CX_REGION_OBJECTS;
}

static void forget_node(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if (visit == postorder || visit == leaf)
        forget_record(*(cx_object *const *)node);
}

void cx_objects_fork(void)
{
    free_count = 0;
    for (cx_object *object = objects; object != NULL; object = object->hh.next)
        forget_record(object);
    twalk(memory, forget_node);
}

/* ---- finding ---- */

static cx_object_key key_of(uint32_t kind, uintptr_t value)
{
    return (cx_object_key){.value = value, .kind = kind};
}

cx_object *cx_object_find(uint32_t kind, uintptr_t value)
{
    cx_object *found;
    const cx_object_key key = key_of(kind, value);
    HASH_FIND(hh, objects, &key, sizeof key, found);
    return found;
}

cx_object *cx_object_find_other(uint32_t kind, uintptr_t value)
{
    cx_object *any = NULL;
    for (uint32_t other = CX_HANDLE_NONE + 1; other < CX_HANDLE_KINDS; other++) {
        cx_object *found = other != kind ? cx_object_find(other, value) : NULL;
        if (found != NULL && (any == NULL || (found->live && !any->live)))
            any = found;
    }
    return any;
}

/* Ranges that overlap count as equal: live ones do not overlap. */
static int compare_ranges(const void *one, const void *other)
{
    const cx_object *first = one, *second = other;
    if (first->key.value - second->key.value < second->bytes ||
        second->key.value - first->key.value < first->bytes)
        return 0;
    return first->key.value < second->key.value ? -1 : 1;
}

cx_object *cx_object_find_range(uintptr_t address, size_t bytes)
{
    const cx_object wanted = {.key.value = address, .bytes = bytes};
    cx_object **found = tfind(&wanted, &memory, compare_ranges);
    return found != NULL ? *found : NULL;
}

bool cx_object_is_of_host(const cx_object *object)
{
    return object != NULL && (object->key.kind == CX_OBJECT_PINNED_MEMORY ||
                              object->key.kind == CX_OBJECT_REGISTERED_MEMORY);
}

bool cx_object_has_host_memory(void)
{
    return last_numbers[CX_OBJECT_PINNED_MEMORY] != 0 ||
           last_numbers[CX_OBJECT_REGISTERED_MEMORY] != 0;
}

cx_object *cx_object_find_memory(uintptr_t address)
{
    return cx_object_find_range(address, 1);
}

cx_object *cx_object_find_ended_memory(uintptr_t address)
{
    if (address < ended_begin || address >= ended_end)
        return NULL;
    for (cx_object *object = newest; object != NULL; object = object->older)
        if (cx_object_is_memory(object) && address - object->key.value < object->bytes)
            return object;
    return NULL;
}

void cx_object_each_ended(uint64_t turn_before,
                          void (*visit)(const cx_object *object, void *argument), void *argument)
{
    for (const cx_object *each = newest; each != NULL && each->ended_turn > turn_before;
         each = each->older)
        visit(each, argument);
}

cx_object *cx_object_first(uint32_t kind, bool (*fits)(const cx_object *object, void *argument),
                           void *argument)
{
    for (cx_object *object = objects; object != NULL; object = object->hh.next)
        if (object->live && object->key.kind == kind && fits(object, argument))
            return object;
    return NULL;
}

/* ---- history ---- */

static void leave_table(cx_object *object)
{
    if (object->hh.tbl != NULL)
        HASH_DEL(objects, object);
    object->hh.tbl = NULL;
}

/* Contexts, modules and pools stay: others point to them. */
static bool stays(const cx_object *object)
{
    return object->key.kind == CX_HANDLE_CONTEXT || object->key.kind == CX_HANDLE_MODULE ||
           object->key.kind == CX_HANDLE_LIBRARY || object->key.kind == CX_HANDLE_POOL;
}

static void leave_history(cx_object *object)
{
    *(object->newer != NULL ? &object->newer->older : &newest) = object->older;
    *(object->older != NULL ? &object->older->newer : &oldest) = object->newer;
    ended_count--;
}

static void widen_bounds(const cx_object *ended)
{
    if (ended->key.value < ended_begin)
        ended_begin = ended->key.value;
    if (ended->key.value + ended->bytes > ended_end)
        ended_end = ended->key.value + ended->bytes;
}

static void keep(cx_object *object)
{
    if (object->kept)
        return;
    object->kept = true;
    object->older = kept_objects;
    kept_objects = object;
}

static void enter_history(cx_object *object)
{
    if (stays(object)) {
        keep(object);
        return;
    }
    object->newer = NULL;
    object->older = newest;
    *(newest != NULL ? &newest->newer : &oldest) = object;
    newest = object;
    ended_count++;
    if (cx_object_is_memory(object))
        widen_bounds(object);
    while (ended_count > ENDED_MOST) {
        cx_object *gone = oldest;
        leave_history(gone);
        leave_table(gone);
        free(gone);
    }
}

/* ---- making ---- */

/* False: no memory for a node of the tree. Memory within the new one, in any part of it, is not
 * there any more. */
static bool enter_tree(cx_object *object)
{
    cx_object *before;
    const size_t bytes = object->bytes != 0 ? object->bytes : 1;
    while ((before = cx_object_find_range(object->key.value, bytes)) != NULL)
        cx_object_end(before, -1, 0); /* ended by a call that was not seen */
    return tsearch(object, &memory, compare_ranges) != NULL;
}

cx_object *cx_object_make(uint32_t kind, uintptr_t value, size_t bytes, cx_object *context,
                          cx_origin made)
{
    cx_object *object = calloc(1, sizeof *object);
    if (object == NULL) {
        cx_region_give_up();
        return NULL;
    }
    object->key = key_of(kind, value);
    object->number = ++last_numbers[kind];
    object->bytes = bytes;
    object->context = context;
    object->device = context != NULL ? context->device : -1;
    object->made = made;
    object->ended_by = -1;
    object->live = true;
    bool added = true;
    if (cx_object_is_memory(object)) {
        added = enter_tree(object);
    } else if (kind != CX_OBJECT_RETAIN && kind != CX_OBJECT_CAPTURE) {
        cx_object *before = cx_object_find(kind, value);
        if (before != NULL && before->live)
            cx_object_end(before, -1, 0);
        if (before != NULL)
            leave_table(before);
        HASH_ADD(hh, objects, key, sizeof object->key, object);
    } else {
        object->key.zero = object->number; /* one of several with the value */
        HASH_ADD(hh, objects, key, sizeof object->key, object);
    }
    if (!added) {
        cx_region_give_up();
        free(object);
        return NULL;
    }
    object->record = take_record();
    fill_record(object);
    if (context != NULL)
        cx_object_works(context);
    return object;
}

void cx_object_meet(uint32_t kind, uintptr_t value, cx_origin where)
{
    cx_object *object = cx_object_make(kind, value, 0, NULL, where);
    if (object == NULL)
        return;
    object->met = true;
    drop_record(object);
}

void cx_object_set_owner(cx_object *object, cx_object *context, int device)
{
    object->context = context;
    object->device = device;
    fill_record(object);
}

cx_object *cx_object_find_of_module(uint32_t kind, uintptr_t value, int module)
{
    cx_object *youngest = NULL;
    for (cx_object *object = objects; object != NULL; object = object->hh.next)
        if (object->live && object->key.kind == kind && object->key.value == value &&
            (module < 0 || cx_origin_module(object->made) == module))
            youngest = object;
    return youngest;
}

void cx_object_works(cx_object *context)
{
    if (context->device >= 0 && context->device < 64)
        atomic_fetch_or(&cx_region_here->devices_worked, 1ull << context->device);
    if (context->worked)
        return;
    context->worked = true;
    cx_region_object *record = record_of(context);
    if (record != NULL)
        record->worked = 1;
}

/* ---- ending ---- */

uint64_t cx_object_turn(void)
{
    return turn;
}

void cx_object_end(cx_object *object, int slot, cx_origin ended)
{
    if (!object->live)
        return;
    object->live = false;
    object->ended = ended;
    object->ended_by = slot;
    object->ended_on = slot >= 0 ? cx_check_thread_number() : 0;
    object->ended_turn = ++turn;
    drop_record(object);
    if (cx_object_is_memory(object))
        (void)tdelete(object, &memory, compare_ranges);
    enter_history(object);
}

void cx_object_revive(cx_object *object)
{
    bool again = cx_object_is_memory(object)
                     ? cx_object_find_memory(object->key.value) == NULL
                     : cx_object_find(object->key.kind, object->key.value) == object;
    if (object->live || !again)
        return;
    if (!stays(object))
        leave_history(object);
    object->live = true;
    object->blamed = 0;
    object->ended = 0;
    object->ended_by = -1;
    object->record = object->met ? CX_REGION_OBJECTS : take_record();
    fill_record(object);
    if (cx_object_is_memory(object) && tsearch(object, &memory, compare_ranges) == NULL)
        cx_region_give_up();
}

static bool dies_with(const cx_object *object, const cx_object *owner)
{
    if (object->parent == owner)
        return true;
    return object->context == owner && object->key.kind != CX_OBJECT_RETAIN &&
           object->key.kind != CX_OBJECT_ASYNC_MEMORY &&
           object->key.kind != CX_OBJECT_REGISTERED_MEMORY &&
           object->key.kind != CX_HANDLE_GRAPH && object->key.kind != CX_HANDLE_GRAPH_EXEC &&
           object->key.kind != CX_HANDLE_POOL && object->key.kind != CX_HANDLE_LIBRARY;
}

static const cx_object *emptied;
static cx_object *found_in_tree;

static void look_at_node(const void *node, VISIT visit, int depth)
{
    (void)depth;
    if ((visit == postorder || visit == leaf) && found_in_tree == NULL) {
        cx_object *object = *(cx_object *const *)node;
        if (dies_with(object, emptied))
            found_in_tree = object;
    }
}

void cx_object_empty(const cx_object *owner, int slot, cx_origin ended)
{
    cx_object *next;
    for (cx_object *object = objects; object != NULL; object = next) {
        next = object->hh.next;
        if (object->live && dies_with(object, owner))
            cx_object_end(object, slot, ended);
    }
    emptied = owner;
    do {
        found_in_tree = NULL;
        twalk(memory, look_at_node);
        if (found_in_tree != NULL)
            cx_object_end(found_in_tree, slot, ended);
    } while (found_in_tree != NULL);
}

/* For twalk, which hands nothing on. */
static void (*visit_in_tree)(const cx_object *object, void *argument);
static void *visit_argument;

static void visit_node(const void *node, VISIT visit, int depth)
{
    const cx_object *object = *(cx_object *const *)node;
    (void)depth;
    if ((visit == postorder || visit == leaf) && dies_with(object, emptied))
        visit_in_tree(object, visit_argument);
}

void cx_object_each_of(const cx_object *owner,
                       void (*visit)(const cx_object *object, void *argument), void *argument)
{
    for (const cx_object *object = objects; object != NULL; object = object->hh.next)
        if (object->live && dies_with(object, owner))
            visit(object, argument);
    emptied = owner;
    visit_in_tree = visit;
    visit_argument = argument;
    twalk(memory, visit_node);
}

/* ---- text ---- */

void cx_object_kind_text(uint32_t kind, char *text, size_t size)
{
    static const char *const names[CX_OBJECT_KINDS] = {
#define CX_OBJECT_NAME(kind, text, left) [kind] = text,
#include "layer/check/objects.def"
    };
    snprintf(text, size, "%s", kind < CX_OBJECT_KINDS && names[kind] ? names[kind] : "object");
}

static void write_device(int device, char *text, size_t size)
{
    int gpu = cx_layer_gpu(device);
    if (gpu >= 0)
        snprintf(text, size, "GPU %d", gpu);
    else
        snprintf(text, size, "the CPU's device");
}

void cx_object_text(const cx_object *object, char *text, size_t size)
{
    char name[40], device[24];
    cx_object_kind_text(object->key.kind, name, sizeof name);
    write_device(object->device, device, sizeof device);
    if (cx_object_is_memory(object))
        snprintf(text, size, "%zu bytes of %s", object->bytes, name);
    else if (object->primary)
        snprintf(text, size, "the primary context of %s", device);
    else if (object->device >= 0 &&
             (object->key.kind == CX_HANDLE_CONTEXT || object->context != NULL))
        snprintf(text, size, "%s %u of %s", name, object->number, device);
    else
        snprintf(text, size, "%s %u", name, object->number);
}
