/*
 * What ctxrt adds to the driver's own calls: setting a device, push and pop, a scope, recording an
 * event and letting a stream wait for it, a copy, a fill and a launch of 64 bytes. Beside each
 * stands the same sequence of bare driver calls, the look at the current context included.
 *
 * It takes the options of options.h.
 */
#include "check.h"
#include "device/device.h"
#include "options.h"
#include "rounds.h"
#include "table.h"

#include <ctxrt/ctxrt.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 4

typedef struct setting {
    const cx_driver_table *table;
    int devices;
    ctxrt_device device[DEVICES_MAX];
    CUcontext primary[DEVICES_MAX];
    ctxrt_context *context;
    ctxrt_event *event;
    ctxrt_stream *stream, *waiter;
    CUevent native_event;
    CUstream native_stream, native_waiter;
    ctxrt_memory *memory[2];
    unsigned char *to, *from;
    ctxrt_module *module;
    ctxrt_kernel *kernel;
    CUfunction function;
    sem_t may_run; /* posted for each host function that holds the stream */
} setting;

enum { BYTES = 64, LAUNCHES_AT_ONCE = 32 };

/* Each of 16 threads writes 4 bytes. */
static const char write_ptx[] = ".version 6.3\n"
                                ".target sm_50\n"
                                ".address_size 64\n"
                                ".visible .entry write(.param .u64 to)\n"
                                "{\n"
                                "    .reg .b32 %r<2>;\n"
                                "    .reg .b64 %rd<4>;\n"
                                "    ld.param.u64 %rd1, [to];\n"
                                "    mov.u32 %r1, %tid.x;\n"
                                "    mul.wide.u32 %rd2, %r1, 4;\n"
                                "    add.s64 %rd3, %rd1, %rd2;\n"
                                "    st.global.u32 [%rd3], %r1;\n"
                                "    ret;\n"
                                "}\n";

static void bare_set_same(size_t count, void *argument)
{
    const setting *s = argument;
    CUcontext current;
    for (size_t i = 0; i < count; i++) {
        bench_check_driver(s->table->ctx_get_current(&current));
        if (current != s->primary[0])
            bench_check_driver(s->table->ctx_set_current(s->primary[0]));
    }
}

static void ctxrt_set_same(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_device_set(s->device[0]));
}

static void bare_set_alternating(size_t count, void *argument)
{
    const setting *s = argument;
    CUcontext current;
    for (size_t i = 0; i < count; i++) {
        CUcontext wanted = s->primary[i % (size_t)s->devices];
        bench_check_driver(s->table->ctx_get_current(&current));
        if (current != wanted)
            bench_check_driver(s->table->ctx_set_current(wanted));
    }
}

static void ctxrt_set_alternating(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_device_set(s->device[i % (size_t)s->devices]));
}

/* Looks before the push, and after the pop. */
static void bare_push_pop(size_t count, void *argument)
{
    const setting *s = argument;
    CUcontext current, popped;
    for (size_t i = 0; i < count; i++) {
        bench_check_driver(s->table->ctx_get_current(&current));
        bench_check_driver(s->table->ctx_push(s->primary[0]));
        bench_check_driver(s->table->ctx_pop(&popped));
        bench_check_driver(s->table->ctx_get_current(&current));
    }
}

static void ctxrt_push_pop(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++) {
        bench_check(ctxrt_stack_push(s->context));
        bench_check(ctxrt_stack_pop());
    }
}

/* A scope looks once more: before its pop, to report leftovers. */
static void bare_scope(size_t count, void *argument)
{
    const setting *s = argument;
    CUcontext current, popped;
    for (size_t i = 0; i < count; i++) {
        bench_check_driver(s->table->ctx_get_current(&current));
        bench_check_driver(s->table->ctx_push(s->primary[0]));
        bench_check_driver(s->table->ctx_get_current(&current));
        bench_check_driver(s->table->ctx_pop(&popped));
        bench_check_driver(s->table->ctx_get_current(&current));
    }
}

static void ctxrt_scope_pair(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++) {
        ctxrt_scope scope = {0};
        bench_check(ctxrt_scope_enter(s->device[0], &scope));
        bench_check(ctxrt_scope_leave(&scope));
    }
}

static void bare_record_wait(size_t count, void *argument)
{
    const setting *s = argument;
    CUcontext current;
    for (size_t i = 0; i < count; i++) {
        bench_check_driver(s->table->ctx_get_current(&current));
        bench_check_driver(s->table->event_record(s->native_event, s->native_stream));
        bench_check_driver(s->table->stream_wait_event(s->native_waiter, s->native_event, 0));
    }
}

static void ctxrt_record_wait(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++) {
        bench_check(ctxrt_event_record(s->event, NULL));
        bench_check(ctxrt_stream_wait_event(s->waiter, s->event));
    }
}

static void bare_copy(size_t count, void *argument)
{
    const setting *s = argument;
    CUcontext current;
    for (size_t i = 0; i < count; i++) {
        bench_check_driver(s->table->ctx_get_current(&current));
        bench_check_driver(s->table->memcpy_dtod_async((uintptr_t)s->to, (uintptr_t)s->from, BYTES,
                                                       s->native_stream));
    }
}

static void ctxrt_copies(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_copy_async(s->to, s->from, BYTES, CTXRT_COPY_DEVICE_TO_DEVICE, NULL));
}

static void bare_fill(size_t count, void *argument)
{
    const setting *s = argument;
    CUcontext current;
    for (size_t i = 0; i < count; i++) {
        bench_check_driver(s->table->ctx_get_current(&current));
        bench_check_driver(
            s->table->memset_d8_async((uintptr_t)s->to, 7, BYTES, s->native_stream));
    }
}

static void ctxrt_fills(size_t count, void *argument)
{
    const setting *s = argument;
    for (size_t i = 0; i < count; i++)
        bench_check(ctxrt_fill_async(s->to, 7, BYTES, NULL));
}

/* ---- launches: only the calls are timed, the kernels run between ---- */

static void wait_until_let_run(void *argument)
{
    setting *s = argument;
    while (sem_wait(&s->may_run) != 0)
        ;
}

/* What is launched behind the host function waits for it. */
static void hold_stream(setting *s)
{
    bench_pause();
    bench_check_driver(s->table->launch_host_func(s->native_stream, wait_until_let_run, s));
    bench_resume();
}

static void let_run(setting *s)
{
    bench_pause();
    (void)sem_post(&s->may_run);
    bench_check_driver(s->table->stream_synchronize(s->native_stream));
    bench_resume();
}

static void bare_launch(size_t count, void *argument)
{
    setting *s = argument;
    CUcontext current;
    uintptr_t to = (uintptr_t)s->to;
    void *arguments[] = {&to};
    hold_stream(s);
    for (size_t i = 1; i <= count; i++) {
        bench_check_driver(s->table->ctx_get_current(&current));
        bench_check_driver(s->table->launch_kernel(s->function, 1, 1, 1, BYTES / 4, 1, 1, 0,
                                                   s->native_stream, arguments, NULL));
        if (i % LAUNCHES_AT_ONCE == 0) {
            let_run(s);
            hold_stream(s);
        }
    }
    let_run(s);
}

static void ctxrt_launches(size_t count, void *argument)
{
    setting *s = argument;
    uintptr_t to = (uintptr_t)s->to;
    void *arguments[] = {&to};
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    config.block[0] = BYTES / 4;
    hold_stream(s);
    for (size_t i = 1; i <= count; i++) {
        bench_check(ctxrt_launch(&config, s->kernel, arguments, 1));
        if (i % LAUNCHES_AT_ONCE == 0) {
            let_run(s);
            hold_stream(s);
        }
    }
    let_run(s);
}

static void prepare_work(setting *s)
{
    for (int i = 0; i < 2; i++)
        bench_check(ctxrt_memory_alloc(BYTES, &s->memory[i]));
    s->to = ctxrt_memory_pointer(s->memory[0]);
    s->from = ctxrt_memory_pointer(s->memory[1]);
    bench_check(ctxrt_module_load(write_ptx, 0, &s->module));
    bench_check(ctxrt_module_get_kernel(s->module, "write", &s->kernel));
    bench_check(ctxrt_kernel_native(s->kernel, &s->function));
}

static void prepare(setting *s)
{
    int count;
    bench_check(ctxrt_device_count(CTXRT_DEVICE_CUDA, &count));
    if (count == 0) {
        (void)!ctxrt_device_set(CTXRT_CUDA(0)); /* for its message */
        fprintf(stderr, "bench_stack: %s\n", ctxrt_last_error()->message);
        exit(77);
    }
    s->devices = count < DEVICES_MAX ? count : DEVICES_MAX;
    for (int i = 0; i < s->devices; i++) {
        ctxrt_context *primary;
        s->device[i] = CTXRT_CUDA(i);
        bench_check(ctxrt_context_retain_primary(s->device[i], &primary));
        bench_check(ctxrt_context_native(primary, &s->primary[i]));
        bench_check(ctxrt_context_release(primary));
    }
    cx_device *device = NULL;
    bench_check(cx_device_find(s->device[0], &device));
    s->table = &device->driver->table;
    bench_check(ctxrt_device_set(s->device[0]));
    bench_check(ctxrt_context_current(&s->context));
    bench_check(ctxrt_stream_current(&s->stream));
    bench_check(ctxrt_stream_create(CTXRT_STREAM_NON_BLOCKING, 0, &s->waiter));
    bench_check(ctxrt_event_create(CTXRT_EVENT_DISABLE_TIMING, &s->event));
    bench_check(ctxrt_stream_native(s->stream, &s->native_stream));
    bench_check(ctxrt_stream_native(s->waiter, &s->native_waiter));
    bench_check(ctxrt_event_native(s->event, &s->native_event));
    prepare_work(s);
}

static void finish(setting *s)
{
    bench_check(ctxrt_device_set(s->device[0]));
    bench_check(ctxrt_device_synchronize());
    bench_check(ctxrt_module_unload(s->module));
    for (int i = 0; i < 2; i++)
        bench_check(ctxrt_memory_release(s->memory[i]));
    bench_check(ctxrt_event_destroy(s->event));
    bench_check(ctxrt_stream_destroy(s->waiter));
    bench_check(ctxrt_stack_pop());
    bench_check(ctxrt_shutdown());
}

typedef struct row {
    const char *name;
    bench_operation bare, ours;
} row;

static const row rows[] = {
    {"device_set, same", bare_set_same, ctxrt_set_same},
    {"device_set, alternating", bare_set_alternating, ctxrt_set_alternating},
    {"push + pop", bare_push_pop, ctxrt_push_pop},
    {"scope enter + leave", bare_scope, ctxrt_scope_pair},
    {"event record + stream wait", bare_record_wait, ctxrt_record_wait},
    {"copy, 64 bytes", bare_copy, ctxrt_copies},
    {"fill, 64 bytes", bare_fill, ctxrt_fills},
    {"launch, 64 bytes", bare_launch, ctxrt_launches},
};

int main(int argc, char **argv)
{
    static const bench_column columns[] = {
        {"bare_best_ns", "bare, best ns", 1},     {"bare_median_ns", "bare, median ns", 1},
        {"ctxrt_best_ns", "ctxrt, best ns", 1},   {"ctxrt_median_ns", "ctxrt, median ns", 1},
        {"added_best_ns", "added, best ns", 1},   {"added_median_ns", "added, median ns", 1},
        {0},
    };
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    setting s = {0};
    (void)sem_init(&s.may_run, 0, 0);
    bench_options_take(argc, argv, "bench_stack");
    options.cuda_driver =
        bench_chosen.libcuda ? CTXRT_CUDA_DRIVER_LIBCUDA : CTXRT_CUDA_DRIVER_EMULATED;
    const int rounds = bench_rounds(31);
    const size_t count = bench_count(30000, 100);

    bench_check(ctxrt_init(&options));
    prepare(&s);
    bench_tables_begin("stack");
    bench_table_begin("calls", "operation", columns);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bench_check(ctxrt_device_set(s.device[0]));
        bench_pair pair = bench_run(rows[i].bare, rows[i].ours, &s, count, rounds);
        const double values[] = {pair.rival.best_ns, pair.rival.median_ns, pair.ours.best_ns,
                                 pair.ours.median_ns, pair.added_best_ns, pair.added_median_ns};
        bench_table_row(rows[i].name, values);
    }
    bench_table_end();
    bench_tables_end();
    finish(&s);
    return 0;
}
