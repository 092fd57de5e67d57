/* What the tests of capture and graphs share. */
#ifndef CX_TEST_GRAPH_FIXTURE_H
#define CX_TEST_GRAPH_FIXTURE_H

#include "work_fixture.h"

/* The fixture of graphs: also checks at the end that no stream captures any more. */
void graph_setup(void);
void graph_teardown(void);

/* A letter that a host function writes into a journal, as often as it runs. */
typedef struct graph_letter {
    stream_journal *journal;
    char letter;
} graph_letter;
void letter_write(void *letter);
void letter_put(graph_letter *letter, CUstream stream);

/* Capture in mode GLOBAL unless said otherwise. */
void begin(CUstream stream);
void begin_in(CUstream stream, cxu_stream_capture_mode mode);
CUgraph end(CUstream stream);

/* Ends a capture that must fail, and checks that there is no graph. */
#define ck_end(stream, result)                                                                \
    do {                                                                                      \
        CUgraph ck_graph_ = (CUgraph)(void *)&ck_graph_;                                      \
        ck_assert_int_eq(cx_emu_call_stream_end_capture((stream), &ck_graph_), CXU_##result); \
        ck_assert_ptr_null(ck_graph_);                                                        \
    } while (0)

cxu_stream_capture_status status_of(CUstream stream);
#define ck_active(stream) ck_assert_int_eq(status_of(stream), CXU_STREAM_CAPTURE_STATUS_ACTIVE)
#define ck_invalidated(stream) \
    ck_assert_int_eq(status_of(stream), CXU_STREAM_CAPTURE_STATUS_INVALIDATED)
#define ck_idle(stream) ck_assert_int_eq(status_of(stream), CXU_STREAM_CAPTURE_STATUS_NONE)

CUgraph make_graph(void);
CUgraphExec make_exec(CUgraph graph);
CUgraphNode add_letter(CUgraph graph, graph_letter *letter, const CUgraphNode *before,
                       size_t count);

/* Instantiates, launches, waits, destroys the executable graph. */
void run_graph(CUgraph graph);

size_t count_nodes(CUgraph graph);
size_t count_edges(CUgraph graph);
cxu_graph_node_type type_of(CUgraphNode node);

/* Whether the graph has the edge. */
bool has_edge(CUgraph graph, CUgraphNode from, CUgraphNode to);

/* The only node of a type; fails the test if there is not exactly one. */
CUgraphNode only_node(CUgraph graph, cxu_graph_node_type type);

void drop(CUgraph graph);
void drop_exec(CUgraphExec exec);
void launch_and_wait(CUgraphExec exec, CUstream stream);

/* Launches a graph behind a closed gate, drops the graph and what was launched, and only then lets
 * the launch run. */
void drop_during_launch(CUgraph graph, CUstream stream);

/* A fill of FILL_BYTES bytes, as parameters and as a node that depends on none. */
#define FILL_BYTES 1024
cxu_memset_node_params byte_fill(CUdeviceptr memory, unsigned int value);
CUgraphNode add_byte_fill(CUgraph graph, CUdeviceptr memory, unsigned int value);
unsigned char first_byte(CUdeviceptr memory);

/* A copy of bytes from device to device. */
cxu_memcpy_3d copy_between(CUdeviceptr destination, CUdeviceptr source, size_t bytes);

#endif
