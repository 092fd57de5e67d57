#include "operations.h"

#include "../emu/kernels.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
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
    size_t free_bytes;
    ctxrt_status status = ctxrt_device_memory_info(CTXRT_CUDA(UNUSED_DEVICE), &free_bytes, NULL);
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

/* ---- memory ---- */

static ctxrt_status alloc(stage *self)
{
    return ctxrt_memory_alloc(BYTES, &self->out.memory);
}

static ctxrt_status alloc_pinned(stage *self)
{
    return ctxrt_memory_alloc_pinned(BYTES, &self->out.memory);
}

static ctxrt_status alloc_at(stage *self)
{
    return ctxrt_memory_alloc_at(BYTES, "x.c", 1, &self->out.memory);
}

static ctxrt_status alloc_pinned_at(stage *self)
{
    return ctxrt_memory_alloc_pinned_at(BYTES, "x.c", 2, &self->out.memory);
}

static ctxrt_status release_memory(stage *self)
{
    return ctxrt_memory_release(self->objects[THERE].memory);
}

static void memory_released(stage *self)
{
    self->objects[THERE].memory = NULL;
}

static ctxrt_status release_pinned(stage *self)
{
    return ctxrt_memory_release(self->pinned);
}

static void pinned_released(stage *self)
{
    self->pinned = NULL;
}

static ctxrt_status record_use(stage *self)
{
    return ctxrt_memory_record_stream(self->objects[THERE].memory, self->objects[HERE].stream);
}

static ctxrt_status export_memory(stage *self)
{
    ctxrt_exported_memory exported;
    return ctxrt_memory_export(self->objects[THERE].memory, &exported) == CTXRT_ERROR_NOT_SUPPORTED
               ? CTXRT_SUCCESS
               : CTXRT_ERROR_DRIVER;
}

static ctxrt_status import_memory(stage *self)
{
    static const ctxrt_exported_memory exported = {.size_bytes = BYTES};
    return ctxrt_memory_import(&exported, &self->out.memory) == CTXRT_ERROR_NOT_SUPPORTED
               ? CTXRT_SUCCESS
               : CTXRT_ERROR_DRIVER;
}

static ctxrt_status alloc_raw(stage *self)
{
    return ctxrt_alloc(BYTES, &self->out.raw);
}

static ctxrt_status alloc_raw_at(stage *self)
{
    return ctxrt_alloc_at(BYTES, "x.c", 3, &self->out.raw);
}

static ctxrt_status alloc_async(stage *self)
{
    return ctxrt_alloc_async(BYTES, NULL, &self->out.raw);
}

static ctxrt_status alloc_managed(stage *self)
{
    return ctxrt_alloc_managed(BYTES, &self->out.raw);
}

static ctxrt_status free_raw(stage *self)
{
    return ctxrt_free(self->objects[THERE].raw);
}

static void raw_freed(stage *self)
{
    self->objects[THERE].raw = NULL;
}

static ctxrt_status free_async(stage *self)
{
    return ctxrt_free_async(self->objects[THERE].raw_async, self->objects[THERE].stream);
}

/* What the driver refused to free in the order of a stream can still be given up. */
static void raw_async_freed(stage *self)
{
    ctxrt_status gone = ctxrt_free(self->objects[THERE].raw_async);
    (void)gone;
    self->objects[THERE].raw_async = NULL;
}

static ctxrt_status register_host(stage *self)
{
    ctxrt_status status = ctxrt_host_register(self->more, BYTES);
    self->out.registered = status == CTXRT_SUCCESS;
    return status;
}

static ctxrt_status unregister_host(stage *self)
{
    return ctxrt_host_unregister(self->host);
}

static void host_unregistered(stage *self)
{
    self->registered = false;
}

static ctxrt_status query_pointer(stage *self)
{
    ctxrt_pointer_info info;
    return ctxrt_pointer_query(self->objects[THERE].raw, &info);
}

static ctxrt_status create_allocator(stage *self)
{
    return ctxrt_allocator_create(NULL, &self->out.allocator);
}

static ctxrt_status custom_alloc(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                                 void **out_pointer)
{
    (void)user_data, (void)stream, (void)size_bytes, (void)out_pointer;
    return CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status custom_free(void *user_data, void *pointer, size_t size_bytes)
{
    (void)user_data, (void)pointer, (void)size_bytes;
    return CTXRT_SUCCESS;
}

static ctxrt_status create_custom(stage *self)
{
    static const ctxrt_allocator_vtable vtable = {sizeof vtable, custom_alloc, custom_free, NULL};
    return ctxrt_allocator_create_custom(&vtable, NULL, &self->out.allocator);
}

static ctxrt_status destroy_allocator(stage *self)
{
    return ctxrt_allocator_destroy(self->objects[THERE].allocator);
}

static void allocator_destroyed(stage *self)
{
    self->objects[THERE].allocator = NULL;
}

static ctxrt_status trim(stage *self)
{
    uint64_t released;
    return ctxrt_allocator_trim(self->objects[THERE].allocator, &released);
}

/* An allocator in debug mode for the length of the operation. */
static ctxrt_status check_allocator(stage *self)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    (void)self;
    debug.flags = CTXRT_DEBUG_CANARY | CTXRT_DEBUG_POISON;
    options.debug = &debug;
    ctxrt_status status = ctxrt_allocator_create(&options, &allocator);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ctxrt_allocator_check(allocator);
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status ended = ctxrt_allocator_destroy(allocator);
    cx_error_restore(&saved);
    return status != CTXRT_SUCCESS ? status : ended;
}

static ctxrt_status set_debug(stage *self)
{
    const ctxrt_allocator_debug none = CTXRT_ALLOCATOR_DEBUG_INIT;
    return ctxrt_allocator_set_debug(self->guarded, &none);
}

static ctxrt_status current_allocator(stage *self)
{
    ctxrt_allocator *allocator;
    (void)self;
    return ctxrt_allocator_current(&allocator);
}

static ctxrt_status pinned_allocator(stage *self)
{
    ctxrt_allocator *allocator;
    (void)self;
    return ctxrt_allocator_pinned(&allocator);
}

/* ---- copies and fills ---- */

static ctxrt_status copy_in(stage *self)
{
    return ctxrt_copy(self->objects[HERE].raw, self->host, BYTES, CTXRT_COPY_ANY);
}

static ctxrt_status copy_out(stage *self)
{
    return ctxrt_copy(self->host, self->objects[THERE].raw, BYTES, CTXRT_COPY_ANY);
}

static ctxrt_status copy_across(stage *self)
{
    return ctxrt_copy(self->objects[HERE].raw, self->objects[THERE].raw, BYTES,
                      CTXRT_COPY_DEVICE_TO_DEVICE);
}

static ctxrt_status copy_async(stage *self)
{
    return ctxrt_copy_async(self->objects[HERE].raw, self->host, BYTES, CTXRT_COPY_ANY,
                            self->objects[THERE].stream);
}

static ctxrt_status copy_peer(stage *self)
{
    return ctxrt_copy_peer(self->objects[HERE].raw, CTXRT_CUDA(HERE_DEVICE),
                           self->objects[THERE].raw, CTXRT_CUDA(THERE_DEVICE), BYTES, NULL);
}

static ctxrt_copy_region region_of(stage *self)
{
    return (ctxrt_copy_region){
        .destination = self->objects[HERE].raw,
        .destination_pitch_bytes = 64,
        .destination_slice_height = 8,
        .source = self->host,
        .source_pitch_bytes = 64,
        .source_slice_height = 8,
        .width_bytes = 32,
        .height = 8,
        .depth = 1,
    };
}

static ctxrt_status copy_2d(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_2d(&region);
}

static ctxrt_status copy_2d_async(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_2d_async(&region, self->objects[THERE].stream);
}

static ctxrt_status copy_3d(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_3d(&region);
}

static ctxrt_status copy_3d_async(stage *self)
{
    ctxrt_copy_region region = region_of(self);
    return ctxrt_copy_3d_async(&region, self->objects[THERE].stream);
}

static ctxrt_status fill(stage *self)
{
    return ctxrt_fill(self->objects[THERE].raw, 7, BYTES);
}

static ctxrt_status fill_async(stage *self)
{
    return ctxrt_fill_async(self->objects[HERE].raw, 7, BYTES, self->objects[THERE].stream);
}

/* ---- captures and graphs ---- */

static ctxrt_status begin_capture(stage *self)
{
    return ctxrt_stream_capture_begin(self->objects[THERE].stream, CTXRT_CAPTURE_RELAXED);
}

static ctxrt_status begin_and_end_capture(stage *self)
{
    ctxrt_capture_state state;
    ctxrt_stream *stream = self->objects[THERE].stream;
    ctxrt_status status = ctxrt_stream_capture_status(stream, &state);
    if (status == CTXRT_SUCCESS && state == CTXRT_CAPTURE_NONE)
        status = begin_capture(self);
    return status == CTXRT_SUCCESS ? ctxrt_stream_capture_end(stream, &self->out.graph) : status;
}

static ctxrt_status capture_status(stage *self)
{
    ctxrt_capture_state state;
    return ctxrt_stream_capture_status(self->objects[THERE].stream, &state);
}

static ctxrt_status launch_graph(stage *self)
{
    return ctxrt_graph_launch(self->objects[THERE].graph, NULL);
}

static ctxrt_status launch_graph_here(stage *self)
{
    return ctxrt_graph_launch(self->objects[HERE].graph, self->objects[HERE].stream);
}

static ctxrt_status launch_graph_aside(stage *self)
{
    return ctxrt_graph_launch(self->objects[THERE].graph, self->objects[HERE].stream);
}

static ctxrt_status clone_graph(stage *self)
{
    return ctxrt_graph_clone(self->objects[THERE].graph, &self->out.graph);
}

static ctxrt_status fill_current(void *argument)
{
    return ctxrt_fill_async(((stage *)argument)->objects[HERE].raw, 7, BYTES, NULL);
}

static ctxrt_status submit(stage *self)
{
    const ctxrt_operator filling = {sizeof filling, "fill", fill_current, NULL, self, 1};
    return ctxrt_operator_submit(&filling);
}

/* What was started and not stopped is the thread's still: whatever failed, it is ended. */
static ctxrt_status start_and_cancel(stage *self)
{
    int active;
    (void)self;
    ctxrt_status status = ctxrt_recording_start(NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_recording_active(&active);
    ctxrt_status cancelled = ctxrt_recording_cancel();
    if (cancelled != CTXRT_SUCCESS)
        cancelled = ctxrt_recording_cancel();
    return status != CTXRT_SUCCESS ? status : cancelled;
}

enum { ENTRIES_MAX = 32 };

static int count_entries(void)
{
    CUcontext entries[ENTRIES_MAX];
    const cx_driver_table *driver = faults_beneath();
    int count = 0;
    while (count < ENTRIES_MAX && driver->ctx_get_current(&entries[count]) == CXU_SUCCESS &&
           entries[count] != NULL && driver->ctx_pop(&entries[count]) == CXU_SUCCESS)
        count++;
    for (int i = count - 1; i >= 0; i--)
        (void)driver->ctx_push(entries[i]);
    return count;
}

/* Stopping pushes the context that is current already. Of such a push that reports a failure nobody
 * can tell whether it was made. */
static void drop_what_nobody_could_tell(int entries)
{
    const char *failed = faults_failed_call();
    if (failed != NULL && strcmp(failed, "cuCtxPushCurrent_v2") == 0 && count_entries() > entries)
        (void)faults_beneath()->ctx_pop(NULL);
}

static ctxrt_status record_graph(stage *self)
{
    void *memory;
    int entries = count_entries();
    ctxrt_status status = ctxrt_recording_start(NULL);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_alloc(BYTES, &memory);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_free(memory);
    if (status == CTXRT_SUCCESS)
        status = submit(self);
    if (status == CTXRT_SUCCESS)
        status = ctxrt_recording_stop(&self->out.graph);
    if (status == CTXRT_SUCCESS)
        return status;
    cx_error_saved saved;
    cx_error_save(&saved);
    drop_what_nobody_could_tell(entries);
    if (ctxrt_recording_cancel() != CTXRT_SUCCESS)
        (void)start_and_cancel(self);
    uint64_t released; /* memory of the recording that the allocator keeps */
    ctxrt_status trimmed = ctxrt_allocator_trim(NULL, &released);
    (void)trimmed;
    cx_error_restore(&saved);
    return status;
}

static ctxrt_status release_graph(stage *self)
{
    return ctxrt_graph_release(self->objects[THERE].graph);
}

static void graph_released(stage *self)
{
    self->objects[THERE].graph = NULL;
}

/* ---- modules and kernels ---- */

static const char code[] = PTX_HEAD PTX_COUNTER;

static ctxrt_status load_module(stage *self)
{
    return ctxrt_module_load(code, sizeof code, &self->out.module);
}

static ctxrt_status load_module_file(stage *self)
{
    char path[4096];
    const char *top = getenv("top_srcdir");
    snprintf(path, sizeof path, "%s/tests/ptx/corpus/next.ptx", top != NULL ? top : ".");
    return ctxrt_module_load_file(path, &self->out.module);
}

static ctxrt_status unload_module(stage *self)
{
    return ctxrt_module_unload(self->objects[THERE].module);
}

static void module_unloaded(stage *self)
{
    self->objects[THERE].module = NULL;
}

static ctxrt_status get_kernel(stage *self)
{
    ctxrt_kernel *kernel;
    return ctxrt_module_get_kernel(self->objects[THERE].module, "next", &kernel);
}

/* In a module of its own, where nobody has asked for it. */
static ctxrt_status get_kernel_anew(stage *self)
{
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    (void)self;
    ctxrt_status status = ctxrt_module_load(code, 0, &module);
    if (status != CTXRT_SUCCESS)
        return status;
    status = ctxrt_module_get_kernel(module, "next", &kernel);
    if (status == CTXRT_SUCCESS)
        return ctxrt_module_unload(module);
    cx_error_saved saved;
    cx_error_save(&saved);
    ctxrt_status unloaded = ctxrt_module_unload(module);
    (void)unloaded;
    cx_error_restore(&saved);
    return status;
}

static ctxrt_status get_global(stage *self)
{
    size_t size_bytes;
    void *pointer;
    return ctxrt_module_get_global(self->objects[THERE].module, "counter", &pointer, &size_bytes);
}

static ctxrt_status describe_kernel(stage *self)
{
    ctxrt_kernel_info info;
    return ctxrt_kernel_describe(self->objects[THERE].kernel, &info);
}

static ctxrt_status kernel_occupancy(stage *self)
{
    ctxrt_occupancy occupancy;
    return ctxrt_kernel_occupancy(self->objects[THERE].kernel, 64, 0, &occupancy);
}

static ctxrt_status launch_in(const stage_objects *objects, ctxrt_stream *stream, int cooperative)
{
    void *at = objects->raw, *arguments[] = {&at};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.stream = stream;
    config.cooperative = cooperative;
    return ctxrt_launch(&config, objects->kernel, arguments, 1);
}

static ctxrt_status launch_here(stage *self)
{
    return launch_in(&self->objects[HERE], NULL, 0);
}

static ctxrt_status launch_there(stage *self)
{
    return launch_in(&self->objects[THERE], self->objects[THERE].stream, 0);
}

static ctxrt_status launch_cooperatively(stage *self)
{
    return launch_in(&self->objects[THERE], self->objects[THERE].stream, 1);
}

static ctxrt_status capture_launch(stage *self)
{
    ctxrt_capture_state state;
    ctxrt_stream *stream = self->objects[THERE].stream;
    ctxrt_status status = ctxrt_stream_capture_status(stream, &state);
    if (status == CTXRT_SUCCESS && state == CTXRT_CAPTURE_NONE)
        status = begin_capture(self);
    if (status == CTXRT_SUCCESS)
        status = launch_there(self);
    return status == CTXRT_SUCCESS ? ctxrt_stream_capture_end(stream, &self->out.graph) : status;
}

/* ---- plans ---- */

static ctxrt_status create_plan(stage *self)
{
    return ctxrt_plan_create(0, &self->out.plan);
}

static ctxrt_status commit_plan(stage *self)
{
    return ctxrt_plan_commit(self->objects[HERE].plan, NULL);
}

static ctxrt_status ask_plan(stage *self)
{
    return ctxrt_plan_pointer(self->objects[HERE].plan, 0, &self->out.other);
}

static ctxrt_status destroy_plan(stage *self)
{
    return ctxrt_plan_destroy(self->objects[THERE].committed);
}

static void plan_destroyed(stage *self)
{
    self->objects[THERE].committed = NULL;
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

const operation operations[] = {
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
    {"ctxrt_stream_current", ON_FRAMES, current_stream, NULL, false, false},
    {"ctxrt_stream_create", ON_FRAMES, create_stream, NULL, false, false},
    {"ctxrt_stream_destroy", ON_ANY, destroy_stream, stream_destroyed, false, true},
    {"ctxrt_stream_synchronize", ON_ANY, synchronize_stream, NULL, false, false},
    {"ctxrt_stream_query", ON_ANY, query_stream, NULL, false, false},
    {"ctxrt_stream_wait_event", ON_ANY, wait_event, NULL, false, false},
    {"ctxrt_stream_add_host_function", ON_ANY, add_function, NULL, false, false},
    {"ctxrt_stream_from_native", ON_FRAMES, wrap_stream, NULL, false, false},
    {"ctxrt_event_create", ON_FRAMES, create_event, NULL, false, false},
    {"ctxrt_event_destroy", ON_ANY, destroy_event, event_destroyed, false, true},
    {"ctxrt_event_record", ON_FRAMES, record, NULL, false, false},
    {"ctxrt_event_record, of another context", ON_ANY, record_there, NULL, false, false},
    {"ctxrt_event_query", ON_ANY, query_event, NULL, false, false},
    {"ctxrt_event_synchronize", ON_ANY, synchronize_event, NULL, false, false},
    {"ctxrt_event_elapsed_ms", ON_ANY, elapsed, NULL, false, false},
    {"ctxrt_memory_alloc", ON_FRAMES, alloc, NULL, false, false},
    {"ctxrt_memory_alloc_pinned", ON_FRAMES, alloc_pinned, NULL, false, false},
    {"ctxrt_memory_alloc_at", ON_FRAMES, alloc_at, NULL, false, false},
    {"ctxrt_memory_alloc_pinned_at", ON_FRAMES, alloc_pinned_at, NULL, false, false},
    {"ctxrt_alloc_at", ON_FRAMES, alloc_raw_at, NULL, false, false},
    {"ctxrt_memory_release", ON_ANY, release_memory, memory_released, false, true},
    {"ctxrt_memory_release, pinned", ON_ANY, release_pinned, pinned_released, false, true},
    {"ctxrt_memory_record_stream", ON_ANY, record_use, NULL, false, false},
    {"ctxrt_memory_export", ON_ANY, export_memory, NULL, false, false},
    {"ctxrt_memory_import", ON_FRAMES, import_memory, NULL, false, false},
    {"ctxrt_alloc", ON_FRAMES, alloc_raw, NULL, false, false},
    {"ctxrt_alloc_async", ON_FRAMES, alloc_async, NULL, false, false},
    {"ctxrt_alloc_managed", ON_FRAMES, alloc_managed, NULL, false, false},
    {"ctxrt_free", ON_ANY, free_raw, raw_freed, false, true},
    {"ctxrt_free_async", ON_ANY, free_async, raw_async_freed, false, true},
    {"ctxrt_host_register", ON_FRAMES, register_host, NULL, false, false},
    {"ctxrt_host_unregister", ON_ANY, unregister_host, host_unregistered, false, true},
    {"ctxrt_pointer_query", ON_ANY, query_pointer, NULL, false, false},
    {"ctxrt_allocator_create", ON_FRAMES, create_allocator, NULL, false, false},
    {"ctxrt_allocator_create_custom", ON_FRAMES, create_custom, NULL, false, false},
    {"ctxrt_allocator_destroy", ON_ANY, destroy_allocator, allocator_destroyed, false, true},
    {"ctxrt_allocator_trim", ON_ANY, trim, NULL, false, false},
    {"ctxrt_allocator_check", ON_FRAMES, check_allocator, NULL, false, false},
    {"ctxrt_allocator_set_debug", ON_ANY, set_debug, NULL, false, false},
    {"ctxrt_allocator_current", ON_FRAMES, current_allocator, NULL, false, false},
    {"ctxrt_allocator_pinned", ON_FRAMES, pinned_allocator, NULL, false, false},
    {"ctxrt_copy, to the device", ON_FRAMES, copy_in, NULL, false, false},
    {"ctxrt_copy, from another device", ON_FRAMES, copy_out, NULL, false, false},
    {"ctxrt_copy, across devices", ON_FRAMES, copy_across, NULL, false, false},
    {"ctxrt_copy_async, in another context's stream", ON_ANY, copy_async, NULL, false, false},
    {"ctxrt_copy_peer", ON_FRAMES, copy_peer, NULL, false, false},
    {"ctxrt_copy_2d", ON_FRAMES, copy_2d, NULL, false, false},
    {"ctxrt_copy_2d_async", ON_ANY, copy_2d_async, NULL, false, false},
    {"ctxrt_copy_3d", ON_FRAMES, copy_3d, NULL, false, false},
    {"ctxrt_copy_3d_async", ON_ANY, copy_3d_async, NULL, false, false},
    {"ctxrt_module_load", ON_FRAMES, load_module, NULL, false, false},
    {"ctxrt_module_load_file", ON_FRAMES, load_module_file, NULL, false, false},
    {"ctxrt_module_unload", ON_ANY, unload_module, module_unloaded, false, true},
    {"ctxrt_module_get_kernel", ON_ANY, get_kernel, NULL, false, false},
    {"ctxrt_module_get_kernel, for the first time", ON_FRAMES, get_kernel_anew, NULL, false, true},
    {"ctxrt_module_get_global", ON_ANY, get_global, NULL, false, false},
    {"ctxrt_kernel_describe", ON_ANY, describe_kernel, NULL, false, false},
    {"ctxrt_kernel_occupancy", ON_ANY, kernel_occupancy, NULL, false, false},
    {"ctxrt_launch", ON_FRAMES, launch_here, NULL, false, false},
    {"ctxrt_launch, in another context", ON_ANY, launch_there, NULL, false, false},
    {"ctxrt_launch, cooperatively", ON_ANY, launch_cooperatively, NULL, false, false},
    {"ctxrt_stream_capture_end, with a kernel", ON_ANY, capture_launch, NULL, false, false},
    {"ctxrt_fill", ON_FRAMES, fill, NULL, false, false},
    {"ctxrt_fill_async", ON_ANY, fill_async, NULL, false, false},
    {"ctxrt_stream_capture_begin", ON_ANY, begin_capture, NULL, false, false},
    {"ctxrt_stream_capture_end", ON_ANY, begin_and_end_capture, NULL, false, false},
    {"ctxrt_stream_capture_status", ON_ANY, capture_status, NULL, false, false},
    {"ctxrt_graph_launch", ON_ANY, launch_graph, NULL, false, false},
    {"ctxrt_graph_launch, in a stream", ON_ANY, launch_graph_here, NULL, false, false},
    {"ctxrt_graph_launch, in a stream of another device", ON_ANY, launch_graph_aside, NULL, false,
     false},
    {"ctxrt_operator_submit", ON_FRAMES, submit, NULL, false, false},
    {"ctxrt_recording_start", ON_FRAMES, start_and_cancel, NULL, false, false},
    {"ctxrt_recording_stop", ON_FRAMES, record_graph, NULL, false, false},
    {"ctxrt_recording_cancel", ON_FRAMES, start_and_cancel, NULL, false, false},
    {"ctxrt_recording_active", ON_FRAMES, start_and_cancel, NULL, false, false},
    {"ctxrt_graph_clone", ON_ANY, clone_graph, NULL, false, false},
    {"ctxrt_graph_release", ON_ANY, release_graph, graph_released, false, true},
    {"ctxrt_plan_create", ON_FRAMES, create_plan, NULL, false, false},
    {"ctxrt_plan_commit", ON_FRAMES, commit_plan, NULL, false, false},
    {"ctxrt_plan_pointer", ON_FRAMES, ask_plan, NULL, false, false},
    {"ctxrt_plan_destroy", ON_ANY, destroy_plan, plan_destroyed, false, true},
    {"ctxrt_handle_get", ON_ANY, get_handle, NULL, false, false},
};
const int operation_count = sizeof operations / sizeof operations[0];
