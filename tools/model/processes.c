/* Initialisation, devices, threads and the ends of processes: I. */
#include "model/state.h"

static bool init_driver(prediction *self)
{
    cite(self, CX_RULE_I2);
    if (number_of(self, 0) != 0)
        return answer(self, CXU_INVALID_VALUE);
    self->model->initialised = true;
    return answer(self, CXU_SUCCESS);
}

static bool device_get(prediction *self)
{
    int64_t ordinal = number_of(self, 0);
    if (!device_exists(self, ordinal)) {
        cite(self, CX_RULE_I5);
        return answer(self, CXU_INVALID_DEVICE);
    }
    answer(self, CXU_SUCCESS);
    return answer_number(self, ordinal);
}

/* A thread's stack and capture mode end with it. */
static bool end_thread(prediction *self)
{
    self->thread->depth = 0;
    self->thread->capture_mode = 0;
    return answer(self, CXU_SUCCESS);
}

/* In a fork, and after an exit, every step of the block gives the same result. */
static bool answer_block(prediction *self, int result, cx_rule rule)
{
    if (!self->model->initialised)
        return false;
    for (cx_line *line = self->step->block.first; line != NULL; line = line->next)
        if (line->kind != CX_LINE_STEP || line->step.verb->action)
            return false;
    for (cx_line *line = self->step->block.first; line != NULL; line = line->next)
        cx_step_expect(self->scenario, &line->step, result);
    cite(self, rule);
    return answer(self, CXU_SUCCESS);
}

bool ask_process(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_init:
        return init_driver(self);
    case CX_VERB_version: return answer(self, CXU_SUCCESS);
    case CX_VERB_device_get: return device_get(self);
    case CX_VERB_thread_end: return end_thread(self);
    case CX_VERB_fork: return answer_block(self, CXU_NOT_INITIALIZED, CX_RULE_I4);
    case CX_VERB_exit:
        return number_of(self, 0) != 0 && answer_block(self, CXU_DEINITIALIZED, CX_RULE_I3);
    default: return false;
    }
}
