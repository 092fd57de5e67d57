/* Stream capture: G. The meaning of steps while something is being captured. */
#include "model/state.h"
#include "play/code.h"

static int thread_of(const prediction *self)
{
    return (int)(self->thread - self->model->threads);
}

static bool any_capture(const cx_model *model)
{
    for (int i = 0; i < model->capture_count; i++)
        if (model->captures[i].active)
            return true;
    return false;
}

static state_capture *capture_of(cx_model *model, int stream)
{
    int capture = stream >= 0 ? model->streams[stream].capture : 0;
    return capture != 0 ? &model->captures[capture - 1] : NULL;
}

bool context_captures(const cx_model *model, int context, bool blocking)
{
    for (int i = 0; i < model->stream_count; i++)
        if (stream_is_of(model, i, context) && model->streams[i].capture != 0 &&
            (!blocking || model->streams[i].blocking))
            return true;
    return false;
}

static void invalidate_context(cx_model *model, int context, bool blocking)
{
    for (int i = 0; i < model->stream_count; i++)
        if (stream_is_of(model, i, context) && model->streams[i].capture != 0 &&
            (!blocking || model->streams[i].blocking))
            model->captures[model->streams[i].capture - 1].invalid = true;
}

/* ---- calls that are not captured (G2) ---- */

bool capture_forbids(const prediction *self, const state_capture *capture)
{
    int mode = self->thread->capture_mode;
    bool own = capture->thread == thread_of(self);
    if (!capture->active || mode == MODE_RELAXED)
        return false;
    return (own && capture->mode != MODE_RELAXED) ||
           (mode == MODE_GLOBAL && capture->mode == MODE_GLOBAL);
}

said refuse_unsafe(prediction *self)
{
    bool refused = false;
    for (int i = 0; i < self->model->capture_count; i++)
        if (capture_forbids(self, &self->model->captures[i])) {
            self->model->captures[i].invalid = true;
            refused = true;
        }
    if (!refused)
        return NO_MATTER;
    cite(self, CX_RULE_G2);
    answer(self, CXU_STREAM_CAPTURE_UNSUPPORTED);
    return SAID;
}

/* For calls that need a usable current context and have no other error. */
static said ask_unsafe(prediction *self, bool good)
{
    bool refused = false;
    for (int i = 0; i < self->model->capture_count; i++)
        refused = refused || capture_forbids(self, &self->model->captures[i]);
    if (!refused)
        return NO_MATTER;
    return good && current_state(self) == CXU_SUCCESS ? refuse_unsafe(self) : UNSAID;
}

/* ---- work in a stream ---- */

static void add_node(cx_model *model, int stream, const state_node *node)
{
    state_stream *into = &model->streams[stream];
    state_graph *graph = &model->captures[into->capture - 1].graph;
    int number = graph->node_count++;
    graph->nodes[number] = *node;
    graph->nodes[number].before = into->frontier;
    into->frontier |= UINT32_C(1) << number;
}

static bool buffer_is_good(const prediction *self, int operand, int context, int *out_index)
{
    *out_index = thing_of(self, operand, self->step->verb->operands[operand].kind);
    return *out_index >= 0 && in_context(self->model, *out_index, context);
}

/* The work that the step submits to a stream of the context; false: no prediction. */
static bool describe_work(const prediction *self, int context, state_node *out_node)
{
    *out_node = (state_node){.kind = NODE_NOTHING};
    if (self->step->verb == &cx_verbs[CX_VERB_kernel_launch])
        return describe_launch(self, context, out_node);
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_stream_host:
        return strcmp(name_of(self, 2), "none") == 0 && !self->step->has_block;
    case CX_VERB_mem_fill_async:
        out_node->kind = NODE_FILL;
        out_node->value = (int)(number_of(self, 1) & 0xff);
        return buffer_is_good(self, 0, context, &out_node->to) &&
               number_of(self, 2) == BUFFER_BYTES;
    default:
        out_node->kind = NODE_COPY;
        return buffer_is_good(self, 0, context, &out_node->to) &&
               buffer_is_good(self, 1, context, &out_node->from) &&
               out_node->to != out_node->from && number_of(self, 2) == BUFFER_BYTES;
    }
}

static said ask_work(prediction *self, int operand)
{
    cx_model *model = self->model;
    int stream, context, error;
    state_node node;
    if (!find_stream(self, operand, &stream, &context, &error))
        return UNSAID;
    if (error != CXU_SUCCESS)
        return NO_MATTER;
    if (stream == NO_THING) {
        if (!context_captures(model, context, true))
            return NO_MATTER;
        if (!describe_work(self, context, &node))
            return UNSAID;
        cite(self, CX_RULE_G3);
        invalidate_context(model, context, true);
        answer(self, CXU_STREAM_CAPTURE_IMPLICIT);
        return SAID;
    }
    const state_capture *capture = capture_of(model, stream);
    if (capture == NULL)
        return NO_MATTER;
    if (capture->uncertain || current_of(self) != context || !describe_work(self, context, &node) ||
        capture->graph.node_count == NODES_MAX)
        return UNSAID;
    if (capture->invalid) {
        answer(self, CXU_STREAM_CAPTURE_INVALIDATED);
        return SAID;
    }
    if (node.kernel != 0)
        cite(self, CX_RULE_K7);
    model->made += node.kernel != 0 && model->kernels[node.kernel - 1].library != NO_THING;
    add_node(model, stream, &node);
    answer(self, CXU_SUCCESS);
    return SAID;
}

/* Waiting for work of a device, where a capture of it forbids that. */
static said refuse_wait(prediction *self, int context)
{
    bool refused = false;
    for (int i = 0; i < self->model->capture_count; i++) {
        state_capture *each = &self->model->captures[i];
        if (capture_forbids(self, each) && self->model->contexts[each->context].device ==
                                       self->model->contexts[context].device)
            refused = each->invalid = true;
    }
    if (!refused)
        return NO_MATTER;
    cite(self, CX_RULE_G2);
    answer(self, CXU_STREAM_CAPTURE_UNSUPPORTED);
    return SAID;
}

/* Asking a stream that captures how far it is; or waiting for one that does not. */
static said ask_state(prediction *self)
{
    bool waits = cx_verb_number(self->step->verb) == CX_VERB_stream_sync;
    int stream, context, error;
    if (!find_stream(self, 0, &stream, &context, &error))
        return UNSAID;
    if (error != CXU_SUCCESS)
        return NO_MATTER;
    if (stream == NO_THING && context_captures(self->model, context, false))
        return UNSAID;
    state_capture *capture = capture_of(self->model, stream);
    if (capture == NULL)
        return waits ? refuse_wait(self, context) : NO_MATTER;
    if (capture->uncertain)
        return UNSAID;
    cite(self, CX_RULE_G2);
    answer(self,
           capture->invalid ? CXU_STREAM_CAPTURE_INVALIDATED : CXU_STREAM_CAPTURE_UNSUPPORTED);
    capture->invalid = true;
    return SAID;
}

/* ---- events ---- */

static said ask_record(prediction *self)
{
    cx_model *model = self->model;
    int stream, context, event, error, event_error;
    if (!find_event(self, 0, &event, &event_error) ||
        !find_stream(self, 1, &stream, &context, &error))
        return UNSAID;
    if (error != CXU_SUCCESS || event_error != CXU_SUCCESS)
        return any_capture(model) ? UNSAID : NO_MATTER;
    const state_capture *capture = capture_of(model, stream);
    if (stream == NO_THING && context_captures(model, context, true))
        return UNSAID;
    if (capture == NULL) {
        if (model->events[event].context == context)
            model->events[event].capture = 0;
        return NO_MATTER;
    }
    if (capture->uncertain || model->events[event].context != context)
        return UNSAID;
    if (capture->invalid) {
        answer(self, CXU_STREAM_CAPTURE_INVALIDATED);
        return SAID;
    }
    cite(self, CX_RULE_G4);
    model->events[event].capture = model->streams[stream].capture;
    model->events[event].frontier = model->streams[stream].frontier;
    model->events[event].recorded = true;
    answer(self, CXU_SUCCESS);
    return SAID;
}

static said fail_wait(prediction *self, state_capture *capture, int error)
{
    cite(self, CX_RULE_G4);
    capture->invalid = true;
    answer(self, error);
    return SAID;
}

/* A capturing stream waits for an event. */
static said wait_inside(prediction *self, int stream, int event)
{
    cx_model *model = self->model;
    state_capture *capture = capture_of(model, stream);
    const state_event *waited = &model->events[event];
    if (capture->uncertain)
        return UNSAID;
    if (capture->invalid) {
        answer(self, CXU_STREAM_CAPTURE_INVALIDATED);
        return SAID;
    }
    if (!waited->recorded) {
        answer(self, CXU_SUCCESS);
        return SAID;
    }
    if (waited->capture == 0 || !model->captures[waited->capture - 1].active)
        return fail_wait(self, capture, CXU_STREAM_CAPTURE_ISOLATION);
    state_capture *other = &model->captures[waited->capture - 1];
    if (other != capture) {
        if (other->invalid || other->uncertain)
            return UNSAID;
        other->uncertain = true;
        return fail_wait(self, capture, CXU_STREAM_CAPTURE_MERGE);
    }
    cite(self, CX_RULE_G4);
    model->streams[stream].frontier |= waited->frontier;
    answer(self, CXU_SUCCESS);
    return SAID;
}

/* Another stream waits for a captured event, and joins. */
static said wait_outside(prediction *self, int stream, int event)
{
    cx_model *model = self->model;
    const state_event *waited = &model->events[event];
    if (waited->capture == 0)
        return NO_MATTER;
    const state_capture *capture = &model->captures[waited->capture - 1];
    if (!capture->active) {
        cite(self, CX_RULE_G4);
        answer(self, CXU_CAPTURED_EVENT);
        return SAID;
    }
    if (capture->invalid || capture->uncertain || stream == NO_THING)
        return UNSAID;
    cite(self, CX_RULE_G4);
    model->streams[stream].capture = waited->capture;
    model->streams[stream].frontier = waited->frontier;
    answer(self, CXU_SUCCESS);
    return SAID;
}

static said ask_wait(prediction *self)
{
    cx_model *model = self->model;
    int stream, context, event, error, event_error;
    if (!find_stream(self, 0, &stream, &context, &error) ||
        !find_event(self, 1, &event, &event_error))
        return UNSAID;
    bool concerned =
        (error == CXU_SUCCESS && capture_of(model, stream) != NULL) ||
        (event_error == CXU_SUCCESS && model->events[event].capture != 0) ||
        (error == CXU_SUCCESS && stream == NO_THING && context_captures(model, context, true));
    if (!concerned)
        return NO_MATTER;
    if (error != CXU_SUCCESS || event_error != CXU_SUCCESS || number_of(self, 2) != 0 ||
        (stream == NO_THING && context_captures(model, context, true)))
        return UNSAID;
    return capture_of(model, stream) != NULL ? wait_inside(self, stream, event)
                                             : wait_outside(self, stream, event);
}

/* A captured event has no state. */
static said ask_event_state(prediction *self)
{
    cx_model *model = self->model;
    int event, error;
    if (!find_event(self, 0, &event, &error))
        return UNSAID;
    if (error != CXU_SUCCESS || model->events[event].capture == 0)
        return ask_unsafe(self, error == CXU_SUCCESS);
    state_capture *capture = &model->captures[model->events[event].capture - 1];
    if (capture->active || any_capture(model))
        return UNSAID; /* no rule tells which of the errors comes first */
    cite(self, CX_RULE_G4);
    answer(self, CXU_CAPTURED_EVENT);
    return SAID;
}

/* ---- beginning and ending ---- */

static said begin_capture(prediction *self)
{
    cx_model *model = self->model;
    int stream, context, error;
    int64_t mode = number_of(self, 1);
    if (!find_stream(self, 0, &stream, &context, &error) || mode < 0 || mode > 2)
        return UNSAID;
    cite(self, CX_RULE_G1);
    if (stream == NO_THING) {
        if (error != CXU_SUCCESS || context_captures(model, context, true))
            return UNSAID;
        answer(self, CXU_STREAM_CAPTURE_UNSUPPORTED);
        return SAID;
    }
    if (error == CXU_SUCCESS && model->streams[stream].capture != 0)
        error = CXU_ILLEGAL_STATE;
    answer(self, error);
    if (error != CXU_SUCCESS)
        return SAID;
    int index = model->capture_count++;
    model->captures[index] = (state_capture){.active = true,
                                             .mode = (int)mode,
                                             .thread = thread_of(self),
                                             .origin = stream,
                                             .context = context};
    model->captures[index].graph.context = context;
    model->streams[stream].capture = index + 1;
    model->streams[stream].frontier = 0;
    return SAID;
}

static void let_go(cx_model *model, int index)
{
    model->captures[index].active = false;
    for (int i = 0; i < model->stream_count; i++)
        if (model->streams[i].capture == index + 1) {
            model->streams[i].capture = 0;
            model->streams[i].frontier = 0;
        }
}

static said give_graph(prediction *self, const state_capture *capture)
{
    cx_model *model = self->model;
    int index = model->graph_count++;
    model->graphs[index] = capture->graph;
    model->graphs[index].live = true;
    bind_name(self, CX_KIND_GRAPH, index);
    answer(self, CXU_SUCCESS);
    return SAID;
}

static said end_capture(prediction *self)
{
    cx_model *model = self->model;
    int stream, context, error;
    if (!find_stream(self, 1, &stream, &context, &error) || stream == NO_THING ||
        error != CXU_SUCCESS)
        return UNSAID;
    state_capture *capture = capture_of(model, stream);
    if (capture == NULL || capture->uncertain)
        return UNSAID;
    bool wrong_thread = capture->mode != MODE_RELAXED && capture->thread != thread_of(self);
    bool wrong_stream = capture->origin != stream;
    if (wrong_thread || wrong_stream) {
        if (capture->invalid)
            return UNSAID;
        cite(self, wrong_thread ? CX_RULE_G1 : CX_RULE_G4);
        if (wrong_thread)
            answer(self, CXU_STREAM_CAPTURE_WRONG_THREAD);
        if (wrong_stream)
            answer(self, CXU_STREAM_CAPTURE_UNMATCHED);
        capture->invalid = true;
        return SAID;
    }
    uint32_t all = capture->graph.node_count == 32 ? UINT32_MAX
                                                   : (UINT32_C(1) << capture->graph.node_count) - 1;
    bool joined = (all & ~model->streams[stream].frontier) == 0;
    let_go(model, (int)(capture - model->captures));
    if (!capture->invalid && joined)
        return give_graph(self, capture);
    cite(self, capture->invalid ? CX_RULE_G2 : CX_RULE_G4);
    answer(self, capture->invalid ? CXU_STREAM_CAPTURE_INVALIDATED : CXU_STREAM_CAPTURE_UNJOINED);
    return SAID;
}

static said ask_status(prediction *self)
{
    int stream, context, error;
    if (!find_stream(self, 0, &stream, &context, &error) || stream == NO_THING)
        return UNSAID;
    const state_capture *capture = error == CXU_SUCCESS ? capture_of(self->model, stream) : NULL;
    if (capture != NULL && capture->uncertain)
        return UNSAID;
    answer(self, error);
    if (error == CXU_SUCCESS)
        answer_number(self, capture == NULL ? 0 : capture->invalid ? 2 : 1);
    return SAID;
}

static said ask_mode(prediction *self)
{
    int64_t wanted = number_of(self, 0);
    if (wanted < 0 || wanted > 2 || !self->model->initialised)
        return UNSAID;
    cite(self, CX_RULE_G5);
    if (number_of(self, 1) == 0) {
        answer(self, CXU_INVALID_VALUE);
        return SAID;
    }
    answer(self, CXU_SUCCESS);
    answer_number(self, self->thread->capture_mode);
    self->thread->capture_mode = (int)wanted;
    return SAID;
}

/* ---- other calls that a capture affects ---- */

/* T3. */
static said ask_context_event(prediction *self)
{
    bool of_green = self->step->verb->operands[0].kind == CX_KIND_GREEN;
    int context = thing_of(self, 0, of_green ? CX_KIND_GREEN : CX_KIND_CONTEXT), event, error;
    if (context < 0 || !find_event(self, 1, &event, &error))
        return UNSAID;
    if (!self->model->contexts[context].live || !context_captures(self->model, context, false))
        return error == CXU_SUCCESS && self->model->events[event].capture != 0 ? UNSAID : NO_MATTER;
    bool waits = cx_verb_number(self->step->verb) == CX_VERB_ctx_wait ||
                 cx_verb_number(self->step->verb) == CX_VERB_green_wait;
    if (error != CXU_SUCCESS || self->model->events[event].capture != 0 ||
        (!waits && self->model->events[event].context != base_of(self->model, context)))
        return UNSAID;
    cite(self, CX_RULE_T3);
    invalidate_context(self->model, context, false);
    answer(self, CXU_STREAM_CAPTURE_UNSUPPORTED);
    return SAID;
}

static bool stream_is_captured(prediction *self)
{
    int stream = thing_of(self, 0, CX_KIND_STREAM);
    return stream >= 0 && self->model->streams[stream].capture != 0;
}

static said ask_memory_call(prediction *self)
{
    int index = thing_of(self, 0, self->step->verb->operands[0].kind);
    bool makes = cx_verb_makes(self->step->verb);
    bool good = makes ? number_of(self, 1) != 0
                      : index >= 0 && in_context(self->model, index, current_of(self));
    bool legacy = !makes && cx_verb_number(self->step->verb) != CX_VERB_mem_free &&
                  cx_verb_number(self->step->verb) != CX_VERB_host_free;
    if (!legacy)
        return ask_unsafe(self, good);
    if (default_stream_of(self) != NO_THING ||
        !context_captures(self->model, current_of(self), true))
        return NO_MATTER;
    if (!good || current_state(self) != CXU_SUCCESS)
        return UNSAID;
    cite(self, CX_RULE_G3);
    invalidate_context(self->model, current_of(self), true);
    answer(self, CXU_STREAM_CAPTURE_IMPLICIT);
    return SAID;
}

static bool loads_code(const prediction *self)
{
    int64_t code = number_of(self, 1);
    return code == CX_CODE_KERNELS || code == CX_CODE_EMPTY;
}

/* Needs no current context; the module is looked up first. */
static said ask_unload(prediction *self)
{
    int index = thing_of(self, 0, CX_KIND_MODULE);
    return index >= 0 && module_is_good(self->model, index) && current_state(self) == CXU_SUCCESS
               ? refuse_unsafe(self)
               : NO_MATTER;
}

/* Without a capture in progress, only a few steps can still meet captured objects. */
static said ask_after(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_event_record: return ask_record(self);
    case CX_VERB_stream_wait: return ask_wait(self);
    case CX_VERB_event_query:
    case CX_VERB_event_sync: return ask_event_state(self);
    case CX_VERB_event_elapsed: {
        int first, last, error;
        return find_event(self, 0, &first, &error) && find_event(self, 1, &last, &error) &&
                       (first < 0 || self->model->events[first].capture == 0) &&
                       (last < 0 || self->model->events[last].capture == 0)
                   ? NO_MATTER
                   : UNSAID;
    }
    case CX_VERB_ctx_record:
    case CX_VERB_ctx_wait:
    case CX_VERB_green_record:
    case CX_VERB_green_wait: return ask_context_event(self);
    default: return NO_MATTER;
    }
}

said ask_capture(prediction *self)
{
    cx_model *model = self->model;
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_capture_begin:
        return begin_capture(self);
    case CX_VERB_capture_end:
        return end_capture(self);
    case CX_VERB_capture_status:
        return ask_status(self);
    case CX_VERB_capture_mode:
        return ask_mode(self);
    default: break;
    }
    if (!any_capture(model))
        return ask_after(self);
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_mem_fill_async:
    case CX_VERB_copy_dtod_async:
    case CX_VERB_copy_htod_async:
    case CX_VERB_copy_dtoh_async: return ask_work(self, 3);
    case CX_VERB_copy_batch: return ask_batch_in_capture(self);
    case CX_VERB_stream_host:
    case CX_VERB_kernel_launch: return ask_work(self, 1);
    case CX_VERB_module_load: return ask_unsafe(self, loads_code(self));
    case CX_VERB_module_unload: return ask_unload(self);
    case CX_VERB_stream_sync:
    case CX_VERB_stream_query: return ask_state(self);
    case CX_VERB_stream_destroy: return stream_is_captured(self) ? UNSAID : NO_MATTER;
    case CX_VERB_copy_dtod:
    case CX_VERB_copy_htod:
    case CX_VERB_copy_dtoh: return copies_well(self) ? ask_memory_call(self) : UNSAID;
    case CX_VERB_host_alloc:
    case CX_VERB_host_free:
    case CX_VERB_mem_alloc:
    case CX_VERB_mem_free:
    case CX_VERB_mem_fill:
    case CX_VERB_mem_expect: return ask_memory_call(self);
    case CX_VERB_mem_alloc_async:
    case CX_VERB_mem_alloc_from:
    case CX_VERB_mem_free_async: return ask_ordered_in_capture(self);
    case CX_VERB_pool_set:
    case CX_VERB_pool_get: return ask_pool_in_capture(self);
    case CX_VERB_limit_set: return ask_limit_in_capture(self);
    case CX_VERB_ctx_sync:
    case CX_VERB_ctx_sync_of:
    case CX_VERB_ctx_destroy:
    case CX_VERB_ctx_detach:
    case CX_VERB_primary_reset:
    case CX_VERB_primary_release:
    case CX_VERB_green_destroy:
    case CX_VERB_stream_write:
    case CX_VERB_stream_await:
    case CX_VERB_graph_launch:
    case CX_VERB_thread_end:
    case CX_VERB_event_destroy:
    case CX_VERB_event_elapsed: return UNSAID;
    default: return ask_after(self);
    }
}
