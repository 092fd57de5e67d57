#include "trace/objects.h"

#include "check/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A handle that was seen: a maker's is a new object, another one's only if none has it yet. */
typedef struct sight {
    trace_object object;
    bool made, ended;
} sight;

typedef struct sights {
    sight *all;
    size_t count, capacity;
    bool full; /* there is no memory */
} sights;

static void add(sights *self, const sight *one)
{
    if (self->count == self->capacity) {
        size_t more = self->capacity != 0 ? 2 * self->capacity : 256;
        sight *all = reallocarray(self->all, more, sizeof *all);
        if (all == NULL) {
            self->full = true;
            return;
        }
        self->all = all;
        self->capacity = more;
    }
    self->all[self->count++] = *one;
}

#define KIND_ROW(type, tag, kind) {#type, CX_HANDLE_##kind},

uint32_t trace_kind_of(const char *type)
{
    static const struct {
        const char *type;
        uint32_t kind;
    } kinds[] = {
        CX_HANDLE_TYPES(KIND_ROW, CX_HANDLE_NO_KIND)
    };
    size_t length = strcspn(type, " ");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].type) == length && strncmp(kinds[i].type, type, length) == 0)
            return kinds[i].kind;
    return CX_HANDLE_NONE;
}

static bool makes(int slot)
{
    static const char *const words[] = {"Create", "Load", "Instantiate", "Clone", "OpenEvent"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(call_name(slot), words[i]) != NULL)
            return true;
    return false;
}

static bool ends(int slot)
{
    return strstr(call_name(slot), "Destroy") != NULL || strstr(call_name(slot), "Unload") != NULL;
}

static uint64_t value_at(const cx_trace_call *call, unsigned offset, unsigned bytes)
{
    uint64_t value = 0;
    memcpy(&value, (const char *)call + offset, bytes <= sizeof value ? bytes : sizeof value);
    return value;
}

static uint64_t argument(const cx_trace_call *call, const cx_trace_parameter *parameter)
{
    return value_at(call, (unsigned)sizeof *call + parameter->offset, parameter->bytes);
}

/* The device that the call names; -1: none. */
static int device_of(const cx_trace_call *call)
{
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    for (unsigned i = 0; i < layout->count; i++)
        if (strcmp(layout->parameters[i].type, "CUdevice") == 0)
            return (int)argument(call, &layout->parameters[i]);
    return -1;
}

/* NULL: the file has none that ends. */
static const char *text_of(const cx_trace_call *call, const cx_trace_layout *layout)
{
    const char *text = (const char *)call + layout->text;
    return memchr(text, '\0', CX_TRACE_TEXT) != NULL ? text : NULL;
}

static void see_value(sights *self, const cx_trace_call *call, const cx_trace_parameter *parameter)
{
    sight one = {.object = {.kind = trace_kind_of(parameter->type), .device = -1}};
    one.object.handle = value_at(call, parameter->back, parameter->back_bytes);
    if (one.object.kind == CX_HANDLE_NONE || one.object.handle <= 2)
        return;
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    one.object.from = trace_call_end(call);
    one.made = makes(call->slot);
    one.object.primary = call->slot == CX_SLOT_primary_retain;
    if (one.object.kind == CX_HANDLE_CONTEXT && (one.made || one.object.primary))
        one.object.device = device_of(call);
    if ((one.object.kind == CX_HANDLE_FUNCTION || one.object.kind == CX_HANDLE_KERNEL) &&
        layout->text != 0)
        one.object.text = text_of(call, layout);
    add(self, &one);
}

static void see_end(sights *self, const cx_trace_call *call, const cx_trace_parameter *parameter)
{
    sight one = {.object = {.kind = trace_kind_of(parameter->type)}, .ended = true};
    one.object.handle = argument(call, parameter);
    one.object.from = call->start;
    if (one.object.kind != CX_HANDLE_NONE)
        add(self, &one);
}

static void see_call(sights *self, const cx_trace_call *call)
{
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    if (trace_call_end(call) == 0 || call->result != CXU_SUCCESS)
        return;
    for (unsigned i = 0; i < layout->count; i++)
        if (layout->parameters[i].back_bytes > 0)
            see_value(self, call, &layout->parameters[i]);
    if (layout->count > 0 && ends(call->slot))
        see_end(self, call, &layout->parameters[0]);
}

/* Contexts that were current before the first call that names them. */
static void see_current(sights *self, const cx_trace_call *call, uint64_t *last)
{
    if (call->before == *last || call->before == 0)
        return;
    *last = call->before;
    const sight one = {.object = {.kind = CX_HANDLE_CONTEXT,
                                  .handle = call->before,
                                  .from = call->start,
                                  .device = -1}};
    add(self, &one);
}

static int by_handle(const void *one, const void *other)
{
    const sight *first = one, *second = other;
    if (first->object.kind != second->object.kind)
        return first->object.kind < second->object.kind ? -1 : 1;
    if (first->object.handle != second->object.handle)
        return first->object.handle < second->object.handle ? -1 : 1;
    return (first->object.from > second->object.from) - (first->object.from < second->object.from);
}

static void complete(trace_object *object, const sight *one)
{
    object->primary = object->primary || one->object.primary;
    if (object->device < 0)
        object->device = one->object.device;
    if (object->text == NULL)
        object->text = one->object.text;
}

/* Merges the sights of each handle into objects. */
static bool merge(trace_process *self, const sights *from)
{
    self->objects = calloc(from->count + 1, sizeof *self->objects);
    if (self->objects == NULL)
        return false;
    for (size_t i = 0; i < from->count; i++) {
        const sight *one = &from->all[i];
        trace_object *last =
            self->object_count > 0 ? &self->objects[self->object_count - 1] : NULL;
        if (last != NULL && (last->kind != one->object.kind || last->handle != one->object.handle))
            last = NULL;
        if (one->ended && last != NULL && last->until == 0)
            last->until = one->object.from;
        else if (!one->ended && last != NULL && !one->made)
            complete(last, one);
        else if (!one->ended)
            self->objects[self->object_count++] = one->object;
    }
    return true;
}

static int by_time(const void *one, const void *other)
{
    const trace_object *first = *(trace_object *const *)one;
    const trace_object *second = *(trace_object *const *)other;
    return (first->from > second->from) - (first->from < second->from);
}

static bool count_objects(trace_process *self)
{
    uint32_t numbers[CX_HANDLE_KINDS] = {0};
    trace_object **all = calloc(self->object_count + 1, sizeof *all);
    if (all == NULL)
        return false;
    for (size_t i = 0; i < self->object_count; i++)
        all[i] = &self->objects[i];
    qsort(all, self->object_count, sizeof *all, by_time);
    for (size_t i = 0; i < self->object_count; i++)
        all[i]->number = ++numbers[all[i]->kind];
    free(all);
    return true;
}

/* A function got from a kernel of a library has its name. */
static void name_functions(trace_process *self)
{
    for (size_t i = 0; i < self->thread_count; i++)
        for (size_t j = 0; j < self->threads[i].count; j++) {
            const cx_trace_call *call = self->threads[i].calls[j];
            if (call->slot != CX_SLOT_kernel_get_function || call->result != CXU_SUCCESS)
                continue;
            const cx_trace_parameter *all = cx_trace_layouts[call->slot].parameters;
            const trace_object *kernel = trace_object_at(
                self, CX_HANDLE_KERNEL, argument(call, &all[1]), trace_call_end(call));
            trace_object *function = (trace_object *)(uintptr_t)trace_object_at(
                self, CX_HANDLE_FUNCTION, value_at(call, all[0].back, all[0].back_bytes),
                trace_call_end(call));
            if (kernel != NULL && function != NULL && function->text == NULL)
                function->text = kernel->text;
        }
}

bool trace_objects_find(trace_process *self)
{
    sights all = {.count = 0};
    for (size_t i = 0; i < self->thread_count; i++) {
        uint64_t last = 0;
        for (size_t j = 0; j < self->threads[i].count; j++) {
            see_current(&all, self->threads[i].calls[j], &last);
            see_call(&all, self->threads[i].calls[j]);
        }
    }
    if (all.count > 0)
        qsort(all.all, all.count, sizeof *all.all, by_handle);
    bool good = !all.full && merge(self, &all) && count_objects(self);
    free(all.all);
    if (good)
        name_functions(self);
    return good;
}

static int compare(const trace_object *object, uint32_t kind, uint64_t handle, uint64_t time)
{
    if (object->kind != kind)
        return object->kind < kind ? -1 : 1;
    if (object->handle != handle)
        return object->handle < handle ? -1 : 1;
    return object->from <= time ? -1 : 1;
}

const trace_object *trace_object_at(const trace_process *self, uint32_t kind, uint64_t handle,
                                    uint64_t time)
{
    size_t low = 0, high = self->object_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&self->objects[middle], kind, handle, time) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const trace_object *found = low > 0 ? &self->objects[low - 1] : NULL;
    return found != NULL && found->kind == kind && found->handle == handle ? found : NULL;
}

void trace_device_text(const trace_process *self, int device, char *text, size_t size)
{
    if (device < self->head->host_devices)
        snprintf(text, size, "the CPU's device");
    else
        snprintf(text, size, "GPU %d", device - self->head->host_devices);
}

void trace_object_text(const trace_process *self, const trace_object *object, char *text,
                       size_t size)
{
    char device[24];
    trace_device_text(self, object->device, device, sizeof device);
    if (object->kind == CX_HANDLE_CONTEXT && object->primary)
        snprintf(text, size, "primary context of %s", device);
    else if (object->kind == CX_HANDLE_CONTEXT && object->device >= 0)
        snprintf(text, size, "context %u of %s", object->number, device);
    else if (object->text != NULL)
        snprintf(text, size, "%s %u %.60s", object_name(object->kind), object->number,
                 object->text);
    else
        snprintf(text, size, "%s %u", object_name(object->kind), object->number);
}
