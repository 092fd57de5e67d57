/* Creating and destroying contexts: C, and Q6. */
#include "model/state.h"

static bool create_context(prediction *self)
{
    cx_model *model = self->model;
    int64_t device = number_of(self, 1), flags = number_of(self, 2);
    bool bad_flags = !context_flags_are_valid(flags), bad_device = !device_exists(self, device);
    if (self->thread->depth == STACK_MAX || stale_entries(model))
        return false;
    cite(self, CX_RULE_C1);
    if (bad_device)
        cite(self, CX_RULE_I5);
    if (bad_flags)
        answer(self, CXU_INVALID_VALUE);
    if (bad_device)
        answer(self, CXU_INVALID_DEVICE);
    if (bad_flags || bad_device)
        return true;
    int index = model->context_count++;
    model->made++;
    model->contexts[index] =
        (state_context){.live = true, .device = (int)device, .flags = flags, .usage = 1};
    self->thread->stack[self->thread->depth++] = index;
    bind_name(self, CX_KIND_CONTEXT, index);
    return answer(self, CXU_SUCCESS);
}

bool can_end(const cx_model *model, int context)
{
    work_set all = context_work(model, context), waits = model->contexts[context].barrier;
    return !set_blocked(model, &all) && !set_blocked(model, &waits) &&
           !greens_blocked(model, context);
}

/* The context is popped once if it is the caller's current one (C2, C6). */
static void end_context(prediction *self, int index)
{
    cx_model *model = self->model;
    end_contents(model, index);
    model->contexts[index].live = false;
    model->contexts[index].died = model->made;
    if (top_of(self) == index)
        self->thread->depth--;
}

static bool destroy_context(prediction *self)
{
    cx_model *model = self->model;
    int index = thing_of(self, 0, CX_KIND_CONTEXT);
    if (index == UNKNOWN_THING)
        return false;
    if (index == NO_THING) {
        cite(self, CX_RULE_C4);
        return answer(self, CXU_INVALID_CONTEXT);
    }
    const state_context *context = &model->contexts[index];
    if (context->primary || (context->green && context->live)) {
        cite(self, CX_RULE_C5);
        return answer(self, CXU_INVALID_CONTEXT);
    }
    if (!context->live) {
        if (!not_reused(model, context->died))
            return false;
        cite(self, CX_RULE_C4);
        return answer(self, CXU_INVALID_CONTEXT);
    }
    if (!can_end(model, index))
        return false;
    cite(self, CX_RULE_C2);
    cite(self, CX_RULE_C3);
    for (int i = 0; i + 1 < self->thread->depth; i++)
        if (self->thread->stack[i] == index) {
            model->contexts[index].stood_beneath = true;
            cite(self, CX_RULE_C6);
        }
    end_context(self, index);
    return answer(self, CXU_SUCCESS);
}

static bool attach_context(prediction *self)
{
    int current = current_of(self);
    cite(self, CX_RULE_Q6);
    if (number_of(self, 1) != 0)
        return answer(self, CXU_INVALID_VALUE);
    int state = current_state(self);
    if (state != CXU_SUCCESS)
        return answer(self, state);
    if (self->model->contexts[current].primary)
        return answer(self, CXU_INVALID_CONTEXT);
    self->model->contexts[current].usage++;
    bind_name(self, CX_KIND_CONTEXT, current);
    return answer(self, CXU_SUCCESS);
}

static bool detach_context(prediction *self)
{
    cx_model *model = self->model;
    int index = thing_of(self, 0, CX_KIND_CONTEXT);
    if (index == UNKNOWN_THING)
        return false;
    if (index != NO_THING && !model->contexts[index].live && !model->contexts[index].primary &&
        !not_reused(model, model->contexts[index].died))
        return false;
    bool detachable = index != NO_THING && model->contexts[index].live &&
                      !model->contexts[index].primary && !model->contexts[index].green &&
                      top_of(self) == index;
    if (detachable && !can_end(model, index))
        return false;
    cite(self, CX_RULE_Q6);
    if (!detachable)
        return answer(self, CXU_INVALID_CONTEXT);
    if (--model->contexts[index].usage == 0)
        end_context(self, index);
    return answer(self, CXU_SUCCESS);
}

bool ask_context(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_ctx_create:
    case CX_VERB_ctx_create_v3:
    case CX_VERB_ctx_create_v4:
        return create_context(self);
    case CX_VERB_ctx_destroy:
        return destroy_context(self);
    case CX_VERB_ctx_attach:
        return attach_context(self);
    case CX_VERB_ctx_detach:
        return detach_context(self);
    default: return false;
    }
}
