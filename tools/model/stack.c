/* The stack of each thread: S. */
#include "model/state.h"

static void cite_shared(prediction *self, int index)
{
    for (int t = 0; t < CX_MODEL_THREADS; t++) {
        const state_thread *other = &self->model->threads[t];
        if (other != self->thread && other->depth > 0 && other->stack[other->depth - 1] == index)
            cite(self, CX_RULE_S5);
    }
}

/* Finds a context that can be made current: a live one, or a primary one, active or not.
 * *out_error: the driver's error for others. */
static bool find_pushable(prediction *self, int index, int *out_error)
{
    const state_context *context = &self->model->contexts[index];
    *out_error = CXU_SUCCESS;
    if (context->live || context->primary)
        return true;
    *out_error = CXU_INVALID_CONTEXT;
    cite(self, CX_RULE_S6);
    return not_reused(self->model, context->died);
}

static bool push_context(prediction *self)
{
    int error, index = thing_of(self, 0, CX_KIND_CONTEXT);
    if (index == UNKNOWN_THING || self->thread->depth == STACK_MAX)
        return false;
    if (index == NO_THING) {
        cite(self, CX_RULE_S6);
        return answer(self, CXU_INVALID_VALUE);
    }
    if (!find_pushable(self, index, &error))
        return false;
    if (error != CXU_SUCCESS)
        return answer(self, error);
    cite(self, CX_RULE_S1);
    cite_shared(self, index);
    self->thread->stack[self->thread->depth++] = index;
    return answer(self, CXU_SUCCESS);
}

static bool pop_context(prediction *self)
{
    cite(self, CX_RULE_S2);
    int current = top_of(self);
    if (current == NO_CONTEXT)
        return answer(self, CXU_INVALID_CONTEXT);
    self->thread->depth--;
    answer(self, CXU_SUCCESS);
    return number_of(self, 0) != 0 ? answer_name(self, self->model->contexts[current].name) : true;
}

static bool set_context(prediction *self)
{
    int error, index = thing_of(self, 0, CX_KIND_CONTEXT);
    state_thread *thread = self->thread;
    if (index == UNKNOWN_THING)
        return false;
    if (index == NO_THING) {
        cite(self, CX_RULE_S3);
        thread->depth -= thread->depth > 0;
        return answer(self, CXU_SUCCESS);
    }
    if (!find_pushable(self, index, &error))
        return false;
    if (error != CXU_SUCCESS)
        return answer(self, error);
    cite(self, CX_RULE_S3);
    cite_shared(self, index);
    thread->depth += thread->depth == 0;
    thread->stack[thread->depth - 1] = index;
    return answer(self, CXU_SUCCESS);
}

static bool get_context(prediction *self)
{
    int current = top_of(self);
    answer(self, CXU_SUCCESS);
    if (current == NO_CONTEXT) {
        cite(self, CX_RULE_S4);
        return answer_name(self, "none");
    }
    const state_context *context = &self->model->contexts[current];
    if (context->primary && !context->live)
        cite(self, CX_RULE_P4);
    return answer_name(self, context->name);
}

bool ask_stack(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_ctx_push:
        return push_context(self);
    case CX_VERB_ctx_pop:
        return pop_context(self);
    case CX_VERB_ctx_set:
        return set_context(self);
    case CX_VERB_ctx_get:
        return get_context(self);
    default: return false;
    }
}
