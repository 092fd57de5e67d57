/* Modules, libraries and the kernels of both: T9, K. */
#include "model/state.h"
#include "play/code.h"

/* The operands of a launch. */
enum { KERNEL, STREAM, TO, FROM, VALUE, BYTES, BLOCKS, THREADS, BLOCKS_Y, BLOCKS_Z, THREADS_Y };
enum { THREADS_Z = THREADS_Y + 1, SHARED, ARGUMENTS };
enum { THREADS_MOST = 1024, SHARED_MOST = 48 << 10, GRID_MOST = 1 << 15, DEEP_MOST = 64 };

/* ---- loading and unloading ---- */

static int result_of_code(int64_t code)
{
    switch (code) {
    case CX_CODE_KERNELS:
    case CX_CODE_EMPTY: return CXU_SUCCESS;
    case CX_CODE_BROKEN: return CXU_INVALID_PTX;
    case CX_CODE_NEWER: return CXU_UNSUPPORTED_PTX_VERSION;
    case CX_CODE_NULL: return CXU_INVALID_VALUE;
    default: return CXU_INVALID_IMAGE;
    }
}

static bool load_module(prediction *self)
{
    cx_model *model = self->model;
    int64_t code = number_of(self, 1);
    int state = current_state(self), wrong = result_of_code(code), current = current_of(self);
    cite(self, CX_RULE_T9);
    if (wrong != CXU_SUCCESS) {
        cite(self, CX_RULE_K1);
        answer(self, wrong);
    }
    if (wrong == CXU_SUCCESS || state != CXU_SUCCESS)
        answer(self, state);
    if (wrong != CXU_SUCCESS || state != CXU_SUCCESS)
        return true;
    int index = model->module_count++;
    model->made++;
    model->modules[index] = (state_module){.live = true,
                                           .context = current,
                                           .generation = model->contexts[current].generation,
                                           .empty = code == CX_CODE_EMPTY};
    return bind_name(self, CX_KIND_MODULE, index);
}

static bool load_library(prediction *self)
{
    cx_model *model = self->model;
    int64_t code = number_of(self, 1);
    int wrong = result_of_code(code);
    cite(self, wrong == CXU_SUCCESS ? CX_RULE_T9 : CX_RULE_K1);
    answer(self, wrong);
    if (wrong != CXU_SUCCESS)
        return true;
    int index = model->library_count++;
    model->made++;
    model->libraries[index] = (state_library){.live = true, .empty = code == CX_CODE_EMPTY};
    return bind_name(self, CX_KIND_LIBRARY, index);
}

bool module_is_good(const cx_model *model, int index)
{
    const state_module *module = &model->modules[index];
    return module->live && belongs(model, module->context, module->generation);
}

static bool unload_code(prediction *self, bool good, bool *live, int *died)
{
    if (!good && !not_reused(self->model, *died))
        return false;
    cite(self, CX_RULE_K5);
    if (!good)
        return answer(self, CXU_INVALID_HANDLE);
    *live = false;
    *died = self->model->made;
    return answer(self, CXU_SUCCESS);
}

static bool unload_module(prediction *self)
{
    int index = thing_of(self, 0, CX_KIND_MODULE), state = current_state(self);
    if (index == UNKNOWN_THING)
        return false;
    if (state != CXU_SUCCESS) {
        cite(self, CX_RULE_T9);
        return answer(self, state);
    }
    if (index < 0)
        return index == NO_THING && answer(self, CXU_INVALID_HANDLE);
    state_module *module = &self->model->modules[index];
    return unload_code(self, module_is_good(self->model, index), &module->live, &module->died);
}

static bool unload_library(prediction *self)
{
    int index = thing_of(self, 0, CX_KIND_LIBRARY);
    if (index < 0)
        return index == NO_THING && answer(self, CXU_INVALID_HANDLE);
    state_library *library = &self->model->libraries[index];
    return unload_code(self, library->live, &library->live, &library->died);
}

/* ---- kernels by name ---- */

static bool has_name(int64_t name, bool empty)
{
    return !empty && name > CX_CODE_NAME_NULL && name <= CX_CODE_NAME_ASSERT;
}

static bool look_up(prediction *self, state_kernel kernel, bool good, bool empty)
{
    cx_model *model = self->model;
    bool no_name = kernel.name == CX_CODE_NAME_NULL;
    cite(self, CX_RULE_K2);
    if (no_name)
        answer(self, CXU_INVALID_VALUE);
    if (!good)
        answer(self, CXU_INVALID_HANDLE);
    if (no_name || !good)
        return true;
    if (!has_name(kernel.name, empty))
        return answer(self, CXU_NOT_FOUND);
    model->kernels[model->kernel_count] = kernel;
    bind_name(self, CX_KIND_KERNEL, model->kernel_count++);
    return answer(self, CXU_SUCCESS);
}

static bool look_up_in_module(prediction *self)
{
    const cx_model *model = self->model;
    int index = thing_of(self, 1, CX_KIND_MODULE);
    state_kernel kernel = {.module = index, .library = NO_THING, .name = number_of(self, 2)};
    if (index == UNKNOWN_THING)
        return false;
    bool good = index != NO_THING && module_is_good(model, index);
    if (index != NO_THING && !good && !not_reused(model, model->modules[index].died))
        return false;
    return look_up(self, kernel, good, good && model->modules[index].empty);
}

static bool look_up_in_library(prediction *self)
{
    const cx_model *model = self->model;
    int index = thing_of(self, 1, CX_KIND_LIBRARY);
    state_kernel kernel = {.module = NO_THING, .library = index, .name = number_of(self, 2)};
    if (index == UNKNOWN_THING)
        return false;
    bool good = index != NO_THING && model->libraries[index].live;
    if (index != NO_THING && !good && !not_reused(model, model->libraries[index].died))
        return false;
    return look_up(self, kernel, good, good && model->libraries[index].empty);
}

/* True if the module or library of a kernel exists. */
static bool is_there(const cx_model *model, const state_kernel *kernel)
{
    return kernel->module != NO_THING ? module_is_good(model, kernel->module)
                                      : model->libraries[kernel->library].live;
}

bool kernel_is_good(const cx_model *model, int index, int context)
{
    const state_kernel *kernel = &model->kernels[index];
    return is_there(model, kernel) &&
           (kernel->module == NO_THING || model->modules[kernel->module].context == context);
}

static bool kernel_not_reused(const cx_model *model, int index)
{
    const state_kernel *kernel = &model->kernels[index];
    return not_reused(model, kernel->module != NO_THING ? model->modules[kernel->module].died
                                                        : model->libraries[kernel->library].died);
}

/* ---- launching ---- */

static bool is_within(const prediction *self, int operand, int64_t most)
{
    return number_of(self, operand) > 0 && number_of(self, operand) <= most;
}

static bool can_be(const prediction *self)
{
    return is_within(self, BLOCKS, GRID_MOST) && is_within(self, BLOCKS_Y, GRID_MOST) &&
           is_within(self, BLOCKS_Z, GRID_MOST) && is_within(self, THREADS, THREADS_MOST) &&
           is_within(self, THREADS_Y, THREADS_MOST) && is_within(self, THREADS_Z, DEEP_MOST) &&
           number_of(self, THREADS) * number_of(self, THREADS_Y) * number_of(self, THREADS_Z) <=
               THREADS_MOST &&
           number_of(self, SHARED) <= SHARED_MOST && number_of(self, ARGUMENTS) != 0;
}

bool describe_launch(const prediction *self, int context, state_node *out_node)
{
    const cx_model *model = self->model;
    int index = thing_of(self, KERNEL, CX_KIND_KERNEL);
    if (index < 0 || !kernel_is_good(model, index, context) || !can_be(self) ||
        number_of(self, BYTES) != BUFFER_BYTES)
        return false;
    *out_node = (state_node){.to = thing_of(self, TO, CX_KIND_MEMORY),
                             .from = thing_of(self, FROM, CX_KIND_MEMORY),
                             .value = (int)(number_of(self, VALUE) & 0xff),
                             .kernel = index + 1};
    switch (model->kernels[index].name) {
    case CX_CODE_NAME_FILL: out_node->kind = NODE_FILL; break;
    case CX_CODE_NAME_ADD: out_node->kind = NODE_ADD; break;
    case CX_CODE_NAME_COPY: out_node->kind = NODE_COPY; break;
    default: return false;
    }
    if (out_node->kind == NODE_COPY &&
        (out_node->to == out_node->from || !in_context(model, out_node->from, context)))
        return false;
    return in_context(model, out_node->to, context);
}

bool node_may_run(const cx_model *model, const state_node *node, const work_set *before)
{
    if (node->kind == NODE_NOTHING)
        return true;
    if (!may_write(model, node->to, before))
        return false;
    return node->kind == NODE_FILL ||
           may_read(model, node->kind == NODE_COPY ? node->from : node->to, before);
}

void node_runs(cx_model *model, const state_node *node, const work_set *before, int work)
{
    int value = node->value;
    if (node->kind == NODE_NOTHING)
        return;
    if (node->kind == NODE_COPY)
        value = model->buffers[node->from].value;
    else if (node->kind == NODE_ADD)
        value = (model->buffers[node->to].value + node->value) & 0xff;
    write_buffer(model, node->to, value, before, work);
    if (node->kind == NODE_COPY)
        read_buffer(model, node->from, before, work);
}

void note_kernel(cx_model *model, int work, const work_set *before)
{
    model->works[work].kernel = true;
    model->works[work].before = *before;
}

bool kernel_blocked(const cx_model *model)
{
    for (int i = 0; i < model->work_count; i++)
        if (model->works[i].kernel && !set_has(&model->done, i) &&
            set_blocked(model, &model->works[i].before))
            return true;
    return false;
}

bool kernels_known(const cx_model *model, const state_graph *exec, bool *out_there)
{
    *out_there = true;
    for (int i = 0; i < exec->node_count; i++) {
        int kernel = exec->nodes[i].kernel - 1;
        if (kernel < 0 || is_there(model, &model->kernels[kernel]))
            continue;
        if (!kernel_not_reused(model, kernel))
            return false;
        *out_there = false;
    }
    return true;
}

static bool submit_kernel(prediction *self, int stream, int context)
{
    cx_model *model = self->model;
    work_set before = stream_before(model, stream, context);
    state_node node;
    if (!describe_launch(self, context, &node) || !node_may_run(model, &node, &before))
        return false;
    int work = add_work(model, stream, context, NULL);
    if (work == NO_THING)
        return false;
    cite(self, CX_RULE_K4);
    cite(self, CX_RULE_T11);
    note_kernel(model, work, &before);
    node_runs(model, &node, &before, work);
    return answer(self, CXU_SUCCESS);
}

/* A library may have to be loaded into the context, and then takes addresses and handles there. */
static void load_into_context(cx_model *model, int index)
{
    model->made += index >= 0 && model->kernels[index].library != NO_THING;
}

static bool launch_kernel(prediction *self)
{
    cx_model *model = self->model;
    int stream, context, error, index = thing_of(self, KERNEL, CX_KIND_KERNEL);
    if (index == UNKNOWN_THING || thing_of(self, TO, CX_KIND_MEMORY) == UNKNOWN_THING ||
        thing_of(self, FROM, CX_KIND_MEMORY) == UNKNOWN_THING ||
        !find_stream(self, STREAM, &stream, &context, &error))
        return false;
    bool there = index != NO_THING && is_there(model, &model->kernels[index]);
    if (index != NO_THING && !there && !kernel_not_reused(model, index))
        return false;
    bool good = there && (error != CXU_SUCCESS || kernel_is_good(model, index, context));
    cite(self, CX_RULE_T9);
    if (error == CXU_SUCCESS && good && can_be(self)) {
        if (!submit_kernel(self, stream, context))
            return false;
        load_into_context(model, index);
        return true;
    }
    cite(self, index != NO_THING && !there ? CX_RULE_K5 : CX_RULE_K3);
    if (error != CXU_SUCCESS)
        answer(self, error);
    if (!good)
        answer(self, CXU_INVALID_HANDLE);
    if (!can_be(self))
        answer(self, CXU_INVALID_VALUE);
    load_into_context(model, index);
    return true;
}

bool ask_kernel(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_module_load: return load_module(self);
    case CX_VERB_module_unload: return unload_module(self);
    case CX_VERB_module_kernel: return look_up_in_module(self);
    case CX_VERB_library_load: return load_library(self);
    case CX_VERB_library_unload: return unload_library(self);
    case CX_VERB_library_kernel: return look_up_in_library(self);
    case CX_VERB_kernel_launch:
        return launch_kernel(self);
    default: return false;
    }
}
