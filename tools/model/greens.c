/* Green contexts: two handles for one primary context, S, P, T2 and T3. */
#include "model/state.h"

enum { PROCESSORS_ALWAYS = 8, PROCESSORS_NEVER = 1000 };

bool base_is_open(const cx_model *model, int context)
{
    const state_context *found = &model->contexts[context];
    return !found->green || belongs(model, found->base, found->base_generation);
}

int base_of(const cx_model *model, int context)
{
    return context >= 0 && model->contexts[context].green ? model->contexts[context].base : context;
}

bool stream_is_of(const cx_model *model, int stream, int context)
{
    const state_stream *each = &model->streams[stream];
    return context >= 0 && model->contexts[context].green ? each->green == 1 + context
                                                          : each->context == context;
}

int default_stream_of(const prediction *self)
{
    int top = top_of(self);
    const state_context *context = top >= 0 ? &self->model->contexts[top] : NULL;
    return context != NULL && context->green && context->live && base_is_open(self->model, top)
               ? context->default_stream
               : NO_THING;
}

const char *green_name(const cx_model *model, int context)
{
    for (int i = model->name_count - 1; i >= 0; i--)
        if (model->names[i].kind == CX_KIND_GREEN && model->names[i].index == context)
            return model->names[i].name;
    return NULL;
}

bool greens_blocked(const cx_model *model, int base)
{
    for (int i = 0; i < model->context_count; i++)
        if (model->contexts[i].green && model->contexts[i].base == base &&
            set_blocked(model, &model->contexts[i].barrier))
            return true;
    return false;
}

static int make_stream(cx_model *model, int green, bool is_default)
{
    const state_context *context = &model->contexts[green];
    int index = model->stream_count++;
    model->streams[index] = (state_stream){.live = true,
                                           .context = context->base,
                                           .generation = context->base_generation,
                                           .green = 1 + green,
                                           .is_default = is_default};
    return index;
}

static void make_green(prediction *self, int device)
{
    cx_model *model = self->model;
    activate_primary(self, device);
    model->greens[device]++;
    int index = model->context_count++;
    model->made++;
    model->contexts[index] = (state_context){.live = true,
                                             .green = true,
                                             .device = device,
                                             .base = device,
                                             .base_generation = model->contexts[device].generation};
    model->contexts[index].default_stream = make_stream(model, index, true);
    bind_name(self, CX_KIND_GREEN, index);
}

/* The model knows only limits of a device's number of multiprocessors. */
static bool create_green(prediction *self)
{
    int64_t processors = number_of(self, 1), device = number_of(self, 2);
    if ((processors != PROCESSORS_ALWAYS && processors != PROCESSORS_NEVER) ||
        stale_entries(self->model))
        return false;
    if (!device_exists(self, device)) {
        cite(self, CX_RULE_I5);
        return answer(self, CXU_INVALID_DEVICE);
    }
    if (processors == PROCESSORS_NEVER)
        return answer(self, CXU_INVALID_VALUE);
    cite(self, CX_RULE_P1);
    make_green(self, (int)device);
    return answer(self, CXU_SUCCESS);
}

/* Finds the green context of an operand. *out_error: CXU_SUCCESS, or the error. False: no
 * prediction. */
static bool find_green(const prediction *self, int operand, int *out_green, int *out_error)
{
    *out_green = thing_of(self, operand, CX_KIND_GREEN);
    *out_error = CXU_INVALID_CONTEXT;
    if (*out_green == NO_THING)
        return true;
    if (*out_green < 0)
        return false;
    const state_context *green = &self->model->contexts[*out_green];
    if (!green->live)
        return not_reused(self->model, green->died);
    *out_error =
        base_is_open(self->model, *out_green) ? CXU_SUCCESS : CXU_CONTEXT_IS_DESTROYED;
    return true;
}

static bool captures_now(const cx_model *model, int green)
{
    for (int i = 0; i < model->stream_count; i++)
        if (model->streams[i].green == 1 + green && model->streams[i].capture != 0)
            return true;
    return false;
}

/* Its streams stay with the primary, and are of no use. */
static void end_green(prediction *self, int green)
{
    cx_model *model = self->model;
    work_set all = context_work(model, green);
    set_unite(&model->done, &all);
    for (int i = 0; i < model->stream_count; i++)
        if (model->streams[i].green == 1 + green)
            model->streams[i].orphan = true;
    model->contexts[green].live = false;
    model->contexts[green].died = model->made;
}

/* It waits for its work and gives its retain of the primary back, which may be the last (P2). */
static bool destroy_green(prediction *self)
{
    cx_model *model = self->model;
    int green, error;
    if (!find_green(self, 0, &green, &error))
        return false;
    if (error == CXU_INVALID_CONTEXT)
        return answer(self, error);
    int device = model->contexts[green].device;
    if (captures_now(model, green) || (error == CXU_SUCCESS && !can_end(model, green)) ||
        (model->retains[device] + model->greens[device] == 1 && !can_end(model, device)))
        return false;
    cite(self, CX_RULE_P2);
    end_green(self, green);
    model->greens[device]--;
    if (model->retains[device] + model->greens[device] == 0)
        deactivate_primary(self, device);
    return answer(self, CXU_SUCCESS);
}

static bool context_of_green(prediction *self)
{
    int green, error;
    if (!find_green(self, 1, &green, &error))
        return false;
    if (error == CXU_SUCCESS)
        bind_name(self, CX_KIND_CONTEXT, green);
    return answer(self, error);
}

static bool answer_id(prediction *self, int green)
{
    char label[32];
    cite(self, CX_RULE_Q3);
    answer(self, CXU_SUCCESS);
    snprintf(label, sizeof label, "id%d", green);
    return answer_same(self, label, self->model->contexts[green].generation);
}

/* NULL means the current green context. */
static bool id_of_green(prediction *self)
{
    int green, error, top = top_of(self);
    if (!find_green(self, 0, &green, &error))
        return false;
    if (green == NO_THING && top >= 0 && self->model->contexts[top].green &&
        self->model->contexts[top].live) {
        green = top;
        error = base_is_open(self->model, top) ? CXU_SUCCESS : CXU_CONTEXT_IS_DESTROYED;
    }
    return error == CXU_SUCCESS ? answer_id(self, green) : answer(self, error);
}

static bool stream_of_green(prediction *self)
{
    int green, error;
    bool bad_flags = number_of(self, 2) != CXU_STREAM_NON_BLOCKING;
    if (!find_green(self, 1, &green, &error))
        return false;
    if (error != CXU_SUCCESS)
        answer(self, error);
    if (bad_flags)
        answer(self, CXU_INVALID_VALUE);
    if (error != CXU_SUCCESS || bad_flags)
        return true;
    self->model->made++;
    bind_name(self, CX_KIND_STREAM, make_stream(self->model, green, false));
    return answer(self, CXU_SUCCESS);
}

static bool green_of_stream(prediction *self)
{
    int stream, context, error;
    if (!find_stream(self, 0, &stream, &context, &error))
        return false;
    cite(self, CX_RULE_T2);
    answer(self, error);
    if (error != CXU_SUCCESS)
        return true;
    int green = stream != NO_THING ? self->model->streams[stream].green : 0;
    return answer_name(self, green != 0 ? green_name(self->model, green - 1) : "none");
}

static bool event_of_green(prediction *self)
{
    int green, event, error, event_error;
    if (!find_green(self, 0, &green, &error) || !find_event(self, 1, &event, &event_error))
        return false;
    if (error != CXU_SUCCESS || event_error != CXU_SUCCESS) {
        if (error != CXU_SUCCESS)
            answer(self, error);
        return event_error != CXU_SUCCESS ? answer(self, event_error) : true;
    }
    return record_or_wait(self, green, event,
                          cx_verb_number(self->step->verb) == CX_VERB_green_wait);
}

bool ask_green(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_green_create: return create_green(self);
    case CX_VERB_green_destroy: return destroy_green(self);
    case CX_VERB_green_ctx: return context_of_green(self);
    case CX_VERB_green_id: return id_of_green(self);
    case CX_VERB_green_stream: return stream_of_green(self);
    case CX_VERB_stream_green: return green_of_stream(self);
    case CX_VERB_green_record:
    case CX_VERB_green_wait: return event_of_green(self);
    default: return false;
    }
}
