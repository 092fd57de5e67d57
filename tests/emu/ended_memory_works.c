/* The kinds of work that streams do with memory. */
#include "ended_memory.h"

#define ROWS 4
#define ROW_BYTES (ENDED_BYTES / ROWS)

/* ---- fills ---- */

static cxu_result fill_bytes(ended_world *self)
{
    return cx_emu_call_memset_d8_async(self->address, 1, ENDED_BYTES, self->stream);
}

static cxu_result fill_words(ended_world *self)
{
    return cx_emu_call_memset_d32_async(self->address, 1, ENDED_BYTES / 4, self->stream);
}

static cxu_result fill_rows(ended_world *self)
{
    return cx_emu_call_memset_2d_d16_async(self->address, ROW_BYTES, 1, ROW_BYTES / 4, ROWS,
                                           self->stream);
}

/* ---- copies ---- */

static cxu_result copy_in(ended_world *self)
{
    return cx_emu_call_memcpy_htod_async(self->address, self->host, ENDED_BYTES, self->stream);
}

static cxu_result copy_in_staged(ended_world *self)
{
    static const unsigned char bytes[ENDED_BYTES];

    return cx_emu_call_memcpy_htod_async(self->address, bytes, ENDED_BYTES, self->stream);
}

static cxu_result copy_out(ended_world *self)
{
    return cx_emu_call_memcpy_dtoh_async(self->host, self->address, ENDED_BYTES, self->stream);
}

static cxu_result copy_to_device(ended_world *self)
{
    return cx_emu_call_memcpy_dtod_async(self->device, self->address, ENDED_BYTES, self->stream);
}

static cxu_result copy_from_device(ended_world *self)
{
    return cx_emu_call_memcpy_dtod_async(self->address, self->device, ENDED_BYTES, self->stream);
}

static cxu_result copy_any(ended_world *self)
{
    return cx_emu_call_memcpy_unified_async((uintptr_t)self->host, self->address, ENDED_BYTES,
                                            self->stream);
}

static cxu_result copy_rows(ended_world *self)
{
    const cxu_memcpy_2d copy = {.source_type = CXU_MEMORYTYPE_DEVICE,
                                .source_device = self->device,
                                .source_pitch_bytes = ROW_BYTES,
                                .destination_type = CXU_MEMORYTYPE_DEVICE,
                                .destination_device = self->address,
                                .destination_pitch_bytes = ROW_BYTES,
                                .width_bytes = ROW_BYTES / 2,
                                .height = ROWS};

    return cx_emu_call_memcpy_2d_async(&copy, self->stream);
}

static cxu_memcpy_3d box_of(const ended_world *self)
{
    return (cxu_memcpy_3d){.source_type = CXU_MEMORYTYPE_DEVICE,
                           .source_device = self->address,
                           .source_pitch_bytes = ROW_BYTES / 2,
                           .source_height = ROWS,
                           .destination_type = CXU_MEMORYTYPE_DEVICE,
                           .destination_device = self->device,
                           .destination_pitch_bytes = ROW_BYTES / 2,
                           .destination_height = ROWS,
                           .width_bytes = ROW_BYTES / 2,
                           .height = ROWS,
                           .depth = 2};
}

static cxu_result copy_box(ended_world *self)
{
    const cxu_memcpy_3d copy = box_of(self);

    return cx_emu_call_memcpy_3d_async(&copy, self->stream);
}

static cxu_result copy_between_contexts(ended_world *self)
{
    return cx_emu_call_memcpy_peer_async(self->address, self->owner, self->device, self->worker,
                                         ENDED_BYTES, self->stream);
}

static cxu_result copy_box_between_contexts(ended_world *self)
{
    const cxu_memcpy_3d_peer copy = {.source_type = CXU_MEMORYTYPE_DEVICE,
                                     .source_device = self->address,
                                     .source_context = self->owner,
                                     .source_pitch_bytes = ROW_BYTES / 2,
                                     .source_height = ROWS,
                                     .destination_type = CXU_MEMORYTYPE_DEVICE,
                                     .destination_device = self->device,
                                     .destination_context = self->worker,
                                     .destination_pitch_bytes = ROW_BYTES / 2,
                                     .destination_height = ROWS,
                                     .width_bytes = ROW_BYTES / 2,
                                     .height = ROWS,
                                     .depth = 2};

    return cx_emu_call_memcpy_3d_peer_async(&copy, self->stream);
}

static cxu_result copy_batch(ended_world *self)
{
    CUdeviceptr to[] = {self->address, self->device + ENDED_BYTES / 2};
    CUdeviceptr from[] = {self->device, self->address + ENDED_BYTES / 2};
    size_t sizes[] = {ENDED_BYTES / 2, ENDED_BYTES / 2}, first = 0;
    cxu_memcpy_attributes attributes = {.order = CXU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

    return cx_emu_call_memcpy_batch_async(to, from, sizes, 2, &attributes, &first, 1, self->stream);
}

/* ---- hints ---- */

static cxu_result prefetch(ended_world *self)
{
    return cx_emu_call_mem_prefetch_async(self->address, ENDED_BYTES, 0, self->stream);
}

static cxu_result prefetch_batch(ended_world *self)
{
    size_t bytes = ENDED_BYTES, first = 0;
    cxu_mem_location to = {CXU_MEM_LOCATION_TYPE_DEVICE, 0};

    return cx_emu_call_mem_prefetch_batch_async(&self->address, &bytes, 1, &to, &first, 1, 0,
                                                self->stream);
}

static cxu_result discard_batch(ended_world *self)
{
    CUdeviceptr halves[] = {self->address, self->address + ENDED_BYTES / 2};
    size_t sizes[] = {ENDED_BYTES / 2, ENDED_BYTES / 2};

    return cx_emu_call_mem_discard_batch_async(halves, sizes, 2, 0, self->stream);
}

static cxu_result attach(ended_world *self)
{
    return cx_emu_call_stream_attach_mem_async(self->stream, self->address, 0,
                                               CXU_MEM_ATTACH_GLOBAL);
}

/* ---- values ---- */

static cxu_result write_32(ended_world *self)
{
    return cx_emu_call_stream_write_value_32(self->stream, self->address, 1, 0);
}

static cxu_result write_64(ended_world *self)
{
    return cx_emu_call_stream_write_value_64(self->stream, self->address + 8, 1, 0);
}

static cxu_result wait_32(ended_world *self)
{
    return cx_emu_call_stream_wait_value_32(self->stream, self->address, 0,
                                            CXU_STREAM_WAIT_VALUE_EQ);
}

static cxu_result wait_64(ended_world *self)
{
    return cx_emu_call_stream_wait_value_64(self->stream, self->address + 8, 0,
                                            CXU_STREAM_WAIT_VALUE_EQ);
}

static void value_batch(const ended_world *self, cxu_stream_mem_op out_batch[3])
{
    out_batch[0] = (cxu_stream_mem_op){.type = CXU_STREAM_MEM_OP_WAIT_VALUE_32,
                                       .address = self->address,
                                       .flags = CXU_STREAM_WAIT_VALUE_EQ};
    out_batch[1] = (cxu_stream_mem_op){.type = CXU_STREAM_MEM_OP_BARRIER};
    out_batch[2] = (cxu_stream_mem_op){
        .type = CXU_STREAM_MEM_OP_WRITE_VALUE_64, .address = self->address + 8, .value.wide = 1};
}

static cxu_result do_values(ended_world *self)
{
    cxu_stream_mem_op batch[3];

    value_batch(self, batch);
    return cx_emu_call_stream_batch_mem_op(self->stream, 3, batch, 0);
}

/* ---- kernels ---- */

static cxu_result launch(ended_world *self)
{
    uint64_t offset = 0;
    void *parameters[] = {&self->address, &offset};

    return cx_emu_call_launch_kernel(self->store, 1, 1, 1, 1, 1, 1, 0, self->stream, parameters,
                                     NULL);
}

/* ---- graphs ---- */

static void open_graph(ended_world *self)
{
    ck_success(cx_emu_call_graph_create(&self->graph, 0));
}

static void close_graph(ended_world *self)
{
    ck_success(cx_emu_call_graph_instantiate_with_flags(&self->exec, self->graph, 0));
}

static CUgraphNode add_fill(ended_world *self, CUgraph graph)
{
    const cxu_memset_node_params fill = {self->address, 0, 1, 1, ENDED_BYTES, 1};
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_memset_node(&node, graph, NULL, 0, &fill, self->worker));
    return node;
}

/* `before` may be NULL. */
static void add_copy(ended_world *self, CUgraph graph, CUgraphNode before)
{
    const cxu_memcpy_3d copy = box_of(self);
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_memcpy_node(&node, graph, &before, before != NULL, &copy,
                                                 self->worker));
}

static void add_kernel(ended_world *self, CUgraph graph)
{
    uint64_t offset = 0;
    void *parameters[] = {&self->address, &offset};
    const cxu_kernel_node_params kernel = {.function = self->store,
                                           .grid_x = 1,
                                           .grid_y = 1,
                                           .grid_z = 1,
                                           .block_x = 1,
                                           .block_y = 1,
                                           .block_z = 1,
                                           .parameters = parameters};
    CUgraphNode node;

    ck_success(cx_emu_call_graph_add_kernel_node(&node, graph, NULL, 0, &kernel));
}

static CUgraph add_body(ended_world *self)
{
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphNode node;
    uint64_t handle;

    ck_success(cx_emu_call_graph_conditional_handle_create(&handle, self->graph, self->worker, 1,
                                                           CXU_GRAPH_COND_ASSIGN_DEFAULT));
    params.of.condition = (cxu_conditional_node_params){
        .handle = handle, .type = CXU_GRAPH_COND_TYPE_IF, .size = 1, .context = self->worker};
    ck_success(cx_emu_call_graph_add_node(&node, self->graph, NULL, NULL, 0, &params));
    return params.of.condition.bodies[0];
}

static void prepare_fill(ended_world *self)
{
    open_graph(self);
    (void)add_fill(self, self->graph);
    close_graph(self);
}

static void prepare_copy(ended_world *self)
{
    open_graph(self);
    add_copy(self, self->graph, NULL);
    close_graph(self);
}

static void prepare_child(ended_world *self)
{
    CUgraph child;
    CUgraphNode node;

    open_graph(self);
    ck_success(cx_emu_call_graph_create(&child, 0));
    add_copy(self, child, add_fill(self, child));
    ck_success(cx_emu_call_graph_add_child_graph_node(&node, self->graph, NULL, 0, child));
    ck_success(cx_emu_call_graph_destroy(child));
    close_graph(self);
}

static void prepare_values(ended_world *self)
{
    cxu_stream_mem_op batch[3];
    const cxu_batch_mem_op_node_params params = {
        .context = self->worker, .count = 3, .operations = batch};
    CUgraphNode node;

    value_batch(self, batch);
    open_graph(self);
    ck_success(cx_emu_call_graph_add_batch_mem_op_node(&node, self->graph, NULL, 0, &params));
    close_graph(self);
}

static void prepare_captured(ended_world *self)
{
    ck_success(cx_emu_call_stream_begin_capture(self->stream, CXU_STREAM_CAPTURE_MODE_RELAXED));
    ck_success(write_32(self));
    ck_success(cx_emu_call_stream_end_capture(self->stream, &self->graph));
    close_graph(self);
}

static void prepare_kernel(ended_world *self)
{
    open_graph(self);
    add_kernel(self, self->graph);
    close_graph(self);
}

static void prepare_body_fill(ended_world *self)
{
    open_graph(self);
    (void)add_fill(self, add_body(self));
    close_graph(self);
}

static void prepare_body_copy(ended_world *self)
{
    open_graph(self);
    add_copy(self, add_body(self), NULL);
    close_graph(self);
}

static void prepare_body_kernel(ended_world *self)
{
    open_graph(self);
    add_kernel(self, add_body(self));
    close_graph(self);
}

static cxu_result launch_graph(ended_world *self)
{
    return cx_emu_call_graph_launch(self->exec, self->stream);
}

/* ---- all ---- */

const ended_work ended_works[] = {
    {"a fill", ENDED_NAMED, .submit = fill_bytes},
    {"a fill of words", ENDED_NAMED, .submit = fill_words},
    {"a fill of rows", ENDED_NAMED, .submit = fill_rows},
    {"a copy in", ENDED_NAMED, .submit = copy_in},
    {"a staged copy in", ENDED_NAMED, .submit = copy_in_staged, .refuses = ENDED_HOST},
    {"a copy out", ENDED_NAMED, .submit = copy_out, .reads = true},
    {"a copy to a device", ENDED_NAMED, .submit = copy_to_device},
    {"a copy from a device", ENDED_NAMED, .submit = copy_from_device},
    {"a copy of any memory", ENDED_NAMED, .submit = copy_any, .reads = true},
    {"a copy of rows", ENDED_NAMED, .submit = copy_rows},
    {"a copy of a box", ENDED_NAMED, .submit = copy_box},
    {"a copy between contexts", ENDED_NAMED, .submit = copy_between_contexts},
    {"a copy of a box between contexts", ENDED_NAMED, .submit = copy_box_between_contexts},
    {"a batch of copies", ENDED_NAMED, .submit = copy_batch},
    {"a prefetch", ENDED_NAMED, .submit = prefetch, .only_hints = true, .needs = ENDED_MANAGED},
    {"a batch of prefetches", ENDED_NAMED, .submit = prefetch_batch, .only_hints = true,
     .needs = ENDED_MANAGED},
    {"a batch of discards", ENDED_NAMED, .submit = discard_batch, .needs = ENDED_MANAGED},
    {"an attachment", ENDED_NAMED, .submit = attach, .only_hints = true, .needs = ENDED_MANAGED},
    {"a written word", ENDED_FOUND, .submit = write_32, .refuses = ENDED_MANAGED},
    {"a written double word", ENDED_FOUND, .submit = write_64, .refuses = ENDED_MANAGED},
    {"an awaited word", ENDED_FOUND, .submit = wait_32, .refuses = ENDED_MANAGED},
    {"an awaited double word", ENDED_FOUND, .submit = wait_64, .refuses = ENDED_MANAGED},
    {"a batch of values", ENDED_FOUND, .submit = do_values, .refuses = ENDED_MANAGED},
    {"a kernel", ENDED_FOUND, .submit = launch, .by_pointer = true},
    {"a node that fills", ENDED_NAMED, .prepare = prepare_fill, .submit = launch_graph},
    {"a node that copies", ENDED_NAMED, .prepare = prepare_copy, .submit = launch_graph},
    {"a child graph", ENDED_NAMED, .prepare = prepare_child, .submit = launch_graph},
    {"a node of values", ENDED_FOUND, .prepare = prepare_values, .submit = launch_graph,
     .refuses = ENDED_MANAGED},
    {"a captured value", ENDED_FOUND, .prepare = prepare_captured, .submit = launch_graph,
     .refuses = ENDED_MANAGED},
    {"a node that launches", ENDED_FOUND, .prepare = prepare_kernel, .submit = launch_graph,
     .by_pointer = true},
    {"a body that fills", ENDED_FOUND, .prepare = prepare_body_fill, .submit = launch_graph},
    {"a body that copies", ENDED_FOUND, .prepare = prepare_body_copy, .submit = launch_graph,
     .copies = true},
    {"a body that launches", ENDED_FOUND, .prepare = prepare_body_kernel, .submit = launch_graph,
     .by_pointer = true},
};
const size_t ended_work_count = sizeof ended_works / sizeof ended_works[0];
