/* Graphs as text for Graphviz. */
#include "base/cancel.h"
#include "base/text.h"
#include "emu/graph/graph.h"
#include "emu/base/state.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define DOT_FLAGS_MAX 0xffffu

static const char *type_name(cxu_graph_node_type type)
{
    switch (type) {
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        return "KERNEL";
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        return "MEMCPY";
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        return "MEMSET";
    case CXU_GRAPH_NODE_TYPE_HOST:
        return "HOST";
    case CXU_GRAPH_NODE_TYPE_GRAPH:
        return "GRAPH";
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return "WAIT_EVENT";
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return "EVENT_RECORD";
    case CXU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return "MEM_ALLOC";
    case CXU_GRAPH_NODE_TYPE_MEM_FREE:
        return "MEM_FREE";
    case CXU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return "BATCH_MEM_OP";
    case CXU_GRAPH_NODE_TYPE_CONDITIONAL:
        return "CONDITIONAL";
    default:
        return "EMPTY";
    }
}

static char side_letter(cxu_memory_type type)
{
    static const char letters[] = {[CXU_MEMORYTYPE_HOST] = 'H',
                                   [CXU_MEMORYTYPE_DEVICE] = 'D',
                                   [CXU_MEMORYTYPE_ARRAY] = 'A',
                                   [CXU_MEMORYTYPE_UNIFIED] = 'U'};

    return letters[type];
}

/* The direction of a copy is always printed. */
static void print_copy(FILE *out, const cxu_memcpy_3d *copy, bool all)
{
    fprintf(out, "\\n%cto%c", side_letter(copy->source_type), side_letter(copy->destination_type));
    if (all)
        fprintf(out, "\\n%zu x %zu x %zu bytes", copy->width_bytes, copy->height, copy->depth);
}

/* The name of a kernel is always printed, while its module exists. */
static void print_kernel(FILE *out, const cx_emu_launch *kernel, bool all)
{
    cx_emu_function *function;

    if (cx_emu_function_find(kernel->function, &function) == CXU_SUCCESS)
        fprintf(out, "\\n%s", cx_emu_function_describe(function).name);
    if (all)
        fprintf(out, "\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>", kernel->grid[0], kernel->grid[1],
                kernel->grid[2], kernel->block[0], kernel->block[1], kernel->block[2],
                kernel->shared_bytes);
}

static void print_details(FILE *out, const cx_emu_node_params *node_params, unsigned int flags)
{
    const cxu_memset_node_params *fill = &node_params->of.fill;

    switch (node_params->type) {
    case CXU_GRAPH_NODE_TYPE_MEMCPY:
        print_copy(out, &node_params->of.copy,
                   flags & CXU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS);
        break;
    case CXU_GRAPH_NODE_TYPE_KERNEL:
        print_kernel(out, &node_params->of.kernel,
                     flags & CXU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS);
        break;
    case CXU_GRAPH_NODE_TYPE_MEMSET:
        if (flags & CXU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)
            fprintf(out, "\\n%#llx, %zu x %zu of %u bytes = %#x", fill->destination, fill->width,
                    fill->height, fill->element_bytes, fill->value);
        break;
    case CXU_GRAPH_NODE_TYPE_HOST:
        if (flags & CXU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS)
            fprintf(out, "\\n%p(%p)", (void *)(uintptr_t)node_params->of.host.function,
                    node_params->of.host.user_data);
        break;
    case CXU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CXU_GRAPH_NODE_TYPE_EVENT_RECORD:
        if (flags & CXU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS)
            fprintf(out, "\\nevent %p", (void *)node_params->of.event);
        break;
    default:
        break;
    }
}

static void print_nodes(FILE *out, const cx_emu_graph *graph, unsigned int flags)
{
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next) {
        fprintf(out, "node_%" PRIu64 " [label=\"%" PRIu64 "\\n%s", each->id, each->id,
                type_name(each->node_params.type));
        print_details(out, &each->node_params, flags);
        if (flags & CXU_GRAPH_DEBUG_DOT_FLAGS_HANDLES)
            fprintf(out, "\\n%p", each->name);
        fprintf(out, "\"];\n");
        for (size_t i = 0; i < each->before.count; i++)
            fprintf(out, "node_%" PRIu64 " -> node_%" PRIu64 ";\n", each->before.items[i]->id,
                    each->id);
    }
}

static void print_clusters(FILE *out, const cx_emu_graph *graph, unsigned int flags)
{
    fprintf(out, "subgraph cluster_%" PRIu64 " {\nlabel=\"graph_%" PRIu64 "\";\n", graph->id,
            graph->id);
    print_nodes(out, graph, flags);
    fprintf(out, "}\n");
    for (const cx_emu_node *each = graph->first; each != NULL; each = each->next)
        for (size_t i = 0; i < cx_emu_node_graph_count(each); i++) {
            const cx_emu_graph *inside = cx_emu_node_graph(each, i);

            print_clusters(out, inside, flags);
            if (inside->first != NULL)
                fprintf(out, "node_%" PRIu64 " -> node_%" PRIu64 " [style=dotted];\n", each->id,
                        inside->first->id);
        }
}

/* Returns the text, which the caller frees, or NULL: no memory. */
static char *print_graph(const cx_emu_graph *graph, unsigned int flags, size_t *out_bytes)
{
    cx_text_file text;
    FILE *out = cx_text_open(&text);

    if (out == NULL)
        return NULL;
    fprintf(out, "digraph dot {\n");
    print_clusters(out, graph, flags);
    fprintf(out, "}\n");
    return cx_text_close(&text, out_bytes);
}

static cxu_result write_file(const char *path, const char *text, size_t bytes)
{
    int cancel = cx_cancel_hold();
    FILE *file = fopen(path, "we");
    cxu_result result = file != NULL ? CXU_SUCCESS : cx_emu_system_result(CXU_OPERATING_SYSTEM);

    if (file != NULL) {
        /* Without a buffer it needs no memory. */
        setvbuf(file, NULL, _IONBF, 0);
        bool written = fwrite(text, 1, bytes, file) == bytes;
        if (fclose(file) != 0 || !written)
            result = CXU_OPERATING_SYSTEM;
    }
    cx_cancel_restore(cancel);
    return result;
}

cxu_result cx_emu_call_graph_debug_dot_print(CUgraph handle, const char *path, unsigned int flags)
{
    cx_emu_graph *graph;
    char *text = NULL;
    size_t bytes;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (path == NULL || flags > DOT_FLAGS_MAX)
        return CXU_INVALID_VALUE;
    if (flags & CXU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)
        flags = DOT_FLAGS_MAX;
    cx_lock_enter(&cx_emu_lock);
    result = cx_emu_graph_find(handle, &graph);
    if (result == CXU_SUCCESS) {
        text = print_graph(graph, flags, &bytes);
        if (text == NULL)
            result = CXU_OUT_OF_MEMORY;
    }
    cx_lock_leave(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        result = write_file(path, text, bytes);
    free(text);
    return result;
}
