/* Frames that go from thread to thread, beside memory, resets and refused releases. */
#include "suites.h"

enum { BLOCK_BYTES = 8 << 20, HAND_OFFS = 300, CYCLES = 4000, THREADS = 4200 };

static ctxrt_detached_frame *handed;
static void *first_memory;
static gate held;

/* ---- memory that was freed behind work of a default stream ---- */

static void *attach_and_write(void *argument)
{
    ctxrt_memory *memory;
    unsigned char byte = 0;
    cx_assert_ok(ctxrt_stack_attach(handed));
    cx_assert_ok(ctxrt_memory_alloc(BLOCK_BYTES, &memory));
    void *pointer = ctxrt_memory_pointer(memory);
    ck_assert_ptr_ne(pointer, first_memory);
    cx_assert_ok(ctxrt_fill_async(pointer, 2, BLOCK_BYTES, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    gate_open(&held);
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_copy(&byte, pointer, 1, CTXRT_COPY_DEVICE_TO_HOST));
    ck_assert_int_eq(byte, 2);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    return argument;
}

START_TEST(the_receiver_of_a_frame_gets_no_memory_whose_work_is_unfinished)
{
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)current_stream();
    cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_detach(&handed));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(BLOCK_BYTES, &memory));
    first_memory = ctxrt_memory_pointer(memory);
    gate_close(&held, NULL);
    cx_assert_ok(ctxrt_fill_async(first_memory, 1, BLOCK_BYTES, NULL));
    cx_assert_ok(ctxrt_memory_release(memory));
    on_a_thread(attach_and_write, NULL);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- default streams ---- */

typedef struct relay {
    sem_t full, empty;
} relay;

static void *consume(void *argument)
{
    relay *self = argument;
    for (int i = 0; i < HAND_OFFS; i++) {
        sem_wait(&self->full);
        cx_assert_ok(ctxrt_stack_attach(handed));
        (void)current_stream();
        cx_assert_ok(ctxrt_stream_synchronize(NULL));
        cx_assert_ok(ctxrt_stack_pop());
        sem_post(&self->empty);
    }
    return NULL;
}

START_TEST(hand_offs_make_no_more_default_streams_than_threads_use)
{
    relay between;
    pthread_t thread;
    int distinct = 0;
    static struct CUstream_st *seen[HAND_OFFS];
    ck_assert_int_eq(sem_init(&between.full, 0, 0), 0);
    ck_assert_int_eq(sem_init(&between.empty, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, consume, &between), 0);
    for (int i = 0; i < HAND_OFFS; i++) {
        int k = 0;
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
        struct CUstream_st *native = native_of(current_stream());
        while (k < distinct && seen[k] != native)
            k++;
        seen[k] = native;
        distinct += k == distinct;
        cx_assert_ok(ctxrt_stack_detach(&handed));
        sem_post(&between.full);
        sem_wait(&between.empty);
    }
    pthread_join(thread, NULL);
    ck_assert_int_le(distinct, 8);
}
END_TEST

/* ---- hand-offs beside a reset, or a release that is refused ---- */

static void hand_to_itself(crew *self)
{
    for (int i = 0; i < CYCLES; i++) {
        ctxrt_detached_frame *frame;
        ctxrt_stream *stream;
        if (!LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))))
            continue;
        (void)LOOK(self, ctxrt_stream_current(&stream));
        if (LOOK(self, ctxrt_stack_detach(&frame)) && !LOOK(self, ctxrt_stack_attach(frame)))
            (void)LOOK(self, ctxrt_stack_discard(frame));
        else
            (void)LOOK(self, ctxrt_stack_pop());
    }
}

START_TEST(frames_are_handed_over_while_their_device_is_reset)
{
    crew all;
    crew_start(&all, 3, hand_to_itself);
    while (crew_works(&all))
        cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    crew_join(&all);
}
END_TEST

static void use_above_a_frame(crew *self)
{
    ctxrt_context *context = NULL;
    bool open =
        LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))) && LOOK(self, ctxrt_context_current(&context));
    for (int i = 0; open && i < CYCLES; i++) {
        ctxrt_detached_frame *frame;
        ctxrt_scope scope = {0};
        if (LOOK(self, ctxrt_device_push(CTXRT_CUDA(0))) &&
            LOOK(self, ctxrt_stack_detach(&frame))) {
            if (LOOK(self, ctxrt_stack_attach(frame)))
                (void)LOOK(self, ctxrt_stack_pop());
            else
                (void)LOOK(self, ctxrt_stack_discard(frame));
        }
        if (LOOK(self, ctxrt_scope_enter(CTXRT_CUDA(0), &scope)))
            (void)LOOK(self, ctxrt_scope_leave(&scope));
        if (LOOK(self, ctxrt_stack_push(context)))
            (void)LOOK(self, ctxrt_stack_pop());
    }
    (void)LOOK(self, ctxrt_stack_pop());
}

START_TEST(a_refused_release_is_not_seen_by_threads_that_use_the_device)
{
    crew all;
    ctxrt_event *event;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_event_create(CTXRT_EVENT_DEFAULT, &event));
    cx_assert_ok(ctxrt_stack_pop());
    crew_start(&all, 2, use_above_a_frame);
    while (crew_works(&all))
        cx_assert_status(ctxrt_device_release(CTXRT_CUDA(0)), CTXRT_ERROR_IN_USE);
    crew_join(&all);
    cx_assert_ok(ctxrt_event_destroy(event));
}
END_TEST

/* ---- threads that come and go ---- */

/* Whether a new thread keeps what it freed for its own next request. */
static void *look_what_a_thread_keeps(void *argument)
{
    ctxrt_memory *memory;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    *(uint64_t *)argument = info.allocated.current_count - info.requested.current_count;
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

static void *allocate_for_another(void *argument)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_memory_alloc(4096, argument));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(a_thread_keeps_memory_for_itself_however_many_threads_have_come_and_gone)
{
    uint64_t kept = 0;
    on_a_thread(look_what_a_thread_keeps, &kept);
    ck_assert_uint_eq(kept, 1);
    for (int i = 0; i < THREADS; i++) {
        ctxrt_memory *memory;
        on_a_thread(allocate_for_another, &memory);
        cx_assert_ok(ctxrt_memory_release(memory));
    }
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    cx_assert_ok(ctxrt_stack_pop());
    on_a_thread(look_what_a_thread_keeps, &kept);
    ck_assert_uint_eq(kept, 1);
}
END_TEST

static void *attach_and_reset(void *argument)
{
    void *pointer;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)current_stream();
    cx_assert_ok(ctxrt_stack_attach(handed));
    (void)current_stream();
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    if (argument != NULL) {
        cx_assert_ok(ctxrt_stack_detach(&handed));
        cx_assert_ok(ctxrt_stack_attach(handed));
    }
    cx_assert_ok(ctxrt_alloc(BLOCK_BYTES, &pointer));
    cx_assert_ok(ctxrt_fill_async(pointer, 2, BLOCK_BYTES, NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    return argument;
}

/* The default stream of its sender goes with the reset; the frame has the receiver's then. */
START_TEST(an_attached_frame_is_of_use_after_a_reset)
{
    static bool again;
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
        (void)current_stream();
        cx_assert_ok(ctxrt_stack_detach(&handed));
        on_a_thread(attach_and_reset, i != 0 ? &again : NULL);
    }
}
END_TEST

static void *detach_with_a_default_stream(void *argument)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)current_stream();
    cx_assert_ok(ctxrt_stack_detach(&handed));
    return argument;
}

/* Frames without a stream of their own use a default stream of the thread. */
static ctxrt_detached_frame *detach_with_a_stream_of_the_thread(void)
{
    ctxrt_detached_frame *detached;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)current_stream();
    cx_assert_ok(ctxrt_stack_detach(&detached));
    return detached;
}

/* The stream that came along with a frame goes on with another one, and then the frame itself. */
START_TEST(a_frame_whose_default_stream_went_on_before_it_is_of_use_after_a_reset)
{
    void *pointer;
    ctxrt_detached_frame *gone[2];
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    (void)current_stream();
    on_a_thread(detach_with_a_default_stream, NULL);
    cx_assert_ok(ctxrt_stack_attach(handed));
    for (int i = 0; i < 2; i++)
        gone[i] = detach_with_a_stream_of_the_thread();
    cx_assert_ok(ctxrt_stack_detach(&handed));
    cx_assert_ok(ctxrt_stack_attach(handed));
    (void)current_stream();
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_alloc(4096, &pointer));
    cx_assert_ok(ctxrt_free(pointer));
    for (int i = 0; i < 2; i++)
        cx_assert_ok(ctxrt_stack_discard(gone[i]));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

Suite *handoff_suite(void)
{
    const joint joints[] = {
        JOINT(the_receiver_of_a_frame_gets_no_memory_whose_work_is_unfinished),
        JOINT(hand_offs_make_no_more_default_streams_than_threads_use),
        JOINT(frames_are_handed_over_while_their_device_is_reset),
        JOINT(an_attached_frame_is_of_use_after_a_reset),
        JOINT(a_frame_whose_default_stream_went_on_before_it_is_of_use_after_a_reset),
        JOINT(a_refused_release_is_not_seen_by_threads_that_use_the_device),
        JOINT(a_thread_keeps_memory_for_itself_however_many_threads_have_come_and_gone),
    };
    return joint_suite("hand-off", joints, sizeof joints / sizeof *joints);
}
