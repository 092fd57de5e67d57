/*
 * What the layer check knows of objects: those whose making it did not see, those that ended long
 * ago, and those of a parent process. And what it writes to the log where nobody reads its region.
 */
#include "layer/checking.h"

#include "base/log.h"
#include "layer/check/stream_clock.h"
#include "layer/names.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM "checks_check" /* whose part this file is */
static CUcontext context;

static void set_up(void)
{
    begin_checking(2);
    GOOD(table.ctx_create_v2(&context, 0, 0));
}

/* ---- what was not seen ---- */

START_TEST(a_context_that_others_made_is_known_once_it_is_pushed)
{
    CUcontext unseen, popped;
    CUevent event;
    GOOD(bare.ctx_create_v2(&unseen, 0, 1));
    GOOD(bare.ctx_pop(&popped));
    GOOD(table.ctx_push(unseen));
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 2);
    ck_assert_int_eq((int)latest(CX_HANDLE_CONTEXT)->made, 0); /* `ctxrt check` asks no end of it */
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->device, -1);
    GOOD(table.event_create(&event, 0));
    ck_assert_int_eq((int)latest(CX_HANDLE_EVENT)->context,
                     (int)latest(CX_HANDLE_CONTEXT)->number);
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->worked, 1);
    GOOD(table.ctx_pop(&popped));
    ck_assert_int_eq(found_at_all(), 0);
}
END_TEST

START_TEST(and_once_it_is_set)
{
    CUcontext unseen, popped;
    GOOD(bare.ctx_create_v2(&unseen, 0, 1));
    GOOD(bare.ctx_pop(&popped));
    GOOD(table.ctx_set_current(unseen));
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 2);
    GOOD(table.ctx_set_current(NULL));
    ck_assert_int_eq((int)table.ctx_pop(&popped), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(found(CX_KIND_STACK_POP_EMPTY), 1);
}
END_TEST

START_TEST(a_context_that_others_made_current_is_current)
{
    CUcontext popped;
    GOOD(table.ctx_pop(&popped));
    GOOD(bare.ctx_push(context));
    ck_assert_int_eq((int)table.mem_alloc(&(CUdeviceptr){0}, 0), CXU_INVALID_VALUE);
    ck_assert_int_ne((int)table.ctx_synchronize_v2((CUcontext)&popped), CXU_SUCCESS);
    ck_assert_int_eq(found(CX_KIND_CURRENT_NONE), 0);
    GOOD(bare.ctx_pop(&popped));
    ck_assert_int_eq((int)table.mem_alloc(&(CUdeviceptr){0}, 64), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(found(CX_KIND_CURRENT_NONE), 1);
}
END_TEST

START_TEST(streams_that_others_made_are_two_streams)
{
    CUstream streams[2];
    CUdeviceptr memory;
    GOOD(table.mem_alloc(&memory, 64));
    for (int i = 0; i < 2; i++) {
        GOOD(bare.stream_create(&streams[i], 0));
        GOOD(table.memset_d8_async(memory, 1, 64, streams[i]));
    }
    ck_assert_int_eq(found(CX_KIND_ORDER_COPY), 1);
    GOOD(table.stream_destroy(streams[0]));
    ck_assert_int_eq(found_at_all(), 1);
}
END_TEST

START_TEST(a_stream_that_others_made_has_no_number)
{
    cx_check_call call = {.thread = cx_check_thread_self()};
    cx_lock_enter(&cx_check_lock);
    int line = cx_stream_clock_line(&call, (CUstream)&context);
    char text[32];
    cx_stream_clock_stream_text(cx_stream_clock_stream_of(line), text, sizeof text);
    ck_assert_str_eq(text, "an unknown stream");
    ck_assert_int_eq(cx_stream_clock_line(&call, (CUstream)&context), line);
    cx_lock_leave(&cx_check_lock);
}
END_TEST

/* ---- what ended ---- */

START_TEST(what_ended_is_remembered_until_4096_others_have)
{
    CUevent event, other;
    GOOD(table.event_create(&event, 0));
    GOOD(table.event_destroy(event));
    for (int i = 0; i < 4095; i++) {
        GOOD(table.event_create(&other, 0));
        ck_assert_ptr_ne(other, event);
        GOOD(table.event_destroy(other));
    }
    ck_assert_int_eq((int)table.event_query(event), CXU_INVALID_HANDLE);
    ck_assert_int_eq(found(CX_KIND_HANDLE_ENDED), 1);
    ck_assert_int_eq(found(CX_KIND_HANDLE_UNKNOWN), 0);
    GOOD(table.event_create(&other, 0));
    GOOD(table.event_destroy(other));
    ck_assert_int_eq((int)table.event_query(event), CXU_INVALID_HANDLE);
    ck_assert_int_eq(found(CX_KIND_HANDLE_UNKNOWN), 1);
}
END_TEST

START_TEST(records_of_what_ended_are_used_again)
{
    enum { EVENTS = 2000 };
    static CUevent events[EVENTS];
    unsigned before = atomic_load(&cx_region_here->objects), all;
    for (int i = 0; i < EVENTS; i++)
        GOOD(table.event_create(&events[i], 0));
    all = atomic_load(&cx_region_here->objects);
    ck_assert_uint_eq(all, before + EVENTS);
    ck_assert_int_eq(alive(CX_HANDLE_EVENT), EVENTS);
    for (int i = 0; i < EVENTS; i++)
        GOOD(table.event_destroy(events[i]));
    ck_assert_int_eq(alive(CX_HANDLE_EVENT), 0);
    for (int i = 0; i < 1024; i++)
        GOOD(table.event_create(&events[i], 0));
    ck_assert_uint_eq(atomic_load(&cx_region_here->objects), all);
    ck_assert_int_eq(alive(CX_HANDLE_EVENT), 1024);
    GOOD(table.event_create(&events[1024], 0));
    ck_assert_uint_eq(atomic_load(&cx_region_here->objects), all + 1);
}
END_TEST

START_TEST(what_was_not_ended_after_all_is_live)
{
    CUstream stream;
    CUgraph graph;
    CUdeviceptr memory;
    GOOD(table.mem_alloc(&memory, 4096));
    GOOD(table.stream_create(&stream, 0));
    GOOD(table.stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_assert_int_eq((int)table.mem_free(memory), CXU_STREAM_CAPTURE_UNSUPPORTED);
    ck_assert_int_eq((int)table.stream_end_capture(stream, &graph),
                     CXU_STREAM_CAPTURE_INVALIDATED);
    ck_assert_int_eq(found(CX_KIND_CAPTURE_ENDED), 1);
    ck_assert_int_eq(alive(CX_OBJECT_MEMORY), 1);
    ck_assert_int_eq((int)latest(CX_OBJECT_MEMORY)->bytes, 4096);
    GOOD(table.memset_d8(memory + 4095, 0, 1));
    GOOD(table.mem_free(memory));
    ck_assert_int_eq(alive(CX_OBJECT_MEMORY), 0);
    ck_assert_int_eq((int)table.mem_free(memory), CXU_INVALID_VALUE);
    ck_assert_int_eq(found(CX_KIND_MEMORY_FREED), 1);
    ck_assert_int_eq(found_at_all(), 2);
}
END_TEST

START_TEST(a_context_ends_what_is_in_it)
{
    CUstream stream;
    CUevent event;
    CUdeviceptr memory[3];
    CUgraph graph;
    GOOD(table.stream_create(&stream, 0));
    GOOD(table.event_create(&event, 0));
    GOOD(table.graph_create(&graph, 0));
    for (int i = 0; i < 2; i++)
        GOOD(table.mem_alloc(&memory[i], 4096));
    GOOD(table.mem_alloc_async(&memory[2], 4096, stream));
    GOOD(table.ctx_destroy(context));
    ck_assert_int_eq(alive(CX_HANDLE_STREAM) + alive(CX_HANDLE_EVENT) + alive(CX_OBJECT_MEMORY) +
                         alive(CX_HANDLE_CONTEXT),
                     0);
    ck_assert_int_eq(alive(CX_HANDLE_GRAPH) + alive(CX_OBJECT_ASYNC_MEMORY), 2);
}
END_TEST

START_TEST(memory_that_was_exported_and_imported_is_released_twice)
{
    static const cxu_mem_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .handle_types = CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle, again;
    int file;
    GOOD(table.mem_create(&handle, 2 << 20, &properties, 0));
    GOOD(table.mem_export_to_shareable_handle(
        &file, handle, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    GOOD(table.mem_import_from_shareable_handle(
        &again, (void *)(intptr_t)file, CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    GOOD(table.mem_release(handle));
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 1);
    GOOD(table.mem_release(again));
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 0);
    ck_assert_int_ne((int)table.mem_release(again), CXU_SUCCESS);
    ck_assert_int_eq(alive(CX_OBJECT_CREATED_MEMORY), 0);
    (void)close(file);
}
END_TEST

START_TEST(a_kernel_that_is_given_again_is_the_same)
{
    static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry step()\n{\n    ret;\n}\n";
    CUmodule module;
    CUfunction function;
    CUlibrary library;
    CUkernel kernel;
    GOOD(table.module_load_data(&module, code));
    GOOD(table.library_load_data(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    for (int i = 0; i < 2; i++) {
        GOOD(table.module_get_function(&function, module, "step"));
        GOOD(table.library_get_kernel(&kernel, library, "step"));
    }
    ck_assert_int_eq((int)latest(CX_HANDLE_FUNCTION)->number, 1);
    ck_assert_int_eq((int)latest(CX_HANDLE_KERNEL)->number, 1);
    GOOD(table.module_unload(module));
    GOOD(table.library_unload(library));
    ck_assert_int_eq(alive(CX_HANDLE_FUNCTION) + alive(CX_HANDLE_KERNEL), 0);
}
END_TEST

START_TEST(a_place_begins_with_the_function_of_this_library)
{
    const cx_region_trace *trace = &cx_region_here->all_traces[latest(CX_HANDLE_CONTEXT)->made];
    ck_assert_int_gt((int)trace->count, 0);
    ck_assert_ptr_nonnull(
        strstr(cx_region_here->paths[trace->frames[0].module], PROGRAM));
}
END_TEST

START_TEST(work_on_memory_of_no_context_is_work)
{
    static const cxu_mem_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED, .location = {CXU_MEM_LOCATION_TYPE_DEVICE, 0}};
    static const cxu_mem_access access = {{CXU_MEM_LOCATION_TYPE_DEVICE, 0},
                                          CXU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    enum { GRANULE = 2 << 20 };
    CUmemGenericAllocationHandle handle;
    CUdeviceptr memory;
    GOOD(table.mem_address_reserve(&memory, GRANULE, 0, 0, 0));
    GOOD(table.mem_create(&handle, GRANULE, &properties, 0));
    GOOD(table.mem_map(memory, GRANULE, 0, handle, 0));
    GOOD(table.mem_set_access(memory, GRANULE, &access, 1));
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->worked, 0);
    ck_assert(!cx_region_works_elsewhere(cx_region_here, 1));
    ck_assert_int_ne((int)table.memset_d8(memory + GRANULE, 0, 1), CXU_SUCCESS);
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->worked, 0);
    GOOD(table.memset_d8(memory, 0, 1));
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->worked, 1);
    ck_assert(cx_region_works_elsewhere(cx_region_here, 1));
    ck_assert(!cx_region_works_elsewhere(cx_region_here, 0));
}
END_TEST

START_TEST(a_launch_of_a_kernel_of_no_context_is_work)
{
    static const char code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                               ".visible .entry step()\n{\n    ret;\n}\n";
    CUlibrary library;
    CUkernel kernel;
    GOOD(table.library_load_data(&library, code, NULL, NULL, 0, NULL, NULL, 0));
    GOOD(table.library_get_kernel(&kernel, library, "step"));
    GOOD(table.launch_kernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    ck_assert_int_eq(latest(CX_HANDLE_CONTEXT)->worked, 1);
}
END_TEST

/* ---- the process ---- */

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

START_TEST(the_report_names_the_process)
{
    const cx_region *region = cx_region_here;
    ck_assert_int_eq(region->pid, getpid());
    ck_assert_int_eq(region->forked_from, 0);
    const uint64_t now = now_ns();
    ck_assert_uint_le(region->begun, now);
    /* This clock may have begun later than 600 s ago itself. */
    ck_assert_uint_lt(now - region->begun, 600000000000u);
    ck_assert_ptr_nonnull(strstr(region->program, PROGRAM));
}
END_TEST

START_TEST(a_finding_tells_when_and_on_which_thread)
{
    const uint64_t before = now_ns();
    ck_assert_int_ne((int)table.event_query((CUevent)&context), CXU_SUCCESS);
    const cx_region_finding *finding = &cx_region_here->all_findings[0];
    ck_assert(finding->time >= before && finding->time <= now_ns());
    ck_assert_int_eq(finding->tid, gettid());
}
END_TEST

static CUevent event_of_parent;
static CUdeviceptr memory_of_parent;

/* What the child of a fork finds when it calls the driver: 0 is right. */
static int look_in_child(pid_t parent, unsigned traces)
{
    CUcontext current;
    (void)table.ctx_get_current(&current);
    const cx_region *region = cx_region_here;
    if (region->forked_from != parent || region->pid != getpid())
        return 1;
    if (found(CX_KIND_PROCESS_FORKED) != 1 || found_at_all() != 1)
        return 2;
    if (atomic_load(&((cx_region *)region)->traces) < traces || region->all_traces[1].count == 0)
        return 3;
    (void)table.ctx_get_current(&current); /* told once */
    (void)table.driver_get_version(&(int){0});
    if (found(CX_KIND_PROCESS_FORKED) != 1 || alive(CX_HANDLE_CONTEXT) != 0)
        return 4;
    if (latest_says(""))
        return 5;
    if (table.event_destroy(event_of_parent) == CXU_SUCCESS || alive(CX_HANDLE_EVENT) != 0)
        return 6;
    return table.mem_free(memory_of_parent) == CXU_SUCCESS || alive(CX_OBJECT_MEMORY) != 0 ? 7 : 0;
}

START_TEST(a_child_has_a_report_of_its_own)
{
    int status;
    CUcontext popped;
    ck_assert_int_eq((int)table.ctx_push((CUcontext)&popped), CXU_INVALID_CONTEXT);
    ck_assert_int_eq(found(CX_KIND_HANDLE_UNKNOWN), 1);
    GOOD(table.event_create(&event_of_parent, 0));
    GOOD(table.mem_alloc(&memory_of_parent, 64));
    unsigned traces = atomic_load(&cx_region_here->traces);
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        _exit(look_in_child(parent, traces));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(found(CX_KIND_PROCESS_FORKED), 0);
    ck_assert_int_eq(alive(CX_HANDLE_CONTEXT), 1);
}
END_TEST

/* ---- the log ---- */

/* What was written to the standard error since `begin_log`. */
static char logged[4000];
static FILE *log_file;
static int old_errors;

static void begin_log(void)
{
    log_file = tmpfile();
    ck_assert_ptr_nonnull(log_file);
    (void)fflush(stderr);
    old_errors = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fileno(log_file), STDERR_FILENO), 0);
}

static void end_log(void)
{
    (void)fflush(stderr);
    ck_assert_int_ge(dup2(old_errors, STDERR_FILENO), 0);
    rewind(log_file);
    logged[fread(logged, 1, sizeof logged - 1, log_file)] = '\0';
    (void)fclose(log_file);
}

static void assert_begins(const char *text, const char *begin)
{
    ck_assert_msg(strncmp(text, begin, strlen(begin)) == 0, "%s", text);
}

static void assert_has(const char *part)
{
    ck_assert_msg(strstr(logged, part) != NULL, "%s", logged);
}

START_TEST(a_finding_is_a_line_of_the_log)
{
    CUevent event;
    GOOD(table.event_create(&event, 0));
    GOOD(table.event_destroy(event));
    begin_log();
    (void)table.event_query(event);
    (void)table.event_query(event); /* it is told once */
    end_log();
    assert_begins(logged,
                  "ctxrt: warning: check: HANDLE-ENDED: an object was used after it had ended: "
                  "cuEventQuery gave CUDA_ERROR_INVALID_HANDLE at ");
    assert_has("; made: event 1 of GPU 0 belongs to context 1 of GPU 0 at ");
    assert_has("; ended: event 1 of GPU 0 was ended by cuEventDestroy_v2 at ");
    assert_has("; advice: end an object only after its last use; `ctxrt check` names functions "
               "and lines\n");
    ck_assert_ptr_eq(strchr(logged, '\n'), logged + strlen(logged) - 1);
}
END_TEST

static void *leave_a_push(void *unused)
{
    GOOD(table.ctx_push(context));
    return unused;
}

START_TEST(a_finding_of_no_call_names_none)
{
    pthread_t thread;
    begin_log();
    ck_assert_int_eq(pthread_create(&thread, NULL, leave_a_push, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    end_log();
    assert_begins(logged, "ctxrt: warning: check: STACK-LEFT: a thread ended without popping a "
                          "context that it pushed; pushed: context 1 of GPU 0, pushed by "
                          PROGRAM " at ");
}
END_TEST

START_TEST(the_first_of_all_calls_is_named_too)
{
    atomic_store(&cx_region_here->exiting, 1);
    begin_log();
    GOOD(table.init(0));
    end_log();
    assert_begins(logged, "ctxrt: warning: check: PROCESS-TEARDOWN: a driver call while the "
                          "process exits: cuInit at ");
}
END_TEST

START_TEST(a_call_that_did_not_fail_is_named_without_a_result)
{
    CUdeviceptr memory;
    CUstream streams[2];
    GOOD(table.mem_alloc(&memory, 64));
    for (int i = 0; i < 2; i++)
        GOOD(table.stream_create(&streams[i], CXU_STREAM_NON_BLOCKING));
    GOOD(table.memset_d8_async(memory, 1, 64, streams[0]));
    begin_log();
    GOOD(table.memset_d8_async(memory, 1, 64, streams[1]));
    end_log();
    assert_has(": cuMemsetD8Async at ");
    assert_has("; second: cuMemsetD8Async in stream 2 at ");
}
END_TEST

START_TEST(the_summary_counts_kinds)
{
    CUcontext popped;
    CUevent event;
    begin_log();
    cx_finding_summarise();
    end_log();
    ck_assert_str_eq(logged, "");
    GOOD(table.event_create(&event, 0));
    GOOD(table.event_destroy(event));
    (void)table.event_query(event);
    (void)table.event_synchronize(event);
    begin_log();
    cx_finding_summarise();
    end_log();
    ck_assert_str_eq(logged, "ctxrt: check: 2 findings, HANDLE-ENDED 2\n");
    GOOD(table.ctx_pop(&popped));
    (void)table.ctx_pop(&popped);
    begin_log();
    cx_finding_summarise();
    end_log();
    ck_assert_str_eq(logged, "ctxrt: check: 3 findings, STACK-POP-EMPTY 1, HANDLE-ENDED 2\n");
}
END_TEST

START_TEST(nothing_is_logged_that_ctxrt_check_reads)
{
    CUcontext popped;
    cx_region_in_file = true;
    begin_log();
    GOOD(table.ctx_pop(&popped));
    (void)table.ctx_pop(&popped);
    cx_finding_summarise();
    end_log();
    ck_assert_str_eq(logged, "");
    ck_assert_int_eq(found(CX_KIND_STACK_POP_EMPTY), 1);
}
END_TEST

/* ---- names of a runtime above ---- */

static bool name_frame(char *text, size_t size)
{
    snprintf(text, size, "frame 1 of 1");
    return true;
}

static bool name_object(cx_handle_kind kind, uintptr_t handle, char *text, size_t size)
{
    (void)handle;
    snprintf(text, size, "the program's event");
    return kind == CX_HANDLE_EVENT;
}

START_TEST(findings_have_the_names_of_a_runtime_above)
{
    static const cx_layer_names names = {name_frame, name_object};
    CUevent event;
    cx_layer_names_add(&names);
    GOOD(table.event_create(&event, 0));
    GOOD(table.event_destroy(event));
    (void)table.event_query(event);
    ck_assert(latest_says("it is the program's event"));
    ck_assert(latest_says("the thread works on frame 1 of 1"));
}
END_TEST

START_TEST(devices_of_the_host_are_no_gpus)
{
    CUevent event;
    cx_layer_names_own.host_devices = 1;
    GOOD(table.event_create(&event, 0));
    GOOD(table.event_destroy(event));
    (void)table.event_query(event);
    ck_assert(latest_says("event 1 of the CPU's device belongs to context 1 of the CPU's device"));
}
END_TEST

static Suite *seen_suite(void)
{
    Suite *suite = suite_create("what the layer check has seen");
    TCase *tcase = tcase_create("seen");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_test(tcase, a_context_that_others_made_is_known_once_it_is_pushed);
    tcase_add_test(tcase, and_once_it_is_set);
    tcase_add_test(tcase, a_context_that_others_made_current_is_current);
    tcase_add_test(tcase, streams_that_others_made_are_two_streams);
    tcase_add_test(tcase, a_stream_that_others_made_has_no_number);
    tcase_add_test(tcase, what_ended_is_remembered_until_4096_others_have);
    tcase_add_test(tcase, records_of_what_ended_are_used_again);
    tcase_add_test(tcase, what_was_not_ended_after_all_is_live);
    tcase_add_test(tcase, a_context_ends_what_is_in_it);
    tcase_add_test(tcase, a_kernel_that_is_given_again_is_the_same);
    tcase_add_test(tcase, a_place_begins_with_the_function_of_this_library);
    tcase_add_test(tcase, work_on_memory_of_no_context_is_work);
    tcase_add_test(tcase, a_launch_of_a_kernel_of_no_context_is_work);
    tcase_add_test(tcase, memory_that_was_exported_and_imported_is_released_twice);
    tcase_add_test(tcase, the_report_names_the_process);
    tcase_add_test(tcase, a_finding_tells_when_and_on_which_thread);
    tcase_add_test(tcase, a_child_has_a_report_of_its_own);
    tcase_add_test(tcase, a_finding_is_a_line_of_the_log);
    tcase_add_test(tcase, a_finding_of_no_call_names_none);
    tcase_add_test(tcase, the_first_of_all_calls_is_named_too);
    tcase_add_test(tcase, a_call_that_did_not_fail_is_named_without_a_result);
    tcase_add_test(tcase, the_summary_counts_kinds);
    tcase_add_test(tcase, nothing_is_logged_that_ctxrt_check_reads);
    tcase_add_test(tcase, findings_have_the_names_of_a_runtime_above);
    tcase_add_test(tcase, devices_of_the_host_are_no_gpus);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(seen_suite);
