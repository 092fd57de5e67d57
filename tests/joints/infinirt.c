/* What programs of the InfiniRT interface rely on: copies of the CPU that are done at once,
 * captures beside frees, and memory that is given back. */
#include "suites.h"

#include <infinirt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t gib = (size_t)1 << 30;

static void start(void)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_memory_bytes = 4 * gib;
    cx_assert_ok(ctxrt_init(&options));
}

static void end(void)
{
    while (ctxrt_stack_depth() != 0)
        cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}

static void assert_infini(infiniStatus_t status, const char *call)
{
    ck_assert_msg(status == INFINI_STATUS_SUCCESS, "%s gave %d: %s", call, status,
                  ctxrt_last_error()->message);
}
#define INFINI_OK(call) assert_infini(call, #call)

/* ---- the CPU ---- */

static void assert_all(const unsigned char *bytes, size_t size, int value, const char *what)
{
    ck_assert_msg(bytes[0] == value && memcmp(bytes, bytes + 1, size - 1) == 0,
                  "%s of %zu bytes was not done when the call returned", what, size);
}

static void assert_done_at_once(size_t size, infinirtStream_t stream)
{
    unsigned char *from, *to, *host = malloc(size);
    ck_assert_ptr_nonnull(host);
    INFINI_OK(infinirtMalloc((void **)&from, size));
    INFINI_OK(infinirtMalloc((void **)&to, size));
    for (int i = 1; i <= 10; i++) {
        memset(from, i, size);
        INFINI_OK(infinirtMemcpyAsync(to, from, size, INFINIRT_MEMCPY_D2D, stream));
        assert_all(to, size, i, "a copy between devices");
        INFINI_OK(infinirtMemsetAsync(to, i + 100, size, stream));
        assert_all(to, size, i + 100, "a fill");
        memset(host, i, size);
        INFINI_OK(infinirtMemcpyAsync(to, host, size, INFINIRT_MEMCPY_H2D, stream));
        assert_all(to, size, i, "a copy from the host");
    }
    INFINI_OK(infinirtFree(from));
    INFINI_OK(infinirtFree(to));
    free(host);
}

START_TEST(asynchronous_copies_and_fills_of_the_cpu_are_done_at_once)
{
    static const size_t sizes[] = {64, 4096, 65536, 1 << 20, 8 << 20};
    infinirtStream_t stream;
    INFINI_OK(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    INFINI_OK(infinirtStreamCreate(&stream));
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_done_at_once(sizes[i], stream);
        assert_done_at_once(sizes[i], NULL);
    }
    INFINI_OK(infinirtStreamDestroy(stream));
}
END_TEST

static size_t available_bytes(void)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %zu kB", &kib) != 1)
            kib = 0;
    if (file != NULL)
        fclose(file);
    return kib << 10;
}

START_TEST(the_free_memory_of_the_cpu_is_what_the_system_can_give)
{
    size_t free_bytes, total_bytes;
    size_t before = available_bytes();
    if (before == 0)
        cx_fixture_skip("the system does not say what memory is available");
    INFINI_OK(infinirtGetMemInfo(INFINI_DEVICE_CPU, 0, &free_bytes, &total_bytes));
    size_t after = available_bytes();
    size_t most = (before > after ? before : after) + total_bytes / 64;
    ck_assert_msg(free_bytes <= most, "%zu bytes are free where the system has %zu", free_bytes,
                  most);
}
END_TEST

/* ---- captures beside other calls ---- */

typedef infiniStatus_t (*deed)(infinirtStream_t stream);

static infiniStatus_t allocate_and_free(infinirtStream_t stream)
{
    void *pointer;
    (void)stream;
    infiniStatus_t status = infinirtMalloc(&pointer, 4096);
    return status == INFINI_STATUS_SUCCESS ? infinirtFree(pointer) : status;
}

static infiniStatus_t allocate_and_free_pinned(infinirtStream_t stream)
{
    void *pointer;
    (void)stream;
    infiniStatus_t status = infinirtMallocHost(&pointer, 4096);
    return status == INFINI_STATUS_SUCCESS ? infinirtFreeHost(pointer) : status;
}

static infiniStatus_t allocate_and_free_in_order(infinirtStream_t stream)
{
    void *pointer;
    infiniStatus_t status = infinirtMallocAsync(&pointer, 4096, stream);
    return status == INFINI_STATUS_SUCCESS ? infinirtFreeAsync(pointer, stream) : status;
}

static infiniStatus_t allocate_in_order_and_free(infinirtStream_t stream)
{
    void *pointer;
    infiniStatus_t status = infinirtMallocAsync(&pointer, 4096, stream);
    return status == INFINI_STATUS_SUCCESS ? infinirtFree(pointer) : status;
}

static infiniStatus_t create_and_destroy_a_stream(infinirtStream_t stream)
{
    infinirtStream_t made;
    (void)stream;
    infiniStatus_t status = infinirtStreamCreate(&made);
    return status == INFINI_STATUS_SUCCESS ? infinirtStreamDestroy(made) : status;
}

static infiniStatus_t record_and_wait(infinirtStream_t stream)
{
    infinirtEvent_t event;
    infiniStatus_t status = infinirtEventCreate(&event);
    if (status != INFINI_STATUS_SUCCESS)
        return status;
    status = infinirtEventRecord(event, stream);
    if (status == INFINI_STATUS_SUCCESS)
        status = infinirtEventSynchronize(event);
    infiniStatus_t destroyed = infinirtEventDestroy(event);
    return status != INFINI_STATUS_SUCCESS ? status : destroyed;
}

static infiniStatus_t ask_for_memory(infinirtStream_t stream)
{
    size_t free_bytes, total_bytes;
    infiniDevice_t type;
    int index;
    (void)stream;
    infiniStatus_t status = infinirtGetDevice(&type, &index);
    return status == INFINI_STATUS_SUCCESS
               ? infinirtGetMemInfo(type, index, &free_bytes, &total_bytes)
               : status;
}

static const struct {
    const char *name;
    deed act;
} deeds[] = {
    {"Malloc and Free", allocate_and_free},
    {"MallocHost and FreeHost", allocate_and_free_pinned},
    {"MallocAsync and FreeAsync", allocate_and_free_in_order},
    {"MallocAsync and Free", allocate_in_order_and_free},
    {"StreamCreate and StreamDestroy", create_and_destroy_a_stream},
    {"EventRecord and EventSynchronize", record_and_wait},
    {"GetMemInfo", ask_for_memory},
};

enum { CAPTURES = 400 };

typedef struct neighbour {
    infiniDevice_t type;
    deed act;
    sem_t asked, done;
    bool stop;
    long failed;
} neighbour;

static void *act_beside(void *argument)
{
    neighbour *self = argument;
    infinirtStream_t stream;
    INFINI_OK(infinirtSetDevice(self->type, 0));
    INFINI_OK(infinirtStreamCreate(&stream));
    for (sem_wait(&self->asked); !self->stop; sem_wait(&self->asked)) {
        self->failed += self->act(stream) != INFINI_STATUS_SUCCESS;
        sem_post(&self->done);
    }
    INFINI_OK(infinirtStreamDestroy(stream));
    while (ctxrt_stack_depth() != 0)
        cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

/* The neighbour acts inside every other capture, and beside the end of the rest. */
static void capture_beside(infiniDevice_t type, size_t which)
{
    neighbour other = {.type = type, .act = deeds[which].act};
    infinirtStream_t stream;
    pthread_t thread;
    void *memory;
    INFINI_OK(infinirtStreamCreate(&stream));
    INFINI_OK(infinirtMalloc(&memory, 4096));
    sem_init(&other.asked, 0, 0);
    sem_init(&other.done, 0, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, act_beside, &other), 0);
    for (int i = 0; i < CAPTURES; i++) {
        infinirtGraph_t graph;
        bool inside = i % 2 == 0;
        INFINI_OK(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED));
        INFINI_OK(infinirtMemsetAsync(memory, 1, 4096, stream));
        sem_post(&other.asked);
        if (inside)
            sem_wait(&other.done);
        infiniStatus_t status = infinirtStreamEndCapture(stream, &graph);
        if (!inside)
            sem_wait(&other.done);
        ck_assert_msg(status == INFINI_STATUS_SUCCESS, "%s beside a capture: %s", deeds[which].name,
                      ctxrt_last_error()->message);
        INFINI_OK(infinirtGraphDestroy(graph));
    }
    other.stop = true;
    sem_post(&other.asked);
    pthread_join(thread, NULL);
    sem_destroy(&other.asked);
    sem_destroy(&other.done);
    ck_assert_msg(other.failed == 0, "%s failed beside a capture", deeds[which].name);
    INFINI_OK(infinirtFree(memory));
    INFINI_OK(infinirtStreamDestroy(stream));
}

START_TEST(other_threads_leave_a_relaxed_capture_alone)
{
    static const infiniDevice_t types[] = {INFINI_DEVICE_CPU, INFINI_DEVICE_NVIDIA};
    for (int i = 0; i < 2; i++) {
        INFINI_OK(infinirtSetDevice(types[i], 0));
        for (size_t which = 0; which < sizeof deeds / sizeof *deeds; which++)
            capture_beside(types[i], which);
    }
}
END_TEST

static void *try_to_end(void *argument)
{
    infinirtGraph_t graph;
    ck_assert_int_ne(infinirtStreamEndCapture(argument, &graph), INFINI_STATUS_SUCCESS);
    return NULL;
}

/* The driver invalidates a capture that the wrong thread ends. */
START_TEST(a_capture_that_another_thread_tried_to_end_says_so_and_is_over)
{
    static const infinirtStreamCaptureMode_t modes[] = {INFINIRT_STREAM_CAPTURE_MODE_GLOBAL,
                                                        INFINIRT_STREAM_CAPTURE_MODE_THREAD_LOCAL};
    INFINI_OK(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    for (int i = 0; i < 2; i++) {
        infinirtStream_t stream;
        infinirtGraph_t graph;
        INFINI_OK(infinirtStreamCreate(&stream));
        INFINI_OK(infinirtStreamBeginCapture(stream, modes[i]));
        on_a_thread(try_to_end, stream);
        ck_assert_int_eq(infinirtStreamEndCapture(stream, &graph), INFINI_STATUS_INTERNAL_ERROR);
        ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "INVALIDATED"));
        INFINI_OK(infinirtStreamBeginCapture(stream, modes[i]));
        INFINI_OK(infinirtStreamEndCapture(stream, &graph));
        INFINI_OK(infinirtGraphDestroy(graph));
        INFINI_OK(infinirtStreamDestroy(stream));
    }
}
END_TEST

/* ---- memory that was freed ---- */

static size_t free_bytes_of_gpu(void)
{
    size_t free_bytes, total_bytes;
    INFINI_OK(infinirtGetMemInfo(INFINI_DEVICE_NVIDIA, 0, &free_bytes, &total_bytes));
    return free_bytes;
}

START_TEST(memory_that_is_freed_is_free_for_everybody)
{
    infinirtStream_t stream;
    void *pointer;
    INFINI_OK(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    INFINI_OK(infinirtStreamCreate(&stream));
    size_t at_first = free_bytes_of_gpu();
    INFINI_OK(infinirtMalloc(&pointer, 3 * gib));
    ck_assert_uint_eq(free_bytes_of_gpu(), at_first - 3 * gib);
    INFINI_OK(infinirtFree(pointer));
    ck_assert_uint_eq(free_bytes_of_gpu(), at_first);
    INFINI_OK(infinirtMalloc(&pointer, 3 * gib + gib / 2));
    INFINI_OK(infinirtFree(pointer));
    INFINI_OK(infinirtMallocAsync(&pointer, 3 * gib, stream));
    INFINI_OK(infinirtFreeAsync(pointer, stream));
    INFINI_OK(infinirtStreamSynchronize(stream));
    INFINI_OK(infinirtMalloc(&pointer, 3 * gib));
    INFINI_OK(infinirtFree(pointer));
    for (size_t i = 1; i < 60; i++) {
        INFINI_OK(infinirtMalloc(&pointer, i << 25));
        INFINI_OK(infinirtFree(pointer));
    }
    ck_assert_uint_eq(free_bytes_of_gpu(), at_first);
    INFINI_OK(infinirtStreamDestroy(stream));
}
END_TEST

#define INFINI_JOINT(name_)       \
    {                             \
#name_, name_, start, end \
    }

Suite *infinirt_suite(void)
{
    const joint joints[] = {
        INFINI_JOINT(asynchronous_copies_and_fills_of_the_cpu_are_done_at_once),
        INFINI_JOINT(the_free_memory_of_the_cpu_is_what_the_system_can_give),
        INFINI_JOINT(other_threads_leave_a_relaxed_capture_alone),
        INFINI_JOINT(a_capture_that_another_thread_tried_to_end_says_so_and_is_over),
        INFINI_JOINT(memory_that_is_freed_is_free_for_everybody),
    };
    return joint_suite("infinirt", joints, sizeof joints / sizeof *joints);
}
