/* Primary contexts: P. */
#include "model/state.h"

void activate_primary(prediction *self, int device)
{
    state_context *context = &self->model->contexts[device];
    if (context->live)
        return;
    bool again = context->generation > 0;
    context->live = true;
    context->generation++;
    context->flags = self->model->primary_flags[device] | CXU_CTX_MAP_HOST;
    if (again)
        cite(self, CX_RULE_P5);
}

static bool retain_primary(prediction *self, int device)
{
    cite(self, CX_RULE_P1);
    activate_primary(self, device);
    self->model->retains[device]++;
    bind_name(self, CX_KIND_CONTEXT, device);
    return answer(self, CXU_SUCCESS);
}

void deactivate_primary(prediction *self, int device)
{
    state_context *context = &self->model->contexts[device];
    self->model->primary_flags[device] = 0;
    if (!context->live)
        return;
    end_contents(self->model, device);
    context->live = false;
}

static bool release_primary(prediction *self, int device)
{
    cx_model *model = self->model;
    bool last = model->retains[device] == 1 && model->greens[device] == 0;
    if (last && !can_end(model, device))
        return false;
    if (model->retains[device] == 0 && model->greens[device] > 0)
        return false; /* no rule tells whose retain goes */
    cite(self, CX_RULE_P2);
    if (model->retains[device] == 0)
        return answer(self, CXU_INVALID_CONTEXT);
    if (!model->contexts[device].live)
        cite(self, CX_RULE_P7);
    model->retains[device]--;
    if (last)
        deactivate_primary(self, device);
    return answer(self, CXU_SUCCESS);
}

static bool reset_primary(prediction *self, int device)
{
    if (!can_end(self->model, device))
        return false;
    cite(self, CX_RULE_P3);
    deactivate_primary(self, device);
    return answer(self, CXU_SUCCESS);
}

static bool set_flags(prediction *self)
{
    int64_t flags = number_of(self, 0), device = number_of(self, 1);
    bool bad_flags = !context_flags_are_valid(flags) || (flags & CXU_CTX_MAP_HOST) != 0;
    bool bad_device = !device_exists(self, device);
    cite(self, CX_RULE_P6);
    if (bad_device)
        answer(self, CXU_INVALID_DEVICE);
    if (bad_flags)
        answer(self, CXU_INVALID_VALUE);
    if (bad_device || bad_flags)
        return true;
    self->model->primary_flags[device] = flags;
    self->model->contexts[device].flags = flags | CXU_CTX_MAP_HOST;
    return answer(self, CXU_SUCCESS);
}

static bool primary_state(prediction *self, int device)
{
    cite(self, CX_RULE_P1);
    answer(self, CXU_SUCCESS);
    bool live = self->model->contexts[device].live;
    answer_number(self, self->model->primary_flags[device] | (live ? CXU_CTX_MAP_HOST : 0));
    return answer_number(self, live);
}

static bool of_device(prediction *self, int operand, bool (*ask)(prediction *self, int device))
{
    int64_t device = number_of(self, operand);
    if (device_exists(self, device))
        return ask(self, (int)device);
    cite(self, CX_RULE_I5);
    return answer(self, CXU_INVALID_DEVICE);
}

bool ask_primary(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_primary_retain:
        return of_device(self, 1, retain_primary);
    case CX_VERB_primary_release:
        return of_device(self, 0, release_primary);
    case CX_VERB_primary_reset:
        return of_device(self, 0, reset_primary);
    case CX_VERB_primary_set_flags: return set_flags(self);
    case CX_VERB_primary_state:
        return of_device(self, 0, primary_state);
    default: return false;
    }
}
