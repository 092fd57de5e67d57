#include "stage.h"

#include "../emu/kernels.h"
#include "device/device.h"
#include "test.h"

#include <string.h>

static const char *const top_names[STAGE_TOPS] = {"push", "set", "scope", "foreign", "none"};

const char *stage_top_name(stage_top top)
{
    return top_names[top];
}

static void make_plan(ctxrt_plan **out_plan)
{
    size_t tensor;
    cx_assert_ok(ctxrt_plan_create(256, out_plan));
    cx_assert_ok(ctxrt_plan_alloc(*out_plan, BYTES, &tensor));
}

static void make_module(stage_objects *made)
{
    cx_assert_ok(ctxrt_module_load(PTX_HEAD PTX_COUNTER, 0, &made->module));
    cx_assert_ok(ctxrt_module_get_kernel(made->module, "next", &made->kernel));
}

static void make_objects(stage_objects *made)
{
    cx_assert_ok(ctxrt_stream_create(0, 0, &made->stream));
    cx_assert_ok(ctxrt_event_create(0, &made->event));
    cx_assert_ok(ctxrt_event_create(0, &made->later_event));
    cx_assert_ok(ctxrt_event_record(made->event, made->stream));
    cx_assert_ok(ctxrt_event_record(made->later_event, made->stream));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &made->memory));
    cx_assert_ok(ctxrt_allocator_create(NULL, &made->allocator));
    cx_assert_ok(ctxrt_alloc(BYTES, &made->raw));
    cx_assert_ok(ctxrt_alloc_async(BYTES, made->stream, &made->raw_async));
    cx_assert_ok(ctxrt_stream_capture_begin(made->stream, CTXRT_CAPTURE_THREAD_LOCAL));
    cx_assert_ok(ctxrt_fill_async(made->raw, 7, BYTES, made->stream));
    cx_assert_ok(ctxrt_stream_capture_end(made->stream, &made->graph));
    make_module(made);
    make_plan(&made->plan);
    make_plan(&made->committed);
    cx_assert_ok(ctxrt_plan_commit(made->committed, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(made->stream));
}

static void make_guarded(stage *self)
{
    ctxrt_memory *freed;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    debug.flags = CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON;
    debug.quarantine_bytes = 2 * BYTES;
    cx_assert_ok(ctxrt_allocator_pinned(&self->guarded));
    cx_assert_ok(ctxrt_allocator_set_debug(self->guarded, &debug));
    cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &freed));
    cx_assert_ok(ctxrt_memory_release(freed));
}

static void make_there(stage *self)
{
    const cx_driver_table *driver = &cx_drivers[0].table;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(THERE_DEVICE)));
    make_objects(&self->objects[THERE]);
    make_guarded(self);
    cx_assert_ok(ctxrt_stack_detach(&self->detached));
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(THERE_DEVICE), 0, &self->created));
    cx_assert_ok(ctxrt_context_retain_primary(CTXRT_CUDA(THERE_DEVICE), &self->held));
    ck_assert_int_eq(driver->ctx_create_v2(&self->native, 0, THERE_DEVICE + 1), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_pop(NULL), CXU_SUCCESS);
}

static void make_here(stage *self)
{
    ctxrt_scope scope = {0};
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(HERE_DEVICE), &scope));
    make_objects(&self->objects[HERE]);
    cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &self->pinned));
    cx_assert_ok(ctxrt_host_register(self->host, BYTES));
    self->registered = true;
    cx_assert_ok(ctxrt_scope_leave(&scope));
}

static void foreign_push(void)
{
    ctxrt_context *context;
    CUcontext native;
    const cx_driver_table *driver = &cx_drivers[0].table;
    ck_assert_int_eq(driver->primary_retain(&native, HERE_DEVICE + 1), CXU_SUCCESS);
    ck_assert_int_eq(driver->primary_release(HERE_DEVICE + 1), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_push(native), CXU_SUCCESS);
    cx_assert_ok(ctxrt_context_current(&context));
}

static void build_stack(stage *self)
{
    if (self->top == STAGE_NONE)
        return;
    cx_assert_ok(CTXRT_DEVICE_PUSH(CTXRT_CUDA(0)));
    cx_assert_ok(CTXRT_DEVICE_PUSH(CTXRT_CUDA(1)));
    switch (self->top) {
    case STAGE_PUSH:
        cx_assert_ok(CTXRT_DEVICE_PUSH(CTXRT_CUDA(HERE_DEVICE)));
        break;
    case STAGE_SET:
        cx_assert_ok(CTXRT_DEVICE_SET(CTXRT_CUDA(HERE_DEVICE)));
        break;
    case STAGE_SCOPE:
        cx_assert_ok(CTXRT_SCOPE_ENTER(CTXRT_CUDA(HERE_DEVICE), &self->scope));
        break;
    default:
        foreign_push();
        break;
    }
    cx_assert_ok(ctxrt_frame_set_stream(self->objects[HERE].stream));
    cx_assert_ok(ctxrt_frame_set_allocator(self->objects[HERE].allocator));
}

static void make(stage *self, stage_top top)
{
    memset(self, 0, sizeof *self);
    self->top = top;
    cx_fixture_start_with(STAGE_DEVICES, CTXRT_FOREIGN_FOLLOW);
    make_there(self);
    make_here(self);
}

void stage_enter(stage *self, stage_top top)
{
    make(self, top);
    build_stack(self);
    faults_install(&cx_drivers[0]);
}

void stage_enter_within(stage *self, stage_top top)
{
    make(self, top);
    if (top != STAGE_NONE)
        cx_assert_ok(CTXRT_SCOPE_ENTER(CTXRT_CUDA(0), &self->around));
    build_stack(self);
    faults_install(&cx_drivers[0]);
}

/* ---- leaving ---- */

static void release_objects(stage_objects *made)
{
    cx_assert_ok(ctxrt_graph_release(made->graph));
    cx_assert_ok(ctxrt_module_unload(made->module));
    cx_assert_ok(ctxrt_plan_destroy(made->plan));
    cx_assert_ok(ctxrt_plan_destroy(made->committed));
    if (made->raw_async != NULL)
        cx_assert_ok(ctxrt_free(made->raw_async));
    if (made->raw != NULL)
        cx_assert_ok(ctxrt_free(made->raw));
    cx_assert_ok(made->memory != NULL ? ctxrt_memory_release(made->memory) : CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_event_destroy(made->event));
    cx_assert_ok(ctxrt_event_destroy(made->later_event));
    cx_assert_ok(ctxrt_allocator_destroy(made->allocator));
    cx_assert_ok(ctxrt_stream_destroy(made->stream));
}

static void release_outs(stage *self)
{
    if (self->out.raw != NULL)
        cx_assert_ok(ctxrt_free(self->out.raw));
    if (self->out.registered)
        cx_assert_ok(ctxrt_host_unregister(self->more));
    cx_assert_ok(self->out.memory != NULL ? ctxrt_memory_release(self->out.memory) : CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_event_destroy(self->out.event));
    cx_assert_ok(ctxrt_allocator_destroy(self->out.allocator));
    cx_assert_ok(ctxrt_graph_release(self->out.graph));
    cx_assert_ok(ctxrt_module_unload(self->out.module));
    cx_assert_ok(ctxrt_plan_destroy(self->out.plan));
    cx_assert_ok(ctxrt_stream_destroy(self->out.stream));
    cx_assert_ok(ctxrt_context_release(self->out.held));
    cx_assert_ok(ctxrt_context_destroy(self->out.created));
}

static void unwind(stage *self)
{
    ctxrt_resync_report report;
    ctxrt_frame_info top;
    (void)ctxrt_scope_leave(&self->out.scope);
    cx_assert_ok(ctxrt_stack_resync(&report));
    if (self->scope.serial != 0) {
        if (ctxrt_stack_depth() > self->scope.depth)
            cx_assert_status(ctxrt_stack_pop(), ctxrt_stack_peek(0, &top) == CTXRT_SUCCESS &&
                                                        top.origin == CTXRT_FRAME_SET
                                                    ? CTXRT_ERROR_NOT_PERMITTED
                                                    : CTXRT_SUCCESS);
        cx_assert_ok(ctxrt_scope_leave(&self->scope));
    }
    while (ctxrt_stack_depth() > 0) {
        cx_assert_ok(ctxrt_stack_pop());
        cx_assert_ok(ctxrt_stack_resync(&report)); /* the foreign push comes to light */
    }
}

static void end_detached(ctxrt_detached_frame *detached)
{
    if (detached == NULL)
        return;
    cx_assert_ok(ctxrt_stack_attach(detached));
    cx_assert_ok(ctxrt_stack_pop());
}

void stage_leave(stage *self)
{
    faults_remove();
    if (!self->out.shut_down) {
        unwind(self);
        end_detached(self->out.detached);
        end_detached(self->detached);
        if (self->registered)
            cx_assert_ok(ctxrt_host_unregister(self->host));
        release_outs(self);
        release_objects(&self->objects[HERE]);
        release_objects(&self->objects[THERE]);
        cx_assert_ok(self->pinned != NULL ? ctxrt_memory_release(self->pinned) : CTXRT_SUCCESS);
        cx_assert_ok(ctxrt_context_release(self->held));
        cx_assert_ok(ctxrt_context_destroy(self->created));
        ck_assert_int_eq(cx_drivers[0].table.ctx_destroy(self->native), CXU_SUCCESS);
    }
    cx_fixture_end();
}

/* ---- pictures ---- */

static void read_entries(picture *self)
{
    const cx_driver_table *driver = faults_beneath();
    while (driver->ctx_get_device(&self->entry_devices[self->entry_count]) == CXU_SUCCESS &&
           driver->ctx_pop(&self->entries[self->entry_count]) == CXU_SUCCESS)
        self->entry_count++;
    for (int i = self->entry_count - 1; i >= 0; i--)
        ck_assert_int_eq(driver->ctx_push(self->entries[i]), CXU_SUCCESS);
}

static void read_memory(picture *self)
{
    const cx_driver_table *driver = faults_beneath();
    for (int i = 0; i < STAGE_DEVICES; i++) {
        CUcontext native;
        size_t total;
        ck_assert_int_eq(driver->primary_retain(&native, i + 1), CXU_SUCCESS);
        ck_assert_int_eq(driver->ctx_push(native), CXU_SUCCESS);
        ck_assert_int_eq(driver->mem_get_info(&self->free_bytes[i], &total), CXU_SUCCESS);
        ck_assert_int_eq(driver->ctx_pop(NULL), CXU_SUCCESS);
        ck_assert_int_eq(driver->primary_release(i + 1), CXU_SUCCESS);
    }
}

void picture_take(picture *self)
{
    memset(self, 0, sizeof *self);
    self->depth = ctxrt_stack_depth();
    for (size_t i = 0; i < self->depth && i < STAGE_ENTRIES; i++)
        cx_assert_ok(ctxrt_stack_peek(i, &self->frames[i]));
    read_entries(self);
    read_memory(self);
}

static bool same_frame(const ctxrt_frame_info *a, const ctxrt_frame_info *b, bool loosely)
{
    if (a->origin != b->origin || a->device.type != b->device.type ||
        a->device.index != b->device.index)
        return false;
    return loosely || (a->context == b->context && a->stream == b->stream &&
                       a->allocator == b->allocator && a->file == b->file && a->line == b->line);
}

const char *picture_difference(const picture *before, const picture *after, bool loosely)
{
    if (before->depth != after->depth)
        return "the depth";
    for (size_t i = 0; i < before->depth; i++)
        if (!same_frame(&before->frames[i], &after->frames[i], loosely))
            return "a frame";
    if (before->entry_count != after->entry_count)
        return "the number of the driver's entries";
    if (!loosely && memcmp(before->entries, after->entries, sizeof before->entries) != 0)
        return "an entry of the driver's stack";
    if (memcmp(before->entry_devices, after->entry_devices,
               (size_t)before->entry_count * sizeof(int)) != 0)
        return "the device of an entry of the driver's stack";
    if (memcmp(before->free_bytes, after->free_bytes, sizeof before->free_bytes) != 0)
        return "the memory in use";
    return NULL;
}
