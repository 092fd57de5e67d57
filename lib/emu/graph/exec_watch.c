#include "emu/graph/exec_watch.h"
#include "driver/access_log.h"
#include "emu/memory/allocation.h"

static void describe_kernel(const cx_emu_launch *launch, cx_access_log_node *out)
{
    cx_emu_function *function;
    cx_ptx_kernel_info kernel;

    if (cx_emu_function_find(launch->function, &function) != CXU_SUCCESS)
        return;
    kernel = cx_ptx_kernel_describe(function->module->code->ptx, function->kernel);
    out->kernel = kernel.name;
    out->arguments = launch->arguments != NULL ? launch->arguments->content : NULL;
    out->argument_bytes = launch->arguments != NULL ? kernel.parameter_bytes : 0;
}

static void describe_node(const cx_emu_node *node, cx_access_log_node *out)
{
    const cx_emu_node_params *params = &node->node_params;

    *out = (cx_access_log_node){.type = params->type,
                                .place = node->place,
                                .given = node->given,
                                .number = node->local_id,
                                .parent = SIZE_MAX,
                                .disabled = node->disabled};
    switch (params->type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        describe_kernel(&params->of.kernel, out);
        break;
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        out->copy = &params->of.copy;
        break;
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        out->fill = &params->of.fill;
        break;
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
        out->event = params->of.event;
        break;
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        out->begin = params->of.block->memory->address;
        out->end = out->begin + params->of.block->memory->bytes;
        break;
    default:
        break;
    }
}

static void describe(const cx_access_log_graph *graph, size_t index, cx_access_log_node *out)
{
    const cx_emu_exec_schedule *schedule = graph->self;
    const cx_emu_node *node = schedule->nodes[index];
    const cx_emu_work_piece *piece = &schedule->pieces[index];

    describe_node(node, out);
    if (node->graph->owner != NULL)
        out->parent = node->graph->owner->index;
    out->after = schedule->after + piece->first_after;
    out->after_count = piece->after_count;
}

void cx_emu_exec_watch_launch(const cx_emu_exec_schedule *schedule)
{
    const cx_access_log_graph graph = {schedule->count, describe, schedule};

    if (!cx_access_log_ticket || cx_access_log_watched() == NULL)
        return;
    for (size_t i = 0; i < schedule->count; i++)
        schedule->nodes[i]->index = i;
    cx_access_log_watched()->launched(cx_access_log_ticket, &graph);
}

void cx_emu_exec_watch_moved(const cx_emu_node *node, uint64_t ticket, size_t part)
{
    cx_access_log_node description;

    describe_node(node, &description);
    if (description.copy != NULL || description.fill != NULL)
        cx_access_log_watched()->moved(ticket, part, &description);
}
