/* Captured graphs: the effect and the order of their launches. */
#include "model/state.h"

static state_graph *find_graph(prediction *self, int operand, cx_kind kind)
{
    cx_model *model = self->model;
    int index = thing_of(self, operand, kind);
    state_graph *graph = index < 0               ? NULL
                         : kind == CX_KIND_GRAPH ? &model->graphs[index]
                                                 : &model->execs[index];
    return graph != NULL && graph->live ? graph : NULL;
}

static bool count_nodes(prediction *self)
{
    const state_graph *graph = find_graph(self, 0, CX_KIND_GRAPH);
    bool roots = cx_verb_number(self->step->verb) == CX_VERB_graph_roots;
    int nodes = 0;
    if (graph == NULL)
        return false;
    for (int i = 0; i < graph->node_count; i++)
        nodes += !roots || graph->nodes[i].before == 0;
    cite(self, CX_RULE_G4);
    answer(self, CXU_SUCCESS);
    return answer_number(self, nodes);
}

static bool instantiate_graph(prediction *self)
{
    cx_model *model = self->model;
    const state_graph *graph = find_graph(self, 1, CX_KIND_GRAPH);
    if (graph == NULL || number_of(self, 2) != 0)
        return false;
    model->execs[model->exec_count] = *graph;
    bind_name(self, CX_KIND_EXEC, model->exec_count++);
    return answer(self, CXU_SUCCESS);
}

static bool destroy_graph(prediction *self, cx_kind kind)
{
    state_graph *graph = find_graph(self, 0, kind);
    if (graph == NULL)
        return false;
    graph->live = false;
    return answer(self, CXU_SUCCESS);
}

/* Submits one node; false: it would race. */
static bool launch_node(cx_model *model, const state_graph *exec, int number, work_set *works,
                        const work_set *stream)
{
    const state_node *node = &exec->nodes[number];
    work_set before = *stream;
    for (int i = 0; i < number; i++)
        if ((node->before >> i & 1) != 0)
            set_unite(&before, &works[i]);
    if (!node_may_run(model, node, &before))
        return false;
    int work = add_loose_work(model, exec->context, NULL);
    if (work == NO_THING)
        return false;
    node_runs(model, node, &before, work);
    if (node->kernel != 0)
        note_kernel(model, work, &before);
    works[number] = before;
    set_add(&works[number], work);
    return true;
}

static bool memory_is_there(const cx_model *model, const state_graph *exec)
{
    for (int i = 0; i < exec->node_count; i++) {
        const state_node *node = &exec->nodes[i];
        if ((node->kind != NODE_NOTHING && !in_context(model, node->to, exec->context)) ||
            (node->kind == NODE_COPY && !in_context(model, node->from, exec->context)))
            return false;
    }
    return true;
}

/* Changes nothing if a node would race. */
static bool launch_nodes(cx_model *model, state_graph *exec, work_set *before, work_set *out_all)
{
    static _Thread_local state_buffer buffers[THINGS_MAX];
    work_set works[NODES_MAX];
    int work_count = model->work_count;
    memcpy(buffers, model->buffers, sizeof buffers);
    *out_all = *before;
    for (int i = 0; i < exec->node_count; i++) {
        if (!launch_node(model, exec, i, works, before)) {
            memcpy(model->buffers, buffers, sizeof buffers);
            model->work_count = work_count;
            return false;
        }
        set_unite(out_all, &works[i]);
    }
    return true;
}

/* A launch is like one work item of the stream, behind earlier launches of the same graph. */
static bool launch_graph(prediction *self)
{
    cx_model *model = self->model;
    state_graph *exec = find_graph(self, 0, CX_KIND_EXEC);
    int stream, context, error;
    work_set all;
    bool there;
    if (exec == NULL || !find_stream(self, 1, &stream, &context, &error) || error != CXU_SUCCESS ||
        context != exec->context || current_of(self) != context || !memory_is_there(model, exec))
        return false;
    if (!kernels_known(model, exec, &there))
        return false;
    if (!there) {
        cite(self, CX_RULE_K5);
        return answer(self, CXU_INVALID_HANDLE);
    }
    work_set before = stream_before(model, stream, context);
    set_unite(&before, &exec->launched);
    if (!launch_nodes(model, exec, &before, &all))
        return false;
    set_unite(stream != NO_THING ? &model->streams[stream].tail : &model->contexts[context].tail,
              &all);
    exec->launched = all;
    cite(self, CX_RULE_T11);
    return add_work(model, stream, context, NULL) != NO_THING && answer(self, CXU_SUCCESS);
}

bool ask_graph(prediction *self)
{
    switch (cx_verb_number(self->step->verb)) {
    case CX_VERB_graph_nodes:
    case CX_VERB_graph_roots:
        return count_nodes(self);
    case CX_VERB_graph_instantiate:
        return instantiate_graph(self);
    case CX_VERB_graph_launch:
        return launch_graph(self);
    case CX_VERB_graph_destroy:
        return destroy_graph(self, CX_KIND_GRAPH);
    case CX_VERB_graph_exec_destroy:
        return destroy_graph(self, CX_KIND_EXEC);
    default: return false;
    }
}
