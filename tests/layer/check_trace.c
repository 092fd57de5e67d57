/* The layer trace keeps each call of 64 threads, what they wait for, and the times of work; a child
 * has a file of its own. */
#include "config.h"
#include "driver/work_timestamps.h"
#include "emu/emu.h"
#include "layer/trace/format.h"
#include "layer/trace/layout.h"
#include "layer/trace/trace.h"
#include "test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { STEPS = 2000, SOAKED = STEPS };
#else
enum { STEPS = 20000, SOAKED = 40000 }; /* soaked: 10 million calls */
#endif

enum { THREADS = 64, FILES = 4, FILLS = 60, OTHERS = 80 }; /* others: threads of the driver */

static cx_driver_table bare, table;
static char folder[64];

#define GOOD(call) ck_assert_int_eq((int)(call), CXU_SUCCESS)

/* ---- the setting ---- */

static void begin_in_front(bool times_itself)
{
    const cx_emu_config config = {
        .gpus = 2, .gpu_memory_bytes = (size_t)64 << 20, .driver_version = 13000};
    strcpy(folder, "/tmp/check-trace.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("CTXRT_TRACE_FOLDER", folder, 1), 0);
    ck_assert(cx_emu_configure(&config));
    bare = *cx_emu_driver();
    ck_assert(cx_trace_put(&bare, times_itself, &table));
    GOOD(table.init(0));
}

static void begin(void)
{
    begin_in_front(true);
}

/* As in front of a driver that tells no times. */
static void begin_with_events(void)
{
    ck_assert_int_eq(setenv("CTXRT_TRACE_EVENTS", "1", 1), 0);
    begin_in_front(false);
}

static void end(void)
{
    char path[512];
    DIR *all = opendir(folder);
    for (const struct dirent *one = all != NULL ? readdir(all) : NULL; one != NULL;
         one = readdir(all)) {
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        (void)unlink(path);
    }
    if (all != NULL)
        (void)closedir(all);
    (void)rmdir(folder);
}

/* ---- reading ---- */

typedef struct trace {
    const cx_trace_head *head;
    uint64_t bytes;
} trace;

static trace map_trace(int file)
{
    struct stat status;
    ck_assert_int_eq(fstat(file, &status), 0);
    void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0);
    ck_assert_ptr_ne(mapped, MAP_FAILED);
    const trace self = {mapped, (uint64_t)status.st_size};
    ck_assert_uint_eq(self.head->magic, CX_TRACE_MAGIC);
    return self;
}

/* The files of the folder. */
static int open_files(int files[FILES])
{
    char path[512];
    int count = 0;
    DIR *all = opendir(folder);
    ck_assert_ptr_nonnull(all);
    for (const struct dirent *one = readdir(all); one != NULL; one = readdir(all)) {
        if (one->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        ck_assert_int_lt(count, FILES);
        files[count] = open(path, O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(files[count++], 0);
    }
    (void)closedir(all);
    return count;
}

static trace open_only_file(void)
{
    int files[FILES];
    ck_assert_int_eq(open_files(files), 1);
    return map_trace(files[0]);
}

typedef void visitor(const cx_trace_chunk *chunk, const cx_trace_record *record, void *argument);

static int by_thread(const void *one, const void *other)
{
    const cx_trace_chunk *first = *(const cx_trace_chunk *const *)one;
    const cx_trace_chunk *second = *(const cx_trace_chunk *const *)other;
    if (first->thread != second->thread)
        return first->thread < second->thread ? -1 : 1;
    return (first->number > second->number) - (first->number < second->number);
}

/* The chunks of a thread, in order, and then those of the next; some were never begun. */
static void each_record(const trace *self, visitor *visit, void *argument)
{
    size_t count = 0;
    const cx_trace_chunk **chunks =
        calloc((size_t)(self->bytes / CX_TRACE_CHUNK_BYTES), sizeof *chunks);
    ck_assert_ptr_nonnull(chunks);
    for (uint64_t at = CX_TRACE_CHUNK_BYTES; at < self->bytes; at += CX_TRACE_CHUNK_BYTES) {
        chunks[count] = (const void *)((const char *)self->head + at);
        count += chunks[count]->magic == CX_TRACE_MAGIC;
    }
    qsort(chunks, count, sizeof *chunks, by_thread);
    for (size_t i = 0; i < count; i++) {
        const cx_trace_chunk *chunk = chunks[i];
        unsigned used = atomic_load(&((cx_trace_chunk *)chunk)->used), seen = 0;
        while (seen < used) {
            const cx_trace_record *record = (const void *)((const char *)(chunk + 1) + seen);
            ck_assert_uint_gt(record->bytes, 0);
            visit(chunk, record, argument);
            seen += record->bytes;
        }
    }
    free(chunks);
}

/* ---- counts ---- */

typedef struct counts {
    long calls, work, of_slot[CX_SLOT_COUNT], of_thread[THREADS + OTHERS];
    uint64_t last_start[THREADS + OTHERS];
    int kinds[CX_TIMED_KINDS];
    uint64_t ticket; /* of the last fill */
    cx_trace_work moved, hosted;
    cx_trace_module module; /* the last one */
} counts;

static void count_call(counts *self, const cx_trace_chunk *chunk, const cx_trace_call *call)
{
    uint64_t ended = atomic_load(&((cx_trace_call *)call)->end);
    self->calls++;
    self->of_slot[call->slot]++;
    self->of_thread[chunk->thread]++;
    ck_assert_uint_ge(call->start, self->last_start[chunk->thread]);
    ck_assert_uint_ge(ended, call->start);
#ifdef HAVE__DL_FIND_OBJECT /* the record of this program is first */
    ck_assert_uint_ge(call->caller, self->module.begin);
    ck_assert_uint_lt(call->caller, self->module.end);
#endif
    ck_assert_uint_eq(call->record.bytes, cx_trace_layouts[call->slot].bytes);
    self->last_start[chunk->thread] = call->start;
    ck_assert_int_eq(call->depth_before > 0, call->before != 0);
    ck_assert_int_eq(call->depth_after > 0, call->after != 0);
    if (call->slot == CX_SLOT_ctx_push)
        ck_assert_int_eq(call->depth_after, call->depth_before + 1);
    if (call->slot == CX_SLOT_memset_d8_async)
        self->ticket = call->ticket;
}

static void count_record(const cx_trace_chunk *chunk, const cx_trace_record *record, void *argument)
{
    counts *self = argument;
    const cx_trace_work *work = (const void *)record;
    if (record->what == CX_TRACE_CALL) {
        count_call(self, chunk, (const cx_trace_call *)record);
        return;
    }
    if (record->what == CX_TRACE_MODULE) {
        self->module = *(const cx_trace_module *)(const void *)record;
        return;
    }
    ck_assert_int_eq(record->what, CX_TRACE_WORK);
    self->work++;
    self->kinds[record->detail]++;
    if (record->detail == CX_TIMED_MOVE)
        self->moved = *work;
    if (record->detail == CX_TIMED_HOST)
        self->hosted = *work;
    ck_assert_uint_le(work->submitted, work->start);
    ck_assert_uint_le(work->start, work->end);
}

/* ---- tests ---- */

static CUcontext contexts[2];

static long count_steps(void)
{
    const char *extent = getenv("CTXRT_TEST_EXTENT");
    return extent != NULL && strcmp(extent, "soak") == 0 ? SOAKED : STEPS;
}

static void *call_often(void *argument)
{
    const long steps = count_steps();
    CUcontext context = contexts[(uintptr_t)argument % 2], popped;
    CUevent event;
    for (long i = 0; i < steps; i++) {
        GOOD(table.ctx_push(context));
        GOOD(table.event_create(&event, 0));
        GOOD(table.event_destroy(event));
        GOOD(table.ctx_pop(&popped));
        ck_assert_ptr_eq(popped, context);
    }
    return NULL;
}

static void make_contexts(void)
{
    CUcontext popped;
    for (int i = 0; i < 2; i++) {
        GOOD(table.ctx_create_v2(&contexts[i], 0, i));
        GOOD(table.ctx_pop(&popped));
    }
}

START_TEST(each_call_of_64_threads_is_recorded_once_with_its_times_and_its_stack)
{
    static counts all;
    const long steps = count_steps();
    pthread_t threads[THREADS];
    make_contexts();
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    trace self = open_only_file();
    each_record(&self, count_record, &all);
    ck_assert_int_eq(all.calls, 5 + 4 * steps * THREADS);
    ck_assert_int_eq(all.of_slot[CX_SLOT_ctx_push], steps * THREADS);
    ck_assert_int_eq(all.of_slot[CX_SLOT_event_destroy], steps * THREADS);
    ck_assert_int_eq(all.of_thread[1], 5);
    for (int i = 2; i < THREADS + 2; i++)
        ck_assert_int_eq(all.of_thread[i], 4 * steps);
    ck_assert_uint_eq(atomic_load(&((cx_trace_head *)self.head)->lost), 0);
}
END_TEST

static void *fill_often(void *argument)
{
    CUcontext popped;
    CUstream stream;
    CUdeviceptr memory;
    GOOD(table.ctx_push(contexts[(uintptr_t)argument % 2]));
    GOOD(table.stream_create(&stream, 1));
    GOOD(table.mem_alloc(&memory, 1 << 17));
    for (int i = 0; i < FILLS; i++) /* tiny ones run on this thread, others on the driver's */
        GOOD(table.memset_d8_async(memory, 1, i % 2 == 0 ? 64 : 1 << 17, stream));
    GOOD(table.stream_synchronize(stream));
    GOOD(table.ctx_pop(&popped));
    return NULL;
}

START_TEST(work_of_64_threads_is_timed_piece_by_piece)
{
    static counts all;
    pthread_t threads[THREADS];
    make_contexts();
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fill_often, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    trace self = open_only_file();
    each_record(&self, count_record, &all);
    ck_assert_int_eq(all.of_slot[CX_SLOT_memset_d8_async], FILLS * THREADS);
    ck_assert_int_eq(all.kinds[CX_TIMED_MOVE], FILLS * THREADS);
    ck_assert_int_eq(all.calls, 5 + (FILLS + 5L) * THREADS);
}
END_TEST

enum { FILLERS = 8, ROUNDS = 4 };

/* A round in two ends its context while a fill may be under way. */
static void *fill_in_own_contexts(void *argument)
{
    for (int round = 0; round < ROUNDS; round++) {
        CUcontext own;
        CUstream streams[2];
        CUdeviceptr memory;
        GOOD(table.ctx_create_v2(&own, 0, (int)((uintptr_t)argument % 2)));
        for (int i = 0; i < 2; i++)
            GOOD(table.stream_create(&streams[i], 1));
        GOOD(table.mem_alloc(&memory, 2 << 17));
        for (unsigned i = 0; i < FILLS; i++)
            GOOD(table.memset_d8_async(memory + (i % 2 << 17), 1, i % 3 == 0 ? 64 : 1 << 17,
                                       streams[i % 2]));
        GOOD(table.ctx_synchronize());
        if (round % 2 != 0)
            GOOD(table.memset_d8_async(memory, 1, 1 << 17, streams[0]));
        GOOD(table.ctx_destroy(own));
    }
    return NULL;
}

/* The embedded driver tells the times as well: those of events are the others. */
START_TEST(events_time_the_work_of_contexts_that_come_and_go)
{
    static counts all;
    pthread_t threads[FILLERS];
    const int whole = FILLERS * ROUNDS * FILLS, at_ends = FILLERS * ROUNDS / 2;
    for (uintptr_t i = 0; i < FILLERS; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, fill_in_own_contexts, (void *)i), 0);
    for (int i = 0; i < FILLERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    trace self = open_only_file();
    each_record(&self, count_record, &all);
    ck_assert_int_eq(all.of_slot[CX_SLOT_memset_d8_async], whole + at_ends);
    ck_assert_int_ge(all.kinds[CX_TIMED_MOVE], 2 * whole + at_ends);
    ck_assert_int_le(all.kinds[CX_TIMED_MOVE], 2 * (whole + at_ends));
    ck_assert_int_eq(all.of_slot[CX_SLOT_event_create], 0); /* the layer's own are no calls */
}
END_TEST

START_TEST(events_leave_captures_alone)
{
    static counts all;
    CUcontext own;
    CUstream stream;
    CUdeviceptr memory;
    CUgraph graph;
    size_t nodes;
    GOOD(table.ctx_create_v2(&own, 0, 0));
    GOOD(table.stream_create(&stream, 1));
    GOOD(table.mem_alloc(&memory, 4096));
    GOOD(table.stream_begin_capture(stream, CXU_STREAM_CAPTURE_MODE_GLOBAL));
    GOOD(table.memset_d8_async(memory, 1, 4096, stream));
    GOOD(table.stream_end_capture(stream, &graph));
    GOOD(table.graph_get_nodes(graph, NULL, &nodes));
    ck_assert_uint_eq(nodes, 1);
    GOOD(table.graph_destroy(graph));
    GOOD(table.ctx_destroy(own));
    trace self = open_only_file();
    each_record(&self, count_record, &all);
    ck_assert_int_eq(all.work, 0);
}
END_TEST

static void wait_for_byte(void *argument)
{
    char byte;
    ck_assert_int_eq((int)read(*(int *)argument, &byte, 1), 1);
}

START_TEST(work_has_the_time_at_which_it_ran_and_the_ticket_of_its_call)
{
    static counts all;
    int gate[2];
    CUstream stream;
    CUdeviceptr memory;
    ck_assert_int_eq(pipe(gate), 0);
    make_contexts();
    GOOD(table.ctx_push(contexts[0]));
    GOOD(table.stream_create(&stream, 0));
    GOOD(table.mem_alloc(&memory, 4096));
    GOOD(table.launch_host_func(stream, wait_for_byte, &gate[0]));
    GOOD(table.memset_d8_async(memory, 1, 4096, stream));
    ck_assert_int_eq((int)write(gate[1], "x", 1), 1);
    GOOD(table.stream_synchronize(stream));
    trace self = open_only_file();
    each_record(&self, count_record, &all);
    ck_assert_int_eq(all.kinds[CX_TIMED_HOST], 1);
    ck_assert_int_eq(all.kinds[CX_TIMED_MOVE], 1);
    ck_assert_uint_ne(all.ticket, 0);
    ck_assert_uint_eq(all.moved.ticket, all.ticket);
    ck_assert_uint_eq(all.moved.stream, (uintptr_t)stream);
    ck_assert_uint_eq(all.moved.context, (uintptr_t)contexts[0]);
    ck_assert_uint_ge(all.moved.start, all.hosted.end);
    ck_assert_uint_lt(all.moved.submitted, all.hosted.end);
}
END_TEST

/* The values that came back of the last stream_create, and the text of the last get_function. */
typedef struct kept {
    uint64_t stream;
    char path[CX_TRACE_TEXT];
} kept;

static void keep(const cx_trace_chunk *chunk, const cx_trace_record *record, void *argument)
{
    kept *self = argument;
    const cx_trace_call *call = (const void *)record;
    (void)chunk;
    if (record->what != CX_TRACE_CALL)
        return;
    const cx_trace_layout *layout = &cx_trace_layouts[call->slot];
    if (call->slot == CX_SLOT_stream_create)
        memcpy(&self->stream, (const char *)call + layout->parameters[0].back, 8);
    if (call->slot == CX_SLOT_module_load)
        memcpy(self->path, (const char *)call + layout->text, CX_TRACE_TEXT);
}

START_TEST(handles_that_came_back_and_texts_are_kept)
{
    kept self = {.stream = 0};
    CUstream stream;
    CUmodule module;
    make_contexts();
    GOOD(table.ctx_push(contexts[0]));
    GOOD(table.stream_create(&stream, 0));
    ck_assert_int_eq((int)table.module_load(&module, "/nowhere/module"), CXU_FILE_NOT_FOUND);
    trace file = open_only_file();
    each_record(&file, keep, &self);
    ck_assert_uint_eq(self.stream, (uintptr_t)stream);
    ck_assert_str_eq(self.path, "/nowhere/module");
}
END_TEST

/* ---- a call within a call, and one that the layer does not see ---- */

static cxu_result call_within(void)
{
    CUcontext current;
    GOOD(table.ctx_get_current(&current));
    GOOD(table.ctx_get_current(&current));
    return CXU_SUCCESS;
}

typedef struct order {
    cx_trace_call all[16];
    int count;
} order;

static void keep_order(const cx_trace_chunk *chunk, const cx_trace_record *record, void *argument)
{
    order *self = argument;
    (void)chunk;
    if (record->what == CX_TRACE_CALL)
        memcpy((void *)&self->all[self->count++], record, sizeof(cx_trace_call));
}

START_TEST(calls_within_a_call_come_behind_it_and_each_has_its_own_end)
{
    order seen = {.count = 0};
    bare.ctx_synchronize = call_within;
    make_contexts();
    GOOD(table.ctx_synchronize());
    trace file = open_only_file();
    each_record(&file, keep_order, &seen);
    ck_assert_int_eq(seen.count, 8);
    const cx_trace_call *outer = &seen.all[5], *first = &seen.all[6], *second = &seen.all[7];
    ck_assert_int_eq(outer->slot, CX_SLOT_ctx_synchronize);
    ck_assert_int_eq(second->slot, CX_SLOT_ctx_get_current);
    ck_assert_uint_ge(first->end, first->start);
    ck_assert_uint_ge(second->start, first->end);
    ck_assert_uint_ge(second->end, second->start);
    ck_assert_uint_ge(outer->end, second->end);
}
END_TEST

START_TEST(a_change_that_the_layer_did_not_see_is_seen_at_the_next_change)
{
    order seen = {.count = 0};
    CUcontext popped;
    make_contexts();
    GOOD(bare.ctx_push(contexts[1]));
    GOOD(table.ctx_push(contexts[0]));
    GOOD(table.ctx_pop(&popped));
    trace file = open_only_file();
    each_record(&file, keep_order, &seen);
    ck_assert_int_eq(seen.count, 7);
    ck_assert_uint_eq(seen.all[5].after, (uintptr_t)contexts[0]);
    ck_assert_uint_eq(seen.all[6].after, (uintptr_t)contexts[1]);
    ck_assert_int_eq(seen.all[6].depth_after, 1);
    GOOD(bare.ctx_pop(&popped));
}
END_TEST

START_TEST(a_child_has_a_file_of_its_own_and_the_parents_stays_as_it_is)
{
    static counts all[2];
    int files[FILES], status;
    CUcontext current;
    make_contexts();
    pid_t child = fork();
    if (child == 0) {
        (void)table.ctx_get_current(&current);
        (void)table.ctx_get_current(&current);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    GOOD(table.ctx_get_current(&current));
    ck_assert_int_eq(open_files(files), 2);
    for (int i = 0; i < 2; i++) {
        trace file = map_trace(files[i]);
        bool of_child = file.head->pid == child;
        each_record(&file, count_record, &all[of_child]);
        ck_assert_int_eq(file.head->forked_from, of_child ? getpid() : 0);
    }
    ck_assert_int_eq(all[0].calls, 6);
    ck_assert_int_eq(all[1].calls, 2);
    ck_assert_int_eq(all[1].of_slot[CX_SLOT_ctx_get_current], 2);
}
END_TEST

START_TEST(calls_without_room_are_counted_and_go_on)
{
    static counts all;
    int files[FILES];
    long calls = 0;
    CUcontext current;
    make_contexts();
    ck_assert_int_eq(open_files(files), 1);
    const cx_trace_head *head = map_trace(files[0]).head;
    end();
    while (atomic_load(&((cx_trace_head *)head)->lost) == 0 && calls < 100000) {
        GOOD(table.ctx_get_current(&current));
        calls++;
    }
    GOOD(table.ctx_push(contexts[0]));
    GOOD(table.ctx_pop(&current));
    trace self = map_trace(files[0]);
    each_record(&self, count_record, &all);
    ck_assert_uint_eq(atomic_load(&((cx_trace_head *)head)->lost), 3);
    ck_assert_int_eq(all.of_slot[CX_SLOT_ctx_get_current], calls - 1);
}
END_TEST

static Suite *trace_suite(void)
{
    Suite *suite = suite_create("the layer trace");
    TCase *tcase = tcase_create("trace");
    tcase_add_checked_fixture(tcase, begin, end);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, each_call_of_64_threads_is_recorded_once_with_its_times_and_its_stack);
    tcase_add_test(tcase, work_of_64_threads_is_timed_piece_by_piece);
    tcase_add_test(tcase, work_has_the_time_at_which_it_ran_and_the_ticket_of_its_call);
    tcase_add_test(tcase, handles_that_came_back_and_texts_are_kept);
    tcase_add_test(tcase, calls_within_a_call_come_behind_it_and_each_has_its_own_end);
    tcase_add_test(tcase, a_change_that_the_layer_did_not_see_is_seen_at_the_next_change);
    tcase_add_test(tcase, a_child_has_a_file_of_its_own_and_the_parents_stays_as_it_is);
    tcase_add_test(tcase, calls_without_room_are_counted_and_go_on);
    suite_add_tcase(suite, tcase);
    TCase *events = tcase_create("events");
    tcase_add_checked_fixture(events, begin_with_events, end);
    tcase_set_timeout(events, 120);
    tcase_add_test(events, events_time_the_work_of_contexts_that_come_and_go);
    tcase_add_test(events, events_leave_captures_alone);
    suite_add_tcase(suite, events);
    return suite;
}

CX_TESTS(trace_suite);
