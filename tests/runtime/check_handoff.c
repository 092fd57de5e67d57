/* Frames that go from one thread to another. */
#include "device/device.h"
#include "gate.h"
#include "work/stream.h"

#include <stdlib.h>
#include <string.h>

static const cx_driver_table *driver;

static void start(void)
{
    cx_fixture_start();
    driver = &cx_drivers[0].table;
}

static void start_refusing(void)
{
    cx_fixture_start_with(4, CTXRT_FOREIGN_ERROR);
    driver = &cx_drivers[0].table;
}

static CUcontext native_current(void)
{
    CUcontext current;
    ck_assert_int_eq(driver->ctx_get_current(&current), CXU_SUCCESS);
    return current;
}

static ctxrt_detached_frame *detach(void)
{
    ctxrt_detached_frame *frame;
    cx_assert_ok(ctxrt_stack_detach(&frame));
    return frame;
}

static ctxrt_frame_info top_frame(void)
{
    ctxrt_frame_info info;
    cx_assert_ok(ctxrt_stack_peek(0, &info));
    return info;
}

static void assert_message(const char *part)
{
    ck_assert_msg(strstr(ctxrt_last_error()->message, part) != NULL, "\"%s\" is not in: %s", part,
                  ctxrt_last_error()->message);
}

/* ---- what travels ---- */

typedef struct parcel {
    ctxrt_detached_frame *frame;
    ctxrt_frame_info sent;
    ctxrt_stream *stream; /* the current one where it was sent */
    atomic_int *marks;
    gate *gate;
} parcel;

static void *receive_and_compare(void *argument)
{
    const parcel *self = argument;
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    cx_assert_ok(ctxrt_stack_attach(self->frame));
    ctxrt_frame_info info = top_frame();
    ck_assert_int_eq(info.origin, CTXRT_FRAME_ATTACH);
    ck_assert_ptr_eq(info.context, self->sent.context);
    ck_assert_int_eq(info.device.index, self->sent.device.index);
    ck_assert_ptr_eq(info.stream, self->sent.stream);
    ck_assert_ptr_eq(info.allocator, self->sent.allocator);
    ck_assert_str_eq(info.file, self->sent.file);
    ck_assert_int_eq(info.line, self->sent.line);
    ck_assert_ptr_eq(current_stream(), self->sent.stream);
    cx_assert_ok(ctxrt_allocator_current(&allocator));
    ck_assert_ptr_eq(allocator, self->sent.allocator);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(stream_allocator_and_place_travel_with_the_frame)
{
    parcel self;
    ctxrt_allocator *allocator;
    cx_assert_ok(CTXRT_DEVICE_PUSH(CTXRT_CUDA(2)));
    int line = __LINE__ - 1;
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    self.sent = top_frame();
    ck_assert_int_eq(self.sent.line, line);
    self.frame = detach();
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    ck_assert_ptr_null(native_current());
    on_a_thread(receive_and_compare, &self);
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

static void *receive_work_in_flight(void *argument)
{
    const parcel *self = argument;
    cx_assert_ok(ctxrt_stack_attach(self->frame));
    ck_assert_ptr_eq(current_stream(), self->stream);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, self->marks));
    ck_assert_int_eq(atomic_load(self->marks), 0);
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    gate_open(self->gate);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(self->marks), 2);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

/* The default stream: work behind it on the other thread must come after what is in it. */
START_TEST(work_in_flight_goes_on_and_the_receiver_queues_behind_it)
{
    for (int own = 0; own < 2; own++) {
        gate closed;
        atomic_int marks = 0;
        ctxrt_stream *stream = NULL;
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
        if (own) {
            stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
            cx_assert_ok(ctxrt_frame_set_stream(stream));
        }
        gate_close(&closed, NULL);
        cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, &marks));
        parcel self = {.stream = current_stream(), .marks = &marks, .gate = &closed};
        self.frame = detach();
        on_a_thread(receive_work_in_flight, &self);
        cx_assert_ok(ctxrt_stream_destroy(stream));
    }
}
END_TEST

static void *receive_and_keep_the_stream(void *argument)
{
    const parcel *self = argument;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_stream *own = current_stream();
    ck_assert_ptr_ne(own, self->stream);
    cx_assert_ok(ctxrt_stack_attach(self->frame));
    ck_assert_ptr_eq(current_stream(), self->stream);
    cx_assert_error(ctxrt_stream_destroy(self->stream), CTXRT_ERROR_INVALID_ARGUMENT);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_eq(current_stream(), own);
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(a_default_stream_that_travels_is_the_receivers_and_the_sender_gets_another)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    parcel self = {.stream = current_stream()};
    self.frame = detach();
    ck_assert_ptr_ne(current_stream(), self.stream);
    on_a_thread(receive_and_keep_the_stream, &self);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

typedef struct handed_memory {
    ctxrt_detached_frame *frame;
    void *freed; /* by the sender, behind work that waits */
} handed_memory;

static void *allocate_in_the_frame(void *argument)
{
    const handed_memory *self = argument;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_stack_attach(self->frame));
    cx_assert_ok(ctxrt_memory_alloc(8 << 20, &memory));
    ck_assert_ptr_ne(ctxrt_memory_pointer(memory), self->freed);
    cx_assert_ok(ctxrt_memory_release(memory));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(memory_freed_behind_work_of_the_senders_new_default_stream_is_not_the_receivers)
{
    gate closed;
    handed_memory self;
    ctxrt_memory *memory;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_alloc(4096, &memory));
    cx_assert_ok(ctxrt_memory_release(memory));
    self.frame = detach();
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_memory_alloc(8 << 20, &memory));
    self.freed = ctxrt_memory_pointer(memory);
    gate_close(&closed, NULL);
    cx_assert_ok(ctxrt_memory_release(memory));
    on_a_thread(allocate_in_the_frame, &self);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* However often frames go back and forth, no more streams are made than threads have at once. */
START_TEST(default_streams_of_frames_that_travelled_are_used_again)
{
    for (int i = 0; i < 200; i++) {
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
        parcel self = {.stream = current_stream()};
        self.frame = detach();
        on_a_thread(receive_and_keep_the_stream, &self);
        ck_assert_uint_le(cx_pool_live(&cx_streams), 2);
    }
}
END_TEST

START_TEST(default_streams_of_frames_that_were_discarded_are_used_again)
{
    for (int i = 0; i < 50; i++) {
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
        (void)current_stream();
        cx_assert_ok(ctxrt_stack_discard(detach()));
        ck_assert_uint_eq(cx_pool_live(&cx_streams), 1);
    }
}
END_TEST

/* Also where the frame beneath has used the stream before. */
START_TEST(the_senders_other_frames_of_the_context_do_not_wait_for_work_that_travels)
{
    gate closed;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    gate_close(&closed, NULL);
    ctxrt_detached_frame *frame = detach();
    cx_assert_ok(ctxrt_stream_query(NULL));
    cx_assert_ok(ctxrt_stack_attach(frame));
    cx_assert_error(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- what is in use meanwhile ---- */

START_TEST(everything_a_detached_frame_refers_to_is_in_use)
{
    ctxrt_context *context;
    ctxrt_allocator *allocator;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_allocator_create(NULL, &allocator));
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    cx_assert_ok(ctxrt_frame_set_allocator(allocator));
    ctxrt_detached_frame *frame = detach();
    cx_assert_error(ctxrt_stream_destroy(stream), CTXRT_ERROR_IN_USE);
    assert_message("detached frame");
    cx_assert_error(ctxrt_allocator_destroy(allocator), CTXRT_ERROR_IN_USE);
    assert_message("detached frame");
    cx_assert_error(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_stack_attach(frame));
    ck_assert_ptr_eq(current_stream(), stream);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_allocator_destroy(allocator));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

START_TEST(a_device_with_a_detached_frame_is_not_released)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(3)));
    ctxrt_detached_frame *frame = detach();
    cx_assert_error(ctxrt_device_release(CTXRT_CUDA(3)), CTXRT_ERROR_IN_USE);
    assert_message("1 detached frame");
    cx_assert_error(ctxrt_shutdown(), CTXRT_ERROR_IN_USE);
    assert_message("1 detached frame");
    cx_assert_ok(ctxrt_stack_discard(frame));
    cx_assert_ok(ctxrt_device_release(CTXRT_CUDA(3)));
}
END_TEST

/* ---- which frames go ---- */

START_TEST(only_a_pushed_frame_can_be_detached)
{
    ctxrt_detached_frame *frame = NULL;
    ctxrt_scope scope = {0};
    CUcontext foreign, popped;
    cx_assert_error(ctxrt_stack_detach(&frame), CTXRT_ERROR_STACK_EMPTY);
    cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
    cx_assert_error(ctxrt_stack_detach(&frame), CTXRT_ERROR_NOT_PERMITTED);
    cx_assert_ok(ctxrt_scope_enter(CTXRT_CUDA(1), &scope));
    cx_assert_error(ctxrt_stack_detach(&frame), CTXRT_ERROR_NOT_PERMITTED);
    ck_assert_int_eq(driver->primary_retain(&foreign, 3), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_push(foreign), CXU_SUCCESS);
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device)); /* takes the foreign frame in */
    ck_assert_uint_eq(ctxrt_stack_depth(), 3);
    cx_assert_error(ctxrt_stack_detach(&frame), CTXRT_ERROR_NOT_PERMITTED);
    ck_assert_uint_eq(ctxrt_stack_depth(), 3);
    ck_assert_ptr_null(frame);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_int_eq(driver->primary_release(3), CXU_SUCCESS);
    cx_assert_ok(ctxrt_scope_leave(&scope));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Whether other code left something on top that ctxrt has not seen yet. */
START_TEST(a_frame_under_a_foreign_push_is_not_detached)
{
    ctxrt_detached_frame *frame = NULL;
    CUcontext foreign, popped;
    ck_assert_int_eq(driver->primary_retain(&foreign, 3), CXU_SUCCESS);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    CUcontext ours = native_current();
    ck_assert_int_eq(driver->ctx_push(foreign), CXU_SUCCESS);
    cx_assert_error(ctxrt_stack_detach(&frame), CTXRT_ERROR_STACK_MISMATCH);
    ck_assert_ptr_null(frame);
    ck_assert_ptr_eq(native_current(), foreign);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_ptr_eq(native_current(), ours);
    cx_assert_ok(ctxrt_stack_discard(detach()));
    ck_assert_int_eq(driver->primary_release(3), CXU_SUCCESS);
}
END_TEST

START_TEST(a_frame_can_be_attached_above_what_other_code_made_current)
{
    CUcontext foreign, popped;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_detached_frame *frame = detach();
    ck_assert_int_eq(driver->primary_retain(&foreign, 3), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_push(foreign), CXU_SUCCESS);
    cx_assert_ok(ctxrt_stack_attach(frame));
    ctxrt_device device;
    cx_assert_ok(ctxrt_device_get(&device));
    ck_assert_int_eq(device.index, 0);
    cx_assert_ok(ctxrt_stack_pop());
    ck_assert_ptr_eq(native_current(), foreign);
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    ck_assert_int_eq(driver->primary_release(3), CXU_SUCCESS);
}
END_TEST

/* ---- once only ---- */

START_TEST(a_frame_is_attached_or_discarded_once)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    ctxrt_detached_frame *frame = detach();
    cx_assert_ok(ctxrt_stack_attach(frame));
    cx_assert_error(ctxrt_stack_attach(frame), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stack_discard(frame), CTXRT_ERROR_INVALID_HANDLE);
    ck_assert_uint_eq(ctxrt_stack_depth(), 1);
    ctxrt_detached_frame *again = detach();
    ck_assert_ptr_ne(again, frame);
    cx_assert_error(ctxrt_stack_attach(frame), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stack_discard(again));
    cx_assert_error(ctxrt_stack_discard(again), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_error(ctxrt_stack_attach(again), CTXRT_ERROR_INVALID_HANDLE);
    cx_assert_ok(ctxrt_stack_discard(NULL));
}
END_TEST

enum { ROUNDS = 500, RACERS = 4 };

typedef struct race {
    pthread_barrier_t begin, end;
    ctxrt_detached_frame *frame;
    atomic_int winners, refused;
} race;

static void *race_for_the_frame(void *argument)
{
    race *self = argument;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&self->begin);
        ctxrt_status status = ctxrt_stack_attach(self->frame);
        if (status == CTXRT_SUCCESS) {
            atomic_fetch_add(&self->winners, 1);
            cx_assert_ok(ctxrt_stack_pop());
        } else {
            ck_assert_int_eq(status, CTXRT_ERROR_INVALID_HANDLE);
            atomic_fetch_add(&self->refused, 1);
        }
        pthread_barrier_wait(&self->end);
    }
    return NULL;
}

START_TEST(of_several_threads_that_attach_one_frame_one_succeeds)
{
    race self = {.winners = 0};
    pthread_t threads[RACERS];
    pthread_barrier_init(&self.begin, NULL, RACERS + 1);
    pthread_barrier_init(&self.end, NULL, RACERS + 1);
    for (int i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race_for_the_frame, &self), 0);
    for (int i = 0; i < ROUNDS; i++) {
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(i % 4)));
        self.frame = detach();
        pthread_barrier_wait(&self.begin);
        pthread_barrier_wait(&self.end);
        ck_assert_int_eq(atomic_load(&self.winners), i + 1);
    }
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&self.refused), ROUNDS * (RACERS - 1));
    pthread_barrier_destroy(&self.begin);
    pthread_barrier_destroy(&self.end);
}
END_TEST

/* ---- what ends meanwhile ---- */

START_TEST(after_a_reset_the_frame_is_good_and_its_default_stream_a_new_one)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_stream *before = current_stream();
    ctxrt_detached_frame *frame = detach();
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stack_attach(frame));
    ck_assert_ptr_ne(current_stream(), before);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

START_TEST(after_a_reset_the_frame_s_own_stream_says_that_it_is_gone)
{
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    ctxrt_detached_frame *frame = detach();
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    cx_assert_ok(ctxrt_stack_attach(frame));
    cx_assert_error(ctxrt_stream_synchronize(NULL), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_frame_set_stream(NULL));
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
}
END_TEST

/* The attach fails and leaves the frame with the caller, who discards it. */
START_TEST(a_frame_whose_context_other_code_destroyed_is_discarded)
{
    ctxrt_context *context;
    CUcontext native;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_context_native(context, &native));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_DEFAULT);
    cx_assert_ok(ctxrt_frame_set_stream(stream));
    ctxrt_detached_frame *frame = detach();
    ck_assert_int_eq(driver->ctx_destroy(native), CXU_SUCCESS);
    ctxrt_status status = ctxrt_stack_attach(frame);
    ck_assert_msg(status != CTXRT_SUCCESS, "a destroyed context became current");
    ck_assert_uint_eq(ctxrt_stack_depth(), 0);
    ck_assert_ptr_null(native_current());
    cx_assert_error(ctxrt_stream_destroy(stream), CTXRT_ERROR_IN_USE);
    cx_assert_ok(ctxrt_stack_discard(frame));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_context_destroy(context));
}
END_TEST

/* C4: the driver may give out the same handle again, and then a push of it would succeed. */
START_TEST(a_detached_frame_is_not_attached_to_a_later_context_with_the_same_native_handle)
{
    ctxrt_context *context;
    CUcontext native, later, popped;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &context));
    cx_assert_ok(ctxrt_context_native(context, &native));
    cx_assert_ok(ctxrt_stack_push(context));
    ctxrt_detached_frame *frame = detach();
    ck_assert_int_eq(driver->ctx_destroy(native), CXU_SUCCESS);
    ck_assert_int_eq(driver->ctx_create_v2(&later, 0, 1), CXU_SUCCESS);
    ck_assert_ptr_eq(later, native); /* else this test shows nothing */
    ck_assert_int_eq(driver->ctx_pop(&popped), CXU_SUCCESS);
    cx_assert_error(ctxrt_stack_attach(frame), CTXRT_ERROR_CONTEXT_DESTROYED);
    assert_message("discard the frame");
    ck_assert_ptr_null(native_current());
    cx_assert_ok(ctxrt_stack_discard(frame));
    cx_assert_ok(ctxrt_context_destroy(context));
    ck_assert_int_eq(driver->ctx_destroy(later), CXU_SUCCESS);
}
END_TEST

static void *end_with_a_frame_detached(void *argument)
{
    parcel *self = argument;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(2)));
    gate_close(self->gate, NULL);
    cx_assert_ok(ctxrt_stream_add_host_function(NULL, mark, self->marks));
    self->stream = current_stream();
    self->frame = detach();
    return NULL;
}

START_TEST(a_frame_outlives_the_thread_that_detached_it)
{
    gate closed;
    atomic_int marks = 0;
    parcel self = {.marks = &marks, .gate = &closed};
    on_a_thread(end_with_a_frame_detached, &self);
    cx_assert_ok(ctxrt_stack_attach(self.frame));
    ck_assert_ptr_eq(current_stream(), self.stream);
    ck_assert_int_eq(atomic_load(&marks), 0);
    gate_open(&closed);
    cx_assert_ok(ctxrt_stream_synchronize(NULL));
    ck_assert_int_eq(atomic_load(&marks), 1);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- many frames afloat ---- */

enum { AFLOAT = 16, WALKERS = 8, STEPS = 20000 };

static _Atomic(ctxrt_detached_frame *) afloat[AFLOAT];
static atomic_int exchanges;

/* Takes a frame out of a random place and puts one there. What is beneath is always the thread's
 * own. */
static void *walk(void *argument)
{
    unsigned int seed = *(unsigned int *)argument;
    size_t depth = 0;
    for (int i = 0; i < STEPS; i++) {
        int act = rand_r(&seed) % 3;
        if (act == 0 && depth < 8) {
            cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(rand_r(&seed) % 4)));
            if (rand_r(&seed) % 2 == 0)
                cx_assert_ok(ctxrt_stream_query(NULL));
            depth++;
        } else if (act == 1 && depth > 0) {
            ctxrt_detached_frame *mine = detach();
            ctxrt_detached_frame *other = atomic_exchange(&afloat[rand_r(&seed) % AFLOAT], mine);
            depth--;
            if (other != NULL) {
                cx_assert_ok(ctxrt_stack_attach(other));
                atomic_fetch_add(&exchanges, 1);
                depth++;
            }
        } else if (depth > 0) {
            cx_assert_ok(ctxrt_stack_pop());
            depth--;
        }
        ck_assert_uint_eq(ctxrt_stack_depth(), depth);
    }
    for (; depth > 0; depth--)
        cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

START_TEST(many_frames_change_threads_at_once_and_none_is_lost)
{
    pthread_t threads[WALKERS];
    unsigned int seeds[WALKERS];
    for (unsigned int i = 0; i < WALKERS; i++) {
        seeds[i] = 77 + i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, walk, &seeds[i]), 0);
    }
    for (int i = 0; i < WALKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < AFLOAT; i++)
        cx_assert_ok(ctxrt_stack_discard(atomic_exchange(&afloat[i], NULL)));
    ck_assert_int_gt(atomic_load(&exchanges), 1000);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name, void (*setup)(void))
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, setup, cx_fixture_end);
    suite_add_tcase(suite, tcase);
    return tcase;
}

static Suite *handoff_suite(void)
{
    Suite *suite = suite_create("handoff");
    TCase *follow = add_case(suite, "follow", start);
    tcase_add_test(follow, stream_allocator_and_place_travel_with_the_frame);
    tcase_add_test(follow, work_in_flight_goes_on_and_the_receiver_queues_behind_it);
    tcase_add_test(follow,
                   a_default_stream_that_travels_is_the_receivers_and_the_sender_gets_another);
    tcase_add_test(
        follow, memory_freed_behind_work_of_the_senders_new_default_stream_is_not_the_receivers);
    tcase_add_test(follow, default_streams_of_frames_that_travelled_are_used_again);
    tcase_add_test(follow, default_streams_of_frames_that_were_discarded_are_used_again);
    tcase_add_test(follow,
                   the_senders_other_frames_of_the_context_do_not_wait_for_work_that_travels);
    tcase_add_test(follow, everything_a_detached_frame_refers_to_is_in_use);
    tcase_add_test(follow, a_device_with_a_detached_frame_is_not_released);
    tcase_add_test(follow, only_a_pushed_frame_can_be_detached);
    tcase_add_test(follow, a_frame_under_a_foreign_push_is_not_detached);
    tcase_add_test(follow, a_frame_can_be_attached_above_what_other_code_made_current);
    tcase_add_test(follow, a_frame_is_attached_or_discarded_once);
    tcase_add_test(follow, of_several_threads_that_attach_one_frame_one_succeeds);
    tcase_add_test(follow, after_a_reset_the_frame_is_good_and_its_default_stream_a_new_one);
    tcase_add_test(follow, after_a_reset_the_frame_s_own_stream_says_that_it_is_gone);
    tcase_add_test(follow, a_frame_whose_context_other_code_destroyed_is_discarded);
    tcase_add_test(follow,
                   a_detached_frame_is_not_attached_to_a_later_context_with_the_same_native_handle);
    tcase_add_test(follow, a_frame_outlives_the_thread_that_detached_it);
    tcase_add_test(follow, many_frames_change_threads_at_once_and_none_is_lost);
    TCase *refuse = add_case(suite, "error", start_refusing);
    tcase_add_test(refuse, a_frame_under_a_foreign_push_is_not_detached);
    tcase_add_test(refuse, a_frame_outlives_the_thread_that_detached_it);
    return suite;
}

CX_TESTS(handoff_suite);
