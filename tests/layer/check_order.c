/*
 * What orders work for the layer check: between two uses of the same bytes in two streams stands
 * one call, or none, and the uses are a race or they are not. The same calls stand between a copy
 * from pinned memory and its free.
 */
#include "layer/ordering.h"

/* ---- what stands between two uses ---- */

static void nothing(void)
{
}

static void fails(cxu_result result)
{
    ck_assert_int_ne((int)result, CXU_SUCCESS);
}

static void record_and_wait(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void record_with_flags_and_wait(void)
{
    GOOD(table.event_record_with_flags(event, first, 0));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void wait_before_the_record(void)
{
    GOOD(table.stream_wait_event(second, event, 0));
    GOOD(table.event_record(event, first));
}

static void wait_in_another_stream(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.stream_wait_event(distant, event, 0));
}

static void record_in_another_stream(void)
{
    CUevent other;
    GOOD(table.event_create(&other, 0));
    GOOD(table.event_record(other, second));
    GOOD(table.event_synchronize(other));
}

static void record_context(void)
{
    GOOD(table.ctx_record_event(here, event));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void record_another_context(void)
{
    CUevent other;
    GOOD(table.ctx_push(elsewhere));
    GOOD(table.event_create(&other, 0));
    GOOD(table.ctx_record_event(elsewhere, other));
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    GOOD(table.stream_wait_event(second, other, 0));
}

static void context_waits(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.ctx_wait_event(here, event));
}

static void another_context_waits(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.ctx_wait_event(elsewhere, event));
}

static void synchronize_stream(void)
{
    GOOD(table.stream_synchronize(first));
}

static void synchronize_another_stream(void)
{
    GOOD(table.stream_synchronize(second));
}

static void wait_and_synchronize_the_other(void)
{
    record_and_wait();
    GOOD(table.stream_synchronize(second));
}

static void poll_stream(void)
{
    while (table.stream_query(first) == CXU_NOT_READY)
        continue;
}

static void synchronize_event(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.event_synchronize(event));
}

static void poll_event(void)
{
    GOOD(table.event_record(event, first));
    while (table.event_query(event) == CXU_NOT_READY)
        continue;
}

static void time_end(void)
{
    float milliseconds;
    CUevent begin;
    GOOD(table.event_create(&begin, 0));
    GOOD(table.event_record(begin, second));
    GOOD(table.event_record(event, first));
    while (table.event_elapsed_time_v2(&milliseconds, begin, event) == CXU_NOT_READY)
        continue;
}

static void time_begin(void)
{
    float milliseconds;
    CUevent end;
    GOOD(table.event_create(&end, 0));
    GOOD(table.event_record(event, first));
    GOOD(table.event_record(end, second));
    while (table.event_elapsed_time(&milliseconds, event, end) == CXU_NOT_READY)
        continue;
}

static void synchronize_context(void)
{
    GOOD(table.ctx_synchronize());
}

static void synchronize_named_context(void)
{
    GOOD(table.ctx_synchronize_v2(here));
}

static void synchronize_another_context(void)
{
    GOOD(table.ctx_synchronize_v2(elsewhere));
}

static void copy_between_contexts(void)
{
    CUdeviceptr there;
    GOOD(table.ctx_push(elsewhere));
    GOOD(table.mem_alloc(&there, BYTES));
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    GOOD(table.memcpy_peer(there, elsewhere, memory, here, BYTES));
}

static void free_memory(void)
{
    CUdeviceptr other;
    GOOD(table.mem_alloc(&other, BYTES));
    GOOD(table.mem_free(other));
}

static void destroy_a_context(void)
{
    GOOD(table.ctx_destroy(elsewhere));
}

static void reset_a_device(void)
{
    GOOD(table.primary_reset(1));
}

static void nothing_to_do(void *argument)
{
    (void)argument;
}

static void call_the_host(void)
{
    GOOD(table.launch_host_func(first, nothing_to_do, NULL));
}

static void call_the_host_elsewhere(void)
{
    GOOD(table.launch_host_func(distant, nothing_to_do, NULL));
}

static void called_back(CUstream stream, cxu_result status, void *argument)
{
    (void)stream, (void)status, (void)argument;
}

static void add_callback(void)
{
    GOOD(table.stream_add_callback(first, called_back, NULL, 0));
}

static void write_value(void)
{
    CUdeviceptr value;
    GOOD(table.mem_alloc(&value, 64));
    GOOD(table.stream_write_value_32(first, value, 1, 0));
}

static void wait_for_value(void)
{
    CUdeviceptr value;
    GOOD(table.mem_alloc(&value, 64));
    GOOD(table.memset_d8(value, 0, 64));
    GOOD(table.stream_wait_value_64(second, value, 0, 0));
}

static void destroy_stream(void)
{
    CUstream other;
    GOOD(table.stream_create(&other, CXU_STREAM_NON_BLOCKING));
    GOOD(table.stream_destroy(other));
}

static void destroy_event(void)
{
    GOOD(table.event_record(event, first));
    GOOD(table.event_destroy(event));
    GOOD(table.event_create(&event, 0));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void wait_for_an_event_of_others(void)
{
    CUevent unseen;
    GOOD(bare.event_create(&unseen, 0));
    GOOD(table.stream_wait_event(second, unseen, 0));
}

static void synchronize_an_event_of_others(void)
{
    CUevent unseen;
    GOOD(bare.event_create(&unseen, 0));
    GOOD(table.event_synchronize(unseen));
}

static void capture_another_stream(void)
{
    CUgraph graph;
    GOOD(table.stream_begin_capture(second, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.stream_end_capture(second, &graph));
}

static void call_the_host_in_a_capture(void)
{
    CUgraph graph;
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.launch_host_func(first, nothing_to_do, NULL));
    GOOD(table.stream_end_capture(first, &graph));
}

static CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec;
    GOOD(table.graph_instantiate_with_flags(&exec, graph, 0));
    return exec;
}

static void launch_a_graph(void)
{
    CUgraph graph;
    CUgraphNode node;
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.graph_add_empty_node(&node, graph, NULL, 0));
    GOOD(table.graph_launch(instantiate(graph), second));
}

static void launch_a_graph_that_records(void)
{
    CUgraph graph;
    CUgraphNode node;
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.graph_add_event_record_node(&node, graph, NULL, 0, event));
    GOOD(table.graph_launch(instantiate(graph), first));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void launch_a_graph_that_waits(void)
{
    CUgraph graph;
    CUgraphNode node;
    GOOD(table.event_record(event, first));
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.graph_add_event_wait_node(&node, graph, NULL, 0, event));
    GOOD(table.graph_launch(instantiate(graph), second));
}

static void launch_a_graph_with_any_node(void)
{
    CUgraph graph;
    CUgraphNode node;
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_WAIT_EVENT, .of.event = event};
    GOOD(table.event_record(event, first));
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.graph_add_node(&node, graph, NULL, NULL, 0, &params));
    GOOD(table.graph_launch(instantiate(graph), second));
}

static void launch_a_graph_with_an_empty_node(void)
{
    CUgraph graph;
    CUgraphNode node;
    cxu_graph_node_params params = {.type = CXU_GRAPH_NODE_TYPE_EMPTY};
    GOOD(table.graph_create(&graph, 0));
    GOOD(table.graph_add_node_v1(&node, graph, NULL, 0, &params));
    fails(table.graph_add_node_v1(&node, graph, NULL, 0, NULL));
    GOOD(table.graph_launch(instantiate(graph), second));
}

static void record_in_a_captured_graph(void)
{
    CUgraph graph;
    GOOD(table.stream_begin_capture(first, CXU_STREAM_CAPTURE_MODE_RELAXED));
    GOOD(table.event_record_with_flags(event, first, CXU_EVENT_RECORD_EXTERNAL));
    GOOD(table.stream_end_capture(first, &graph));
    GOOD(table.graph_launch(instantiate(graph), first));
    GOOD(table.stream_wait_event(second, event, 0));
}

static CUgreenCtx make_green(void)
{
    cxu_dev_resource all;
    CUdevResourceDesc description;
    CUgreenCtx green;
    GOOD(table.device_get_dev_resource(0, &all, CXU_DEV_RESOURCE_TYPE_SM));
    GOOD(table.dev_resource_generate_desc(&description, &all, 1));
    GOOD(table.green_ctx_create(&green, description, 0, CXU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static void record_a_green_context(void)
{
    CUgreenCtx green = make_green();
    CUcontext of_green, popped;
    CUevent other;
    GOOD(table.ctx_from_green_ctx(&of_green, green));
    GOOD(table.ctx_push(of_green));
    GOOD(table.event_create(&other, 0));
    GOOD(table.green_ctx_record_event(green, other));
    GOOD(table.ctx_pop(&popped));
    GOOD(table.stream_wait_event(second, other, 0));
}

static void a_green_context_waits(void)
{
    CUgreenCtx green = make_green();
    GOOD(table.event_record(event, first));
    GOOD(table.green_ctx_wait_event(green, event));
}

static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry step()\n{\n    ret;\n}\n";

/* The launch has two attributes: a hint first, so that the event is not the first one. The layer
 * judges work when it knows what the kernel touched, so the kernel ends unseen by it. */
static cxu_result launch_with_an_event(cxu_launch_attribute_id id, CUstream stream)
{
    CUmodule module;
    CUfunction step;
    cxu_launch_attribute attributes[] = {{.id = CXU_LAUNCH_ATTRIBUTE_PRIORITY}, {.id = id}};
    const cxu_launch_config config = {1, 1, 1, 1, 1, 1, 0, stream, attributes, 2};
    attributes[1].value.record.event = event;
    GOOD(bare.module_load_data(&module, code));
    GOOD(bare.module_get_function(&step, module, "step"));
    const cxu_result result = table.launch_kernel_ex(&config, step, NULL, NULL);
    GOOD(bare.ctx_synchronize());
    return result;
}

static void make_event_without_timing(void)
{
    GOOD(table.event_destroy(event));
    GOOD(table.event_create(&event, CXU_EVENT_DISABLE_TIMING));
}

static void launch_with_a_programmatic_event(void)
{
    make_event_without_timing();
    GOOD(launch_with_an_event(CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, first));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void launch_with_a_completion_event(void)
{
    make_event_without_timing();
    GOOD(launch_with_an_event(CXU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, first));
    GOOD(table.event_synchronize(event));
}

static void launch_with_an_event_elsewhere(void)
{
    make_event_without_timing();
    GOOD(launch_with_an_event(CXU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, second));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void fail_to_launch_with_an_event(void)
{
    make_event_without_timing();
    fails(launch_with_an_event(CXU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, distant));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void fail_to_record(void)
{
    ck_assert_int_eq((int)table.event_record(event, distant), CXU_INVALID_HANDLE);
    GOOD(table.stream_wait_event(second, event, 0));
}

static void fail_to_record_a_context(void)
{
    fails(table.ctx_record_event(elsewhere, event));
    GOOD(table.stream_wait_event(second, event, 0));
}

static void fail_to_record_a_context_in_an_event_of_another(void)
{
    CUevent other;
    GOOD(table.ctx_push(elsewhere));
    GOOD(table.event_create(&other, 0));
    GOOD(table.ctx_pop(&(CUcontext){NULL}));
    fails(table.ctx_record_event(here, other));
    GOOD(table.stream_wait_event(second, other, 0));
}

static void fail_to_wait(void)
{
    GOOD(table.event_record(event, first));
    ck_assert_int_eq((int)table.stream_wait_event(second, event, 64), CXU_INVALID_VALUE);
}

static void fail_to_let_a_context_wait(void)
{
    GOOD(table.event_record(event, first));
    fails(table.ctx_wait_event((CUcontext)&memory, event));
}

static void fail_to_synchronize(void)
{
    fails(table.ctx_synchronize_v2((CUcontext)&memory));
    fails(table.stream_synchronize((CUstream)&memory));
    fails(table.event_synchronize((CUevent)&memory));
}

static void fail_to_free(void)
{
    fails(table.mem_free(memory + 1));
}

static void fail_to_call_the_host(void)
{
    fails(table.launch_host_func(first, NULL, NULL));
}

/* What the call orders: the second stream behind the first; the host behind the first, so that it
 * may free what this uses. */
typedef struct between {
    const char *name;
    void (*call)(void);
    bool orders_stream, orders_host;
} between;

#define BETWEEN(call, orders_stream, orders_host) {#call, call, orders_stream, orders_host}
static const between all_between[] = {
    BETWEEN(nothing, false, false),
    BETWEEN(record_and_wait, true, false),
    BETWEEN(record_with_flags_and_wait, true, false),
    BETWEEN(wait_before_the_record, false, false),
    BETWEEN(wait_in_another_stream, false, false),
    BETWEEN(record_in_another_stream, false, false),
    BETWEEN(record_context, true, false),
    BETWEEN(record_another_context, false, false),
    BETWEEN(context_waits, true, false),
    BETWEEN(another_context_waits, false, false),
    BETWEEN(synchronize_stream, true, true),
    BETWEEN(synchronize_another_stream, false, false),
    BETWEEN(wait_and_synchronize_the_other, true, true),
    BETWEEN(poll_stream, true, true),
    BETWEEN(synchronize_event, true, true),
    BETWEEN(poll_event, true, true),
    BETWEEN(time_end, true, true),
    BETWEEN(time_begin, true, true),
    BETWEEN(synchronize_context, true, true),
    BETWEEN(synchronize_named_context, true, true),
    BETWEEN(synchronize_another_context, false, false),
    BETWEEN(copy_between_contexts, true, true),
    BETWEEN(free_memory, true, true),
    BETWEEN(destroy_a_context, true, true),
    BETWEEN(reset_a_device, true, true),
    BETWEEN(call_the_host, true, true),
    BETWEEN(call_the_host_elsewhere, false, false),
    BETWEEN(add_callback, true, true),
    BETWEEN(write_value, true, true),
    BETWEEN(wait_for_value, true, false),
    BETWEEN(destroy_stream, false, false),
    BETWEEN(destroy_event, false, false),
    BETWEEN(wait_for_an_event_of_others, true, false),
    BETWEEN(synchronize_an_event_of_others, true, true),
    BETWEEN(capture_another_stream, false, false),
    BETWEEN(call_the_host_in_a_capture, false, false),
    BETWEEN(launch_a_graph, false, true), /* what a graph does is not known */
    BETWEEN(launch_a_graph_that_records, true, true),
    BETWEEN(launch_a_graph_that_waits, true, true),
    BETWEEN(launch_a_graph_with_any_node, true, true),
    BETWEEN(launch_a_graph_with_an_empty_node, false, true),
    BETWEEN(record_in_a_captured_graph, true, true),
    BETWEEN(record_a_green_context, true, false), /* of all contexts */
    BETWEEN(a_green_context_waits, true, false),
    BETWEEN(launch_with_a_programmatic_event, true, false),
    BETWEEN(launch_with_a_completion_event, true, true),
    BETWEEN(launch_with_an_event_elsewhere, false, false),
    BETWEEN(fail_to_launch_with_an_event, false, false),
    BETWEEN(fail_to_record, false, false),
    BETWEEN(fail_to_record_a_context, false, false),
    BETWEEN(fail_to_record_a_context_in_an_event_of_another, false, false),
    BETWEEN(fail_to_wait, false, false),
    BETWEEN(fail_to_let_a_context_wait, false, false),
    BETWEEN(fail_to_synchronize, false, false),
    BETWEEN(fail_to_free, false, false),
    BETWEEN(fail_to_call_the_host, false, false),
};
enum { BETWEENS = sizeof all_between / sizeof *all_between };

static int found_of_order(void)
{
    return found(CX_KIND_ORDER_COPY) + found(CX_KIND_ORDER_KERNEL) + found(CX_KIND_ORDER_HOST) +
           found(CX_KIND_ORDER_BEFORE_ALLOC) + found(CX_KIND_ORDER_BEFORE_FREE);
}

START_TEST(a_call_orders_two_streams_or_does_not)
{
    const between *one = &all_between[_i];
    use(second);
    fill(memory, first);
    one->call();
    fill(memory, second);
    ck_assert_msg(found(CX_KIND_ORDER_COPY) == !one->orders_stream, "%s: %d races", one->name,
                  found(CX_KIND_ORDER_COPY));
    ck_assert_int_eq(found_of_order(), found(CX_KIND_ORDER_COPY));
}
END_TEST

START_TEST(a_call_orders_the_host_or_does_not)
{
    const between *one = &all_between[_i];
    GOOD(table.memcpy_htod_async(memory, pinned, BYTES, first));
    one->call();
    GOOD(table.mem_free_host(pinned));
    ck_assert_msg(found(CX_KIND_MEMORY_PINNED_FREED) == !one->orders_host, "%s: %d frees",
                  one->name, found(CX_KIND_MEMORY_PINNED_FREED));
    ck_assert_int_eq(found_of_order(), 0);
}
END_TEST

/* The layer has not seen the free, as when a reset and an allocation pass each other. */
START_TEST(work_with_memory_of_before_is_over_when_its_address_is_given_out_anew)
{
    CUdeviceptr again;
    use(second);
    fill(memory, first);
    GOOD(bare.mem_free(memory));
    end_quarantine();
    GOOD(table.mem_alloc(&again, BYTES));
    ck_assert_uint_eq(again, memory);
    fill(again, second);
    ck_assert_int_eq(found_of_order(), 0);
}
END_TEST

/* T13: a fill of managed memory is over when the call returns; one of device memory may not be. */
START_TEST(a_fill_of_managed_memory_is_over_when_it_returns)
{
    CUdeviceptr managed;
    GOOD(table.mem_alloc_managed(&managed, BYTES, CXU_MEM_ATTACH_GLOBAL));
    use(first);
    GOOD(table.memset_d8(managed, 1, BYTES));
    fill(managed, first);
    ck_assert_int_eq(found_of_order(), 0);
    GOOD(table.memset_d8(memory, 1, BYTES));
    fill(memory, first);
    ck_assert_int_eq(found_of_order(), 1);
}
END_TEST

static Suite *order_suite(void)
{
    Suite *suite = suite_create("what orders work for the layer check");
    TCase *tcase = tcase_create("order");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, a_call_orders_two_streams_or_does_not, 0, BETWEENS);
    tcase_add_loop_test(tcase, a_call_orders_the_host_or_does_not, 0, BETWEENS);
    tcase_add_test(tcase, a_fill_of_managed_memory_is_over_when_it_returns);
    tcase_add_test(tcase, work_with_memory_of_before_is_over_when_its_address_is_given_out_anew);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(order_suite);
