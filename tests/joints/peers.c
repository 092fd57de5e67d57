/* Memory that streams of other contexts use when its own context is reset or ends. */
#include "opener.h"
#include "suites.h"

#include <semaphore.h>
#include <string.h>

enum { BYTES = 300000, VALUE = 7 };

/* ---- kinds of memory ---- */

typedef struct piece {
    void *pointer;
    ctxrt_memory *memory;       /* NULL: a raw pointer */
    ctxrt_allocator *allocator; /* of its own; NULL: none */
} piece;

static void make_counted(piece *made)
{
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &made->memory));
}

static void make_pinned(piece *made)
{
    cx_assert_ok(ctxrt_memory_alloc_pinned(BYTES, &made->memory));
}

static void make_raw(piece *made)
{
    cx_assert_ok(ctxrt_alloc(BYTES, &made->pointer));
}

static void make_direct(piece *made)
{
    cx_assert_ok(ctxrt_alloc_direct(BYTES, &made->pointer));
}

static void make_raw_pinned(piece *made)
{
    cx_assert_ok(ctxrt_alloc_pinned(BYTES, &made->pointer));
}

static void make_managed(piece *made)
{
    cx_assert_ok(ctxrt_alloc_managed(BYTES, &made->pointer));
}

static void make_guarded(piece *made)
{
    ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
    ctxrt_allocator_debug debug = CTXRT_ALLOCATOR_DEBUG_INIT;
    debug.flags = CTXRT_DEBUG_CANARY;
    options.debug = &debug;
    cx_assert_ok(ctxrt_allocator_create(&options, &made->allocator));
    cx_assert_ok(ctxrt_frame_set_allocator(made->allocator));
    cx_assert_ok(ctxrt_memory_alloc(BYTES, &made->memory));
    cx_assert_ok(ctxrt_frame_set_allocator(NULL));
}

static void (*const kinds[])(piece *) = {make_counted, make_pinned,     make_raw,    make_direct,
                                         make_managed, make_raw_pinned, make_guarded};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* In the current context, with all bytes VALUE. */
static piece piece_make(void (*make)(piece *))
{
    piece made = {0};
    make(&made);
    if (made.memory != NULL)
        made.pointer = ctxrt_memory_pointer(made.memory);
    cx_assert_ok(ctxrt_fill(made.pointer, VALUE, BYTES));
    return made;
}

static void piece_release(piece *self)
{
    if (self->memory != NULL)
        cx_assert_ok(ctxrt_memory_release(self->memory));
    else if (self->pointer != NULL)
        cx_assert_ok(ctxrt_free(self->pointer));
    *self = (piece){.allocator = self->allocator};
}

static void piece_end(piece *self)
{
    piece_release(self);
    cx_assert_ok(ctxrt_allocator_destroy(self->allocator));
}

static void assert_value(const void *memory)
{
    static unsigned char bytes[BYTES];
    memset(bytes, 0, BYTES);
    cx_assert_ok(ctxrt_copy(bytes, memory, BYTES, CTXRT_COPY_ANY));
    for (int i = 0; i < BYTES; i++)
        ck_assert_msg(bytes[i] == VALUE, "byte %d is %d", i, bytes[i]);
}

/* ---- resets ---- */

static void reset_waiting_for(gate *held, int device)
{
    opener other;
    opener_start(&other, held);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(device)));
    ck_assert_msg(opener_end(&other), "the reset did not wait");
}

static void assert_reset_waits_for_copy_of(void (*make)(piece *))
{
    gate held;
    piece from, to;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    from = piece_make(make);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    to = piece_make(make_raw);
    cx_assert_ok(ctxrt_fill(to.pointer, 0, BYTES));
    gate_close(&held, NULL);
    cx_assert_ok(ctxrt_copy_async(to.pointer, from.pointer, BYTES, CTXRT_COPY_ANY, NULL));
    reset_waiting_for(&held, 1);
    assert_value(to.pointer);
    piece_end(&to);
    piece_end(&from);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}

START_TEST(a_reset_waits_for_copies_in_streams_of_other_devices)
{
    for (int i = 0; i < KINDS; i++) {
        assert_reset_waits_for_copy_of(kinds[i]);
        cx_fixture_end();
        cx_fixture_start();
    }
}
END_TEST

static void assert_reset_waits_for_recorded_work(void (*make)(piece *), bool released)
{
    gate held;
    piece from, to;
    ctxrt_graph *graph;
    ctxrt_context *other;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &other));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    from = piece_make(make);
    cx_assert_ok(ctxrt_stack_push(other));
    to = piece_make(make_raw);
    cx_assert_ok(ctxrt_fill(to.pointer, 0, BYTES));
    ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    /* ctxrt does not know what the graph touches. */
    cx_assert_ok(ctxrt_stream_capture_begin(stream, CTXRT_CAPTURE_RELAXED));
    cx_assert_ok(ctxrt_copy_async(to.pointer, from.pointer, BYTES, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_capture_end(stream, &graph));
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_graph_launch(graph, stream));
    cx_assert_ok(ctxrt_memory_record_stream(from.memory, stream));
    if (released)
        piece_release(&from);
    reset_waiting_for(&held, 1);
    cx_assert_ok(ctxrt_stream_synchronize(stream));
    assert_value(to.pointer);
    cx_assert_ok(ctxrt_graph_release(graph));
    cx_assert_ok(ctxrt_stream_destroy(stream));
    piece_end(&to);
    piece_end(&from);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(other));
}

START_TEST(a_reset_waits_for_work_that_was_recorded_in_streams_of_other_contexts)
{
    for (int i = 0; i < 4; i++) {
        assert_reset_waits_for_recorded_work(i / 2 == 0 ? make_counted : make_pinned, i % 2 == 0);
        cx_fixture_end();
        cx_fixture_start();
    }
}
END_TEST

/* Of the same device, where the stream is gone meanwhile. */
START_TEST(a_reset_waits_for_copies_in_streams_of_other_contexts)
{
    gate held;
    piece from, to;
    ctxrt_context *other;
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &other));
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    from = piece_make(make_counted);
    cx_assert_ok(ctxrt_stack_push(other));
    to = piece_make(make_raw);
    cx_assert_ok(ctxrt_fill(to.pointer, 0, BYTES));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_copy_async(to.pointer, from.pointer, BYTES, CTXRT_COPY_ANY, stream));
    cx_assert_ok(ctxrt_stream_destroy(stream)); /* its work goes on */
    reset_waiting_for(&held, 0);
    assert_value(to.pointer);
    piece_end(&to);
    cx_assert_ok(ctxrt_stack_pop());
    piece_end(&from);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_context_destroy(other));
}
END_TEST

START_TEST(a_reset_waits_for_no_work_of_other_devices_that_leaves_its_memory_alone)
{
    gate held;
    piece own, others;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    own = piece_make(make_counted);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    others = piece_make(make_counted);
    cx_assert_ok(ctxrt_copy_async(others.pointer, own.pointer, BYTES, CTXRT_COPY_ANY, NULL));
    gate_close(&held, NULL);
    cx_assert_ok(ctxrt_fill_async(others.pointer, VALUE, BYTES, NULL));
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    gate_open(&held);
    assert_value(others.pointer);
    piece_end(&others);
    piece_end(&own);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- two resets at once ---- */

typedef struct resetter {
    pthread_t thread;
    int device;
    _Atomic pid_t id;
    ctxrt_status status;
} resetter;

static void *reset_there(void *argument)
{
    resetter *self = argument;
    atomic_store(&self->id, gettid());
    self->status = ctxrt_device_reset(CTXRT_CUDA(self->device));
    return NULL;
}

static void resetter_start(resetter *self, int device)
{
    *self = (resetter){.device = device};
    ck_assert_int_eq(pthread_create(&self->thread, NULL, reset_there, self), 0);
    while (atomic_load(&self->id) == 0 || !is_asleep(atomic_load(&self->id)))
        ;
}

static void resetter_join(resetter *self)
{
    ck_assert_int_eq(pthread_join(self->thread, NULL), 0);
    cx_assert_status(self->status, CTXRT_SUCCESS);
}

START_TEST(two_devices_that_use_memory_of_each_other_are_reset_at_once)
{
    gate held[2];
    piece from[2], to[2];
    resetter both[2];
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(i)));
        from[i] = piece_make(make_counted);
        to[i] = piece_make(make_counted);
    }
    for (int i = 0; i < 2; i++) {
        cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(i)));
        gate_close(&held[i], NULL);
        cx_assert_ok(
            ctxrt_copy_async(to[i].pointer, from[1 - i].pointer, BYTES, CTXRT_COPY_ANY, NULL));
    }
    for (int i = 0; i < 2; i++)
        resetter_start(&both[i], i);
    for (int i = 0; i < 2; i++)
        gate_open(&held[i]);
    for (int i = 0; i < 2; i++)
        resetter_join(&both[i]);
    for (int i = 0; i < 2; i++) {
        piece_end(&from[i]);
        piece_end(&to[i]);
    }
    for (int i = 0; i < 4; i++)
        cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

static const char spin_code[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                ".visible .entry spin()\n{\nAGAIN:\n    bra AGAIN;\n}\n";

/* Without an end, in the current context. */
static ctxrt_module *launch_spin(void)
{
    ctxrt_launch_config config = CTXRT_LAUNCH_CONFIG_INIT;
    ctxrt_module *module;
    ctxrt_kernel *spin;
    cx_assert_ok(ctxrt_module_load(spin_code, sizeof spin_code, &module));
    cx_assert_ok(ctxrt_module_get_kernel(module, "spin", &spin));
    cx_assert_ok(ctxrt_launch(&config, spin, NULL, 0));
    cx_assert_status(ctxrt_stream_query(NULL), CTXRT_ERROR_NOT_READY);
    return module;
}

/* The driver ends the kernels of the device that is reset, and no work behind them runs. */
START_TEST(a_reset_that_waits_behind_an_endless_kernel_goes_on_when_its_device_is_reset)
{
    piece from, to;
    resetter other;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    from = piece_make(make_counted);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    to = piece_make(make_counted);
    ctxrt_module *module = launch_spin();
    cx_assert_ok(ctxrt_copy_async(to.pointer, from.pointer, BYTES, CTXRT_COPY_ANY, NULL));
    resetter_start(&other, 1);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(0)));
    resetter_join(&other);
    cx_assert_ok(ctxrt_module_unload(module));
    piece_end(&to);
    piece_end(&from);
    to = piece_make(make_counted);
    assert_value(to.pointer);
    piece_end(&to);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* The driver waits for the stream's work in its reset of the other device. */
START_TEST(memory_is_in_use_until_the_reset_of_the_stream_s_device_is_over)
{
    gate held;
    piece from, next;
    resetter other;
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    gate_close(&held, stream);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    from = piece_make(make_counted);
    const void *used = from.pointer;
    cx_assert_ok(ctxrt_memory_record_stream(from.memory, stream));
    resetter_start(&other, 1);
    piece_release(&from);
    next = piece_make(make_counted);
    ck_assert_ptr_ne(next.pointer, used);
    gate_open(&held);
    resetter_join(&other);
    piece_end(&next);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stream_destroy(stream));
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* ---- ends of contexts ---- */

static void destroy_waiting_for(gate *held, ctxrt_context *context)
{
    opener other;
    opener_start(&other, held);
    cx_assert_ok(ctxrt_context_destroy(context));
    (void)opener_end(&other);
}

/* The memory was released and not recorded: the copy is known all the same. */
START_TEST(the_end_of_a_context_waits_for_copies_in_streams_of_other_devices)
{
    gate held;
    piece from, to;
    ctxrt_context *own;
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &own));
    cx_assert_ok(ctxrt_stack_push(own));
    from = piece_make(make_counted);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    to = piece_make(make_raw);
    cx_assert_ok(ctxrt_fill(to.pointer, 0, BYTES));
    gate_close(&held, NULL);
    cx_assert_ok(ctxrt_copy_async(to.pointer, from.pointer, BYTES, CTXRT_COPY_ANY, NULL));
    piece_end(&from);
    destroy_waiting_for(&held, own);
    assert_value(to.pointer);
    piece_end(&to);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Its streams' copies of other contexts' memory are over, and forgotten. */
START_TEST(a_context_whose_streams_used_memory_of_others_ends_before_they_are_reset)
{
    gate held;
    piece from, to;
    ctxrt_context *own;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    from = piece_make(make_counted);
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(0), 0, &own));
    cx_assert_ok(ctxrt_stack_push(own));
    to = piece_make(make_pinned);
    memset(to.pointer, 0, BYTES);
    gate_close(&held, NULL);
    cx_assert_ok(ctxrt_copy_async(to.pointer, from.pointer, BYTES, CTXRT_COPY_ANY, NULL));
    piece_end(&to);
    cx_assert_ok(ctxrt_stack_pop());
    destroy_waiting_for(&held, own);
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    piece_end(&from);
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

/* Each copy is of a stream of its own, which is destroyed: the next record takes over the event. */
START_TEST(copies_in_any_number_of_streams_are_known_and_forgotten)
{
    enum { STREAMS = 1000 };
    piece from, to;
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
    from = piece_make(make_counted);
    cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(0)));
    to = piece_make(make_counted);
    for (int i = 0; i < STREAMS; i++) {
        ctxrt_stream *stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
        cx_assert_ok(ctxrt_copy_async(to.pointer, from.pointer, 64, CTXRT_COPY_ANY, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        cx_assert_ok(ctxrt_stream_destroy(stream));
    }
    cx_assert_ok(ctxrt_device_reset(CTXRT_CUDA(1)));
    piece_end(&to);
    piece_end(&from);
    cx_assert_ok(ctxrt_stack_pop());
    cx_assert_ok(ctxrt_stack_pop());
}
END_TEST

Suite *peers_suite(void)
{
    const joint joints[] = {
        JOINT(a_reset_waits_for_copies_in_streams_of_other_devices),
        JOINT(a_reset_waits_for_work_that_was_recorded_in_streams_of_other_contexts),
        JOINT(a_reset_waits_for_copies_in_streams_of_other_contexts),
        JOINT(a_reset_waits_for_no_work_of_other_devices_that_leaves_its_memory_alone),
        JOINT(two_devices_that_use_memory_of_each_other_are_reset_at_once),
        JOINT(a_reset_that_waits_behind_an_endless_kernel_goes_on_when_its_device_is_reset),
        JOINT(memory_is_in_use_until_the_reset_of_the_stream_s_device_is_over),
        JOINT(the_end_of_a_context_waits_for_copies_in_streams_of_other_devices),
        JOINT(a_context_whose_streams_used_memory_of_others_ends_before_they_are_reset),
        JOINT(copies_in_any_number_of_streams_are_known_and_forgotten),
    };
    return joint_suite("peers", joints, sizeof joints / sizeof *joints);
}
