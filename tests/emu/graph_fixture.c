#include "graph_fixture.h"

#include "emu/graph/capture.h"
#include "emu/base/state.h"

#define NODES_MAX 64

void graph_setup(void)
{
    work_setup();
}

void graph_teardown(void)
{
    bool capturing;

    cx_lock_enter(&cx_emu_lock);
    capturing = cx_emu_captures != NULL;
    cx_lock_leave(&cx_emu_lock);
    ck_assert(!capturing);
    work_teardown();
}

void letter_write(void *argument)
{
    const graph_letter *letter = argument;

    pthread_mutex_lock(&letter->journal->lock);
    letter->journal->letters[letter->journal->length++] = letter->letter;
    pthread_mutex_unlock(&letter->journal->lock);
}

void letter_put(graph_letter *letter, CUstream stream)
{
    ck_success(cx_emu_call_launch_host_func(stream, letter_write, letter));
}

void begin_in(CUstream stream, cxu_stream_capture_mode mode)
{
    ck_success(cx_emu_call_stream_begin_capture(stream, mode));
}

void begin(CUstream stream)
{
    begin_in(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUgraph end(CUstream stream)
{
    CUgraph graph = NULL;

    ck_success(cx_emu_call_stream_end_capture(stream, &graph));
    ck_assert_ptr_nonnull(graph);
    return graph;
}

cxu_stream_capture_status status_of(CUstream stream)
{
    cxu_stream_capture_status status;

    ck_success(cx_emu_call_stream_is_capturing(stream, &status));
    return status;
}

CUgraph make_graph(void)
{
    CUgraph graph;

    ck_success(cx_emu_call_graph_create(&graph, 0));
    return graph;
}

CUgraphExec make_exec(CUgraph graph)
{
    CUgraphExec exec;

    ck_success(cx_emu_call_graph_instantiate_with_flags(&exec, graph, 0));
    return exec;
}

CUgraphNode add_letter(CUgraph graph, graph_letter *letter, const CUgraphNode *before, size_t count)
{
    const cxu_host_node_params params = {letter_write, letter};
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_host_node(&node, graph, before, count, &params));
    return node;
}

void run_graph(CUgraph graph)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);
    CUgraphExec exec = make_exec(graph);

    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_graph_exec_destroy(exec));
    ck_success(cx_emu_call_stream_destroy(stream));
}

size_t count_nodes(CUgraph graph)
{
    size_t count;

    ck_success(cx_emu_call_graph_get_nodes(graph, NULL, &count));
    return count;
}

size_t count_edges(CUgraph graph)
{
    size_t count;

    ck_success(cx_emu_call_graph_get_edges(graph, NULL, NULL, NULL, &count));
    return count;
}

cxu_graph_node_type type_of(CUgraphNode node)
{
    cxu_graph_node_type type;

    ck_success(cx_emu_call_graph_node_get_type(node, &type));
    return type;
}

bool has_edge(CUgraph graph, CUgraphNode from, CUgraphNode to)
{
    CUgraphNode froms[NODES_MAX], tos[NODES_MAX];
    size_t count = NODES_MAX;

    ck_success(cx_emu_call_graph_get_edges(graph, froms, tos, NULL, &count));
    for (size_t i = 0; i < count; i++)
        if (froms[i] == from && tos[i] == to)
            return true;
    return false;
}

CUgraphNode only_node(CUgraph graph, cxu_graph_node_type type)
{
    CUgraphNode nodes[NODES_MAX], found = NULL;
    size_t count = NODES_MAX;

    ck_success(cx_emu_call_graph_get_nodes(graph, nodes, &count));
    for (size_t i = 0; i < count; i++)
        if (type_of(nodes[i]) == type) {
            ck_assert_ptr_null(found);
            found = nodes[i];
        }
    ck_assert_ptr_nonnull(found);
    return found;
}

cxu_memcpy_3d copy_between(CUdeviceptr destination, CUdeviceptr source, size_t bytes)
{
    return (cxu_memcpy_3d){.source_type = CXU_MEMORYTYPE_DEVICE,
                           .source_device = source,
                           .destination_type = CXU_MEMORYTYPE_DEVICE,
                           .destination_device = destination,
                           .width_bytes = bytes,
                           .height = 1,
                           .depth = 1};
}

void drop(CUgraph graph)
{
    ck_success(cx_emu_call_graph_destroy(graph));
}

void drop_exec(CUgraphExec exec)
{
    ck_success(cx_emu_call_graph_exec_destroy(exec));
}

void launch_and_wait(CUgraphExec exec, CUstream stream)
{
    ck_success(cx_emu_call_graph_launch(exec, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
}

void drop_during_launch(CUgraph graph, CUstream stream)
{
    stream_gate gate = GATE_CLOSED;
    CUgraphExec exec = make_exec(graph);

    gate_put(&gate, stream);
    ck_success(cx_emu_call_graph_launch(exec, stream));
    drop_exec(exec);
    drop(graph);
    gate_wait_entered(&gate);
    gate_open(&gate);
    ck_success(cx_emu_call_stream_synchronize(stream));
}

cxu_memset_node_params byte_fill(CUdeviceptr memory, unsigned int value)
{
    return (cxu_memset_node_params){
        .destination = memory, .value = value, .element_bytes = 1, .width = FILL_BYTES,
        .height = 1};
}

CUgraphNode add_byte_fill(CUgraph graph, CUdeviceptr memory, unsigned int value)
{
    cxu_memset_node_params params = byte_fill(memory, value);
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_memset_node(&node, graph, NULL, 0, &params, work_context));
    return node;
}

unsigned char first_byte(CUdeviceptr memory)
{
    unsigned char byte;

    read_device(&byte, memory, 1);
    return byte;
}
