/* Events: T1, T3, T4, T6. */
#include "model/state.h"

enum { EVENT_FLAGS_KNOWN = 7, EVENT_DISABLE_TIMING = 2, EVENT_INTERPROCESS = 4 };

bool find_event(prediction *self, int operand, int *out_event, int *out_error)
{
    const cx_model *model = self->model;
    *out_event = thing_of(self, operand, CX_KIND_EVENT);
    *out_error = CXU_INVALID_HANDLE;
    if (*out_event == NO_THING)
        return true;
    if (*out_event < 0)
        return false;
    const state_event *event = &model->events[*out_event];
    bool good = event->live && belongs(model, event->context, event->generation);
    if (good)
        *out_error = CXU_SUCCESS;
    return good || not_reused(model, event->died);
}

static bool create_event(prediction *self)
{
    cx_model *model = self->model;
    int current = current_of(self);
    int64_t flags = number_of(self, 1);
    bool bad_flags = (flags & ~(int64_t)EVENT_FLAGS_KNOWN) != 0 ||
                     ((flags & EVENT_INTERPROCESS) != 0 && (flags & EVENT_DISABLE_TIMING) == 0);
    if (!may_make(self, bad_flags))
        return true;
    int index = model->event_count++;
    model->made++;
    model->events[index] = (state_event){
        .live = true,
        .context = current,
        .generation = model->contexts[current].generation,
        .timing = (flags & EVENT_DISABLE_TIMING) == 0,
    };
    return bind_name(self, CX_KIND_EVENT, index);
}

static bool destroy_event(prediction *self)
{
    int event, error;
    if (!find_event(self, 0, &event, &error))
        return false;
    if (current_of(self) == NO_CONTEXT)
        cite(self, CX_RULE_T6);
    if (error == CXU_SUCCESS) {
        cite(self, CX_RULE_T12);
        self->model->events[event].live = false;
        self->model->events[event].died = self->model->made;
    }
    return answer(self, error);
}

/* The record is a work item itself: the event is not ready until it has run. */
static bool record_as(prediction *self, int event, work_set before, int work)
{
    if (work == NO_THING)
        return false;
    set_add(&before, work);
    self->model->events[event].before = before;
    self->model->events[event].recorded = true;
    return answer(self, CXU_SUCCESS);
}

/* Records behind all work of the context, in none of its streams. */
static bool record_loose(prediction *self, int event, int context, const work_set *all)
{
    int work = add_loose_work(self->model, context, NULL);
    if (work == NO_THING)
        return false;
    for (int turn = 0; turn < 2; turn++) { /* the primary context has what a green one has */
        state_context *of = &self->model->contexts[turn ? base_of(self->model, context) : context];
        set_unite(&of->loose, all);
        set_add(&of->loose, work);
    }
    return record_as(self, event, *all, work);
}

static bool record_event(prediction *self)
{
    int stream, context, event, error, event_error;
    if (!find_event(self, 0, &event, &event_error) ||
        !find_stream(self, 1, &stream, &context, &error))
        return false;
    if (event_error != CXU_SUCCESS) {
        answer(self, event_error);
        return error != CXU_SUCCESS && error != event_error ? answer(self, error) : true;
    }
    if (error != CXU_SUCCESS)
        return answer(self, error);
    cite(self, CX_RULE_T1);
    if (self->model->events[event].context != context)
        return answer(self, CXU_INVALID_HANDLE);
    work_set before = stream_before(self->model, stream, context);
    return record_as(self, event, before, add_work(self->model, stream, context, NULL));
}

static bool query_event(prediction *self)
{
    int event, error;
    if (!find_event(self, 0, &event, &error))
        return false;
    if (error != CXU_SUCCESS)
        return answer(self, error);
    cite(self, CX_RULE_T4);
    answer_query(self, &self->model->events[event].before);
    return true;
}

static bool synchronize_event(prediction *self)
{
    int event, error;
    if (!find_event(self, 0, &event, &error))
        return false;
    if (error == CXU_SUCCESS) {
        if (set_blocked(self->model, &self->model->events[event].before))
            return false;
        set_unite(&self->model->done, &self->model->events[event].before);
    }
    return answer(self, error);
}

static bool elapsed_time(prediction *self)
{
    int first, last, first_error, last_error;
    if (!find_event(self, 0, &first, &first_error) || !find_event(self, 1, &last, &last_error))
        return false;
    cite(self, CX_RULE_T4);
    if (first_error != CXU_SUCCESS || last_error != CXU_SUCCESS)
        return answer(self, CXU_INVALID_HANDLE);
    const state_event *start = &self->model->events[first], *end = &self->model->events[last];
    const state_context *contexts = self->model->contexts;
    if (contexts[start->context].device != contexts[end->context].device)
        return answer(self, CXU_INVALID_HANDLE);
    if (start->context != end->context)
        return false; /* the rules do not say */
    if (!start->recorded || !end->recorded || !start->timing || !end->timing)
        return answer(self, CXU_INVALID_HANDLE);
    work_set both = start->before;
    set_unite(&both, &end->before);
    answer_query(self, &both);
    return true;
}

/* Finds a context that a call names; NULL is not the current one. */
static bool find_context(prediction *self, int *out_context, int *out_error)
{
    *out_context = thing_of(self, 0, CX_KIND_CONTEXT);
    return *out_context >= 0 && named_state(self, *out_context, out_error);
}

bool record_or_wait(prediction *self, int context, int event, bool waits)
{
    cx_model *model = self->model;
    cite(self, CX_RULE_T3);
    if (!waits) {
        work_set all = context_work(model, context);
        return model->events[event].context != base_of(model, context)
                   ? answer(self, CXU_INVALID_HANDLE)
                   : record_loose(self, event, context, &all);
    }
    set_unite(&model->contexts[context].barrier, &model->events[event].before);
    return answer(self, CXU_SUCCESS);
}

static bool of_context(prediction *self)
{
    int context, event, error, event_error;
    bool waits = cx_verb_number(self->step->verb) == CX_VERB_ctx_wait;
    if (!find_context(self, &context, &error) || !find_event(self, 1, &event, &event_error))
        return false;
    if (error != CXU_SUCCESS || event_error != CXU_SUCCESS) {
        if (error != CXU_SUCCESS)
            answer(self, error);
        return event_error != CXU_SUCCESS ? answer(self, event_error) : true;
    }
    return record_or_wait(self, context, event, waits);
}

bool ask_event(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_event_create:
        return create_event(self);
    case CX_VERB_event_destroy:
        return destroy_event(self);
    case CX_VERB_event_record:
        return record_event(self);
    case CX_VERB_event_query:
        return query_event(self);
    case CX_VERB_event_sync:
        return synchronize_event(self);
    case CX_VERB_event_elapsed:
        return elapsed_time(self);
    case CX_VERB_ctx_record:
    case CX_VERB_ctx_wait: return of_context(self);
    default: return false;
    }
}
