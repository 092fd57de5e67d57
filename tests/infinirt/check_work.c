/* Streams, events, copies and fills of the InfiniRT interface: what is ordered with what, and what
 * kinds of copy there are. */
#include "infini.h"

#include <stdlib.h>
#include <string.h>

/* Every test runs once on the CPU and once on an emulated GPU, but for those of work that
 * is still to be done when a call returns. */
static const infiniDevice_t types[] = {INFINI_DEVICE_CPU, INFINI_DEVICE_NVIDIA};
enum { NVIDIA = 1, TYPES = sizeof types / sizeof types[0] };

/* ---- order: nothing runs until something waits for it ---- */

START_TEST(a_copy_that_waits_comes_behind_every_stream)
{
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMemset(memory, 1, 64));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    ck_assert_int_eq(infini_byte(memory), 9);
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(a_fill_that_waits_comes_behind_every_stream)
{
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_ok(infinirtMemset(memory, 1, 64));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(infini_byte(memory), 1);
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(no_stream_is_the_legacy_stream)
{
    void *host;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost(&host, 64));
    memset(host, 0, 64);
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_ok(infinirtMemcpyAsync(host, memory, 64, INFINIRT_MEMCPY_D2H, NULL));
    infini_assert_ok(infinirtStreamSynchronize(NULL));
    ck_assert_int_eq(*(unsigned char *)host, 9);
    infini_assert_ok(infinirtMemsetAsync(memory, 3, 64, NULL));
    infini_assert_ok(infinirtMemcpyAsync(host, memory, 64, INFINIRT_MEMCPY_D2H, stream));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(*(unsigned char *)host, 3);
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(a_query_tells_what_has_not_run)
{
    infinirtEvent_t start, end;
    infinirtEventStatus_t status;
    float milliseconds = -1;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtEventCreate(&start));
    infini_assert_ok(infinirtEventCreateWithFlags(&end, INFINIRT_EVENT_BLOCKING_SYNC));
    infini_assert_ok(infinirtEventQuery(end, &status));
    ck_assert_int_eq(status, INFINIRT_EVENT_COMPLETE);
    infini_assert_ok(infinirtEventRecord(start, stream));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_ok(infinirtEventRecord(end, stream));
    infini_assert_ok(infinirtEventQuery(end, &status));
    ck_assert_int_eq(status, INFINIRT_EVENT_NOT_READY);
    infini_assert_status(infinirtEventElapsedTime(&milliseconds, start, end),
                         INFINI_STATUS_INTERNAL_ERROR);
    infini_assert_ok(infinirtEventSynchronize(end));
    infini_assert_ok(infinirtEventQuery(end, &status));
    ck_assert_int_eq(status, INFINIRT_EVENT_COMPLETE);
    infini_assert_ok(infinirtEventElapsedTime(&milliseconds, start, end));
    ck_assert(milliseconds >= 0);
    infini_assert_ok(infinirtEventDestroy(start));
    infini_assert_ok(infinirtEventDestroy(end));
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(waiting_for_an_event_runs_what_comes_before_it)
{
    infinirtEvent_t event;
    unsigned char *host;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost((void **)&host, 64));
    memset(host, 0, 64);
    infini_assert_ok(infinirtEventCreate(&event));
    infini_assert_ok(infinirtMemsetAsync(memory, 3, 64, stream));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_ok(infinirtMemcpyAsync(host, memory, 64, INFINIRT_MEMCPY_D2H, stream));
    infini_assert_ok(infinirtEventRecord(event, stream));
    ck_assert_int_eq(host[0], 0);
    infini_assert_ok(infinirtEventSynchronize(event));
    ck_assert_int_eq(host[0], 9);
    infini_assert_ok(infinirtEventDestroy(event));
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(flags_of_events_are_told_apart)
{
    infinirtEvent_t untimed, timed;
    float milliseconds;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infini_assert_ok(infinirtEventCreateWithFlags(&untimed, INFINIRT_EVENT_DISABLE_TIMING));
    infini_assert_ok(infinirtEventCreateWithFlags(&timed, INFINIRT_EVENT_BLOCKING_SYNC));
    infini_assert_ok(infinirtEventRecord(untimed, NULL));
    infini_assert_ok(infinirtEventRecord(timed, NULL));
    infini_assert_ok(infinirtDeviceSynchronize());
    infini_assert_ok(infinirtEventElapsedTime(&milliseconds, timed, timed));
    infini_assert_status(infinirtEventElapsedTime(&milliseconds, timed, untimed),
                         INFINI_STATUS_BAD_PARAM);
    infini_assert_ok(infinirtEventDestroy(untimed));
    infini_assert_ok(infinirtEventDestroy(timed));
}
END_TEST

START_TEST(a_stream_waits_for_an_event_of_another_stream)
{
    infinirtEvent_t filled;
    void *host;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t first = infini_stream(), second = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost(&host, 64));
    infini_assert_ok(infinirtEventCreate(&filled));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, first));
    infini_assert_ok(infinirtEventRecord(filled, first));
    infini_assert_ok(infinirtStreamWaitEvent(second, filled));
    infini_assert_ok(infinirtMemcpyAsync(host, memory, 64, INFINIRT_MEMCPY_D2H, second));
    infini_assert_ok(infinirtStreamSynchronize(second));
    ck_assert_int_eq(*(unsigned char *)host, 9);
    infini_assert_ok(infinirtEventDestroy(filled));
    infini_assert_ok(infinirtStreamDestroy(first));
    infini_assert_ok(infinirtStreamDestroy(second));
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(a_stream_waits_for_an_event_of_a_device_of_another_type)
{
    infinirtEvent_t filled;
    infini_assert_ok(infinirtSetDevice(types[1 - _i], 0));
    infinirtStream_t there = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtEventCreate(&filled));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, there));
    infini_assert_ok(infinirtEventRecord(filled, there));
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t here = infini_stream();
    infini_assert_ok(infinirtStreamWaitEvent(here, filled));
    infini_assert_ok(infinirtStreamSynchronize(here));
    ck_assert_int_eq(infini_byte(memory), 9);
    infini_assert_ok(infinirtEventDestroy(filled));
    infini_assert_ok(infinirtStreamDestroy(there));
    infini_assert_ok(infinirtStreamDestroy(here));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

/* As the original does it; in streams of the CPU, whatever the thread's device. */
START_TEST(copies_and_fills_of_the_cpu_are_done_when_they_return)
{
    unsigned char host[64];
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    infinirtStream_t streams[2] = {infini_stream(), NULL};
    unsigned char *memory = infini_memory(64), *other = infini_memory(64);
    for (int i = 0; i < 2; i++) {
        memset(host, i + 1, sizeof host);
        infini_assert_ok(infinirtMemcpyAsync(memory, host, 64, INFINIRT_MEMCPY_H2D, streams[i]));
        ck_assert_mem_eq(memory, host, 64);
        infini_assert_ok(infinirtMemcpyAsync(other, memory, 64, INFINIRT_MEMCPY_D2D, streams[i]));
        ck_assert_mem_eq(other, host, 64);
        infini_assert_ok(infinirtMemsetAsync(memory, i + 7, 64, streams[i]));
        ck_assert_int_eq(memory[63], i + 7);
    }
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    infini_assert_ok(infinirtMemsetAsync(memory, 11, 64, streams[0]));
    ck_assert_int_eq(memory[63], 11);
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtFree(other));
    infini_assert_ok(infinirtStreamDestroy(streams[0]));
}
END_TEST

START_TEST(in_a_capture_copies_and_fills_of_the_cpu_are_part_of_the_graph)
{
    infinirtGraph_t graph;
    infinirtGraphExec_t executable;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    infinirtStream_t stream = infini_stream();
    unsigned char *memory = infini_memory(64), *other = infini_memory(64);
    memset(memory, 1, 64);
    infini_assert_ok(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_GLOBAL));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_ok(infinirtMemcpyAsync(other, memory, 64, INFINIRT_MEMCPY_D2D, stream));
    ck_assert_int_eq(memory[0], 1);
    infini_assert_ok(infinirtStreamEndCapture(stream, &graph));
    infini_assert_ok(infinirtGraphInstantiate(&executable, graph, NULL, NULL, 0));
    infini_assert_ok(infinirtGraphLuanch(executable, stream));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(other[63], 9);
    infini_assert_ok(infinirtGraphExecDestroy(executable));
    infini_assert_ok(infinirtGraphDestroy(graph));
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtFree(other));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

/* What a graph leaves is there for a copy that the host makes at once. */
START_TEST(a_copy_of_the_cpu_comes_behind_the_graphs_of_its_stream)
{
    unsigned char host[2] = {0};
    infinirtGraph_t graph;
    infinirtGraphExec_t executable;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    infinirtStream_t stream = infini_stream();
    unsigned char *memory = infini_memory(64);
    infini_assert_ok(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_GLOBAL));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_ok(infinirtStreamEndCapture(stream, &graph));
    infini_assert_ok(infinirtGraphInstantiate(&executable, graph, NULL, NULL, 0));
    for (int i = 0; i < 2; i++) {
        memset(memory, 1, 64);
        infini_assert_ok(infinirtGraphLuanch(executable, stream));
        ck_assert_int_eq(memory[0], 1);
        infini_assert_ok(infinirtMemcpyAsync(&host[i], memory + 63, 1, INFINIRT_MEMCPY_D2H,
                                             i == 0 ? stream : NULL));
        ck_assert_int_eq(host[i], 9);
    }
    memset(memory, 1, 64);
    infini_assert_ok(infinirtGraphLuanch(executable, stream));
    infini_assert_ok(infinirtMemsetAsync(memory, 4, 64, stream));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(memory[63], 4);
    infini_assert_ok(infinirtGraphExecDestroy(executable));
    infini_assert_ok(infinirtGraphDestroy(graph));
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

START_TEST(a_copy_between_devices_waits_for_nothing_but_its_stream)
{
    unsigned char *host;
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 2));
    infinirtStream_t stream = infini_stream();
    void *from = infini_memory(64);
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 1));
    void *to = infini_memory(64);
    infini_assert_ok(infinirtMallocHost((void **)&host, 64));
    memset(host, 0, 64);
    infini_assert_ok(infinirtMemsetAsync(from, 9, 64, stream));
    infini_assert_ok(infinirtMemcpyPeerAsync(to, INFINI_DEVICE_NVIDIA, 1, from,
                                             INFINI_DEVICE_NVIDIA, 2, 64, stream));
    infini_assert_ok(infinirtMemcpyAsync(host, to, 64, INFINIRT_MEMCPY_D2H, stream));
    ck_assert_int_eq(host[0], 0);
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(host[63], 9);
    infini_assert_device(INFINI_DEVICE_NVIDIA, 1);
    infini_assert_ok(infinirtFree(from));
    infini_assert_ok(infinirtFree(to));
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

/* As the original does: programs free what their streams still use. */
START_TEST(freeing_waits_for_work_that_uses_the_memory)
{
    unsigned char *host;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMallocHost((void **)&host, 64));
    memset(host, 0, 64);
    infini_assert_ok(infinirtMemset(memory, 9, 64));
    infini_assert_ok(infinirtMemcpyAsync(host, memory, 64, INFINIRT_MEMCPY_D2H, stream));
    ck_assert_int_eq(host[0], 0);
    infini_assert_ok(infinirtSetDevice(types[1 - _i], 0));
    infini_assert_ok(infinirtFree(memory));
    ck_assert_int_eq(host[0], 9);
    infini_assert_device(types[1 - _i], 0);
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFreeHost(host));
}
END_TEST

START_TEST(a_relaxed_capture_goes_on_where_memory_is_freed)
{
    infinirtGraph_t graph;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64), *other = infini_memory(64), *host, *of_stream;
    infini_assert_ok(infinirtMallocHost(&host, 64));
    infini_assert_ok(infinirtMallocAsync(&of_stream, 64, NULL));
    infini_assert_ok(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED));
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_ok(infinirtFree(other));
    infini_assert_ok(infinirtFree(of_stream));
    infini_assert_ok(infinirtFreeHost(host));
    infini_assert_ok(infinirtStreamEndCapture(stream, &graph));
    infini_assert_ok(infinirtGraphDestroy(graph));
    infini_assert_ok(infinirtStreamDestroy(stream));
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

/* ---- kinds ---- */

START_TEST(a_fill_takes_the_low_byte)
{
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMemset(memory, -1, 64));
    ck_assert_int_eq(infini_byte(memory), 255);
    infini_assert_ok(infinirtMemsetAsync(memory, 256 + 7, 64, NULL));
    ck_assert_int_eq(infini_byte(memory), 7);
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

START_TEST(to_the_cpu_all_host_memory_is_its_devices)
{
    unsigned char from[64], to[64];
    for (int kind = INFINIRT_MEMCPY_H2H; kind <= INFINIRT_MEMCPY_D2D; kind++) {
        memset(from, kind + 1, sizeof from);
        memset(to, 0, sizeof to);
        infini_assert_ok(infinirtMemcpy(to, from, sizeof to, (infinirtMemcpyKind_t)kind));
        ck_assert_mem_eq(to, from, sizeof to);
        void *memory = infini_memory(sizeof from);
        infini_assert_ok(infinirtMemcpy(memory, from, sizeof from, (infinirtMemcpyKind_t)kind));
        memset(to, 0, sizeof to);
        infini_assert_ok(infinirtMemcpy(to, memory, sizeof to, (infinirtMemcpyKind_t)kind));
        ck_assert_mem_eq(to, from, sizeof to);
        infini_assert_ok(infinirtFree(memory));
    }
}
END_TEST

START_TEST(a_kind_that_contradicts_the_addresses_is_refused)
{
    unsigned char host[64] = {0};
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 1));
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtMemset(memory, 5, 64));
    infini_assert_status(infinirtMemcpy(host, memory, 64, INFINIRT_MEMCPY_H2D),
                         INFINI_STATUS_BAD_PARAM);
    infini_assert_status(infinirtMemcpy(memory, host, 64, INFINIRT_MEMCPY_D2H),
                         INFINI_STATUS_BAD_PARAM);
    infini_assert_status(infinirtMemcpy(memory, host, 64, INFINIRT_MEMCPY_D2D),
                         INFINI_STATUS_BAD_PARAM);
    infini_assert_status(infinirtMemcpy(host, memory, 64, INFINIRT_MEMCPY_H2H),
                         INFINI_STATUS_BAD_PARAM);
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_CPU, 0));
    infini_assert_status(infinirtMemcpy(host, memory, 64, INFINIRT_MEMCPY_H2D),
                         INFINI_STATUS_BAD_PARAM);
    infini_assert_status(infinirtMemcpy(host, memory, 64, INFINIRT_MEMCPY_H2H),
                         INFINI_STATUS_BAD_PARAM);
    ck_assert_int_eq(host[0], 0);
    infini_assert_ok(infinirtMemcpy(host, memory, 64, INFINIRT_MEMCPY_D2H));
    ck_assert_int_eq(host[0], 5);
    infini_assert_ok(infinirtFree(memory));
}
END_TEST

static const ctxrt_device places[] = {
    {CTXRT_DEVICE_CPU, 0}, {CTXRT_DEVICE_CUDA, 0}, {CTXRT_DEVICE_CUDA, 3}};

static infiniStatus_t copy_peer(void *const *memory, int to, int from, infinirtStream_t stream)
{
    return infinirtMemcpyPeerAsync(memory[to], (infiniDevice_t)places[to].type, places[to].index,
                                   memory[from], (infiniDevice_t)places[from].type,
                                   places[from].index, 64, stream);
}

/* Each pair, in a stream of either; a stream of the third device is refused. */
START_TEST(a_copy_that_names_two_devices_takes_a_stream_of_either)
{
    void *memory[3];
    infinirtStream_t streams[3];
    for (int i = 0; i < 3; i++) {
        infini_assert_ok(infinirtSetDevice((infiniDevice_t)places[i].type, places[i].index));
        memory[i] = infini_memory(64);
        streams[i] = infini_stream();
    }
    for (int round = 0; round < 27; round++) {
        int from = round % 3, to = round / 3 % 3, by = round / 9;
        bool takes = by == from || by == to || (from == 0 && to == 0);
        infini_assert_ok(infinirtMemset(memory[to], 0, 64));
        infini_assert_ok(infinirtMemset(memory[from], round + 1, 64));
        infini_assert_status(copy_peer(memory, to, from, streams[by]),
                             takes ? INFINI_STATUS_SUCCESS : INFINI_STATUS_BAD_PARAM);
        infini_assert_ok(infinirtStreamSynchronize(streams[by]));
        ck_assert_int_eq(infini_byte(memory[to]), takes || from == to ? round + 1 : 0);
    }
    for (int i = 0; i < 3; i++) {
        infini_assert_ok(infinirtStreamDestroy(streams[i]));
        infini_assert_ok(infinirtFree(memory[i]));
    }
}
END_TEST

/* All host memory is the CPU's, also for a copy that names it. */
START_TEST(a_copy_from_the_cpu_to_itself_takes_ordinary_memory)
{
    unsigned char from[64], to[64] = {0};
    memset(from, 7, sizeof from);
    infini_assert_ok(infinirtMemcpyPeerAsync(to, INFINI_DEVICE_CPU, 0, from, INFINI_DEVICE_CPU, 0,
                                             sizeof to, NULL));
    ck_assert_mem_eq(to, from, sizeof to);
}
END_TEST

/* As a program of one call for all copies has it. */
START_TEST(a_copy_of_device_memory_in_a_stream_may_come_from_another_device)
{
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 0));
    void *from = infini_memory(64);
    infini_assert_ok(infinirtMemset(from, 9, 64));
    infini_assert_ok(infinirtSetDevice(INFINI_DEVICE_NVIDIA, 1));
    void *to = infini_memory(64);
    infinirtStream_t stream = infini_stream();
    infini_assert_ok(infinirtMemcpyAsync(to, from, 64, INFINIRT_MEMCPY_D2D, stream));
    infini_assert_ok(infinirtStreamSynchronize(stream));
    ck_assert_int_eq(infini_byte(to), 9);
    infini_assert_ok(infinirtFree(from));
    infini_assert_ok(infinirtFree(to));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

/* No device here has groups of tasks: that is no failure of the capture. */
START_TEST(a_capture_goes_on_where_groups_of_tasks_are_refused)
{
    infinirtGraph_t graph;
    infinirtGraphTaskGroup_t group = NULL;
    infini_assert_ok(infinirtSetDevice(types[_i], 0));
    infinirtStream_t stream = infini_stream();
    void *memory = infini_memory(64);
    infini_assert_ok(infinirtStreamBeginCapture(stream, INFINIRT_STREAM_CAPTURE_MODE_RELAXED));
    infini_assert_status(infinirtGraphTaskGroupBegin(stream),
                         INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
    infini_assert_ok(infinirtMemsetAsync(memory, 9, 64, stream));
    infini_assert_status(infinirtGraphTaskGroupEnd(stream, &group),
                         INFINI_STATUS_DEVICE_TYPE_NOT_SUPPORTED);
    ck_assert_ptr_null(group);
    infini_assert_ok(infinirtStreamEndCapture(stream, &graph));
    infini_assert_ok(infinirtGraphDestroy(graph));
    infini_assert_ok(infinirtFree(memory));
    infini_assert_ok(infinirtStreamDestroy(stream));
}
END_TEST

START_TEST(memory_goes_from_device_to_device_of_any_type)
{
    void *memory[3];
    for (int i = 0; i < 3; i++) {
        infini_assert_ok(infinirtSetDevice((infiniDevice_t)places[i].type, places[i].index));
        memory[i] = infini_memory(64);
    }
    for (int round = 0; round < 9; round++) {
        int from = round % 3, to = round / 3, set = (round + 1) % 3;
        if (from == to)
            continue;
        infini_assert_ok(infinirtSetDevice((infiniDevice_t)places[set].type, places[set].index));
        infini_assert_ok(infinirtMemset(memory[from], round + 1, 64));
        infini_assert_ok(infinirtMemcpy(memory[to], memory[from], 64, INFINIRT_MEMCPY_D2D));
        ck_assert_int_eq(infini_byte(memory[to]), round + 1);
        infini_assert_device((infiniDevice_t)places[set].type, places[set].index);
    }
    for (int i = 0; i < 3; i++)
        infini_assert_ok(infinirtFree(memory[i]));
}
END_TEST

static Suite *work(void)
{
    Suite *suite = suite_create("infinirt work");
    TCase *order = tcase_create("order"), *kinds = tcase_create("kinds");
    tcase_add_checked_fixture(order, infini_start_lazy, infini_end);
    tcase_add_loop_test(order, a_copy_that_waits_comes_behind_every_stream, 0, TYPES);
    tcase_add_loop_test(order, a_fill_that_waits_comes_behind_every_stream, 0, TYPES);
    tcase_add_loop_test(order, no_stream_is_the_legacy_stream, 0, TYPES);
    tcase_add_loop_test(order, a_query_tells_what_has_not_run, NVIDIA, TYPES);
    tcase_add_loop_test(order, waiting_for_an_event_runs_what_comes_before_it, NVIDIA, TYPES);
    tcase_add_loop_test(order, flags_of_events_are_told_apart, 0, TYPES);
    tcase_add_loop_test(order, a_stream_waits_for_an_event_of_another_stream, 0, TYPES);
    tcase_add_loop_test(order, a_stream_waits_for_an_event_of_a_device_of_another_type, 0, TYPES);
    tcase_add_test(order, copies_and_fills_of_the_cpu_are_done_when_they_return);
    tcase_add_test(order, in_a_capture_copies_and_fills_of_the_cpu_are_part_of_the_graph);
    tcase_add_test(order, a_copy_of_the_cpu_comes_behind_the_graphs_of_its_stream);
    tcase_add_test(order, a_copy_between_devices_waits_for_nothing_but_its_stream);
    tcase_add_loop_test(order, freeing_waits_for_work_that_uses_the_memory, NVIDIA, TYPES);
    tcase_add_loop_test(order, a_relaxed_capture_goes_on_where_memory_is_freed, 0, TYPES);
    suite_add_tcase(suite, order);
    tcase_add_checked_fixture(kinds, infini_start, infini_end);
    tcase_add_loop_test(kinds, a_fill_takes_the_low_byte, 0, TYPES);
    tcase_add_test(kinds, to_the_cpu_all_host_memory_is_its_devices);
    tcase_add_test(kinds, a_kind_that_contradicts_the_addresses_is_refused);
    tcase_add_test(kinds, memory_goes_from_device_to_device_of_any_type);
    tcase_add_test(kinds, a_copy_that_names_two_devices_takes_a_stream_of_either);
    tcase_add_test(kinds, a_copy_from_the_cpu_to_itself_takes_ordinary_memory);
    tcase_add_test(kinds, a_copy_of_device_memory_in_a_stream_may_come_from_another_device);
    tcase_add_loop_test(kinds, a_capture_goes_on_where_groups_of_tasks_are_refused, 0, TYPES);
    suite_add_tcase(suite, kinds);
    return suite;
}

CX_TESTS(work);
