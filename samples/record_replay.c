/*
 * Record once, launch often: operators submitted between start and stop become a graph. What can be
 * captured is captured; the operator that needs the host is called in each launch, in its place.
 * The graph runs on its own device, whatever is current, and its scratch memory is its own until it
 * is gone.
 *
 *   cc record_replay.c $(pkg-config --cflags --libs ctxrt) && CTXRT_DRIVER=emulated ./a.out
 */
#include <ctxrt/ctxrt.h>
#include <stdbool.h>
#include <stdio.h>

#define OK(call) ok((call), #call)
enum { BYTES = 1 << 16, LAUNCHES = 3 };

static bool ok(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        fprintf(stderr, "%s: %s: %s\n", call, ctxrt_status_name(status),
                ctxrt_last_error()->message);
    return status == CTXRT_SUCCESS;
}

/* The operators' streams, memory and counters. */
typedef struct network {
    ctxrt_stream *stream;          /* where the graph is launched */
    void *input, *hidden, *output; /* memory of the device */
    unsigned char weather;         /* what the host measures before each launch */
    int copies;                    /* calls of copy_layer */
} network;

/* On the host: called by each launch. */
static ctxrt_status read_input(void *argument)
{
    network *self = argument;
    self->weather = (unsigned char)(self->weather + 10);
    return ctxrt_fill_async(self->input, self->weather, BYTES, NULL);
}

/* Work of a stream alone: called once, to be captured. */
static ctxrt_status copy_layer(void *argument)
{
    network *self = argument;
    self->copies++;
    ctxrt_status status =
        ctxrt_copy_async(self->hidden, self->input, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, NULL);
    if (status == CTXRT_SUCCESS)
        status =
            ctxrt_copy_async(self->output, self->hidden, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, NULL);
    return status;
}

static bool submit(const char *name, ctxrt_status (*run)(void *), network *self, int capturable)
{
    ctxrt_operator operation = CTXRT_OPERATOR_INIT;
    operation.type = name;
    operation.run = run;
    operation.user_data = self;
    operation.capturable = capturable;
    return OK(ctxrt_operator_submit(&operation));
}

static bool record(network *self, ctxrt_graph **out_graph)
{
    return OK(ctxrt_recording_start(NULL)) && OK(ctxrt_alloc(BYTES, &self->hidden)) &&
           submit("read input", read_input, self, 0) && submit("copy layer", copy_layer, self, 1) &&
           OK(ctxrt_free(self->hidden)) && OK(ctxrt_recording_stop(out_graph));
}

static bool show_use(const char *when)
{
    ctxrt_allocator_figures figures;
    if (!OK(ctxrt_allocator_statistics(NULL, &figures)))
        return false;
    printf("%s: %d KiB in use on cuda:1\n", when, (int)(figures.current_bytes >> 10));
    return true;
}

/* Device 0 is current, and stays so. */
static bool launch_from_another_device(network *self, ctxrt_graph *graph)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    ctxrt_device device;
    if (!OK(ctxrt_scope_enter(CTXRT_CUDA(0), &scope)))
        return false;
    for (int i = 0; i < LAUNCHES; i++) {
        unsigned char first;
        if (!OK(ctxrt_graph_launch(graph, self->stream)) ||
            !OK(ctxrt_copy_async(&first, self->output, 1, CTXRT_COPY_DEVICE_TO_HOST,
                                 self->stream)) ||
            !OK(ctxrt_stream_synchronize(self->stream)) ||
            !OK(ctxrt_device_get(&device)))
            return false;
        printf("launch %d from cuda:%d: the output is %d\n", i + 1, device.index, first);
    }
    return true;
}

int main(void)
{
    network self = {0};
    ctxrt_graph *graph;
    if (!OK(ctxrt_device_set(CTXRT_CUDA(1))) ||
        !OK(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &self.stream)) ||
        !OK(ctxrt_alloc(BYTES, &self.input)) || !OK(ctxrt_alloc(BYTES, &self.output)) ||
        !record(&self, &graph))
        return 1;
    if (!OK(ctxrt_graph_describe(graph, stdout, CTXRT_GRAPH_TEXT)) ||
        !launch_from_another_device(&self, graph))
        return 1;
    printf("copy layer was called %d time\n", self.copies);
    if (!show_use("with the graph") || !OK(ctxrt_graph_release(graph)) || !show_use("without it"))
        return 1;
    bool ended = OK(ctxrt_free(self.input)) && OK(ctxrt_free(self.output)) &&
                 OK(ctxrt_stream_destroy(self.stream)) && OK(ctxrt_stack_pop()) &&
                 OK(ctxrt_shutdown());
    return ended ? 0 : 1;
}
