/* What is freed while the driver is asked whether earlier frees are done: it is not taken for done
 * with them. Memory that the host reaches is not given out before its stream's work is done. */
#include "device/runtime.h"
#include "fixture.h"
#include "gate.h"
#include "test.h"

#define MIB ((size_t)1 << 20)
#define BLOCK (16 * MIB)

static cx_driver_table beneath;
static ctxrt_stream *stream;
static ctxrt_memory *late; /* is freed behind work when the driver was asked; NULL: nothing more */
static gate held;
static int busy_answers; /* questions that are answered with "not yet" first */

static void free_late(void)
{
    ctxrt_memory *memory = late;
    late = NULL;
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_memory_release(memory));
}

static cxu_result ask_stream(CUstream native)
{
    cxu_result result = busy_answers > 0 ? CXU_NOT_READY : beneath.stream_query(native);
    busy_answers--;
    if (result == CXU_SUCCESS && late != NULL)
        free_late();
    return result;
}

static cxu_result ask_event(CUevent native)
{
    cxu_result result = beneath.event_query(native);
    if (result == CXU_SUCCESS && late != NULL)
        free_late();
    return result;
}

static ctxrt_memory *allocate(void)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_memory_alloc(BLOCK, &memory));
    return memory;
}

/* Another stream wants memory of which one part is done with, and one is not. */
static void free_while_asked(void)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_stream *other = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    ctxrt_memory *early = allocate();
    void *pointers[2] = {ctxrt_memory_pointer(early), NULL};
    late = allocate();
    pointers[1] = ctxrt_memory_pointer(late);
    cx_assert_ok(ctxrt_memory_release(early));
    cx_assert_ok(ctxrt_frame_set_stream(other));
    ctxrt_memory *taken[2];
    for (int i = 0; i < 2; i++) {
        taken[i] = allocate();
        ck_assert_ptr_null(late);
        ck_assert_ptr_ne(ctxrt_memory_pointer(taken[i]), pointers[1]);
    }
    gate_open(&held);
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_memory_release(taken[i]));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stream_destroy(other));
}

START_TEST(what_is_freed_while_a_stream_is_asked_waits_for_the_work_before_it)
{
    free_while_asked();
}
END_TEST

START_TEST(what_is_freed_between_a_mark_and_its_answer_waits_for_the_work_before_it)
{
    busy_answers = 1;
    free_while_asked();
}
END_TEST

/* ---- streams that go ---- */

static int created_events;

static cxu_result count_created(CUevent *out_event, unsigned int flags)
{
    created_events++;
    return beneath.event_create(out_event, flags);
}

/* Its memory is everyone's at once. */
START_TEST(a_stream_without_work_is_destroyed_without_an_event)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    ctxrt_memory *memory = allocate();
    const void *pointer = ctxrt_memory_pointer(memory);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_drivers[0].table.event_create = count_created;
    cx_assert_ok(ctxrt_stream_destroy(stream));
    memory = allocate();
    ck_assert_ptr_eq(ctxrt_memory_pointer(memory), pointer);
    ck_assert_int_eq(created_events, 0);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- an allocator that goes beside a stream ---- */

static ctxrt_stream *leaving; /* ends when the driver is asked about `asked_first` */
static CUstream asked_first, left;

static void *end_leaving(void *argument)
{
    (void)argument;
    CUstream native;
    cx_assert_ok(ctxrt_stream_native(leaving, &native));
    cx_assert_ok(ctxrt_stream_destroy(leaving));
    left = native;
    return NULL;
}

static cxu_result ask_capturing(CUstream native, cxu_stream_capture_status *out_status)
{
    pthread_t thread;
    ck_assert_ptr_ne(native, left);
    if (native == asked_first) {
        asked_first = NULL;
        ck_assert_int_eq(pthread_create(&thread, NULL, end_leaving, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    return beneath.stream_is_capturing(native, out_status);
}

static ctxrt_stream *stream_with_freed_memory(void)
{
    ctxrt_stream *made = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(made));
    cx_assert_ok(ctxrt_memory_release(allocate()));
    return made;
}

/* The allocator waits for its streams, one by one, before it unmaps memory. */
START_TEST(an_ending_allocator_hears_of_the_streams_that_end_meanwhile)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_create(&options, &allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_stream *first = stream_with_freed_memory();
    leaving = stream_with_freed_memory();
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
    cx_assert_ok(ctxrt_stream_native(first, &asked_first));
    cx_drivers[0].table.stream_is_capturing = ask_capturing;
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    ck_assert_ptr_nonnull(left);
    cx_assert_ok(ctxrt_stream_destroy(first));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- memory that the host reaches ---- */

typedef struct freeing {
    size_t size_bytes;
    sem_t begins;
    atomic_bool freed;
} freeing;

/* The thread has kept memory of this stream before. */
static void *free_behind_work(void *argument)
{
    freeing *self = argument;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_memory_alloc(self->size_bytes, &memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_memory_alloc(self->size_bytes, &memory));
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_fill_async(ctxrt_memory_pointer(memory), 1, self->size_bytes, NULL));
    sem_post(&self->begins);
    cx_assert_ok(ctxrt_memory_release(memory));
    atomic_store(&self->freed, true);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
    return NULL;
}

START_TEST(memory_of_the_cpu_is_freed_once_its_streams_work_is_done)
{
    pthread_t thread;
    freeing self = {.size_bytes = _i == 0 ? 1000 : BLOCK};
    ck_assert_int_eq(sem_init(&self.begins, 0, 0), 0);
    cx_assert_ok(ctxrt_device_push(CTXRT_CPU(0)));
    ck_assert_int_eq(pthread_create(&thread, NULL, free_behind_work, &self), 0);
    sem_wait(&self.begins);
    give_others_a_chance(current_stream());
    ck_assert(!atomic_load(&self.freed));
    gate_open(&held);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static void start(void)
{
    cx_fixture_start();
    cx_fixture_needs_emulated("a table that can be replaced");
    beneath = cx_drivers[0].table;
    busy_answers = 0;
    cx_drivers[0].table.stream_query = ask_stream;
    cx_drivers[0].table.event_query = ask_event;
}

static void end(void)
{
    cx_drivers[0].table = beneath;
    cx_fixture_end();
}

static Suite *marks_suite(void)
{
    Suite *suite = suite_create("marks");
    TCase *tcase = tcase_create("marks");
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_test(tcase, what_is_freed_while_a_stream_is_asked_waits_for_the_work_before_it);
    tcase_add_test(tcase, what_is_freed_between_a_mark_and_its_answer_waits_for_the_work_before_it);
    tcase_add_test(tcase, a_stream_without_work_is_destroyed_without_an_event);
    tcase_add_test(tcase, an_ending_allocator_hears_of_the_streams_that_end_meanwhile);
    tcase_add_loop_test(tcase, memory_of_the_cpu_is_freed_once_its_streams_work_is_done, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(marks_suite);
