#include "model/state.h"

#include <stdlib.h>

const char *cx_rule_name(cx_rule rule)
{
    static const char *const names[] = {
#define CX_RULE(id) #id,
#include "model/rules.def"
    };
    return names[rule];
}

cx_model *cx_model_create(int devices, bool initialised)
{
    cx_model *model = calloc(1, sizeof *model);
    if (model == NULL)
        return NULL;
    model->devices = devices;
    model->initialised = initialised;
    model->context_count = devices;
    for (int i = 0; i < devices; i++) {
        model->contexts[i].primary = true;
        model->contexts[i].device = i;
    }
    make_default_pools(model);
    return model;
}

void cx_model_destroy(cx_model *model)
{
    free(model);
}

/* ---- answers ---- */

bool answer(prediction *self, int result)
{
    cx_outcome *outcome = cx_step_expect(self->scenario, self->step, result);
    if (self->outcome == NULL)
        self->outcome = outcome;
    return true;
}

static cx_expected *next_value(prediction *self)
{
    cx_outcome *last = self->step->outcomes;
    while (last->next != NULL)
        last = last->next;
    return &last->values[last->value_count++];
}

bool answer_number(prediction *self, int64_t number)
{
    *next_value(self) = (cx_expected){.kind = CX_EXPECTED_NUMBER, .number = number};
    return true;
}

bool answer_name(prediction *self, const char *name)
{
    *next_value(self) = (cx_expected){.kind = CX_EXPECTED_NAME, .name = name};
    return true;
}

bool answer_anything(prediction *self)
{
    *next_value(self) = (cx_expected){.kind = CX_EXPECTED_ANY};
    return true;
}

bool answer_same(prediction *self, const char *label, int number)
{
    char text[CX_NAME_MAX + 1];
    int length = snprintf(text, sizeof text, "%s_%d", label, number);
    *next_value(self) = (cx_expected){
        .kind = CX_EXPECTED_SAME, .name = cx_scenario_text(self->scenario, text, (size_t)length)};
    return true;
}

/* ---- operands ---- */

int64_t number_of(const prediction *self, int operand)
{
    const cx_operand *given = &self->step->operands[operand];
    return given->given ? given->number : self->step->verb->operands[operand].number;
}

const char *name_of(const prediction *self, int operand)
{
    const cx_operand *given = &self->step->operands[operand];
    return given->given ? given->name : self->step->verb->operands[operand].default_name;
}

int thing_of(const prediction *self, int operand, cx_kind kind)
{
    const char *name = name_of(self, operand);
    if (name == NULL)
        return UNKNOWN_THING;
    if (strcmp(name, "none") == 0)
        return NO_THING;
    for (int i = 0; i < self->model->name_count; i++)
        if (self->model->names[i].kind == kind && strcmp(self->model->names[i].name, name) == 0)
            return self->model->names[i].index;
    return UNKNOWN_THING;
}

bool context_flags_are_valid(int64_t flags)
{
    int64_t schedule = flags & 7;
    return (schedule == 0 || schedule == 1 || schedule == 2 || schedule == 4) &&
           (flags & ~INT64_C(0x9f)) == 0;
}

bool device_exists(const prediction *self, int64_t device)
{
    return device >= 0 && device < self->model->devices;
}

bool bind_name(prediction *self, cx_kind kind, int index)
{
    cx_model *model = self->model;
    const char *name = self->step->operands[0].name;
    model->names[model->name_count++] = (state_name){name, kind, index};
    if (kind == CX_KIND_CONTEXT)
        model->contexts[index].name = name;
    return true;
}

/* ---- the current context ---- */

int top_of(const prediction *self)
{
    return self->thread->depth > 0 ? self->thread->stack[self->thread->depth - 1] : NO_CONTEXT;
}

int current_of(const prediction *self)
{
    return base_of(self->model, top_of(self));
}

int current_state(prediction *self)
{
    int current = top_of(self);
    if (current == NO_CONTEXT)
        return CXU_INVALID_CONTEXT;
    const state_context *context = &self->model->contexts[current];
    if (context->live && base_is_open(self->model, current))
        return CXU_SUCCESS;
    if (context->live) {
        cite(self, CX_RULE_P3);
        return CXU_CONTEXT_IS_DESTROYED;
    }
    cite(self, context->primary ? CX_RULE_P4 : context->stood_beneath ? CX_RULE_C6 : CX_RULE_C2);
    return CXU_CONTEXT_IS_DESTROYED;
}

bool named_state(const prediction *self, int index, int *out_state)
{
    const state_context *context = &self->model->contexts[index];
    *out_state = context->live && !base_is_open(self->model, index) ? CXU_CONTEXT_IS_DESTROYED
                 : context->live    ? CXU_SUCCESS
                 : context->primary ? CXU_CONTEXT_IS_DESTROYED
                                    : CXU_INVALID_CONTEXT;
    return context->live || context->primary || not_reused(self->model, context->died);
}

bool may_make(prediction *self, bool bad_arguments)
{
    int state = current_state(self);
    if (bad_arguments)
        answer(self, CXU_INVALID_VALUE);
    else
        cite(self, CX_RULE_Q1);
    if (!bad_arguments || state != CXU_SUCCESS)
        answer(self, state);
    return !bad_arguments && state == CXU_SUCCESS;
}

bool stale_entries(const cx_model *model)
{
    for (int t = 0; t < CX_MODEL_THREADS; t++)
        for (int i = 0; i < model->threads[t].depth; i++) {
            const state_context *context = &model->contexts[model->threads[t].stack[i]];
            if (!context->primary && !context->live)
                return true;
        }
    return false;
}

bool belongs(const cx_model *model, int context, int generation)
{
    const state_context *found = &model->contexts[context];
    return found->live && found->generation == generation;
}

void end_contents(cx_model *model, int context)
{
    work_set all = context_work(model, context);
    set_unite(&model->done, &all);
    for (int i = 0; i < model->context_count; i++)
        model->contexts[i].reaches[context] = false;
    memset(model->contexts[context].reaches, 0, sizeof model->contexts[context].reaches);
    model->contexts[context].cache = 0;
    const int generation = model->contexts[context].generation;
    for (int i = 0; i < model->stream_count; i++)
        if (model->streams[i].live && model->streams[i].context == context &&
            model->streams[i].generation == generation)
            model->streams[i].died = model->made;
    for (int i = 0; i < model->event_count; i++)
        if (model->events[i].live && model->events[i].context == context &&
            model->events[i].generation == generation)
            model->events[i].died = model->made;
    for (int i = 0; i < model->module_count; i++)
        if (model->modules[i].live && model->modules[i].context == context &&
            model->modules[i].generation == generation)
            model->modules[i].died = model->made;
    for (int i = 0; i < model->buffer_count; i++)
        if (model->buffers[i].live && model->buffers[i].pool == 0 &&
            model->buffers[i].context == context &&
            model->buffers[i].generation == generation)
            model->buffers[i].died = model->made;
}

/* ---- predicting ---- */

static bool has_room(const cx_model *model)
{
    return model->context_count < THINGS_MAX && model->stream_count < THINGS_MAX &&
           model->event_count < THINGS_MAX && model->buffer_count < THINGS_MAX &&
           model->name_count < NAMES_MAX && model->work_count < WORKS_MAX &&
           model->capture_count < CAPTURES_MAX && model->graph_count < CAPTURES_MAX &&
           model->exec_count < CAPTURES_MAX && model->module_count < THINGS_MAX &&
           model->library_count < THINGS_MAX && model->kernel_count < THINGS_MAX &&
           model->pool_count < THINGS_MAX;
}

static bool ask_uninitialised(prediction *self)
{
    cite(self, CX_RULE_I1);
    return answer(self, CXU_NOT_INITIALIZED);
}

static bool (*const groups[])(prediction *self) = {ask_process, ask_context, ask_stack,  ask_query,
                                                   ask_primary, ask_peer,    ask_stream, ask_event,
                                                   ask_memory,  ask_graph,   ask_kernel, ask_green,
                                                   ask_pool,    ask_ordered, ask_copy};

/* True unless the call needs no cuInit. */
static bool calls_the_driver(const cx_verb *verb)
{
    cx_verb_id id = cx_verb_number(verb);
    return id == CX_VERB_stream_host || id == CX_VERB_green_create ||
           id == CX_VERB_stream_attribute || id == CX_VERB_stream_set ||
           id == CX_VERB_pool_set || id == CX_VERB_pool_get ||
           (!verb->action && id != CX_VERB_init && id != CX_VERB_version);
}

static bool predict_step(prediction *self)
{
    const cx_verb *verb = self->step->verb;
    if (!self->model->initialised && calls_the_driver(verb)) {
        for (int i = 0; verb->operands[i].role != CX_ROLE_NONE; i++)
            if (verb->operands[i].role == CX_ROLE_USE &&
                thing_of(self, i, verb->operands[i].kind) != NO_THING)
                return false; /* the object of a name does not exist yet */
        return ask_uninitialised(self);
    }
    said told = ask_capture(self);
    if (told != NO_MATTER)
        return told == SAID;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (groups[i](self))
            return true;
    }
    return false;
}

static int thread_number(const cx_step *step)
{
    return step->thread != NULL && step->thread[1] == '\0' ? step->thread[0] - 'A' : -1;
}

bool cx_model_step(cx_model *model, cx_scenario *scenario, cx_step *step, cx_coverage *coverage)
{
    int thread = thread_number(step);
    if (thread < 0 || thread >= CX_MODEL_THREADS || !has_room(model))
        return false;
    prediction self = {
        .model = model, .scenario = scenario, .step = step, .thread = &model->threads[thread]};
    if (!predict_step(&self) || self.outcome == NULL)
        return false;
    if (coverage == NULL)
        return true;
    for (int i = 0; i < CX_RULE_COUNT; i++)
        coverage->rules[i] += self.rules[i];
    if (self.outcome->result == CXU_SUCCESS)
        coverage->legal++;
    else
        coverage->illegal++;
    return true;
}

/* ---- picking ---- */

static int context_of(const cx_model *model, const state_name *name)
{
    switch (name->kind) {
    case CX_KIND_STREAM: return model->streams[name->index].context;
    case CX_KIND_EVENT: return model->events[name->index].context;
    case CX_KIND_MEMORY:
    case CX_KIND_HOST: return model->buffers[name->index].context;
    case CX_KIND_GRAPH: return model->graphs[name->index].context;
    case CX_KIND_EXEC: return model->execs[name->index].context;
    case CX_KIND_MODULE: return model->modules[name->index].context;
    case CX_KIND_KERNEL:
        return model->kernels[name->index].module == NO_THING
                   ? NO_CONTEXT
                   : model->modules[model->kernels[name->index].module].context;
    default: return NO_CONTEXT;
    }
}

static bool is_live(const cx_model *model, const state_name *name)
{
    switch (name->kind) {
    case CX_KIND_CONTEXT:
    case CX_KIND_GREEN: return model->contexts[name->index].live;
    case CX_KIND_STREAM:
        return model->streams[name->index].live &&
               belongs(model, model->streams[name->index].context,
                       model->streams[name->index].generation);
    case CX_KIND_EVENT:
        return model->events[name->index].live && belongs(model, model->events[name->index].context,
                                                          model->events[name->index].generation);
    case CX_KIND_MEMORY:
    case CX_KIND_HOST:
        return buffer_is_live(model, name->index);
    case CX_KIND_GRAPH: return model->graphs[name->index].live;
    case CX_KIND_EXEC: return model->execs[name->index].live;
    case CX_KIND_MODULE: return module_is_good(model, name->index);
    case CX_KIND_LIBRARY: return model->libraries[name->index].live;
    case CX_KIND_POOL: return model->pools[name->index].live;
    case CX_KIND_KERNEL: return kernel_is_good(model, name->index, context_of(model, name));
    default: return false;
    }
}

static const char *pick_name(const cx_model *model, cx_kind kind, bool live, int context,
                             unsigned int number)
{
    int count = 0;
    for (int turn = 0; turn < 2; turn++) {
        int wanted = turn == 1 && count > 0 ? (int)(number % (unsigned int)count) : -1;
        count = 0;
        for (int i = 0; i < model->name_count; i++) {
            const state_name *name = &model->names[i];
            if (name->kind != kind || is_live(model, name) != live ||
                (context != NO_CONTEXT && context_of(model, name) != context))
                continue;
            if (count++ == wanted)
                return name->name;
        }
    }
    return NULL;
}

const char *cx_model_pick(const cx_model *model, cx_kind kind, bool live, unsigned int number)
{
    return pick_name(model, kind, live, NO_CONTEXT, number);
}

static int current_on(const cx_model *model, const char *thread)
{
    const state_thread *found = &model->threads[thread[0] - 'A'];
    return found->depth > 0 ? found->stack[found->depth - 1] : NO_CONTEXT;
}

const char *cx_model_current(const cx_model *model, const char *thread)
{
    int current = current_on(model, thread);
    return current != NO_CONTEXT ? model->contexts[current].name : NULL;
}

const char *cx_model_pick_current(const cx_model *model, const char *thread, cx_kind kind,
                                  unsigned int number)
{
    int current = base_of(model, current_on(model, thread));
    return current != NO_CONTEXT ? pick_name(model, kind, true, current, number) : NULL;
}

const char *cx_model_capturing(const cx_model *model, unsigned int number)
{
    int count = 0;
    for (int i = 0; i < model->capture_count; i++)
        count += model->captures[i].active;
    int wanted = count > 0 ? (int)(number % (unsigned int)count) : -1;
    for (int i = 0; i < model->capture_count && wanted >= 0; i++)
        if (model->captures[i].active && wanted-- == 0)
            for (int n = 0; n < model->name_count; n++)
                if (model->names[n].kind == CX_KIND_STREAM &&
                    model->names[n].index == model->captures[i].origin)
                    return model->names[n].name;
    return NULL;
}

const char *cx_model_pool_in_use(const cx_model *model, unsigned int number)
{
    const char *found = NULL;
    unsigned int count = 0;
    for (int i = 0; i < model->name_count; i++) {
        const state_name *name = &model->names[i];
        if (name->kind == CX_KIND_POOL && model->pools[name->index].live &&
            model->pools[name->index].used > 0 && number % ++count == 0)
            found = name->name;
    }
    return found;
}

const char *cx_model_closed_gate(const cx_model *model)
{
    for (int i = model->work_count - 1; i >= 0; i--)
        if (model->works[i].gate != NULL)
            return model->works[i].gate;
    return NULL;
}

bool cx_model_initialised(const cx_model *model)
{
    return model->initialised;
}
