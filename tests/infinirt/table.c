/*
 * Prints the table of docs/infinirt.md: every function with bad arguments, and what comes back.
 * Each row is played on every kind of device in turn. A line that begins with one # says that a row
 * gave something else, changed the thread's device, or wrote what it may not.
 */
#include <infinirt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 4096
#define BEYOND ((size_t)1 << 30) /* more than whatever the allocator has its memory from */
#define TOO_MUCH ((size_t)1 << 46)
#define NO_TYPE ((infiniDevice_t)INFINI_DEVICE_TYPE_COUNT)
#define NEGATIVE_TYPE ((infiniDevice_t)-1)
#define NO_KIND ((infinirtMemcpyKind_t)4)
#define NO_MODE ((infinirtStreamCaptureMode_t)3)

static struct {
    infiniDevice_t type;
    int count; /* of devices of the type */
    infinirtStream_t stream, dead_stream, other_stream;
    infinirtEvent_t event, fresh_event, untimed_event, dead_event;
    void *memory, *dead_memory, *async_memory, *host, *dead_host;
    infinirtGraph_t graph, dead_graph;
    infinirtGraphExec_t exec, dead_exec;
} of;

typedef union results {
    int number;
    size_t bytes;
    float milliseconds;
    void *handle;
    void *pointer;
    infinirtEventStatus_t event_status;
    infinirtDeviceResourceSnapshot_t snapshot;
    char log[64];
    unsigned char every[128];
} results;
static results out;

static bool wrong;

static void complain(const char *function, const char *what, const char *how)
{
    printf("# on a device of type %d: %s with %s: %s\n", of.type, function, what, how);
    wrong = true;
}

static void need(infiniStatus_t status, const char *call)
{
    if (status == INFINI_STATUS_SUCCESS)
        return;
    printf("# on a device of type %d: %s gave %d\n", of.type, call, status);
    exit(1);
}
#define NEED(call) need(call, #call)

/* What a second begin gives; the capture goes on, and is ended. */
static infiniStatus_t begin_twice(infinirtStream_t stream)
{
    infinirtGraph_t graph;
    NEED(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED));
    infiniStatus_t status =
        infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED);
    NEED(infinirtStreamEndCapture(stream, &graph));
    NEED(infinirtGraphDestroy(graph));
    return status;
}

/* Within the device under test. */
static infiniStatus_t copy_peer(void *dst, const void *src, size_t size)
{
    return infinirtMemcpyPeerAsync(dst, of.type, of.count - 1, src, of.type, of.count - 1, size,
                                   of.stream);
}

/* ---- rows ---- */

typedef struct row {
    const char *function, *what, *status;
    infiniStatus_t expected;
    infiniStatus_t (*call)(void);
} row;

#define ROW(function, tag, what, status, call)                                                    \
    static infiniStatus_t function##_##tag(void)                                                  \
    {                                                                                             \
        return call;                                                                              \
    }
#include "rows.def"
#undef ROW

static const row rows[] = {
#define ROW(function, tag, what, status, call)                                                    \
    {"infinirt" #function, what, #status, INFINI_STATUS_##status, function##_##tag},
#include "rows.def"
#undef ROW
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- the stage ---- */

static infinirtGraph_t capture_fill(void)
{
    infinirtGraph_t graph;
    NEED(infinirtStreamBeginCapture(of.stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED));
    NEED(infinirtMemsetAsync(of.memory, 7, BYTES, of.stream));
    NEED(infinirtStreamEndCapture(of.stream, &graph));
    return graph;
}

static void make_graphs(void)
{
    of.graph = capture_fill();
    of.dead_graph = capture_fill();
    NEED(infinirtGraphInstantiate(&of.exec, of.graph, NULL, NULL, 0));
    NEED(infinirtGraphInstantiate(&of.dead_exec, of.dead_graph, NULL, NULL, 0));
    NEED(infinirtGraphDestroy(of.dead_graph));
    NEED(infinirtGraphExecDestroy(of.dead_exec));
}

static void end_graphs(void)
{
    NEED(infinirtGraphLuanch(of.exec, of.stream));
    NEED(infinirtGraphDestroy(of.graph));
    NEED(infinirtGraphExecDestroy(of.exec));
}

static void make_stage(infiniDevice_t type, infiniDevice_t other)
{
    NEED(infinirtSetDevice(other, 0));
    NEED(infinirtStreamCreate(&of.other_stream));
    of.type = type;
    NEED(infinirtGetDeviceCount(type, &of.count));
    NEED(infinirtSetDevice(type, of.count - 1));
    NEED(infinirtStreamCreate(&of.stream));
    NEED(infinirtStreamCreate(&of.dead_stream));
    NEED(infinirtStreamDestroy(of.dead_stream));
    NEED(infinirtEventCreate(&of.event));
    NEED(infinirtEventRecord(of.event, of.stream));
    NEED(infinirtEventCreate(&of.fresh_event));
    NEED(infinirtEventCreateWithFlags(&of.untimed_event, INFINIRT_EVENT_DISABLE_TIMING));
    NEED(infinirtEventRecord(of.untimed_event, of.stream));
    NEED(infinirtEventCreate(&of.dead_event));
    NEED(infinirtEventDestroy(of.dead_event));
    NEED(infinirtMalloc(&of.memory, BYTES));
    NEED(infinirtMallocAsync(&of.async_memory, BYTES, of.stream));
    NEED(infinirtMallocHost(&of.host, BYTES));
    NEED(infinirtMalloc(&of.dead_memory, BYTES));
    NEED(infinirtMallocHost(&of.dead_host, BYTES));
    /* No memory is asked for from here on: an address may come again. */
    NEED(infinirtFree(of.dead_memory));
    NEED(infinirtFreeHost(of.dead_host));
    NEED(infinirtMemset(of.memory, 7, BYTES));
    NEED(infinirtDeviceSynchronize());
    make_graphs();
}

/* What the rows refused is as it was: each object can still be used and given back. */
static void end_stage(void)
{
    end_graphs();
    NEED(infinirtMemcpy(of.host, of.memory, BYTES, INFINIRT_MEMCPY_D2H));
    for (size_t i = 0; i < BYTES; i++)
        if (((unsigned char *)of.host)[i] != 7) {
            complain("a row", "bad arguments", "the memory was changed");
            break;
        }
    NEED(infinirtFreeHost(of.host));
    NEED(infinirtFreeAsync(of.async_memory, of.stream));
    NEED(infinirtFree(of.memory));
    NEED(infinirtEventDestroy(of.untimed_event));
    NEED(infinirtEventDestroy(of.fresh_event));
    NEED(infinirtEventDestroy(of.event));
    NEED(infinirtStreamDestroy(of.stream));
    NEED(infinirtStreamDestroy(of.other_stream));
}

static void check_device(const row *played)
{
    infiniDevice_t type;
    int index;
    if (infinirtGetDevice(&type, &index) != INFINI_STATUS_SUCCESS || type != of.type ||
        index != of.count - 1)
        complain(played->function, played->what, "the thread's device was changed");
}

static void play(const row *played)
{
    results before;
    char how[64];
    memset(&before, 0x5a, sizeof before);
    memset(&out, 0x5a, sizeof out);
    infiniStatus_t status = played->call();
    if (status != played->expected) {
        snprintf(how, sizeof how, "the status is %d", status);
        complain(played->function, played->what, how);
    }
    if (memcmp(&out, &before, sizeof out) != 0)
        complain(played->function, played->what, "an out-parameter was written");
    check_device(played);
}

static void play_all(infiniDevice_t type, infiniDevice_t other)
{
    make_stage(type, other);
    for (int i = 0; i < ROWS; i++)
        play(&rows[i]);
    end_stage();
}

/* One line for each function, with what gives a status behind it. */
static void print_table(void)
{
    printf("| function | status: what gives it |\n|---|---|\n");
    for (int i = 0; i < ROWS; i++) {
        bool same_function = i > 0 && strcmp(rows[i - 1].function, rows[i].function) == 0;
        bool same_status = same_function && strcmp(rows[i - 1].status, rows[i].status) == 0;
        if (!same_function)
            printf("%s| `%s` | %s: %s", i > 0 ? " |\n" : "", rows[i].function, rows[i].status,
                   rows[i].what);
        else if (!same_status)
            printf(". %s: %s", rows[i].status, rows[i].what);
        else
            printf("; %s", rows[i].what);
    }
    printf(" |\n");
}

int main(void)
{
    play_all(INFINI_DEVICE_CPU, INFINI_DEVICE_NVIDIA);
    play_all(INFINI_DEVICE_NVIDIA, INFINI_DEVICE_CPU);
    print_table();
    return wrong;
}
