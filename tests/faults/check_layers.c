/*
 * The layers where host memory fails: a program makes the same calls again and again, and each time
 * the next allocation that a layer makes finds no memory. Each call answers as it does without the
 * layer's failure, nothing is found that is not there, and the layer's file says what it lacks.
 */
#include "config.h"
#include "driver/access_log.h"
#include "driver/work_timestamps.h"
#include "emu/emu.h"
#include "host_memory.h"
#include "layer/check/check.h"
#include "layer/count/count.h"
#include "layer/names.h"
#include "layer/trace/format.h"
#include "layer/trace/trace.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if HOST_MEMORY_IS_OURS

enum { CALLS_MOST = 400, RUNS_MOST = 2000, NO_LAYER = 40, BYTES = 4096 };

/* ---- the driver beneath, whose memory does not fail ---- */

static cx_driver_table bare, quiet, table;

#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    static cxu_result quiet_##slot CX_DECLARE(arity, parameters)              \
    {                                                                         \
        host_memory_pause();                                                  \
        cxu_result result = bare.slot CX_PASS(arity, parameters);             \
        host_memory_resume();                                                 \
        return result;                                                        \
    }
#include "driver/symbols.def"

static void make_tables(void)
{
    bare = *cx_emu_driver();
#define CX_SYMBOL(slot, name, suffix, since, stream, need, arity, parameters) \
    quiet.slot = quiet_##slot;
#include "driver/symbols.def"
}

/* The driver tells a layer from within its own calls: the layer's memory fails there too. */
static const cx_access_log_watcher *touches;
static cx_work_timestamps_watcher *times;

static void launched(uint64_t ticket, const cx_access_log_graph *graph)
{
    host_memory_resume();
    touches->launched(ticket, graph);
    host_memory_pause();
}

static void promised(uint64_t ticket, size_t part)
{
    host_memory_resume();
    touches->promised(ticket, part);
    host_memory_pause();
}

static void moved(uint64_t ticket, size_t part, const cx_access_log_node *node)
{
    host_memory_resume();
    touches->moved(ticket, part, node);
    host_memory_pause();
}

static void failed(uint64_t ticket, size_t part, const cx_access_log_failure *failure)
{
    host_memory_resume();
    touches->failed(ticket, part, failure);
    host_memory_pause();
}

static void told(uint64_t ticket, size_t part, const cx_access *all, size_t count)
{
    host_memory_resume();
    touches->told(ticket, part, all, count);
    host_memory_pause();
}

static void hazarded(uint64_t ticket, const cx_access_log_hazard *hazard)
{
    host_memory_resume();
    touches->hazard(ticket, hazard);
    host_memory_pause();
}

static void timed(const cx_work_timestamps *done)
{
    host_memory_resume();
    times(done);
    host_memory_pause();
}

void __real_cx_access_log_watch(const cx_access_log_watcher *watcher);
void __wrap_cx_access_log_watch(const cx_access_log_watcher *watcher);
void __wrap_cx_access_log_watch(const cx_access_log_watcher *watcher)
{
    static const cx_access_log_watcher own = {
        .launched = launched, .promised = promised, .moved = moved, .failed = failed,
        .told = told, .hazard = hazarded};
    touches = watcher;
    __real_cx_access_log_watch(&own);
}

void __real_cx_work_timestamps_watch(cx_work_timestamps_watcher *watcher);
void __wrap_cx_work_timestamps_watch(cx_work_timestamps_watcher *watcher);
void __wrap_cx_work_timestamps_watch(cx_work_timestamps_watcher *watcher)
{
    times = watcher;
    __real_cx_work_timestamps_watch(timed);
}

/* The C library ends the process where it lacks memory here: the layer asks for some before. */
int __real___cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *module);
int __wrap___cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *module);
int __wrap___cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *module)
{
    host_memory_pause();
    int result = __real___cxa_thread_atexit_impl(function, argument, module);
    host_memory_resume();
    return result;
}

/* ---- a run ---- */

typedef struct outcome {
    int calls;
    int results[CALLS_MOST];
    int findings[CX_KIND_COUNT];
    bool put, struck, says_so;
    bool watched; /* the driver still tells what the thread's calls touch */
} outcome;

static outcome *now;

static cxu_result note(cxu_result result)
{
    if (now->calls < CALLS_MOST)
        now->results[now->calls++] = (int)result;
    return result;
}
#define R(slot, ...) note(table.slot(__VA_ARGS__))

static const char code[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry set(.param .u64 to)\n{\n"
                           "    .reg .u64 %a;\n    .reg .u32 %v;\n"
                           "    ld.param.u64 %a, [to];\n    mov.u32 %v, 7;\n"
                           "    st.global.u32 [%a], %v;\n    ret;\n}\n";

static CUcontext contexts[3];
static CUstream first, second;
static CUevent event;
static CUdeviceptr memory;

static void stack_contexts(void)
{
    CUcontext popped, primary;
    (void)R(ctx_create_v2, &contexts[0], 0, 0);
    (void)R(ctx_create_v3, &contexts[1], NULL, 0, 0, 1);
    (void)R(ctx_create_v4, &contexts[2], NULL, 0, 0);
    for (int i = 0; i < 20; i++) /* the stack grows */
        (void)R(ctx_push, contexts[i % 3]);
    for (int i = 0; i < 22; i++)
        (void)R(ctx_pop, &popped);
    (void)R(ctx_destroy, contexts[2]);
    (void)R(primary_retain, &primary, 1);
    (void)R(ctx_push, primary);
    (void)R(ctx_pop, &popped);
    (void)R(primary_release, 1);
    (void)R(primary_retain, &primary, 1);
    (void)R(primary_release, 1);
    (void)R(ctx_set_current, contexts[0]);
}

static void join(CUstream later, CUstream earlier)
{
    (void)R(event_record, event, earlier);
    (void)R(stream_wait_event, later, event, 0);
}

/* All of it is in order. */
static void order_work(void)
{
    void *pinned = NULL;
    CUdeviceptr parts[6], ordered = 0;
    (void)R(stream_create, &first, CXU_STREAM_NON_BLOCKING);
    (void)R(stream_create, &second, CXU_STREAM_NON_BLOCKING);
    (void)R(event_create, &event, CXU_EVENT_DISABLE_TIMING);
    (void)R(mem_alloc, &memory, BYTES);
    (void)R(mem_alloc_host, &pinned, BYTES);
    for (int i = 0; i < 6; i++)
        (void)R(mem_alloc, &parts[i], BYTES);
    for (int i = 0; i < 6; i++)
        (void)R(memset_d8_async, parts[i], 1, BYTES / 2, i % 2 ? first : second);
    (void)R(memset_d8_async, memory, 1, BYTES, first);
    join(second, first);
    (void)R(memset_d8_async, memory + 64, 2, 64, second);
    (void)R(memcpy_dtoh_async, pinned, memory, BYTES, second);
    join(first, second);
    (void)R(mem_alloc_async, &ordered, BYTES, first);
    (void)R(memset_d8_async, ordered, 1, BYTES, first);
    (void)R(mem_free_async, ordered, first);
    (void)R(ctx_synchronize);
    for (int i = 0; i < 6; i++)
        (void)R(mem_free, parts[i]);
    (void)R(mem_free_host, pinned);
}

static void keep_memory(void)
{
    static char host[2 * BYTES] __attribute__((aligned(BYTES)));
    const size_t bytes = (size_t)2 << 20;
    const cxu_mem_properties in = {.type = CXU_MEM_ALLOCATION_TYPE_PINNED,
                                   .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const cxu_mem_access access = {in.location, CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle made = 0;
    CUdeviceptr managed = 0, range = 0;
    (void)R(mem_host_register, host, BYTES, 0);
    (void)R(mem_host_unregister, host);
    (void)R(mem_alloc_managed, &managed, BYTES, CXU_MEM_ATTACH_GLOBAL);
    (void)R(mem_free, managed);
    (void)R(mem_address_reserve, &range, bytes, 0, 0, 0);
    (void)R(mem_create, &made, bytes, &in, 0);
    (void)R(mem_map, range, bytes, 0, made, 0);
    (void)R(mem_set_access, range, bytes, &access, 1);
    (void)R(memset_d8, range, 1, BYTES);
    (void)R(mem_unmap, range, bytes);
    (void)R(mem_release, made);
    (void)R(mem_address_free, range, bytes);
}

static void run_kernels(void)
{
    CUmodule module = NULL;
    CUfunction set = NULL;
    void *parameters[] = {&memory};
    (void)R(module_load_data, &module, code);
    (void)R(module_get_function, &set, module, "set");
    (void)R(launch_kernel, set, 1, 1, 1, 1, 1, 1, 0, first, parameters, NULL);
    join(second, first);
    (void)R(launch_kernel, set, 1, 1, 1, 1, 1, 1, 0, second, parameters, NULL);
    (void)R(stream_synchronize, second);
    (void)R(module_unload, module);
}

/* The program sets a dependency itself, as the layer asks the driver at the end. */
static void capture(void)
{
    cxu_stream_capture_status status;
    const CUgraphNode *nodes = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    size_t count = 0;
    (void)R(stream_begin_capture, first, CXU_STREAM_CAPTURE_MODE_RELAXED);
    (void)R(memset_d8_async, memory, 1, BYTES, first);
    join(second, first);
    (void)R(memset_d8_async, memory, 2, BYTES, second);
    (void)R(stream_get_capture_info_v2, second, &status, NULL, NULL, &nodes, &count);
    (void)R(stream_update_capture_dependencies, first, (CUgraphNode *)(uintptr_t)nodes, NULL, count,
            CXU_STREAM_ADD_CAPTURE_DEPENDENCIES);
    (void)R(memset_d8_async, memory, 3, BYTES, first);
    (void)R(stream_end_capture, first, &graph);
    (void)R(graph_instantiate_with_flags, &exec, graph, 0);
    (void)R(graph_launch, exec, first);
    (void)R(stream_synchronize, first);
    (void)R(graph_exec_destroy, exec);
    (void)R(graph_destroy, graph);
}

/* What the layer check finds without a failure. */
static void misuse(void)
{
    CUdeviceptr freed = 0;
    CUstream gone = NULL;
    (void)R(mem_alloc, &freed, BYTES);
    (void)R(mem_free, freed);
    (void)R(mem_free, freed);
    (void)R(stream_create, &gone, CXU_STREAM_DEFAULT);
    (void)R(stream_destroy, gone);
    (void)R(stream_synchronize, gone);
    (void)R(memset_d8_async, memory, 1, BYTES, first);
    (void)R(memset_d8_async, memory, 2, BYTES, second);
    (void)R(ctx_synchronize);
}

static void fork_a_child(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        CUcontext current;
        _exit((int)table.init(0) * 16 + (int)table.ctx_get_current(&current));
    }
    if (waitpid(child, &status, 0) == child)
        (void)note((cxu_result)status);
}

static void *run(void *number)
{
    host_memory_arm((long)(intptr_t)number);
    (void)R(init, 0);
    stack_contexts();
    order_work();
    keep_memory();
    run_kernels();
    capture();
    misuse();
    fork_a_child();
    (void)R(mem_free, memory);
    (void)R(event_destroy, event);
    (void)R(stream_destroy, first);
    (void)R(stream_destroy, second);
    (void)R(ctx_destroy, contexts[1]);
    (void)R(ctx_destroy, contexts[0]);
    now->struck |= host_memory_struck();
    now->watched = cx_access_log_ticket != 0;
    return NULL;
}

/* ---- layers ---- */

static char folder[64];

static bool put_check(void)
{
    return setenv("CTXRT_CHECK_FOLDER", folder, 1) == 0 &&
           cx_check_put(&quiet, CX_CHECK_IN_RUNTIME, &table);
}

static bool put_trace(void)
{
    return setenv("CTXRT_TRACE_FOLDER", folder, 1) == 0 && cx_trace_put(&quiet, true, &table);
}

static bool put_trace_by_events(void)
{
    return setenv("CTXRT_TRACE_EVENTS", "1", 1) == 0 &&
           setenv("CTXRT_TRACE_FOLDER", folder, 1) == 0 && cx_trace_put(&quiet, false, &table);
}

static bool put_count(void)
{
    return setenv("CTXRT_REPORT_FOLDER", folder, 1) == 0 && cx_count_put(&quiet, &table);
}

static void look_at_check(void)
{
    const unsigned count = atomic_load(&cx_region_here->findings);
    for (unsigned i = 0; i < count; i++)
        now->findings[cx_region_here->all_findings[i].kind]++;
    now->says_so =
        atomic_load(&cx_region_here->gave_up) != 0 || atomic_load(&cx_region_here->untraced) != 0;
}

static int count_calls(const char *at, const char *end)
{
    int calls = 0;
    for (; at + CX_TRACE_CHUNK_BYTES <= end; at += CX_TRACE_CHUNK_BYTES) {
        const cx_trace_chunk *chunk = (const cx_trace_chunk *)(const void *)at;
        const char *record = (const char *)(chunk + 1), *last = record + atomic_load(&chunk->used);
        for (; chunk->magic == CX_TRACE_MAGIC && record < last;
             record += ((const cx_trace_record *)(const void *)record)->bytes)
            calls += ((const cx_trace_record *)(const void *)record)->what == CX_TRACE_CALL;
    }
    return calls;
}

/* All calls are in the file, or counted as lost; the fork is none, and its child has a file too. */
static void look_at_trace(void)
{
    char path[512];
    struct stat status;
    DIR *all = opendir(folder);
    for (const struct dirent *one = readdir(all); one != NULL; one = readdir(all)) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        int file = open(path, O_RDWR | O_CLOEXEC);
        if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
            status.st_size == 0)
            continue;
        const char *mapped =
            mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
        const cx_trace_head *head = (const cx_trace_head *)(const void *)mapped;
        if (head->pid == getpid())
            now->says_so = count_calls(mapped + CX_TRACE_CHUNK_BYTES, mapped + status.st_size) +
                               (int)atomic_load(&head->lost) >=
                           now->calls - 1;
    }
    (void)closedir(all);
}

static void look_at_count(void)
{
    now->says_so = true;
}

static const struct {
    bool (*put)(void);
    void (*look)(void);
} layers[] = {{put_check, look_at_check},
              {put_trace, look_at_trace},
              {put_trace_by_events, look_at_trace},
              {put_count, look_at_count}};

/* ---- runs ---- */

static void remove_files(void)
{
    char path[512];
    DIR *all = opendir(folder);
    for (const struct dirent *one = readdir(all); one != NULL; one = readdir(all)) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        (void)unlink(path);
    }
    (void)closedir(all);
}

/* The program's thread is not the main one, and so it ends. */
static void live(int layer, long in_put, long in_calls)
{
    const cx_emu_config config = {
        .gpus = 2, .gpu_memory_bytes = (size_t)64 << 20, .driver_version = 13000};
    pthread_t thread;
    if (!cx_emu_configure(&config))
        _exit(NO_LAYER);
    make_tables();
    host_memory_arm(in_put);
    now->put = layers[layer].put();
    now->struck = host_memory_struck();
    host_memory_disarm();
    if (!now->put)
        table = quiet;
    if (pthread_create(&thread, NULL, run, (void *)(intptr_t)in_calls) != 0 ||
        pthread_join(thread, NULL) != 0)
        _exit(NO_LAYER);
    if (now->put)
        layers[layer].look();
    _exit(0);
}

static outcome outcome_of(int layer, long in_put, long in_calls)
{
    int status = -1;
    *now = (outcome){0};
    pid_t child = fork();
    if (child == 0)
        live(layer, in_put, in_calls);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (status != 0)
        ck_abort_msg("layer %d, allocations %ld and %ld: status %d", layer, in_put, in_calls,
                     status);
    remove_files();
    return *now;
}

static void set_up(void)
{
    strcpy(folder, "/dev/shm/check-layers.XXXXXX"); /* hundreds of files are no work for a disk */
    if (mkdtemp(folder) == NULL) {
        strcpy(folder, "/tmp/check-layers.XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
    }
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    ck_assert_int_eq(setenv("CTXRT_LOG", "off", 1), 0);
    now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(now, MAP_FAILED);
}

static void tear_down(void)
{
    (void)rmdir(folder);
}

static void compare(const outcome *without, const outcome *with, long number)
{
    ck_assert_int_eq(with->calls, without->calls);
    ck_assert(!with->watched);
    for (int i = 0; i < with->calls; i++)
        if (with->results[i] != without->results[i])
            ck_abort_msg("allocation %ld: call %d gave %d instead of %d", number, i,
                         with->results[i], without->results[i]);
    for (int i = 0; i < CX_KIND_COUNT; i++)
        if (with->findings[i] > without->findings[i])
            ck_abort_msg("allocation %ld: %s is found, which is not there", number,
                         cx_kind_rows[i].name);
}

START_TEST(calls_answer_as_before_where_a_layer_lacks_memory)
{
    const outcome without = outcome_of(_i, LONG_MAX, LONG_MAX);
    bool more = true;
    long number;
    ck_assert(without.put && !without.struck);
    ck_assert_int_lt(without.calls, CALLS_MOST);
    for (number = 1; more && number < RUNS_MOST; number++) {
        const outcome with = outcome_of(_i, LONG_MAX, number);
        more = with.struck;
        compare(&without, &with, number);
        if (with.struck && !with.says_so)
            ck_abort_msg("allocation %ld: nothing says that it failed", number);
    }
    ck_assert(!more);
}
END_TEST

START_TEST(a_layer_that_cannot_be_put_leaves_the_program_alone)
{
    const outcome without = outcome_of(_i, LONG_MAX, LONG_MAX);
    bool more = true; /* what the layer does without is made up for by a later call, or logged */
    for (long number = 1; more; number++) {
        const outcome with = outcome_of(_i, number, LONG_MAX);
        more = with.struck;
        compare(&without, &with, number);
    }
}
END_TEST

static Suite *suite_layers(void)
{
    const int count = (int)(sizeof layers / sizeof *layers);
    Suite *suite = suite_create("layers without memory");
    TCase *tcase = tcase_create("layers");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, calls_answer_as_before_where_a_layer_lacks_memory, 0, count);
    tcase_add_loop_test(tcase, a_layer_that_cannot_be_put_leaves_the_program_alone, 0, count);
    tcase_set_timeout(tcase, 600);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    Suite *(*const suites[])(void) = {suite_layers, NULL};
    return cx_test_run(suites);
}

#else

int main(void)
{
    return cx_test_skip("the sanitizer stands in the place of malloc itself");
}

#endif
