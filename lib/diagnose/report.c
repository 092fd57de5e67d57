#include "diagnose/report.h"

#include "base/cancel.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "diagnose/allocator_snapshot.h"
#include "diagnose/origin.h"
#include "memory/memory.h"
#include "memory/address_index.h"

#include <stdlib.h>

#define LOGGED_MOST 16

/* Memory of the same kind, device and place. */
typedef struct group {
    ctxrt_memory_kind kind;
    ctxrt_device device;
    const void *place; /* NULL: unknown */
    uint64_t count, bytes;
} group;

typedef struct report {
    group *groups;
    size_t count;
    uint64_t blocks, bytes;
    bool out_of_memory;
} report;

/* ---- collecting ---- */

static group *find_group(report *self, ctxrt_memory_kind kind, ctxrt_device device,
                         const void *place)
{
    for (size_t i = 0; i < self->count; i++) {
        group *one = &self->groups[i];
        if (one->kind == kind && one->place == place && one->device.type == device.type &&
            one->device.index == device.index)
            return one;
    }
    group *grown = reallocarray(self->groups, self->count + 1, sizeof *grown);
    self->out_of_memory = self->out_of_memory || grown == NULL;
    if (grown == NULL)
        return NULL;
    self->groups = grown;
    grown[self->count] = (group){.kind = kind, .device = device, .place = place};
    return &grown[self->count++];
}

static void add_to_group(report *self, ctxrt_memory_kind kind, ctxrt_device device,
                         const void *place, uint64_t bytes)
{
    group *one = find_group(self, kind, device, place);
    if (one == NULL)
        return;
    one->count++;
    one->bytes += bytes;
    self->blocks++;
    self->bytes += bytes;
}

/* Skips memory of allocators, which are asked themselves. */
static bool add_object(void *object, void *argument)
{
    const cx_memory *memory = object;
    if (memory->block.allocator == NULL)
        add_to_group(argument, memory->kind, memory->device, NULL, memory->block.size_bytes);
    return true;
}

static ctxrt_memory_kind kind_of(const cx_pointer_record *record)
{
    switch (record->kind) {
    case CX_POINTER_MANAGED:
        return CTXRT_MEMORY_MANAGED;
    case CX_POINTER_REGISTERED:
    case CX_POINTER_PINNED:
        return CTXRT_MEMORY_PINNED;
    case CX_POINTER_DEVICE:
    case CX_POINTER_ASYNC:
        break;
    }
    return CTXRT_MEMORY_DEVICE;
}

static void add_record(const cx_pointer_record *record, void *argument)
{
    if (record->kind != CX_POINTER_DEVICE)
        add_to_group(argument, kind_of(record), cx_block_device(record->block.context), NULL,
                     record->block.size_bytes);
}

static bool add_allocator(void *object, void *argument)
{
    report *self = argument;
    cx_allocator *allocator = object;
    cx_allocator_shot shot = {0};
    ctxrt_memory_kind kind = allocator->pinned != NULL ? CTXRT_MEMORY_PINNED : CTXRT_MEMORY_DEVICE;
    cx_allocator_shot_take(allocator, &shot);
    self->out_of_memory = self->out_of_memory || shot.out_of_memory;
    for (size_t i = 0; i < shot.block_count; i++)
        if (shot.blocks[i].state == CX_BLOCK_LIVE)
            add_to_group(self, kind, shot.device, shot.blocks[i].place, shot.blocks[i].asked_bytes);
    cx_allocator_shot_drop(&shot);
    return true;
}

static int by_bytes(const void *left, const void *right)
{
    uint64_t a = ((const group *)left)->bytes, b = ((const group *)right)->bytes;
    return (a < b) - (a > b);
}

/* No allocator is destroyed meanwhile. */
static report collect_report(void)
{
    report self = {0};
    cx_sections_close();
    cx_pool_each(&cx_allocators, add_allocator, &self);
    cx_sections_open();
    cx_pool_each_held(&cx_memories, add_object, &self);
    cx_pointers_each_record(add_record, &self);
    if (self.count != 0)
        qsort(self.groups, self.count, sizeof *self.groups, by_bytes);
    return self;
}

/* ---- writing ---- */

static void describe_group(const group *one, char *text, size_t size)
{
    static const char *const kinds[] = {
        [CTXRT_MEMORY_DEVICE] = "device memory", [CTXRT_MEMORY_PINNED] = "pinned memory",
        [CTXRT_MEMORY_HOST] = "host memory",     [CTXRT_MEMORY_MANAGED] = "managed memory",
        [CTXRT_MEMORY_WRAPPED] = "wrapped memory",
    };
    char place[256];
    cx_place_text(one->place, place, sizeof place);
    snprintf(text, size, "%llu piece%s of %s of %s, %llu bytes%s%s", (unsigned long long)one->count,
             one->count == 1 ? "" : "s", kinds[one->kind], cx_device_text(one->device),
             (unsigned long long)one->bytes, place[0] != '\0' ? ", allocated in " : "", place);
}

/* Keeps the last error, which is the shutdown's. */
void cx_report_log_left(void)
{
    char text[512];
    cx_error_saved saved;
    if (!cx_log_enabled(CTXRT_LOG_INFO))
        return;
    cx_error_save(&saved);
    int cancel = cx_cancel_hold();
    report left = collect_report();
    for (size_t i = 0; i < left.count && i < LOGGED_MOST; i++) {
        describe_group(&left.groups[i], text, sizeof text);
        cx_log(CTXRT_LOG_INFO, "left at the shutdown: %s", text);
    }
    if (left.count > LOGGED_MOST)
        cx_log(CTXRT_LOG_INFO,
               "left at the shutdown: %zu kinds more; ctxrt_memory_report_write has all",
               left.count - LOGGED_MOST);
    free(left.groups);
    cx_cancel_restore(cancel);
    cx_error_restore(&saved);
}

static ctxrt_status write_report(FILE *file)
{
    char line[512], *written = NULL;
    size_t size = 0;
    cx_text_file text;
    report live = collect_report();
    FILE *memory = live.out_of_memory ? NULL : cx_text_open(&text);
    if (memory != NULL) {
        fprintf(memory, "%llu piece%s of memory, %llu bytes\n", (unsigned long long)live.blocks,
                live.blocks == 1 ? "" : "s", (unsigned long long)live.bytes);
        for (size_t i = 0; i < live.count; i++) {
            describe_group(&live.groups[i], line, sizeof line);
            fprintf(memory, "  %s\n", line);
        }
        written = cx_text_close(&text, &size);
    }
    free(live.groups);
    return cx_text_write("ctxrt_memory_report_write", "report", written, size, file);
}

ctxrt_status ctxrt_memory_report_write(FILE *file)
{
    ctxrt_status status = cx_memory_enter();
    if (status != CTXRT_SUCCESS)
        return status;
    if (file == NULL)
        return cx_error(CTXRT_ERROR_NULL_POINTER, "ctxrt_memory_report_write: file is NULL");
    int cancel = cx_cancel_hold();
    status = write_report(file);
    cx_cancel_restore(cancel);
    return status;
}
