#include "every_call.h"

#include "../emu/kernels.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096 };

typedef enum call_kind {
    CALL,    /* does something */
    RELEASE, /* gives something back */
    NEVER    /* never fails */
} call_kind;

/* What calls would write into, were they to succeed. */
typedef struct outputs {
    ctxrt_context *context;
    ctxrt_stream *stream;
    ctxrt_event *event;
    ctxrt_memory *memory;
    ctxrt_allocator *allocator;
    ctxrt_graph *graph;
    ctxrt_plan *plan;
    ctxrt_capture_state capture_state;
    ctxrt_operator_implementation implementation;
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    ctxrt_kernel_info kernel_info;
    ctxrt_occupancy occupancy;
    ctxrt_detached_frame *detached;
    ctxrt_device device;
    ctxrt_device_info device_info;
    ctxrt_memory_info memory_info;
    ctxrt_pointer_info pointer_info;
    ctxrt_frame_info frame_info;
    ctxrt_allocator_figures figures;
    ctxrt_allocator_info allocator_info;
    ctxrt_resync_report report;
    ctxrt_exported_memory exported;
    ctxrt_exported_mapping mapping;
    int handle;
    ctxrt_driver_info drivers[2];
    struct CUctx_st *native_context;
    struct CUstream_st *native_stream;
    struct CUevent_st *native_event;
    struct CUmod_st *native_module;
    struct CUfunc_st *native_kernel;
    ctxrt_scope scope;
    uint64_t number;
    size_t size, total;
    int count, counts[CTXRT_DEVICE_TYPE_COUNT];
    float ms;
    void *pointer;
    FILE *file;
    unsigned char bytes[16];
} outputs;

static void do_nothing(void *argument)
{
    (void)argument;
}

static ctxrt_status make_handle(ctxrt_device device, void *user_data, void **out_handle)
{
    (void)device;
    *out_handle = user_data;
    return CTXRT_SUCCESS;
}

static void end_handle(void *handle, void *user_data)
{
    (void)handle;
    (void)user_data;
}

static ctxrt_status alloc_nothing(void *user_data, size_t size_bytes, ctxrt_stream *stream,
                                  void **out_pointer)
{
    (void)user_data;
    (void)size_bytes;
    (void)stream;
    (void)out_pointer;
    return CTXRT_ERROR_OUT_OF_MEMORY;
}

static ctxrt_status free_nothing(void *user_data, void *pointer, size_t size_bytes)
{
    (void)user_data;
    (void)pointer;
    (void)size_bytes;
    return CTXRT_SUCCESS;
}

static ctxrt_status run_nothing(void *user_data)
{
    (void)user_data;
    return CTXRT_SUCCESS;
}

static ctxrt_status release_host_memory(every_object *in)
{
    return ctxrt_memory_release(in->host_memory);
}

static const ctxrt_allocator_vtable vtable = {sizeof vtable, alloc_nothing, free_nothing, NULL};
static const ctxrt_operator operation = {
    sizeof operation, "every_call", run_nothing, NULL, NULL, 0};
static const ctxrt_launch_config launch_config = CTXRT_LAUNCH_CONFIG_INIT;
static const char code[] = PTX_HEAD PTX_COUNTER;
static const ctxrt_operator_implementation registered = {sizeof registered, run_nothing, 0};
static char host[2][BYTES];
static const ctxrt_copy_region region = {
    host[0], 64, 1, host[1], 64, 1, 64, 1, 1, CTXRT_COPY_HOST_TO_HOST,
};

/* X(kind, function, arguments): `in` are the live objects, `out` takes what comes out. */
#define EVERY_CALL(X)                                                                             \
    X(CALL, ctxrt_init, (NULL))                                                                   \
    X(CALL, ctxrt_shutdown, ())                                                                   \
    X(CALL, ctxrt_drivers, (2, out->drivers, &out->size))                                         \
    X(CALL, ctxrt_context_create, (CTXRT_CUDA(0), 0, &out->context))                              \
    X(CALL, ctxrt_context_retain_primary, (CTXRT_CUDA(0), &out->context))                         \
    X(CALL, ctxrt_context_current, (&out->context))                                               \
    X(CALL, ctxrt_context_device, (in->context, &out->device))                                    \
    X(CALL, ctxrt_context_id, (in->context, &out->number))                                        \
    X(CALL, ctxrt_context_native, (in->context, &out->native_context))                            \
    X(CALL, ctxrt_context_create_green, (CTXRT_CUDA(0), 1, 8, &out->context))                     \
    X(CALL, ctxrt_context_multiprocessors, (in->context, (unsigned int *)&out->count))            \
    X(CALL, ctxrt_context_get_limit, (in->context, CTXRT_LIMIT_HEAP_BYTES, &out->size))           \
    X(CALL, ctxrt_context_set_limit, (in->context, CTXRT_LIMIT_HEAP_BYTES, (size_t)8 << 20))      \
    X(CALL, ctxrt_context_priorities, (in->context, &out->count, &out->counts[0]))                \
    X(CALL, ctxrt_context_from_native,                                                            \
      (CTXRT_DEVICE_CUDA, (struct CUctx_st *)in->pages, &out->context))                           \
    X(CALL, ctxrt_device_count, (CTXRT_DEVICE_CUDA, &out->count))                                 \
    X(CALL, ctxrt_device_count_all, (out->counts))                                                \
    X(CALL, ctxrt_device_properties, (CTXRT_CUDA(0), &out->device_info))                          \
    X(CALL, ctxrt_device_memory_info, (CTXRT_CUDA(0), &out->size, &out->total))                   \
    X(CALL, ctxrt_device_set, (CTXRT_CUDA(0)))                                                    \
    X(CALL, ctxrt_device_set_at, (CTXRT_CUDA(0), "", 1))                                          \
    X(CALL, ctxrt_device_push, (CTXRT_CUDA(0)))                                                   \
    X(CALL, ctxrt_device_push_at, (CTXRT_CUDA(0), "", 1))                                         \
    X(CALL, ctxrt_device_get, (&out->device))                                                     \
    X(CALL, ctxrt_device_synchronize, ())                                                         \
    X(CALL, ctxrt_device_reset, (CTXRT_CUDA(1)))                                                  \
    X(CALL, ctxrt_device_by_uuid, (out->bytes, &out->device))                                     \
    X(CALL, ctxrt_device_by_pci, ("0000:01:00.0", &out->device))                                  \
    X(CALL, ctxrt_device_set_primary_flags, (CTXRT_CUDA(1), CTXRT_CONTEXT_SCHED_AUTO))            \
    X(CALL, ctxrt_device_can_access_peer, (CTXRT_CUDA(0), CTXRT_CUDA(1), &out->count))            \
    X(CALL, ctxrt_device_enable_peer, (CTXRT_CUDA(1)))                                            \
    X(CALL, ctxrt_device_disable_peer, (CTXRT_CUDA(1)))                                           \
    X(CALL, ctxrt_handle_register, ("every_call", make_handle, end_handle, NULL))                 \
    X(CALL, ctxrt_handle_get, (CTXRT_CUDA(0), "every_call", &out->pointer))                       \
    X(CALL, ctxrt_event_create, (CTXRT_EVENT_DEFAULT, &out->event))                               \
    X(CALL, ctxrt_event_create_on, (in->context, CTXRT_EVENT_DEFAULT, &out->event))               \
    X(CALL, ctxrt_event_record, (in->event, in->stream))                                          \
    X(CALL, ctxrt_event_query, (in->event))                                                       \
    X(CALL, ctxrt_event_synchronize, (in->event))                                                 \
    X(CALL, ctxrt_event_synchronize_for, (in->event, 0))                                          \
    X(CALL, ctxrt_event_from_native, ((struct CUevent_st *)in->pages, &out->event))               \
    X(CALL, ctxrt_event_export, (in->event, (ctxrt_exported_event *)&out->exported))              \
    X(CALL, ctxrt_event_import, ((ctxrt_exported_event *)&out->exported, &out->event))            \
    X(CALL, ctxrt_event_elapsed_ms, (in->event, in->event, &out->ms))                             \
    X(CALL, ctxrt_event_native, (in->event, &out->native_event))                                  \
    X(CALL, ctxrt_stream_create, (CTXRT_STREAM_DEFAULT, 0, &out->stream))                         \
    X(CALL, ctxrt_stream_create_on, (in->context, CTXRT_STREAM_DEFAULT, 0, &out->stream))         \
    X(CALL, ctxrt_stream_synchronize, (in->stream))                                               \
    X(CALL, ctxrt_stream_synchronize_for, (in->stream, 0))                                        \
    X(CALL, ctxrt_stream_query, (in->stream))                                                     \
    X(CALL, ctxrt_stream_wait_event, (in->stream, in->event))                                     \
    X(CALL, ctxrt_stream_add_host_function, (in->stream, do_nothing, NULL))                       \
    X(CALL, ctxrt_stream_context, (in->stream, &out->context))                                    \
    X(CALL, ctxrt_stream_native, (in->stream, &out->native_stream))                               \
    X(CALL, ctxrt_stream_from_native, ((struct CUstream_st *)in->pages, &out->stream))            \
    X(CALL, ctxrt_stream_capture_begin, (in->stream, CTXRT_CAPTURE_RELAXED))                      \
    X(CALL, ctxrt_stream_capture_status, (in->stream, &out->capture_state))                       \
    X(CALL, ctxrt_stream_capture_end, (in->stream, &out->graph))                                  \
    X(CALL, ctxrt_graph_launch, (in->graph, in->stream))                                          \
    X(CALL, ctxrt_graph_clone, (in->graph, &out->graph))                                          \
    X(CALL, ctxrt_graph_retain, (in->graph))                                                      \
    X(CALL, ctxrt_operator_submit, (&operation))                                                  \
    X(CALL, ctxrt_operator_register, (CTXRT_DEVICE_CUDA, "every_call", &registered))              \
    X(CALL, ctxrt_operator_find, (CTXRT_DEVICE_CUDA, "every_call", &out->implementation))         \
    X(CALL, ctxrt_module_load, (code, sizeof code, &out->module))                                 \
    X(CALL, ctxrt_module_load_on, (in->context, code, sizeof code, &out->module))                 \
    X(CALL, ctxrt_module_load_file, ("/dev/null", &out->module))                                  \
    X(CALL, ctxrt_module_get_kernel, (in->module, "next", &out->kernel))                         \
    X(CALL, ctxrt_module_get_global, (in->module, "counter", &out->pointer, &out->size))         \
    X(CALL, ctxrt_module_native, (in->module, &out->native_module))                               \
    X(CALL, ctxrt_kernel_describe, (in->kernel, &out->kernel_info))                               \
    X(CALL, ctxrt_kernel_occupancy, (in->kernel, 0, 0, &out->occupancy))                          \
    X(CALL, ctxrt_kernel_native, (in->kernel, &out->native_kernel))                               \
    X(CALL, ctxrt_launch, (&launch_config, in->kernel, &in->pointer, 1))                          \
    X(CALL, ctxrt_recording_start, (NULL))                                                        \
    X(CALL, ctxrt_recording_active, (&out->count))                                                \
    X(CALL, ctxrt_recording_stop, (&out->graph))                                                  \
    X(CALL, ctxrt_recording_cancel, ())                                                           \
    X(CALL, ctxrt_graph_describe, (in->graph, out->file, CTXRT_GRAPH_TEXT))                       \
    X(CALL, ctxrt_graph_context, (in->graph, &out->context))                                      \
    X(CALL, ctxrt_plan_create, (256, &out->plan))                                                 \
    X(CALL, ctxrt_plan_alloc, (in->plan, 1, &out->size))                                          \
    X(CALL, ctxrt_plan_free, (in->plan, 0))                                                       \
    X(CALL, ctxrt_plan_optimise, (in->plan, 0, 0))                                                \
    X(CALL, ctxrt_plan_peak, (in->plan, &out->size))                                              \
    X(CALL, ctxrt_plan_offset, (in->plan, 0, &out->size))                                         \
    X(CALL, ctxrt_plan_commit, (in->plan, &out->memory))                                          \
    X(CALL, ctxrt_plan_pointer, (in->plan, 0, &out->pointer))                                     \
    X(CALL, ctxrt_stream_current, (&out->stream))                                                 \
    X(CALL, ctxrt_allocator_current, (&out->allocator))                                           \
    X(CALL, ctxrt_allocator_pinned, (&out->allocator))                                            \
    X(CALL, ctxrt_allocator_direct, (&out->allocator))                                            \
    X(CALL, ctxrt_frame_set_stream, (in->stream))                                                 \
    X(CALL, ctxrt_frame_set_allocator, (in->allocator))                                           \
    X(CALL, ctxrt_memory_alloc, (BYTES, &out->memory))                                            \
    X(CALL, ctxrt_memory_alloc_pinned, (BYTES, &out->memory))                                     \
    X(CALL, ctxrt_memory_alloc_on, (in->context, BYTES, &out->memory))                            \
    X(CALL, ctxrt_memory_alloc_pinned_on, (in->context, BYTES, &out->memory))                     \
    X(CALL, ctxrt_alloc_on, (in->context, BYTES, &out->pointer))                                  \
    X(CALL, ctxrt_memory_alloc_at, (BYTES, "x.c", 1, &out->memory))                               \
    X(CALL, ctxrt_memory_alloc_pinned_at, (BYTES, "x.c", 1, &out->memory))                        \
    X(CALL, ctxrt_alloc_at, (BYTES, "x.c", 1, &out->pointer))                                     \
    X(CALL, ctxrt_memory_alloc_host, (BYTES, &out->memory))                                       \
    X(CALL, ctxrt_memory_wrap, (host[0], BYTES, CTXRT_CPU(0), NULL, NULL, &out->memory))          \
    X(CALL, ctxrt_memory_retain, (in->memory))                                                    \
    X(CALL, ctxrt_memory_describe, (in->memory, &out->memory_info))                               \
    X(CALL, ctxrt_memory_record_stream, (in->memory, in->stream))                                 \
    X(CALL, ctxrt_memory_export, (in->memory, &out->exported))                                    \
    X(CALL, ctxrt_memory_import, (&out->exported, &out->memory))                                  \
    X(CALL, ctxrt_memory_import_from_pool,                                                        \
      ((struct CUmemPoolHandle_st *)in->pages, &out->exported, &out->memory))                     \
    X(CALL, ctxrt_memory_export_mapped, (in->memory, 0, NULL, &out->mapping))                     \
    X(CALL, ctxrt_memory_import_mapped, (&out->mapping, &out->handle, &out->memory))              \
    X(CALL, ctxrt_alloc, (BYTES, &out->pointer))                                                  \
    X(CALL, ctxrt_alloc_async, (BYTES, in->stream, &out->pointer))                                \
    X(CALL, ctxrt_alloc_managed, (BYTES, &out->pointer))                                          \
    X(CALL, ctxrt_alloc_direct, (BYTES, &out->pointer))                                           \
    X(CALL, ctxrt_alloc_pinned, (BYTES, &out->pointer))                                           \
    X(CALL, ctxrt_host_register, (host[0], BYTES))                                                \
    X(CALL, ctxrt_copy, (in->pointer, host[0], BYTES, CTXRT_COPY_ANY))                            \
    X(CALL, ctxrt_copy_async, (in->pointer, host[0], BYTES, CTXRT_COPY_ANY, in->stream))          \
    X(CALL, ctxrt_copy_2d, (&region))                                                             \
    X(CALL, ctxrt_copy_2d_async, (&region, in->stream))                                           \
    X(CALL, ctxrt_copy_3d, (&region))                                                             \
    X(CALL, ctxrt_copy_3d_async, (&region, in->stream))                                           \
    X(CALL, ctxrt_copy_peer, (in->pointer, CTXRT_CUDA(0), host[0], CTXRT_CPU(0), 64, in->stream)) \
    X(CALL, ctxrt_fill, (in->pointer, 0, BYTES))                                                  \
    X(CALL, ctxrt_fill_async, (in->pointer, 0, BYTES, in->stream))                                \
    X(CALL, ctxrt_fill32, (in->pointer, 0, BYTES / 4))                                            \
    X(CALL, ctxrt_fill32_async, (in->pointer, 0, BYTES / 4, in->stream))                          \
    X(CALL, ctxrt_pointer_query, (in->pointer, &out->pointer_info))                               \
    X(CALL, ctxrt_allocator_create, (0, &out->allocator))                                         \
    X(CALL, ctxrt_allocator_create_custom, (&vtable, NULL, &out->allocator))                      \
    X(CALL, ctxrt_allocator_create_from_pool, (NULL, &out->allocator))                            \
    X(CALL, ctxrt_allocator_set_out_of_memory, (in->allocator, NULL, NULL))                       \
    X(CALL, ctxrt_allocator_statistics, (in->allocator, &out->figures))                           \
    X(CALL, ctxrt_allocator_set_limit, (in->allocator, 0))                                        \
    X(CALL, ctxrt_allocator_set_debug, (in->allocator, NULL))                                     \
    X(CALL, ctxrt_allocator_trim, (in->allocator, &out->number))                                  \
    X(CALL, ctxrt_memory_report_write, (out->file))                                               \
    X(CALL, ctxrt_allocator_check, (in->allocator))                                               \
    X(CALL, ctxrt_allocator_describe, (in->allocator, &out->allocator_info))                      \
    X(CALL, ctxrt_allocator_snapshot_write, (in->allocator, out->file, CTXRT_SNAPSHOT_JSON))      \
    X(CALL, ctxrt_allocator_trace_start, (in->allocator, 16))                                     \
    X(CALL, ctxrt_allocator_trace_write, (in->allocator, out->file))                              \
    X(CALL, ctxrt_allocator_trace_stop, (in->allocator))                                          \
    X(CALL, ctxrt_snapshot_write, (out->file, CTXRT_SNAPSHOT_TEXT))                               \
    X(CALL, ctxrt_stack_push, (in->context))                                                      \
    X(CALL, ctxrt_stack_push_at, (in->context, "", 1))                                            \
    X(CALL, ctxrt_stack_pop, ())                                                                  \
    X(CALL, ctxrt_stack_peek, (0, &out->frame_info))                                              \
    X(CALL, ctxrt_stack_resync, (&out->report))                                                   \
    X(CALL, ctxrt_stack_detach, (&out->detached))                                                 \
    X(CALL, ctxrt_stack_attach, (in->detached))                                                   \
    X(RELEASE, ctxrt_stack_discard, (in->detached))                                               \
    X(CALL, ctxrt_scope_enter, (CTXRT_CUDA(0), &out->scope))                                      \
    X(CALL, ctxrt_scope_enter_at, (CTXRT_CUDA(0), &out->scope, "", 1))                            \
    X(CALL, ctxrt_scope_enter_context, (in->context, &out->scope))                                \
    X(CALL, ctxrt_scope_leave, (&in->scope))                                                      \
    X(RELEASE, ctxrt_module_unload, (in->module))                                                 \
    X(RELEASE, ctxrt_graph_release, (in->graph))                                                  \
    X(RELEASE, ctxrt_plan_destroy, (in->plan))                                                    \
    X(RELEASE, ctxrt_host_unregister, (in->pages))                                                \
    X(RELEASE, ctxrt_free, (in->pointer))                                                         \
    X(RELEASE, ctxrt_free_async, (in->async_pointer, in->stream))                                 \
    X(RELEASE, release_host_memory, (in))                                                         \
    X(RELEASE, ctxrt_memory_release, (in->memory))                                                \
    X(RELEASE, ctxrt_allocator_destroy, (in->allocator))                                          \
    X(RELEASE, ctxrt_event_destroy, (in->event))                                                  \
    X(RELEASE, ctxrt_stream_destroy, (in->stream))                                                \
    X(RELEASE, ctxrt_context_destroy, (in->context))                                              \
    X(RELEASE, ctxrt_context_release, (in->primary))                                              \
    X(RELEASE, ctxrt_device_release, (CTXRT_CUDA(0)))                                             \
    X(NEVER, ctxrt_log_set, (NULL, NULL, CTXRT_LOG_WARNING))

#define MAKE(kind, function, arguments)                                      \
    static ctxrt_status make_##function(every_object *in, outputs *out)       \
    {                                                                        \
        (void)in;                                                            \
        (void)out;                                                           \
        return function arguments;                                           \
    }
EVERY_CALL(MAKE)

static const struct {
    const char *name;
    call_kind kind;
    ctxrt_status (*make)(every_object *in, outputs *out);
} every_call[] = {
#define ROW(kind, function, arguments) {#function, kind, make_##function},
    EVERY_CALL(ROW)
};

int every_call_count(void)
{
    return (int)(sizeof every_call / sizeof every_call[0]);
}

const char *every_call_name(int number)
{
    return every_call[number].name;
}

ctxrt_status every_call_make(every_object *objects, int number)
{
    outputs out = {.file = fopen("/dev/null", "w")};
    ctxrt_status status = every_call[number].make(objects, &out);
    if (out.file != NULL)
        fclose(out.file);
    return status;
}

static int wrong_answer(const char *name, ctxrt_status status, ctxrt_status wanted)
{
    bool message = ctxrt_last_error()->message[0] != '\0';
    if (status == wanted &&
        (wanted == CTXRT_SUCCESS || (message && ctxrt_last_error()->status == wanted)))
        return 0;
    fprintf(stderr, "%s gave %s, not %s%s\n", name, ctxrt_status_name(status),
            ctxrt_status_name(wanted), message ? "" : ", and no message");
    return 1;
}

/* Calls that say what was known already, and answer whatever happens. */
static int wrong_plain_answers(void)
{
    return (ctxrt_version() < 1) + (strcmp(ctxrt_device_type_name(CTXRT_DEVICE_CPU), "cpu") != 0) +
           (strcmp(ctxrt_status_name(CTXRT_ERROR_FORKED), "CTXRT_ERROR_FORKED") != 0) +
           (ctxrt_status_text(CTXRT_ERROR_FORKED)[0] == '\0') +
           (ctxrt_stack_depth() > CTXRT_STACK_DEPTH_MAX);
}

int every_call_wrong(every_object *objects, ctxrt_status calls, ctxrt_status releases)
{
    outputs out = {.file = fopen("/dev/null", "w")};
    int wrong = out.file == NULL;
    for (int i = 0; i < every_call_count(); i++) {
        const ctxrt_status wanted[] = {
            [CALL] = calls, [RELEASE] = releases, [NEVER] = CTXRT_SUCCESS};
        ctxrt_status status = every_call[i].make(objects, &out);
        wrong += wrong_answer(every_call[i].name, status, wanted[every_call[i].kind]);
    }
    (void)ctxrt_memory_pointer(objects->memory); /* must return */
    if (out.file != NULL)
        fclose(out.file);
    return wrong + wrong_plain_answers();
}

/* ---- objects ---- */

int every_object_make(every_object *out_objects)
{
    every_object *in = out_objects;
    size_t tensor;
    *in = (every_object){.pages = aligned_alloc(BYTES, BYTES)};
    return in->pages != NULL &&
           ctxrt_context_create(CTXRT_CUDA(0), 0, &in->context) == CTXRT_SUCCESS &&
           ctxrt_context_retain_primary(CTXRT_CUDA(0), &in->primary) == CTXRT_SUCCESS &&
           ctxrt_device_push(CTXRT_CUDA(0)) == CTXRT_SUCCESS &&
           ctxrt_stack_detach(&in->detached) == CTXRT_SUCCESS &&
           ctxrt_scope_enter(CTXRT_CUDA(0), &in->scope) == CTXRT_SUCCESS &&
           ctxrt_stream_create(CTXRT_STREAM_DEFAULT, 0, &in->stream) == CTXRT_SUCCESS &&
           ctxrt_event_create(CTXRT_EVENT_DEFAULT, &in->event) == CTXRT_SUCCESS &&
           ctxrt_memory_alloc(BYTES, &in->memory) == CTXRT_SUCCESS &&
           ctxrt_memory_alloc_host(BYTES, &in->host_memory) == CTXRT_SUCCESS &&
           ctxrt_allocator_create(NULL, &in->allocator) == CTXRT_SUCCESS &&
           ctxrt_stream_capture_begin(in->stream, CTXRT_CAPTURE_RELAXED) == CTXRT_SUCCESS &&
           ctxrt_stream_capture_end(in->stream, &in->graph) == CTXRT_SUCCESS &&
           ctxrt_module_load(code, sizeof code, &in->module) == CTXRT_SUCCESS &&
           ctxrt_module_get_kernel(in->module, "next", &in->kernel) == CTXRT_SUCCESS &&
           ctxrt_plan_create(256, &in->plan) == CTXRT_SUCCESS &&
           ctxrt_plan_alloc(in->plan, BYTES, &tensor) == CTXRT_SUCCESS &&
           ctxrt_plan_commit(in->plan, NULL) == CTXRT_SUCCESS &&
           ctxrt_alloc(BYTES, &in->pointer) == CTXRT_SUCCESS &&
           ctxrt_alloc_async(BYTES, in->stream, &in->async_pointer) == CTXRT_SUCCESS &&
           ctxrt_host_register(in->pages, BYTES) == CTXRT_SUCCESS;
}

/* The scope in the objects stays as it was: leaving it again is a call that must be refused. */
int every_object_end(every_object *in)
{
    ctxrt_scope scope = in->scope;
    int done = ctxrt_module_unload(in->module) == CTXRT_SUCCESS &&
               ctxrt_graph_release(in->graph) == CTXRT_SUCCESS &&
               ctxrt_plan_destroy(in->plan) == CTXRT_SUCCESS &&
               ctxrt_host_unregister(in->pages) == CTXRT_SUCCESS &&
               ctxrt_free(in->pointer) == CTXRT_SUCCESS &&
               ctxrt_free_async(in->async_pointer, in->stream) == CTXRT_SUCCESS &&
               ctxrt_memory_release(in->host_memory) == CTXRT_SUCCESS &&
               ctxrt_memory_release(in->memory) == CTXRT_SUCCESS &&
               ctxrt_allocator_destroy(in->allocator) == CTXRT_SUCCESS &&
               ctxrt_event_destroy(in->event) == CTXRT_SUCCESS &&
               ctxrt_stream_destroy(in->stream) == CTXRT_SUCCESS &&
               ctxrt_scope_leave(&scope) == CTXRT_SUCCESS &&
               ctxrt_stack_attach(in->detached) == CTXRT_SUCCESS &&
               ctxrt_stack_pop() == CTXRT_SUCCESS &&
               ctxrt_context_release(in->primary) == CTXRT_SUCCESS &&
               ctxrt_context_destroy(in->context) == CTXRT_SUCCESS;
    free(in->pages);
    return done;
}
