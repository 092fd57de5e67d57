#include "object.h"

#include "../emu/kernels.h"
#include <stdlib.h>

static ctxrt_status make_stream(object *self)
{
    return ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &self->stream);
}

static ctxrt_status use_stream(object *self)
{
    return ctxrt_stream_synchronize(self->stream);
}

static ctxrt_status end_stream(object *self)
{
    return ctxrt_stream_destroy(self->stream);
}

static ctxrt_status make_event(object *self)
{
    ctxrt_status status = ctxrt_event_create(CTXRT_EVENT_DEFAULT, &self->event);
    return status == CTXRT_SUCCESS ? ctxrt_event_record(self->event, NULL) : status;
}

static ctxrt_status use_event(object *self)
{
    return ctxrt_event_synchronize(self->event);
}

static ctxrt_status end_event(object *self)
{
    return ctxrt_event_destroy(self->event);
}

static ctxrt_status make_memory(object *self)
{
    return ctxrt_memory_alloc(OBJECT_BYTES, &self->memory);
}

static ctxrt_status make_recorded(object *self)
{
    ctxrt_status status = make_memory(self);
    return status == CTXRT_SUCCESS ? ctxrt_memory_record_stream(self->memory, NULL) : status;
}

static ctxrt_status make_pinned(object *self)
{
    return ctxrt_memory_alloc_pinned(OBJECT_BYTES, &self->memory);
}

static ctxrt_status copy_from(const void *pointer)
{
    unsigned char bytes[16];
    return ctxrt_copy(bytes, pointer, sizeof bytes, CTXRT_COPY_DEVICE_TO_HOST);
}

/* Copies want a frame: one of another device, where nothing happens. */
static ctxrt_status copy_in_a_scope(const void *pointer)
{
    ctxrt_scope scope = {0};
    ctxrt_status status = ctxrt_scope_enter(CTXRT_CUDA(3), &scope);
    if (status != CTXRT_SUCCESS)
        return status;
    status = copy_from(pointer);
    ctxrt_status left = ctxrt_scope_leave(&scope);
    return status != CTXRT_SUCCESS ? status : left;
}

static ctxrt_status use_memory(object *self)
{
    return copy_in_a_scope(ctxrt_memory_pointer(self->memory));
}

static ctxrt_status describe_memory(object *self)
{
    ctxrt_memory_info info;
    return ctxrt_memory_describe(self->memory, &info);
}

static ctxrt_status end_memory(object *self)
{
    return ctxrt_memory_release(self->memory);
}

static ctxrt_status make_pointer(object *self)
{
    return ctxrt_alloc(OBJECT_BYTES, &self->pointer);
}

static ctxrt_status make_managed(object *self)
{
    return ctxrt_alloc_managed(OBJECT_BYTES, &self->pointer);
}

static ctxrt_status make_async(object *self)
{
    ctxrt_status status = ctxrt_alloc_async(OBJECT_BYTES, NULL, &self->pointer);
    return status == CTXRT_SUCCESS ? ctxrt_stream_synchronize(NULL) : status;
}

static ctxrt_status use_pointer(object *self)
{
    return copy_in_a_scope(self->pointer);
}

static ctxrt_status end_pointer(object *self)
{
    return ctxrt_free(self->pointer);
}

static ctxrt_status make_registered(object *self)
{
    self->pointer = aligned_alloc(4096, OBJECT_BYTES);
    return self->pointer != NULL ? ctxrt_host_register(self->pointer, OBJECT_BYTES)
                                 : CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status end_registered(object *self)
{
    ctxrt_status status = ctxrt_host_unregister(self->pointer);
    free(self->pointer);
    return status;
}

static ctxrt_status make_allocator(object *self)
{
    return ctxrt_allocator_create(NULL, &self->allocator);
}

static ctxrt_status use_allocator(object *self)
{
    ctxrt_allocator_figures figures;
    return ctxrt_allocator_statistics(self->allocator, &figures);
}

static ctxrt_status end_allocator(object *self)
{
    return ctxrt_allocator_destroy(self->allocator);
}

static ctxrt_status make_graph(object *self)
{
    ctxrt_status status = ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_RELAXED);
    return status == CTXRT_SUCCESS ? ctxrt_stream_capture_end(NULL, &self->graph) : status;
}

static ctxrt_status use_graph(object *self)
{
    return ctxrt_graph_launch(self->graph, NULL);
}

static ctxrt_status end_graph(object *self)
{
    return ctxrt_graph_release(self->graph);
}

static ctxrt_status make_module(object *self)
{
    ctxrt_status status = ctxrt_module_load(PTX_HEAD PTX_COUNTER, 0, &self->module);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_module_get_kernel(self->module, "next", &self->kernel);
    return status;
}

static ctxrt_status use_module(object *self)
{
    ctxrt_kernel_info info;
    return ctxrt_kernel_describe(self->kernel, &info);
}

static ctxrt_status end_module(object *self)
{
    return ctxrt_module_unload(self->module);
}

/* The module is unloaded: the graph alone keeps its code, which writes to its own counter. */
static ctxrt_status make_graph_of_kernel(object *self)
{
    void *counter, *arguments[] = {&counter};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    ctxrt_status status = make_module(self);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_module_get_global(self->module, "counter", &counter, NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_capture_begin(NULL, CTXRT_CAPTURE_RELAXED);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_launch(&config, self->kernel, arguments, 1);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stream_capture_end(NULL, &self->graph);
    return status == CTXRT_SUCCESS ? ctxrt_module_unload(self->module) : status;
}

/* Its code is memory of the device until it has run. */
static ctxrt_status use_graph_of_kernel(object *self)
{
    ctxrt_scope scope = {0};
    ctxrt_status status = ctxrt_graph_launch(self->graph, NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_scope_enter_context(self->context, &scope);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_device_synchronize();
    ctxrt_status left = ctxrt_scope_leave(&scope);
    return status != CTXRT_SUCCESS ? status : left;
}

static ctxrt_status fill(void *pointer)
{
    return ctxrt_fill_async(pointer, 1, OBJECT_BYTES, NULL);
}

/* With memory that the recording gets, and an operator that uses it. */
static ctxrt_status begin_recording(object *self)
{
    ctxrt_operator operation = CTXRT_OPERATOR_INIT;
    ctxrt_status status = ctxrt_recording_start(NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_alloc(OBJECT_BYTES, &self->pointer);
    operation.type = "fill";
    operation.run = fill;
    operation.user_data = self->pointer;
    operation.capturable = 1;
    if (status == CTXRT_SUCCESS)
        status = ctxrt_operator_submit(&operation);
    return status == CTXRT_SUCCESS ? ctxrt_free(self->pointer) : status;
}

static ctxrt_status make_recorded_graph(object *self)
{
    ctxrt_status status = begin_recording(self);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_recording_stop(&self->graph);
    return status == CTXRT_SUCCESS ? ctxrt_stream_synchronize(NULL) : status;
}

static ctxrt_status use_recording(object *self)
{
    return ctxrt_recording_stop(&self->graph);
}

static ctxrt_status end_recording(object *self)
{
    return self->graph != NULL ? ctxrt_graph_release(self->graph) : ctxrt_recording_cancel();
}

static ctxrt_status make_frame(object *self)
{
    return ctxrt_stack_push(self->context);
}

static ctxrt_status use_frame(object *self)
{
    (void)self;
    return ctxrt_device_synchronize();
}

static ctxrt_status end_frame(object *self)
{
    (void)self;
    return ctxrt_stack_pop();
}

static ctxrt_status make_scope(object *self)
{
    return ctxrt_scope_enter_context(self->context, &self->scope);
}

static ctxrt_status end_scope(object *self)
{
    return ctxrt_scope_leave(&self->scope);
}

static ctxrt_status make_detached(object *self)
{
    ctxrt_status status = ctxrt_stack_push(self->context);
    return status == CTXRT_SUCCESS ? ctxrt_stack_detach(&self->detached) : status;
}

static ctxrt_status use_detached(object *self)
{
    ctxrt_status status = ctxrt_stack_attach(self->detached);
    if (status == CTXRT_SUCCESS)
        self->detached = NULL;
    return status;
}

static ctxrt_status end_detached(object *self)
{
    return self->detached != NULL ? ctxrt_stack_discard(self->detached) : ctxrt_stack_pop();
}

static ctxrt_status make_hold(object *self)
{
    struct CUctx_st *native;
    ctxrt_status status = ctxrt_context_retain_primary(self->device, &self->hold);
    if (status == CTXRT_SUCCESS && self->hold == self->context)
        return status;
    if (status == CTXRT_SUCCESS)
        status = ctxrt_context_release(self->hold);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_context_native(self->context, &native);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_context_from_native(self->device.type, native, &self->hold);
    return status;
}

static ctxrt_status use_hold(object *self)
{
    ctxrt_status status = ctxrt_stack_push(self->hold);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_stack_pop();
    return status;
}

static ctxrt_status end_hold(object *self)
{
    return ctxrt_context_release(self->hold);
}

const object_kind object_kinds[] = {
    {"stream", make_stream, use_stream, end_stream, 0},
    {"event", make_event, use_event, end_event, 0},
    {"device memory", make_memory, use_memory, end_memory, 0},
    {"device memory in use by a stream", make_recorded, use_memory, end_memory, 0},
    {"pinned memory", make_pinned, describe_memory, end_memory, 0},
    {"pointer", make_pointer, use_pointer, end_pointer, 0},
    {"managed pointer", make_managed, use_pointer, end_pointer, 0},
    {"stream-ordered pointer", make_async, use_pointer, end_pointer, 0},
    {"registered pages", make_registered, NULL, end_registered, 0},
    {"allocator", make_allocator, use_allocator, end_allocator, 0},
    {"module", make_module, use_module, end_module, 0},
    {"graph", make_graph, use_graph, end_graph, 0},
    {"graph of a kernel", make_graph_of_kernel, use_graph_of_kernel, end_graph, 0},
    {"recorded graph", make_recorded_graph, use_graph, end_graph, 0},
    {"recording", begin_recording, use_recording, end_recording, 1},
    {"frame", make_frame, use_frame, end_frame, 1},
    {"scope", make_scope, use_frame, end_scope, 1},
    {"detached frame", make_detached, use_detached, end_detached, 0},
    {"hold", make_hold, use_hold, end_hold, 0},
    {0},
};
