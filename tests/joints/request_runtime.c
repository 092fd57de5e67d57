/* Requests by the public interface of ctxrt. */
#include "request.h"

#include <ctxrt/ctxrt.h>
#include <stdlib.h>
#include <string.h>

#define OK(call) ok((call), #call)

enum { BYTES = 16 << 10, BLOCKS = 6 };

static const char code[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                           ".visible .global .align 4 .u32 count = 7;\n"
                           ".visible .entry put(.param .u64 at)\n{\n"
                           "    .reg .b32 %r;\n    .reg .b64 %rd<3>;\n"
                           "    ld.param.u64 %rd1, [at];\n"
                           "    cvta.to.global.u64 %rd2, %rd1;\n"
                           "    mov.u32 %r, 5;\n"
                           "    st.global.u32 [%rd2], %r;\n    ret;\n}\n";

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        request_failed(call, ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

/* ---- memory ---- */

static void use_blocks(uint64_t *random)
{
    static const unsigned char zeroes[BYTES];
    ctxrt_memory *blocks[BLOCKS] = {NULL};
    unsigned char bytes[64];

    for (int i = 0; i < BLOCKS; i++) {
        size_t size = 64 + request_pick(random, BYTES - 64);
        if (!OK(ctxrt_memory_alloc(size, &blocks[i])))
            continue;
        void *pointer = ctxrt_memory_pointer(blocks[i]);
        (void)OK(ctxrt_fill_async(pointer, i, size, NULL));
        (void)OK(ctxrt_copy(pointer, zeroes, 64, CTXRT_COPY_ANY));
        (void)OK(ctxrt_copy(bytes, pointer, sizeof bytes, CTXRT_COPY_ANY));
    }
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i] != NULL)
            (void)OK(ctxrt_memory_release(blocks[i]));
}

static void use_allocator(uint64_t *random, ctxrt_allocator_source source)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    ctxrt_allocator *allocator;

    options.source = source;
    if (!OK(ctxrt_allocator_create(&options, &allocator)))
        return;
    if (OK(ctxrt_frame_set_allocator(allocator))) {
        use_blocks(random);
        (void)OK(ctxrt_frame_set_allocator(NULL));
    }
    (void)OK(ctxrt_allocator_destroy(allocator));
}

static void use_pointers(void)
{
    static const struct {
        ctxrt_status (*alloc)(size_t, void **);
        const char *name;
    } sources[] = {{ctxrt_alloc, "ctxrt_alloc"},
                   {ctxrt_alloc_direct, "ctxrt_alloc_direct"},
                   {ctxrt_alloc_pinned, "ctxrt_alloc_pinned"},
                   {ctxrt_alloc_managed, "ctxrt_alloc_managed"}};
    void *pointer;

    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        if (ok(sources[i].alloc(BYTES, &pointer), sources[i].name)) {
            (void)OK(ctxrt_fill_async(pointer, 1, BYTES, NULL));
            (void)OK(ctxrt_free(pointer));
        }
    if (OK(ctxrt_alloc_async(BYTES, NULL, &pointer)))
        (void)OK(ctxrt_free_async(pointer, NULL));
}

static void use_host_memory(void)
{
    ctxrt_memory *pinned, *plain;
    void *own = malloc(BYTES);

    if (OK(ctxrt_memory_alloc_pinned(BYTES, &pinned)))
        (void)OK(ctxrt_memory_release(pinned));
    if (OK(ctxrt_memory_alloc_host(BYTES, &plain)))
        (void)OK(ctxrt_memory_release(plain));
    if (own != NULL && OK(ctxrt_host_register(own, BYTES)))
        (void)OK(ctxrt_host_unregister(own));
    free(own);
}

/* ---- streams, code, graphs, plans ---- */

static void use_events(ctxrt_stream *one, ctxrt_stream *other)
{
    ctxrt_event *event;

    if (!OK(ctxrt_event_create(0, &event)))
        return;
    (void)OK(ctxrt_event_record(event, one));
    (void)OK(ctxrt_stream_wait_event(other, event));
    (void)OK(ctxrt_event_synchronize(event));
    (void)OK(ctxrt_event_destroy(event));
}

static void use_code(ctxrt_stream *stream)
{
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    ctxrt_module *module;
    ctxrt_kernel *put;
    void *count;
    size_t bytes;

    if (!OK(ctxrt_module_load(code, 0, &module)))
        return;
    config.stream = stream;
    if (OK(ctxrt_module_get_kernel(module, "put", &put)) &&
        OK(ctxrt_module_get_global(module, "count", &count, &bytes))) {
        void *arguments[] = {&count};
        (void)OK(ctxrt_launch(&config, put, arguments, 1));
        (void)OK(ctxrt_stream_synchronize(stream));
    }
    (void)OK(ctxrt_module_unload(module));
}

static void launch_and_release(ctxrt_graph *graph, ctxrt_stream *stream)
{
    ctxrt_graph *clone;

    (void)OK(ctxrt_graph_launch(graph, stream));
    if (OK(ctxrt_graph_clone(graph, &clone)))
        (void)OK(ctxrt_graph_release(clone));
    (void)OK(ctxrt_stream_synchronize(stream));
    (void)OK(ctxrt_graph_release(graph));
}

static void capture(ctxrt_stream *stream)
{
    ctxrt_graph *graph;
    void *pointer;

    if (!OK(ctxrt_alloc(BYTES, &pointer)))
        return;
    if (OK(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_RELAXED))) {
        (void)OK(ctxrt_fill_async(pointer, 3, BYTES, stream));
        if (OK(ctxrt_stream_capture_end(stream, &graph)))
            launch_and_release(graph, stream);
    }
    (void)OK(ctxrt_free(pointer));
}

static ctxrt_status run_fill(void *memory)
{
    return ctxrt_fill_async(ctxrt_memory_pointer(memory), 4, BYTES, NULL);
}

/* The memory is the graph's own. */
static void record(ctxrt_stream *stream)
{
    ctxrt_operator fill = CTXRT_OPERATOR_INIT;
    ctxrt_memory *memory;
    ctxrt_graph *graph;

    if (!OK(ctxrt_recording_start(NULL)))
        return;
    if (OK(ctxrt_memory_alloc(BYTES, &memory))) {
        fill.type = "fill";
        fill.run = run_fill;
        fill.user_data = memory;
        fill.capturable = 1;
        (void)OK(ctxrt_operator_submit(&fill));
        if (OK(ctxrt_recording_stop(&graph)))
            launch_and_release(graph, stream);
        (void)OK(ctxrt_memory_release(memory));
    }
}

static void use_plan(void)
{
    ctxrt_plan *plan;
    size_t tensors[3];
    void *pointer;

    if (!OK(ctxrt_plan_create(256, &plan)))
        return;
    for (int i = 0; i < 3; i++)
        (void)OK(ctxrt_plan_alloc(plan, 1000, &tensors[i]));
    (void)OK(ctxrt_plan_free(plan, tensors[1]));
    (void)OK(ctxrt_plan_pointer(plan, tensors[0], &pointer));
    (void)OK(ctxrt_plan_destroy(plan));
}

static void use_streams(void)
{
    ctxrt_stream *one, *other;

    if (!OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &one)))
        return;
    if (OK(ctxrt_stream_create(0, 0, &other))) {
        use_events(one, other);
        use_code(one);
        capture(one);
        record(other);
        (void)OK(ctxrt_stream_synchronize(other));
        (void)OK(ctxrt_stream_destroy(other));
    }
    (void)OK(ctxrt_stream_synchronize(one));
    (void)OK(ctxrt_stream_destroy(one));
}

/* ---- requests ---- */

static void use_context(uint64_t *random)
{
    switch (request_pick(random, 8)) {
    case 0:
        use_allocator(random, CTXRT_ALLOCATOR_SOURCE_ALLOC);
        break;
    case 1:
        use_allocator(random, CTXRT_ALLOCATOR_SOURCE_VMM);
        break;
    case 2:
        use_allocator(random, CTXRT_ALLOCATOR_SOURCE_DIRECT);
        break;
    case 3:
        use_pointers();
        break;
    case 4:
        use_host_memory();
        break;
    case 5:
        use_plan();
        break;
    case 6:
        use_blocks(random);
        break;
    default:
        use_streams();
    }
}

static void serve(uint64_t *random)
{
    ctxrt_device device = CTXRT_CUDA((int)request_pick(random, REQUEST_DEVICES));
    ctxrt_context *context;
    ctxrt_detached_frame *frame;
    ctxrt_scope scope = CTXRT_SCOPE_INIT;

    switch (request_pick(random, 3)) {
    case 0:
        if (!OK(ctxrt_context_create(device, 0, &context)))
            break;
        if (OK(ctxrt_stack_push(context))) {
            for (int i = 0; i < 3; i++)
                use_context(random);
            if (OK(ctxrt_stack_detach(&frame)))
                (void)OK(ctxrt_stack_attach(frame));
            (void)OK(ctxrt_stack_pop());
        }
        (void)OK(ctxrt_context_destroy(context));
        break;
    case 1:
        if (OK(ctxrt_scope_enter(device, &scope))) {
            use_context(random);
            (void)OK(ctxrt_scope_leave(&scope));
        }
        break;
    default:
        if (OK(ctxrt_device_set(device)))
            use_context(random);
        if (ctxrt_stack_depth() > 0)
            (void)OK(ctxrt_stack_pop());
    }
}

static bool open_runtime(void)
{
    return OK(ctxrt_init(NULL));
}

static void rest(uint64_t generation)
{
    ctxrt_device device = CTXRT_CUDA((int)(generation / 2 % REQUEST_DEVICES));

    if (generation % 8 == 2)
        (void)OK(ctxrt_device_reset(device));
    if (generation % 8 == 6)
        (void)OK(ctxrt_device_release(device));
}

static void close_runtime(void)
{
    (void)OK(ctxrt_shutdown());
}

const request_kind request_served = {"runtime", open_runtime, serve, rest, close_runtime};
