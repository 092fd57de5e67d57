#include "play/code.h"
#include "play/object.h"
#include "play/player.h"
#include "play/share.h"

#include <stdlib.h>
#include <string.h>

/* ---- host memory ---- */

static int act_host_malloc(cx_player *player, cx_call *call)
{
    (void)player;
    size_t bytes = call->in[1].size;
    void *memory = calloc(1, bytes != 0 ? bytes : 1);
    if (memory == NULL)
        return CXU_OUT_OF_MEMORY;
    call->out[0] = (cx_cell){.host = memory};
    return CXU_SUCCESS;
}

static int act_host_fill(cx_player *player, cx_call *call)
{
    (void)player;
    memset(call->in[0].host, call->in[1].integer, call->in[2].size);
    return CXU_SUCCESS;
}

static int act_host_store(cx_player *player, cx_call *call)
{
    (void)player;
    __atomic_store_n((uint32_t *)call->in[0].host, call->in[1].flags, __ATOMIC_RELEASE);
    return CXU_SUCCESS;
}

static int expect_bytes(cx_call *call, const unsigned char *bytes)
{
    for (size_t i = 0; i < call->in[2].size; i++)
        if (bytes[i] != (unsigned char)call->in[1].integer) {
            call->out[0] = (cx_cell){.size = i};
            call->out[1] = cx_cell_of(CX_KIND_INTEGER, bytes[i]);
            return CX_PLAY_DIFFERS;
        }
    return CXU_SUCCESS;
}

static int act_host_expect(cx_player *player, cx_call *call)
{
    (void)player;
    return expect_bytes(call, call->in[0].host);
}

static int act_host_refuse(cx_player *player, cx_call *call)
{
    return cx_host_refuse(player, call->in[0].integer);
}

static int act_host_held(cx_player *player, cx_call *call)
{
    size_t blocks;
    int result = cx_host_held(player, &blocks);
    if (result == CXU_SUCCESS)
        call->out[0] = (cx_cell){.size = blocks};
    return result;
}

static int act_mem_expect(cx_player *player, cx_call *call)
{
    size_t size = call->in[2].size;
    unsigned char *bytes = malloc(size != 0 ? size : 1);
    if (bytes == NULL)
        return CXU_OUT_OF_MEMORY;
    int result = (int)player->driver.table.memcpy_dtoh(bytes, call->in[0].pointer, size);
    if (result == CXU_SUCCESS)
        result = expect_bytes(call, bytes);
    free(bytes);
    return result;
}

/* ---- copies of rows ---- */

static cxu_memcpy_2d rows_of(const cx_cell *in)
{
    return (cxu_memcpy_2d){.source_type = CXU_MEMORYTYPE_UNIFIED,
                           .source_device = in[2].pointer,
                           .source_pitch_bytes = in[3].size,
                           .destination_type = CXU_MEMORYTYPE_UNIFIED,
                           .destination_device = in[0].pointer,
                           .destination_pitch_bytes = in[1].size,
                           .width_bytes = in[4].size,
                           .height = in[5].size};
}

static int act_copy_rows(cx_player *player, cx_call *call)
{
    cxu_memcpy_2d rows = rows_of(call->in);
    if (player->driver.missing[CX_SLOT_memcpy_2d])
        return CX_PLAY_ABSENT;
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.memcpy_2d(&rows);
    cx_host_leave(player, entered);
    return (int)result;
}

static int act_copy_rows_async(cx_player *player, cx_call *call)
{
    cxu_memcpy_2d rows = rows_of(call->in);
    if (player->driver.missing[CX_SLOT_memcpy_2d_async])
        return CX_PLAY_ABSENT;
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.memcpy_2d_async(&rows, call->in[6].stream);
    cx_host_leave(player, entered);
    return (int)result;
}

/* ---- pointers ---- */

static int act_pointer_pair(cx_player *player, cx_call *call)
{
    cxu_pointer_attribute attributes[] = {(cxu_pointer_attribute)call->in[1].integer,
                                          (cxu_pointer_attribute)call->in[2].integer};
    void *values[] = {&call->out[0], &call->out[1]};
    if (player->driver.missing[CX_SLOT_pointer_get_attributes])
        return CX_PLAY_ABSENT;
    return (int)player->driver.table.pointer_get_attributes(
        call->in[3].flags, call->in[4].integer ? attributes : NULL,
        call->in[5].integer ? values : NULL, call->in[0].pointer);
}

static int act_pointer_all(cx_player *player, cx_call *call)
{
    void *host = NULL;
    cxu_pointer_attribute attributes[] = {CXU_POINTER_CONTEXT, CXU_POINTER_MEMORY_TYPE,
                                          CXU_POINTER_DEVICE_POINTER, CXU_POINTER_DEVICE_ORDINAL,
                                          CXU_POINTER_HOST_POINTER};
    void *values[] = {&call->out[0].context, &call->out[1].flags, &call->out[2].pointer,
                      &call->out[3].integer, &host};
    if (player->driver.missing[CX_SLOT_pointer_get_attributes])
        return CX_PLAY_ABSENT;
    int result = (int)player->driver.table.pointer_get_attributes(5, attributes, values,
                                                                  call->in[0].pointer);
    bool itself = host == NULL || (uintptr_t)host == call->in[0].pointer;
    return result == CXU_SUCCESS && !itself ? CXU_INVALID_VALUE : result;
}

/* ---- memory pools ---- */

/* The first three attributes are ints, the others 64-bit numbers. */
static bool is_int(cxu_mem_pool_attribute attribute)
{
    return attribute <= CXU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

static int act_pool_set(cx_player *player, cx_call *call)
{
    cxu_mem_pool_attribute attribute = (cxu_mem_pool_attribute)call->in[1].integer;
    int number = (int)call->in[2].wide;
    uint64_t wide = call->in[2].wide;
    void *value = is_int(attribute) ? (void *)&number : (void *)&wide;
    if (player->driver.missing[CX_SLOT_mem_pool_set_attribute])
        return CX_PLAY_ABSENT;
    return (int)player->driver.table.mem_pool_set_attribute(call->in[0].pool, attribute,
                                                            call->in[3].integer ? value : NULL);
}

static int act_pool_get(cx_player *player, cx_call *call)
{
    cxu_mem_pool_attribute attribute = (cxu_mem_pool_attribute)call->in[1].integer;
    union {
        int number;
        uint64_t wide;
    } value = {.wide = 0};
    if (player->driver.missing[CX_SLOT_mem_pool_get_attribute])
        return CX_PLAY_ABSENT;
    int result = (int)player->driver.table.mem_pool_get_attribute(
        call->in[0].pool, attribute, call->in[2].integer ? &value : NULL);
    if (result == CXU_SUCCESS)
        call->out[0] = (cx_cell){.wide = is_int(attribute) ? (uint64_t)value.number : value.wide};
    return result;
}

static int act_pool_share(cx_player *player, cx_call *call)
{
    return cx_share_pool_memory(player, call);
}

static int act_ipc_memory(cx_player *player, cx_call *call)
{
    return cx_share_memory(player, call);
}

static int act_ipc_event(cx_player *player, cx_call *call)
{
    return cx_share_event(player, call);
}

/* ---- virtual memory ---- */

static int act_vmem_properties(cx_player *player, cx_call *call)
{
    cxu_mem_properties properties;
    if (player->driver.missing[CX_SLOT_mem_get_allocation_properties])
        return CX_PLAY_ABSENT;
    int result = (int)player->driver.table.mem_get_allocation_properties(&properties,
                                                                         call->in[0].handle);
    if (result == CXU_SUCCESS) {
        call->out[0] = cx_cell_of(CX_KIND_INTEGER, properties.location.id);
        call->out[1] = cx_cell_of(CX_KIND_FLAGS, (int64_t)properties.handle_types);
    }
    return result;
}

/* ---- green contexts ---- */

static int act_green_create(cx_player *player, cx_call *call)
{
    const cx_driver_table *table = &player->driver.table;
    cxu_dev_resource all, group;
    CUdevResourceDesc desc;
    CUgreenCtx green;
    unsigned int count = 1;
    if (player->driver.missing[CX_SLOT_green_ctx_create])
        return CX_PLAY_ABSENT;
    cxu_result result =
        table->device_get_dev_resource(call->in[2].integer, &all, CXU_DEV_RESOURCE_TYPE_SM);
    if (result == CXU_SUCCESS)
        result = table->dev_sm_resource_split_by_count(&group, &count, &all, NULL, 0,
                                                       call->in[1].flags);
    if (result == CXU_SUCCESS)
        result = table->dev_resource_generate_desc(&desc, &group, 1);
    if (result == CXU_SUCCESS)
        result = table->green_ctx_create(&green, desc, call->in[2].integer,
                                         CXU_GREEN_CTX_DEFAULT_STREAM);
    if (result == CXU_SUCCESS)
        call->out[0] = (cx_cell){.green = green};
    return (int)result;
}

static int act_ctx_processors(cx_player *player, cx_call *call)
{
    cxu_dev_resource resource;
    if (player->driver.missing[CX_SLOT_ctx_get_dev_resource])
        return CX_PLAY_ABSENT;
    cxu_result result = player->driver.table.ctx_get_dev_resource(call->in[0].context, &resource,
                                                                  CXU_DEV_RESOURCE_TYPE_SM);
    if (result == CXU_SUCCESS)
        call->out[0] = cx_cell_of(CX_KIND_FLAGS, resource.of.sm.count);
    return (int)result;
}

/* ---- capture ---- */

static int act_capture_mode(cx_player *player, cx_call *call)
{
    cxu_stream_capture_mode mode = (cxu_stream_capture_mode)call->in[0].integer;
    if (player->driver.missing[CX_SLOT_thread_exchange_stream_capture_mode])
        return CX_PLAY_ABSENT;
    bool somewhere = call->in[1].integer != 0;
    int result =
        (int)player->driver.table.thread_exchange_stream_capture_mode(somewhere ? &mode : NULL);
    if (result == CXU_SUCCESS && somewhere)
        call->out[0] = cx_cell_of(CX_KIND_INTEGER, (int64_t)mode);
    return result;
}

/* ---- attributes of streams ---- */

static int act_stream_attribute(cx_player *player, cx_call *call)
{
    cxu_launch_attribute_value value = {.number = 0};
    if (player->driver.missing[CX_SLOT_stream_get_attribute])
        return CX_PLAY_ABSENT;
    int result = (int)player->driver.table.stream_get_attribute(
        call->in[0].stream, (cxu_launch_attribute_id)call->in[1].integer,
        call->in[2].integer ? &value : NULL);
    if (result == CXU_SUCCESS)
        call->out[0] = cx_cell_of(CX_KIND_INTEGER, value.number);
    return result;
}

static int act_stream_set(cx_player *player, cx_call *call)
{
    cxu_launch_attribute_value value = {.number = call->in[2].integer};
    if (player->driver.missing[CX_SLOT_stream_set_attribute])
        return CX_PLAY_ABSENT;
    return (int)player->driver.table.stream_set_attribute(
        call->in[0].stream, (cxu_launch_attribute_id)call->in[1].integer,
        call->in[3].integer ? &value : NULL);
}

/* ---- user objects ---- */

static int act_object_create(cx_player *player, cx_call *call)
{
    CUuserObject object = NULL;
    if (player->driver.missing[CX_SLOT_user_object_create])
        return CX_PLAY_ABSENT;
    int result = (int)cx_object_make(player, call->in[1].flags, call->in[2].flags, &object);
    if (result == CXU_SUCCESS)
        call->out[0] = (cx_cell){.object = object};
    return result;
}

static int act_object_wait(cx_player *player, cx_call *call)
{
    (void)cx_object_destroyed(player, call->in[0].object, true);
    return CXU_SUCCESS;
}

static int act_object_destroyed(cx_player *player, cx_call *call)
{
    bool destroyed = cx_object_destroyed(player, call->in[0].object, false);
    call->out[0] = cx_cell_of(CX_KIND_INTEGER, destroyed);
    return CXU_SUCCESS;
}

/* ---- kernels ---- */

static int act_kernel_name(cx_player *player, cx_call *call)
{
    const char *name = NULL;
    if (player->driver.missing[CX_SLOT_func_get_name])
        return CX_PLAY_ABSENT;
    int result = (int)player->driver.table.func_get_name(call->in[1].integer ? &name : NULL,
                                                         call->in[0].kernel);
    if (result == CXU_SUCCESS)
        call->out[0] = cx_cell_of(CX_KIND_INTEGER, cx_code_name_of(name));
    return result;
}

/* The parameters of the kernels of code.h. */
typedef struct buffer {
    CUdeviceptr to, from;
    uint32_t value;
    uint64_t bytes;
} buffer;

static int act_kernel_launch_buffer(cx_player *player, cx_call *call)
{
    const cx_cell *in = call->in;
    buffer arguments = {in[2].pointer, in[3].pointer, in[4].flags, in[5].size};
    size_t bytes = sizeof arguments - in[14].size;
    void *extra[] = {(void *)CXU_LAUNCH_PARAM_BUFFER_POINTER, &arguments,
                     (void *)CXU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, (void *)CXU_LAUNCH_PARAM_END};
    if (player->driver.missing[CX_SLOT_launch_kernel])
        return CX_PLAY_ABSENT;
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.launch_kernel(
        in[0].kernel, in[6].flags, in[8].flags, in[9].flags, in[7].flags, in[10].flags,
        in[11].flags, in[12].flags, in[1].stream, NULL, in[13].integer ? extra : NULL);
    cx_host_leave(player, entered);
    return (int)result;
}

/* ---- nodes ---- */

static int act_graph_node(cx_player *player, cx_call *call)
{
    size_t index = call->in[2].size, count = index + 1;
    if (player->driver.missing[CX_SLOT_graph_get_nodes])
        return CX_PLAY_ABSENT;
    CUgraphNode *nodes = count != 0 ? calloc(count, sizeof(CUgraphNode)) : NULL;
    if (nodes == NULL)
        return CXU_OUT_OF_MEMORY;
    int result = (int)player->driver.table.graph_get_nodes(call->in[1].graph, nodes, &count);
    if (result == CXU_SUCCESS && count <= index)
        result = CXU_INVALID_VALUE;
    if (result == CXU_SUCCESS)
        call->out[0] = (cx_cell){.node = nodes[index]};
    free(nodes);
    return result;
}

/* Bodies are the node's: nobody destroys them. */
static int act_graph_condition(cx_player *player, cx_call *call)
{
    const cx_cell *in = call->in;
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUcontext context = NULL;
    CUgraphNode node;
    uint64_t handle = 0;
    if (player->driver.missing[CX_SLOT_graph_conditional_handle_create] ||
        player->driver.missing[CX_SLOT_graph_add_node])
        return CX_PLAY_ABSENT;
    player->driver.table.ctx_get_current(&context);
    int result = (int)player->driver.table.graph_conditional_handle_create(
        &handle, in[1].graph, context, in[2].flags, CXU_GRAPH_COND_ASSIGN_DEFAULT);
    if (result != CXU_SUCCESS)
        return result;
    params.of.condition = (cxu_conditional_node_params){
        .handle = handle,
        .type = (cxu_graph_conditional_type)in[3].integer,
        .size = in[4].flags,
        .context = context};
    result = (int)player->driver.table.graph_add_node(&node, in[1].graph, NULL, NULL, 0, &params);
    if (result == CXU_SUCCESS && in[5].flags < in[4].flags)
        call->out[0] = (cx_cell){.graph = params.of.condition.bodies[in[5].flags]};
    return result;
}

static int act_node_kernel(cx_player *player, cx_call *call)
{
    cxu_kernel_node_params params = {0};
    if (player->driver.missing[CX_SLOT_graph_kernel_node_get_params])
        return CX_PLAY_ABSENT;
    int result = (int)player->driver.table.graph_kernel_node_get_params(
        call->in[0].node, call->in[1].integer ? &params : NULL);
    if (result != CXU_SUCCESS)
        return result;
    call->out[0] = (cx_cell){.kernel = params.function};
    call->out[1] = cx_cell_of(CX_KIND_FLAGS, params.grid_x);
    call->out[2] = cx_cell_of(CX_KIND_FLAGS, params.block_x);
    call->out[3] = (cx_cell){.bits = 0};
    if (params.parameters != NULL)
        call->out[3].pointer = *(const CUdeviceptr *)params.parameters[0];
    return result;
}

static int act_node_grid(cx_player *player, cx_call *call)
{
    cxu_kernel_node_params params = {0};
    if (player->driver.missing[CX_SLOT_graph_kernel_node_get_params])
        return CX_PLAY_ABSENT;
    int result =
        (int)player->driver.table.graph_kernel_node_get_params(call->in[0].node, &params);
    if (result != CXU_SUCCESS)
        return result;
    const unsigned int sizes[] = {params.grid_y, params.grid_z, params.block_y, params.block_z};
    for (int i = 0; i < 4; i++)
        call->out[i] = cx_cell_of(CX_KIND_FLAGS, sizes[i]);
    return result;
}

/* ---- gates and host functions ---- */

static cx_gate *find_gate(cx_player *player, const char *name)
{
    cx_gate *gate = player->gates;
    while (gate != NULL && strcmp(gate->name, name) != 0)
        gate = gate->next;
    if (gate != NULL)
        return gate;
    gate = calloc(1, sizeof *gate);
    if (gate == NULL)
        return NULL;
    *gate = (cx_gate){.name = name, .next = player->gates};
    return player->gates = gate;
}

static int act_gate_open(cx_player *player, cx_call *call)
{
    cx_lock_enter(&player->lock);
    cx_gate *gate = find_gate(player, call->line->step.operands[0].name);
    if (gate != NULL)
        gate->open = true;
    pthread_cond_broadcast(&player->hosts);
    cx_lock_leave(&player->lock);
    return gate != NULL ? CXU_SUCCESS : CXU_OUT_OF_MEMORY;
}

static void run_function(void *argument)
{
    cx_function *self = argument;
    cx_player *player = self->player;
    cx_lock_enter(&player->lock);
    while (self->gate != NULL && !self->gate->open)
        cx_lock_wait(&player->lock, &player->hosts);
    bool stopped = player->stopped;
    cx_lock_leave(&player->lock);
    if (!stopped)
        cx_line_block_run(player, &self->line->step.block);
    cx_lock_enter(&player->lock);
    self->ran = true;
    pthread_cond_broadcast(&player->hosts);
    cx_lock_leave(&player->lock);
}

static void run_callback(CUstream stream, cxu_result status, void *argument)
{
    cx_function *self = argument;
    (void)stream;
    cx_lock_enter(&self->player->lock);
    self->status = status;
    cx_lock_leave(&self->player->lock);
    run_function(argument);
}

/* It lives to the end of the process: the driver may call it at any time. */
static cx_function *make_function(cx_player *player, const cx_line *line)
{
    const cx_operand *gate = &line->step.operands[2];
    cx_function *function = calloc(1, sizeof *function);
    if (function == NULL)
        return NULL;
    *function = (cx_function){.player = player, .line = line, .next = player->functions};
    cx_lock_enter(&player->lock);
    player->functions = function;
    if (gate->given && strcmp(gate->name, "none") != 0)
        function->gate = find_gate(player, gate->name);
    cx_lock_leave(&player->lock);
    return function;
}

static int act_stream_host(cx_player *player, cx_call *call)
{
    if (player->driver.missing[CX_SLOT_launch_host_func])
        return CX_PLAY_ABSENT;
    cx_function *function = make_function(player, call->line);
    if (function == NULL)
        return CXU_OUT_OF_MEMORY;
    call->out[0] = (cx_cell){.host = function};
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.launch_host_func(
        call->in[1].stream, call->in[3].integer ? run_function : NULL, function);
    cx_host_leave(player, entered);
    return (int)result;
}

static int act_stream_callback(cx_player *player, cx_call *call)
{
    if (player->driver.missing[CX_SLOT_stream_add_callback])
        return CX_PLAY_ABSENT;
    cx_function *function = make_function(player, call->line);
    if (function == NULL)
        return CXU_OUT_OF_MEMORY;
    call->out[0] = (cx_cell){.host = function};
    bool entered = cx_host_enter(player);
    cxu_result result = player->driver.table.stream_add_callback(call->in[1].stream, run_callback,
                                                                 function, call->in[3].flags);
    cx_host_leave(player, entered);
    return (int)result;
}

static int act_function_wait(cx_player *player, cx_call *call)
{
    cx_function *function = call->in[0].host;
    cx_lock_enter(&player->lock);
    while (function != NULL && !function->ran)
        cx_lock_wait(&player->lock, &player->hosts);
    cx_lock_leave(&player->lock);
    return CXU_SUCCESS;
}

static int act_function_ran(cx_player *player, cx_call *call)
{
    const cx_function *function = call->in[0].host;
    cx_lock_enter(&player->lock);
    call->out[0] = cx_cell_of(CX_KIND_INTEGER, function != NULL && function->ran);
    cx_lock_leave(&player->lock);
    return CXU_SUCCESS;
}

static int act_function_status(cx_player *player, cx_call *call)
{
    const cx_function *function = call->in[0].host;
    cx_lock_enter(&player->lock);
    call->out[0] = cx_cell_of(CX_KIND_INTEGER, function != NULL ? (int)function->status : 0);
    cx_lock_leave(&player->lock);
    return CXU_SUCCESS;
}

/* ---- threads and processes ---- */

static int act_thread_end(cx_player *player, cx_call *call)
{
    cx_lock_enter(&player->lock);
    for (cx_player_thread *each = player->threads; each != NULL; each = each->next)
        if (strcmp(each->name, call->line->step.thread) == 0 && !each->ending)
            each->ending = true;
    cx_lock_leave(&player->lock);
    return CXU_SUCCESS;
}

static int act_fork(cx_player *player, cx_call *call)
{
    return cx_process_fork(player, call->line);
}

static int act_exit(cx_player *player, cx_call *call)
{
    return cx_process_exit(player, call->line, call->in[0].integer != 0);
}

static int act_process(cx_player *player, cx_call *call)
{
    return cx_process_ask(player, call->line);
}

int cx_action_run(cx_player *player, cx_call *call)
{
    static int (*const actions[CX_VERB_COUNT])(cx_player *, cx_call *) = {
#define CX_CALL(id, name, slot, operands, results, arguments, text)
#define CX_ACTION(id, name, block, operands, results, text) [CX_VERB_##id] = act_##id,
#include "play/verbs.def"
    };
    return actions[cx_verb_number(call->line->step.verb)](player, call);
}
