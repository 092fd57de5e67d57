/* Streams: T2, T6, T11, T12, T17. */
#include "model/state.h"

enum { STREAMS_AT_GATES_MAX = 3 }; /* more would take every worker that a driver may have */

bool find_stream(prediction *self, int operand, int *out_stream, int *out_context, int *out_error)
{
    const cx_model *model = self->model;
    const char *name = name_of(self, operand);
    *out_error = CXU_SUCCESS;
    *out_stream = NO_THING;
    if (name != NULL && (strcmp(name, "legacy") == 0 || strcmp(name, "none") == 0)) {
        *out_context = current_of(self);
        *out_error = current_state(self);
        *out_stream = *out_error == CXU_SUCCESS ? default_stream_of(self) : NO_THING;
        return true;
    }
    *out_stream = thing_of(self, operand, CX_KIND_STREAM);
    if (*out_stream < 0)
        return false;
    const state_stream *stream = &model->streams[*out_stream];
    *out_context = stream->context;
    if (stream->live && belongs(model, stream->context, stream->generation)) {
        *out_error = stream->orphan ? CXU_CONTEXT_IS_DESTROYED : CXU_SUCCESS;
        return true;
    }
    *out_error = CXU_INVALID_HANDLE;
    return not_reused(model, stream->died);
}

static bool create_stream(prediction *self)
{
    cx_model *model = self->model;
    int current = current_of(self);
    int64_t flags = number_of(self, 1);
    if (!may_make(self, flags < 0 || flags > 1))
        return true;
    int index = model->stream_count++;
    model->made++;
    model->streams[index] = (state_stream){
        .live = true,
        .context = current,
        .generation = model->contexts[current].generation,
        .blocking = flags == 0,
        .green = model->contexts[top_of(self)].green ? 1 + top_of(self) : 0,
    };
    return bind_name(self, CX_KIND_STREAM, index);
}

/* Returns at once; the work goes on (T12). */
static bool destroy_stream(prediction *self)
{
    int stream, context, error;
    if (!find_stream(self, 0, &stream, &context, &error) || stream == NO_THING ||
        self->model->streams[stream].is_default)
        return false;
    if (current_of(self) == NO_CONTEXT)
        cite(self, CX_RULE_T6);
    if (error == CXU_SUCCESS) {
        cite(self, CX_RULE_T12);
        self->model->streams[stream].live = false;
        self->model->streams[stream].died = self->model->made;
    }
    return answer(self, error);
}

static bool context_of(prediction *self)
{
    int stream, context, error;
    if (!find_stream(self, 0, &stream, &context, &error))
        return false;
    cite(self, CX_RULE_T2);
    answer(self, error);
    if (error != CXU_SUCCESS)
        return true;
    int green = stream != NO_THING ? self->model->streams[stream].green : 0;
    const char *name = self->model->contexts[green != 0 ? green - 1 : context].name;
    return name != NULL ? answer_name(self, name) : answer_anything(self);
}

static bool synchronize_stream(prediction *self)
{
    int stream, context, error;
    cx_model *model = self->model;
    if (!find_stream(self, 0, &stream, &context, &error))
        return false;
    if (error == CXU_SUCCESS) {
        work_set before = stream_before(model, stream, context);
        if (set_blocked(model, &before))
            return false;
        /* Work that only the next item would have to wait for may not have been waited for now. */
        work_set own = stream_work(model, stream, context);
        set_unite(&model->done, &own);
        cite(self, CX_RULE_T11);
    }
    return answer(self, error);
}

static bool query_stream(prediction *self)
{
    int stream, context, error;
    if (!find_stream(self, 0, &stream, &context, &error))
        return false;
    if (error != CXU_SUCCESS)
        return answer(self, error);
    work_set own = stream_work(self->model, stream, context);
    work_set before = stream_before(self->model, stream, context);
    cite(self, CX_RULE_T11);
    if (!set_finished(self->model, &own) || set_finished(self->model, &before)) {
        answer_query(self, &own);
        return true;
    }
    /* No rule tells whether work that only the next item waits for counts. */
    answer(self, CXU_SUCCESS);
    return answer(self, CXU_NOT_READY);
}

/* A wait for an event that may be done may be a work item, or nothing: no prediction if that
 * matters. */
static bool wait_for(prediction *self, int stream, int context, int event)
{
    cx_model *model = self->model;
    const work_set *waited = &model->events[event].before;
    work_set own = stream != NO_THING ? model->streams[stream].tail : model->contexts[context].tail;
    work_set before = stream_before(model, stream, context);
    cite(self, CX_RULE_T1);
    if (!model->events[event].recorded)
        return answer(self, CXU_SUCCESS);
    if (!set_blocked(model, waited) && set_blocked(model, &before) && !set_blocked(model, &own))
        return false;
    return add_work_behind(model, stream, context, waited) != NO_THING && answer(self, CXU_SUCCESS);
}

static bool wait_event(prediction *self)
{
    int stream, context, event, error, event_error;
    if (!find_stream(self, 0, &stream, &context, &error) ||
        !find_event(self, 1, &event, &event_error))
        return false;
    bool bad_flags = number_of(self, 2) != 0;
    if (error == CXU_SUCCESS && event_error == CXU_SUCCESS && !bad_flags) {
        return wait_for(self, stream, context, event);
    }
    if (bad_flags)
        answer(self, CXU_INVALID_VALUE);
    if (event_error != CXU_SUCCESS)
        answer(self, event_error);
    return error != CXU_SUCCESS ? answer(self, error) : true;
}

static int works_at_gates(const cx_model *model)
{
    int count = 0;
    for (int i = 0; i < model->work_count; i++)
        count += model->works[i].gate != NULL;
    return count;
}

static bool add_host_function(prediction *self)
{
    int stream, context, error;
    cx_model *model = self->model;
    const char *gate = name_of(self, 2);
    if (self->step->has_block || !find_stream(self, 1, &stream, &context, &error))
        return false;
    if (gate != NULL && strcmp(gate, "none") == 0)
        gate = NULL;
    if (gate != NULL && (stream == NO_THING || works_at_gates(model) >= STREAMS_AT_GATES_MAX))
        return false;
    if (error == CXU_SUCCESS && add_work(model, stream, context, gate) == NO_THING)
        return false;
    return answer(self, error);
}

static bool open_gate(prediction *self)
{
    cx_model *model = self->model;
    const char *gate = name_of(self, 0);
    bool found = false;
    for (int i = 0; gate != NULL && i < model->work_count; i++)
        if (model->works[i].gate != NULL && strcmp(model->works[i].gate, gate) == 0) {
            model->works[i].gate = NULL;
            found = true;
        }
    return found && answer(self, CXU_SUCCESS);
}

/* ---- attributes ---- */

enum { POLICIES = 4, PRIORITY_ALWAYS = -1 };

/* Finds a stream that was created and does not capture. */
static bool find_plain(prediction *self, int operand, int *out_stream, int *out_error)
{
    int context;
    return find_stream(self, operand, out_stream, &context, out_error) && *out_stream != NO_THING &&
           !self->model->streams[*out_stream].is_default &&
           self->model->streams[*out_stream].capture == 0;
}

/* True if there was an error, which is answered. */
static bool answer_errors(prediction *self, int error, bool bad)
{
    cite(self, CX_RULE_T17);
    if (error != CXU_SUCCESS)
        answer(self, error);
    if (bad)
        answer(self, CXU_INVALID_VALUE);
    return error != CXU_SUCCESS || bad;
}

static bool read_attribute(prediction *self)
{
    int stream, error;
    int64_t attribute = number_of(self, 1);
    bool policy = attribute == CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    bool known = policy || attribute == CXU_LAUNCH_ATTRIBUTE_PRIORITY;
    if (!find_plain(self, 0, &stream, &error))
        return false;
    if (answer_errors(self, error, !known || number_of(self, 2) == 0))
        return true;
    const state_stream *found = &self->model->streams[stream];
    answer(self, CXU_SUCCESS);
    return answer_number(self, !policy              ? found->priority
                               : found->policy == 0 ? -1
                                                    : found->policy);
}

static bool write_attribute(prediction *self)
{
    int stream, error;
    int64_t attribute = number_of(self, 1), value = number_of(self, 2);
    bool policy = attribute == CXU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY;
    bool priority = attribute == CXU_LAUNCH_ATTRIBUTE_PRIORITY;
    bool good = policy ? value >= 1 && value <= POLICIES : priority;
    if (!find_plain(self, 0, &stream, &error) ||
        (priority && (value > 0 || value < PRIORITY_ALWAYS)))
        return false;
    if (answer_errors(self, error, !good || number_of(self, 3) == 0))
        return true;
    *(policy ? &self->model->streams[stream].policy : &self->model->streams[stream].priority) =
        (int)value;
    return answer(self, CXU_SUCCESS);
}

static bool copy_attributes(prediction *self)
{
    int to, from, error, other;
    if (!find_plain(self, 0, &to, &error) || !find_plain(self, 1, &from, &other))
        return false;
    if (answer_errors(self, error != CXU_SUCCESS ? error : other, false))
        return error != CXU_SUCCESS && other != CXU_SUCCESS && error != other ? answer(self, other)
                                                                              : true;
    if (self->model->streams[to].context != self->model->streams[from].context)
        return answer(self, CXU_INVALID_VALUE);
    self->model->streams[to].policy = self->model->streams[from].policy;
    self->model->streams[to].priority = self->model->streams[from].priority;
    return answer(self, CXU_SUCCESS);
}

bool ask_stream(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_stream_create:
        return create_stream(self);
    case CX_VERB_stream_destroy:
        return destroy_stream(self);
    case CX_VERB_stream_ctx: return context_of(self);
    case CX_VERB_stream_sync:
        return synchronize_stream(self);
    case CX_VERB_stream_query:
        return query_stream(self);
    case CX_VERB_stream_wait: return wait_event(self);
    case CX_VERB_stream_attribute: return read_attribute(self);
    case CX_VERB_stream_set: return write_attribute(self);
    case CX_VERB_stream_copy: return copy_attributes(self);
    case CX_VERB_stream_host: return add_host_function(self);
    case CX_VERB_gate_open: return open_gate(self);
    default: return false;
    }
}
