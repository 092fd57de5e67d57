/* Queries of contexts: Q. */
#include "model/state.h"

/* Finds the context of a query; NULL is the current one. False: no prediction. */
static bool find_context(prediction *self, int *out_index, int *out_error)
{
    *out_index = thing_of(self, 0, CX_KIND_CONTEXT);
    if (*out_index == UNKNOWN_THING)
        return false;
    if (*out_index == NO_THING) {
        cite(self, CX_RULE_Q1);
        *out_index = top_of(self);
        *out_error = current_state(self);
        return true;
    }
    cite(self, self->model->contexts[*out_index].primary ? CX_RULE_P4 : CX_RULE_C4);
    return named_state(self, *out_index, out_error);
}

/* The device of a deactivated primary context is known, too (Q2), also by a green one's handle. */
static bool device_of(prediction *self, int index, int error)
{
    const state_context *context = index >= 0 ? &self->model->contexts[index] : NULL;
    if (context != NULL && (context->primary || (context->green && context->live)) &&
        error == CXU_CONTEXT_IS_DESTROYED) {
        cite(self, CX_RULE_Q2);
        error = CXU_SUCCESS;
    }
    answer(self, error);
    return error == CXU_SUCCESS ? answer_number(self, context->device) : true;
}

static bool current_device(prediction *self)
{
    cite(self, CX_RULE_Q1);
    return device_of(self, top_of(self), current_state(self));
}

static bool device_of_context(prediction *self)
{
    int index, error;
    return find_context(self, &index, &error) && device_of(self, index, error);
}

static bool context_flags(prediction *self)
{
    cite(self, CX_RULE_Q1);
    int state = current_state(self);
    answer(self, state);
    return state == CXU_SUCCESS ? answer_number(self, self->model->contexts[current_of(self)].flags)
                                : true;
}

static bool context_id(prediction *self)
{
    int index, error;
    if (!find_context(self, &index, &error))
        return false;
    cite(self, CX_RULE_Q3);
    answer(self, error);
    if (error != CXU_SUCCESS)
        return true;
    char label[32];
    snprintf(label, sizeof label, "id%d", index);
    return answer_same(self, label, self->model->contexts[index].generation);
}

static bool context_version(prediction *self)
{
    int index, error;
    if (!find_context(self, &index, &error))
        return false;
    cite(self, CX_RULE_Q3);
    answer(self, error);
    return error == CXU_SUCCESS ? answer_number(self, 3020) : true;
}

/* After it, the work is done. */
static bool synchronize_any(prediction *self, int index, int error)
{
    cx_model *model = self->model;
    if (error == CXU_SUCCESS) {
        work_set all = context_work(model, index);
        if (!can_end(model, index))
            return false;
        set_unite(&model->done, &all);
    }
    return answer(self, error);
}

static bool synchronize_current(prediction *self)
{
    cite(self, CX_RULE_Q1);
    return synchronize_any(self, top_of(self), current_state(self));
}

static bool synchronize_context(prediction *self)
{
    int index, error;
    return find_context(self, &index, &error) && synchronize_any(self, index, error);
}

static bool limit_is_known(int64_t limit)
{
    return limit >= 0 && limit <= 6;
}

static bool context_limit(prediction *self)
{
    cite(self, CX_RULE_Q4);
    int state = current_state(self);
    bool sets = cx_verb_number(self->step->verb) == CX_VERB_limit_set;
    if (!limit_is_known(number_of(self, 0))) {
        answer(self, sets ? CXU_NOT_PERMITTED : state);
        answer(self, CXU_UNSUPPORTED_LIMIT);
        answer(self, CXU_INVALID_VALUE);
        return state == CXU_SUCCESS ? true : answer(self, state);
    }
    answer(self, state);
    if (sets && state == CXU_SUCCESS)
        answer(self, CXU_INVALID_VALUE); /* a device may have less */
    return answer(self, CXU_UNSUPPORTED_LIMIT); /* or lack any of them */
}

static bool context_cache(prediction *self)
{
    int state = current_state(self);
    bool sets = cx_verb_number(self->step->verb) == CX_VERB_cache_set;
    int64_t wanted = sets ? number_of(self, 0) : 0;
    cite(self, CX_RULE_Q1);
    if (wanted < 0 || wanted > 3) {
        cite(self, CX_RULE_Q5);
        answer(self, CXU_INVALID_VALUE);
        return state == CXU_SUCCESS ? true : answer(self, state);
    }
    answer(self, state);
    if (state != CXU_SUCCESS)
        return true;
    state_context *context = &self->model->contexts[current_of(self)];
    if (sets)
        context->cache = wanted;
    return sets ? true : answer_number(self, context->cache);
}

static bool stream_priorities(prediction *self)
{
    cite(self, CX_RULE_Q5);
    return answer(self, current_state(self));
}

/* The allowed values of a limit differ between devices, so refused ones get no prediction. */
said ask_limit_in_capture(const prediction *self)
{
    for (int i = 0; i < self->model->capture_count; i++)
        if (capture_forbids(self, &self->model->captures[i]))
            return UNSAID;
    return NO_MATTER;
}

bool ask_query(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_ctx_device: return current_device(self);
    case CX_VERB_ctx_device_of: return device_of_context(self);
    case CX_VERB_ctx_flags:
        return context_flags(self);
    case CX_VERB_ctx_id:
        return context_id(self);
    case CX_VERB_ctx_version:
        return context_version(self);
    case CX_VERB_ctx_sync: return synchronize_current(self);
    case CX_VERB_ctx_sync_of: return synchronize_context(self);
    case CX_VERB_limit_set:
    case CX_VERB_limit_get:
        return context_limit(self);
    case CX_VERB_cache_set:
    case CX_VERB_cache_get:
        return context_cache(self);
    case CX_VERB_priorities:
        return stream_priorities(self);
    default: return false;
    }
}
