/* Operations that have to do with the stack, devices, contexts, streams, events and handles. */
#include "operations.h"

#include <string.h>

/* ---- the stack ---- */

static ctxrt_status set(stage *self)
{
    (void)self;
    return ctxrt_device_set(CTXRT_CUDA(THERE_DEVICE));
}

static ctxrt_status set_first_use(stage *self)
{
    (void)self;
    return CTXRT_DEVICE_SET(CTXRT_CUDA(UNUSED_DEVICE));
}

static ctxrt_status push_device(stage *self)
{
    (void)self;
    return ctxrt_device_push(CTXRT_CUDA(THERE_DEVICE));
}

static ctxrt_status push_first_use(stage *self)
{
    (void)self;
    return CTXRT_DEVICE_PUSH(CTXRT_CUDA(UNUSED_DEVICE));
}

static ctxrt_status push(stage *self)
{
    return ctxrt_stack_push(self->created);
}

static ctxrt_status push_at(stage *self)
{
    return CTXRT_STACK_PUSH(self->created);
}

static ctxrt_status pop(stage *self)
{
    (void)self;
    return ctxrt_stack_pop();
}

static ctxrt_status resync(stage *self)
{
    ctxrt_resync_report report;
    (void)self;
    return ctxrt_stack_resync(&report);
}

static ctxrt_status detach(stage *self)
{
    return ctxrt_stack_detach(&self->out.detached);
}

static ctxrt_status attach(stage *self)
{
    return ctxrt_stack_attach(self->detached);
}

static void attached(stage *self)
{
    self->detached = NULL;
}

static ctxrt_status enter(stage *self)
{
    return ctxrt_scope_enter(CTXRT_CUDA(THERE_DEVICE), &self->out.scope);
}

static ctxrt_status enter_at(stage *self)
{
    return CTXRT_SCOPE_ENTER(CTXRT_CUDA(UNUSED_DEVICE), &self->out.scope);
}

static ctxrt_status enter_context(stage *self)
{
    return ctxrt_scope_enter_context(self->created, &self->out.scope);
}

static ctxrt_status leave(stage *self)
{
    return ctxrt_scope_leave(&self->scope);
}

static ctxrt_status set_and_leave(stage *self)
{
    ctxrt_status status = set(self);
    return status == CTXRT_SUCCESS ? leave(self) : status;
}

static ctxrt_status set_stream(stage *self)
{
    return ctxrt_frame_set_stream(self->objects[HERE].stream);
}

static ctxrt_status set_allocator(stage *self)
{
    return ctxrt_frame_set_allocator(self->objects[HERE].allocator);
}

/* ---- devices and contexts ---- */

static ctxrt_status get_device(stage *self)
{
    ctxrt_device device;
    (void)self;
    return ctxrt_device_get(&device);
}

static ctxrt_status synchronize_device(stage *self)
{
    (void)self;
    return ctxrt_device_synchronize();
}

static ctxrt_status release_device(stage *self)
{
    (void)self;
    return ctxrt_device_release(CTXRT_CUDA(UNUSED_DEVICE));
}

static ctxrt_status use_and_release(stage *self)
{
    ctxrt_context *context;
    ctxrt_status status = ctxrt_context_retain_primary(CTXRT_CUDA(UNUSED_DEVICE), &context);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_context_release(context);
    return status == CTXRT_SUCCESS ? release_device(self) : status;
}

static ctxrt_status reset_device(stage *self)
{
    (void)self;
    return ctxrt_device_reset(CTXRT_CUDA(UNUSED_DEVICE));
}

static ctxrt_status set_flags(stage *self)
{
    (void)self;
    return ctxrt_device_set_primary_flags(CTXRT_CUDA(UNUSED_DEVICE), CTXRT_CONTEXT_SCHED_YIELD);
}

static ctxrt_status properties(stage *self)
{
    ctxrt_device_info info;
    (void)self;
    return ctxrt_device_properties(CTXRT_CUDA(UNUSED_DEVICE), &info);
}

static ctxrt_status memory_info(stage *self)
{
    size_t free_bytes, total_bytes;
    (void)self;
    return ctxrt_device_memory_info(CTXRT_CUDA(THERE_DEVICE), &free_bytes, &total_bytes);
}

static ctxrt_status can_access(stage *self)
{
    int can;
    (void)self;
    return ctxrt_device_can_access_peer(CTXRT_CUDA(0), CTXRT_CUDA(1), &can);
}

static ctxrt_status enable_peer(stage *self)
{
    (void)self;
    return ctxrt_device_enable_peer(CTXRT_CUDA(UNUSED_DEVICE));
}

static ctxrt_status enable_and_disable_peer(stage *self)
{
    ctxrt_status status = enable_peer(self);
    return status == CTXRT_SUCCESS || status == CTXRT_ERROR_ALREADY
               ? ctxrt_device_disable_peer(CTXRT_CUDA(UNUSED_DEVICE))
               : status;
}

static ctxrt_status create_context(stage *self)
{
    return ctxrt_context_create(CTXRT_CUDA(UNUSED_DEVICE), 0, &self->out.created);
}

static ctxrt_status destroy_context(stage *self)
{
    return ctxrt_context_destroy(self->created);
}

static void context_destroyed(stage *self)
{
    self->created = NULL;
}

static ctxrt_status retain_primary(stage *self)
{
    return ctxrt_context_retain_primary(CTXRT_CUDA(UNUSED_DEVICE), &self->out.held);
}

static ctxrt_status adopt(stage *self)
{
    return ctxrt_context_from_native(CTXRT_DEVICE_CUDA, self->native, &self->out.held);
}

static ctxrt_status adopt_and_release(stage *self)
{
    ctxrt_context *adopted;
    ctxrt_status status = ctxrt_context_from_native(CTXRT_DEVICE_CUDA, self->native, &adopted);
    return status == CTXRT_SUCCESS ? ctxrt_context_release(adopted) : status;
}

static ctxrt_status current_context(stage *self)
{
    ctxrt_context *context;
    (void)self;
    return ctxrt_context_current(&context);
}

static ctxrt_status context_device(stage *self)
{
    ctxrt_device device;
    (void)self;
    return ctxrt_context_device(NULL, &device);
}

static ctxrt_status context_id(stage *self)
{
    uint64_t id;
    (void)self;
    return ctxrt_context_id(NULL, &id);
}

static ctxrt_status context_native(stage *self)
{
    struct CUctx_st *native;
    (void)self;
    return ctxrt_context_native(NULL, &native);
}

/* ---- streams and events ---- */

static ctxrt_status create_green(stage *self)
{
    return ctxrt_context_create_green(CTXRT_CUDA(THERE_DEVICE), 1, 8, &self->out.created);
}

static ctxrt_status count_multiprocessors(stage *self)
{
    unsigned int count;
    return ctxrt_context_multiprocessors(self->created, &count);
}

static ctxrt_status get_limit(stage *self)
{
    size_t value;
    return ctxrt_context_get_limit(self->created, CTXRT_LIMIT_STACK_BYTES, &value);
}

static ctxrt_status set_limit(stage *self)
{
    return ctxrt_context_set_limit(self->created, CTXRT_LIMIT_STACK_BYTES, 1024);
}

static ctxrt_status priorities(stage *self)
{
    int least;
    (void)self;
    return ctxrt_context_priorities(NULL, &least, NULL);
}

static ctxrt_status current_stream(stage *self)
{
    ctxrt_stream *stream;
    (void)self;
    return ctxrt_stream_current(&stream);
}

static ctxrt_status create_stream(stage *self)
{
    return ctxrt_stream_create(0, 0, &self->out.stream);
}

static ctxrt_status create_stream_on(stage *self)
{
    return ctxrt_stream_create_on(self->created, 0, -1, &self->out.stream);
}

static ctxrt_status destroy_stream(stage *self)
{
    return ctxrt_stream_destroy(self->objects[THERE].stream);
}

static void stream_destroyed(stage *self)
{
    self->objects[THERE].stream = NULL;
}

static ctxrt_status synchronize_stream(stage *self)
{
    return ctxrt_stream_synchronize(self->objects[THERE].stream);
}

static ctxrt_status synchronize_stream_for(stage *self)
{
    return ctxrt_stream_synchronize_for(self->objects[THERE].stream, 600000);
}

static ctxrt_status query_stream(stage *self)
{
    return ctxrt_stream_query(self->objects[THERE].stream);
}

static ctxrt_status wait_event(stage *self)
{
    return ctxrt_stream_wait_event(self->objects[HERE].stream, self->objects[THERE].event);
}

static void nothing(void *argument)
{
    (void)argument;
}

static ctxrt_status add_function(stage *self)
{
    return ctxrt_stream_add_host_function(self->objects[THERE].stream, nothing, NULL);
}

static ctxrt_status wrap_stream(stage *self)
{
    struct CUstream_st *native;
    ctxrt_status status = ctxrt_stream_native(self->objects[HERE].stream, &native);
    return status == CTXRT_SUCCESS ? ctxrt_stream_from_native(native, &self->out.stream) : status;
}

static ctxrt_status create_event(stage *self)
{
    return ctxrt_event_create(0, &self->out.event);
}

static ctxrt_status create_event_on(stage *self)
{
    return ctxrt_event_create_on(self->created, 0, &self->out.event);
}

static ctxrt_status export_event(stage *self)
{
    ctxrt_exported_event exported;
    ctxrt_event *event;
    (void)self;
    ctxrt_status status =
        ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING | CTXRT_EVENT_INTERPROCESS, &event);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ctxrt_event_export(event, &exported);
    ctxrt_status ended = ctxrt_event_destroy(event);
    return status != CTXRT_SUCCESS ? status : ended;
}

/* No other process exports one: the emulated driver is asked, and finds none. */
static ctxrt_status import_event(stage *self)
{
    const ctxrt_exported_event none = {{0}};
    ctxrt_status status = ctxrt_event_import(&none, &self->out.event);
    return status == CTXRT_ERROR_INVALID_HANDLE ? CTXRT_SUCCESS : status;
}

static ctxrt_status wrap_event(stage *self)
{
    struct CUevent_st *native;
    ctxrt_status status = ctxrt_event_native(self->objects[HERE].event, &native);
    return status == CTXRT_SUCCESS ? ctxrt_event_from_native(native, &self->out.event) : status;
}

static ctxrt_status destroy_event(stage *self)
{
    return ctxrt_event_destroy(self->objects[THERE].event);
}

static void event_destroyed(stage *self)
{
    self->objects[THERE].event = NULL;
}

static ctxrt_status record(stage *self)
{
    return ctxrt_event_record(self->objects[HERE].event, NULL);
}

static ctxrt_status record_there(stage *self)
{
    return ctxrt_event_record(self->objects[THERE].event, self->objects[THERE].stream);
}

static ctxrt_status query_event(stage *self)
{
    return ctxrt_event_query(self->objects[THERE].event);
}

static ctxrt_status synchronize_event_for(stage *self)
{
    return ctxrt_event_synchronize_for(self->objects[THERE].event, 600000);
}

static ctxrt_status synchronize_event(stage *self)
{
    return ctxrt_event_synchronize(self->objects[THERE].event);
}

static ctxrt_status elapsed(stage *self)
{
    float ms;
    return ctxrt_event_elapsed_ms(self->objects[THERE].event, self->objects[THERE].later_event,
                                  &ms);
}

/* ---- handles, shutdown ---- */

static ctxrt_status make_handle(ctxrt_device device, void *user_data, void **out_handle)
{
    ctxrt_stream *stream;
    (void)device;
    ctxrt_status status = ctxrt_stream_current(&stream);
    if (status == CTXRT_SUCCESS)
        *out_handle = user_data;
    return status;
}

static void end_handle(void *handle, void *user_data)
{
    (void)handle, (void)user_data;
}

static ctxrt_status get_handle(stage *self)
{
    static int handle;
    static bool registered;
    void *made;
    (void)self;
    if (!registered)
        registered = ctxrt_handle_register("of the fault test", make_handle, end_handle, &handle) ==
                     CTXRT_SUCCESS;
    return ctxrt_handle_get(CTXRT_CUDA(THERE_DEVICE), "of the fault test", &made);
}

static const operation operations[] = {
    {"ctxrt_device_set", ON_ANY, set, NULL, true, false},
    {"ctxrt_device_set_at, first use", ON_ANY, set_first_use, NULL, true, false},
    {"ctxrt_device_push", ON_ANY, push_device, NULL, true, false},
    {"ctxrt_device_push_at, first use", ON_ANY, push_first_use, NULL, true, false},
    {"ctxrt_stack_push", ON_ANY, push, NULL, true, false},
    {"ctxrt_stack_push_at", ON_ANY, push_at, NULL, true, false},
    {"ctxrt_stack_pop", ON_PUSH | ON_SET, pop, NULL, true, false},
    {"ctxrt_stack_resync", ON_ANY, resync, NULL, true, false},
    {"ctxrt_stack_detach", ON_PUSH, detach, NULL, true, false},
    {"ctxrt_stack_attach", ON_ANY, attach, attached, true, false},
    {"ctxrt_scope_enter", ON_ANY, enter, NULL, true, false},
    {"ctxrt_scope_enter_at, first use", ON_ANY, enter_at, NULL, true, false},
    {"ctxrt_scope_enter_context", ON_ANY, enter_context, NULL, true, false},
    {"ctxrt_scope_leave", ON_SCOPE, leave, NULL, true, false},
    {"ctxrt_scope_leave, with an override", ON_SCOPE, set_and_leave, NULL, true, false},
    {"ctxrt_frame_set_stream", ON_FRAMES, set_stream, NULL, false, false},
    {"ctxrt_frame_set_allocator", ON_FRAMES, set_allocator, NULL, false, false},
    {"ctxrt_device_get", ON_FRAMES, get_device, NULL, true, false},
    {"ctxrt_device_synchronize", ON_FRAMES, synchronize_device, NULL, false, false},
    {"ctxrt_device_release", ON_ANY, use_and_release, NULL, false, false},
    {"ctxrt_device_reset", ON_ANY, reset_device, NULL, false, false},
    {"ctxrt_device_set_primary_flags", ON_ANY, set_flags, NULL, false, false},
    {"ctxrt_device_properties", ON_ANY, properties, NULL, false, false},
    {"ctxrt_device_memory_info", ON_ANY, memory_info, NULL, false, false},
    {"ctxrt_device_can_access_peer", ON_ANY, can_access, NULL, false, false},
    {"ctxrt_device_enable_peer", ON_FRAMES, enable_peer, NULL, false, false},
    {"ctxrt_device_disable_peer", ON_FRAMES, enable_and_disable_peer, NULL, false, false},
    {"ctxrt_context_create", ON_ANY, create_context, NULL, true, false},
    {"ctxrt_context_destroy", ON_ANY, destroy_context, context_destroyed, false, true},
    {"ctxrt_context_retain_primary", ON_ANY, retain_primary, NULL, false, false},
    {"ctxrt_context_from_native", ON_ANY, adopt, NULL, false, false},
    {"ctxrt_context_release", ON_ANY, adopt_and_release, NULL, false, false},
    {"ctxrt_context_current", ON_FRAMES, current_context, NULL, true, false},
    {"ctxrt_context_device", ON_FRAMES, context_device, NULL, false, false},
    {"ctxrt_context_id", ON_FRAMES, context_id, NULL, false, false},
    {"ctxrt_context_native", ON_FRAMES, context_native, NULL, false, false},
    {"ctxrt_context_create_green", ON_ANY, create_green, NULL, false, false},
    {"ctxrt_context_multiprocessors", ON_ANY, count_multiprocessors, NULL, false, false},
    {"ctxrt_context_get_limit", ON_ANY, get_limit, NULL, false, false},
    {"ctxrt_context_set_limit", ON_ANY, set_limit, NULL, false, false},
    {"ctxrt_context_priorities", ON_FRAMES, priorities, NULL, false, false},
    {"ctxrt_stream_current", ON_FRAMES, current_stream, NULL, false, false},
    {"ctxrt_stream_create", ON_FRAMES, create_stream, NULL, false, false},
    {"ctxrt_stream_create_on", ON_ANY, create_stream_on, NULL, false, false},
    {"ctxrt_stream_destroy", ON_ANY, destroy_stream, stream_destroyed, false, true},
    {"ctxrt_stream_synchronize", ON_ANY, synchronize_stream, NULL, false, false},
    {"ctxrt_stream_synchronize_for", ON_ANY, synchronize_stream_for, NULL, false, false},
    {"ctxrt_stream_query", ON_ANY, query_stream, NULL, false, false},
    {"ctxrt_stream_wait_event", ON_ANY, wait_event, NULL, false, false},
    {"ctxrt_stream_add_host_function", ON_ANY, add_function, NULL, false, false},
    {"ctxrt_stream_from_native", ON_FRAMES, wrap_stream, NULL, false, false},
    {"ctxrt_event_create", ON_FRAMES, create_event, NULL, false, false},
    {"ctxrt_event_create_on", ON_ANY, create_event_on, NULL, false, false},
    {"ctxrt_event_destroy", ON_ANY, destroy_event, event_destroyed, false, true},
    {"ctxrt_event_record", ON_FRAMES, record, NULL, false, false},
    {"ctxrt_event_record, of another context", ON_ANY, record_there, NULL, false, false},
    {"ctxrt_event_query", ON_ANY, query_event, NULL, false, false},
    {"ctxrt_event_synchronize", ON_ANY, synchronize_event, NULL, false, false},
    {"ctxrt_event_synchronize_for", ON_ANY, synchronize_event_for, NULL, false, false},
    {"ctxrt_event_export", ON_FRAMES, export_event, NULL, false, false},
    {"ctxrt_event_import", ON_FRAMES, import_event, NULL, false, false},
    {"ctxrt_event_from_native", ON_FRAMES, wrap_event, NULL, false, false},
    {"ctxrt_event_elapsed_ms", ON_ANY, elapsed, NULL, false, false},
    {"ctxrt_handle_get", ON_ANY, get_handle, NULL, false, false},
};

const operation_list stack_operations = {operations, sizeof operations / sizeof *operations};
