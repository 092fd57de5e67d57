/* Operations that have to do with graphs, modules, kernels and plans. */
#include "operations.h"

#include "../emu/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static ctxrt_status load_module_on(stage *self)
{
    return ctxrt_module_load_on(self->created, code, sizeof code, &self->out.module);
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

static const operation operations[] = {
    {"ctxrt_module_load", ON_FRAMES, load_module, NULL, false, false},
    {"ctxrt_module_load_on", ON_ANY, load_module_on, NULL, false, false},
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
};

const operation_list graph_operations = {operations, sizeof operations / sizeof *operations};
