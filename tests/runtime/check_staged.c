/*
 * Asynchronous copies between two drivers: what arrives, and in which order; nobody waits for them.
 */
#include "staged.h"

/* ---- contents ---- */

START_TEST(copies_of_every_size_arrive_whole)
{
    static const size_t sizes[] = {1,         2,     3,         255,       SMALL,     65537,
                                   CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, LARGE - 64};
    static const unsigned char nothing[LARGE];
    start_under(schedules[_i / SIDES]);
    ctxrt_stream *stream = enter(_i % SIDES);
    ctxrt_memory *cpu = alloc_on(ON_CPU, LARGE), *gpu = alloc_on(ON_GPU, LARGE);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i += _i < SIDES ? 1 : 3) {
        const size_t shift = i % 3;
        unsigned char *near = at(cpu) + 2 * shift, *far = at(gpu) + shift;
        cx_assert_ok(ctxrt_copy(near, pattern + shift, sizes[i], CTXRT_COPY_ANY));
        cx_assert_ok(ctxrt_fill(at(gpu), 0, sizes[i] + 64));
        cx_assert_ok(ctxrt_copy_async(far, near, sizes[i], CTXRT_COPY_DEVICE_TO_DEVICE, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        assert_holds(far, pattern + shift, sizes[i]);
        assert_holds(far + sizes[i], nothing, 32);
        memset(at(cpu), 0, sizes[i] + 64);
        cx_assert_ok(ctxrt_copy_async(near, far, sizes[i], CTXRT_COPY_ANY, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        ck_assert_int_eq(memcmp(near, pattern + shift, sizes[i]), 0);
        ck_assert_int_eq(memcmp(near + sizes[i], nothing, 32), 0);
    }
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
}
END_TEST

typedef struct region {
    size_t width, height, depth;
    size_t near_pitch, far_pitch, near_rows, far_rows;
} region;

static const region regions[] = {
    {1, 7, 1, 3, 5, 7, 7},
    {13, 40, 3, 16, 13, 41, 40},
    {3000, 400, 1, 3000, 3011, 400, 400},
    {300000, 3, 2, 300000, 300007, 3, 3},
    {CHUNK + 5, 1, 2, CHUNK + 9, CHUNK + 5, 1, 1},
};

static ctxrt_copy_region shape(const region *wanted, void *to, const void *from, bool to_near)
{
    return (ctxrt_copy_region){
        .destination = to,
        .destination_pitch_bytes = to_near ? wanted->near_pitch : wanted->far_pitch,
        .destination_slice_height = to_near ? wanted->near_rows : wanted->far_rows,
        .source = from,
        .source_pitch_bytes = to_near ? wanted->far_pitch : wanted->near_pitch,
        .source_slice_height = to_near ? wanted->far_rows : wanted->near_rows,
        .width_bytes = wanted->width,
        .height = wanted->height,
        .depth = wanted->depth,
        .kind = CTXRT_COPY_DEVICE_TO_DEVICE,
    };
}

/* What a copy of the region in the host's memory leaves there. */
static void copy_rows(const ctxrt_copy_region *one, unsigned char *to, const unsigned char *from)
{
    for (size_t z = 0; z < one->depth; z++)
        for (size_t y = 0; y < one->height; y++)
            memcpy(to + (z * one->destination_slice_height + y) * one->destination_pitch_bytes,
                   from + (z * one->source_slice_height + y) * one->source_pitch_bytes,
                   one->width_bytes);
}

static size_t extent(const region *wanted)
{
    size_t near = wanted->near_rows * wanted->near_pitch,
           far = wanted->far_rows * wanted->far_pitch;
    return wanted->depth * (near > far ? near : far);
}

START_TEST(regions_arrive_and_what_is_between_their_rows_stays)
{
    unsigned char *wanted = malloc(LARGE), *back = malloc(LARGE);
    start_under(schedules[_i / SIDES]);
    ctxrt_stream *stream = enter(_i % SIDES);
    ctxrt_memory *cpu = alloc_on(ON_CPU, LARGE), *gpu = alloc_on(ON_GPU, LARGE);
    for (size_t i = 0; i < sizeof regions / sizeof regions[0]; i++) {
        const ctxrt_copy_region out = shape(&regions[i], at(gpu), at(cpu), false);
        const ctxrt_copy_region in = shape(&regions[i], at(cpu), at(gpu), true);
        const size_t used = extent(&regions[i]);
        memset(wanted, 0x11, used);
        memset(back, 0x22, used);
        copy_rows(&out, wanted, pattern);
        copy_rows(&in, back, wanted);
        memcpy(at(cpu), pattern, used);
        cx_assert_ok(ctxrt_fill(at(gpu), 0x11, used));
        cx_assert_ok(out.depth == 1 ? ctxrt_copy_2d_async(&out, stream)
                                    : ctxrt_copy_3d_async(&out, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        assert_holds(at(gpu), wanted, used);
        memset(at(cpu), 0x22, used);
        cx_assert_ok(ctxrt_copy_3d_async(&in, stream));
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        ck_assert_int_eq(memcmp(at(cpu), back, used), 0);
    }
    release(cpu);
    release(gpu);
    leave(stream);
    cx_fixture_end();
    free(wanted);
    free(back);
}
END_TEST

/* ---- order ---- */

/* Host memory of the CPU's, and what host functions do with it. */
typedef struct desk {
    unsigned char *first, *second;
    size_t size_bytes;
    atomic_int right;
} desk;

static void write_pattern(void *argument)
{
    const desk *self = argument;
    memcpy(self->first, pattern, self->size_bytes);
}

static void write_rubbish(void *argument)
{
    const desk *self = argument;
    memset(self->first, 0x5a, self->size_bytes);
}

static void compare(void *argument)
{
    desk *self = argument;
    if (memcmp(self->second, pattern, self->size_bytes) == 0)
        atomic_fetch_add(&self->right, 1);
}

/* Behind what writes the source, before what overwrites it, and before what reads the destination:
 * all of it is given to the stream while a gate holds that. */
START_TEST(a_copy_keeps_its_place_in_the_stream_and_the_caller_goes_on)
{
    const int side = _i % SIDES;
    copy_call *const call = calls[_i / SIDES % CALLS];
    start_under(schedules[_i < CALLS * SIDES ? 0 : _i / SIDES - CALLS + 1]);
    ctxrt_stream *stream = enter(side);
    for (int large = 0; large < 2; large++) {
        gate barrier;
        desk self = {.size_bytes = large ? CHUNK + 2 : 64};
        ctxrt_memory *first = alloc_on(ON_CPU, self.size_bytes);
        ctxrt_memory *second = alloc_on(ON_CPU, self.size_bytes);
        ctxrt_memory *gpu = alloc_on(ON_GPU, self.size_bytes);
        self.first = at(first);
        self.second = at(second);
        memset(self.first, 0, self.size_bytes);
        memset(self.second, 0, self.size_bytes);
        gate_close(&barrier, stream);
        for (int round = 0; round < 2; round++) {
            cx_assert_ok(ctxrt_stream_add_host_function(stream, write_pattern, &self));
            cx_assert_ok(call(ON_GPU, at(gpu), ON_CPU, self.first, self.size_bytes, stream));
            cx_assert_ok(ctxrt_stream_add_host_function(stream, write_rubbish, &self));
            cx_assert_ok(call(ON_CPU, self.second, ON_GPU, at(gpu), self.size_bytes, stream));
            cx_assert_ok(ctxrt_stream_add_host_function(stream, compare, &self));
            cx_assert_ok(call(ON_GPU, at(gpu), ON_CPU, self.first, self.size_bytes, stream));
        }
        gate_open(&barrier);
        cx_assert_ok(ctxrt_stream_synchronize(stream));
        ck_assert_int_eq(atomic_load(&self.right), 2);
        memset(seen, 0x5a, self.size_bytes);
        memcpy(self.second, seen, self.size_bytes);
        assert_holds(at(gpu), self.second, self.size_bytes);
        release(first);
        release(second);
        release(gpu);
    }
    leave(stream);
    cx_fixture_end();
}
END_TEST

START_TEST(a_stream_does_not_wait_for_the_copies_of_another_one)
{
    gate barrier;
    start();
    ctxrt_stream *held = enter(_i), *free_stream = create_stream(CTXRT_STREAM_NON_BLOCKING);
    ctxrt_memory *cpu = alloc_on(ON_CPU, LARGE), *gpu = alloc_on(ON_GPU, LARGE);
    ctxrt_memory *other_cpu = alloc_on(ON_CPU, LARGE), *other_gpu = alloc_on(ON_GPU, LARGE);
    memcpy(at(cpu), pattern, LARGE);
    memcpy(at(other_cpu), pattern, LARGE);
    gate_close(&barrier, held);
    cx_assert_ok(ctxrt_copy_async(at(gpu), at(cpu), LARGE, CTXRT_COPY_ANY, held));
    cx_assert_ok(
        ctxrt_copy_async(at(other_gpu), at(other_cpu), LARGE, CTXRT_COPY_ANY, free_stream));
    cx_assert_ok(ctxrt_stream_synchronize(free_stream));
    cx_assert_status(ctxrt_stream_query(held), CTXRT_ERROR_NOT_READY);
    assert_holds(at(other_gpu), pattern, LARGE);
    gate_open(&barrier);
    cx_assert_ok(ctxrt_stream_synchronize(held));
    assert_holds(at(gpu), pattern, LARGE);
    release(cpu);
    release(gpu);
    release(other_cpu);
    release(other_gpu);
    cx_assert_ok(ctxrt_stream_destroy(free_stream));
    leave(held);
    cx_fixture_end();
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 3, ROUNDS = 2, SHARE = MORE };

typedef struct worker {
    int side, number;
    ctxrt_stream *stream; /* NULL: one of its own */
    int wrong;
} worker;

/* No assertion: other threads go on. */
static int copy_there_and_back(worker *self, ctxrt_stream *stream, unsigned char *bytes)
{
    void *cpu = NULL, *gpu = NULL;
    int wrong = 0;
    wrong += ctxrt_device_push(CTXRT_CPU(0)) != CTXRT_SUCCESS;
    wrong += ctxrt_alloc(SHARE, &cpu) != CTXRT_SUCCESS;
    wrong += ctxrt_device_set(CTXRT_CUDA(0)) != CTXRT_SUCCESS;
    wrong += ctxrt_alloc(SHARE, &gpu) != CTXRT_SUCCESS;
    for (int i = 0; i < ROUNDS && wrong == 0; i++) {
        memset(bytes, self->number * ROUNDS + i + 1, SHARE);
        memcpy(cpu, bytes, SHARE);
        wrong += ctxrt_copy_async(gpu, cpu, SHARE, CTXRT_COPY_ANY, stream) != CTXRT_SUCCESS;
        wrong += ctxrt_stream_synchronize(stream) != CTXRT_SUCCESS;
        memset(cpu, 0, SHARE);
        wrong += ctxrt_copy_async(cpu, gpu, SHARE, CTXRT_COPY_ANY, stream) != CTXRT_SUCCESS;
        wrong += ctxrt_stream_synchronize(stream) != CTXRT_SUCCESS;
        wrong += memcmp(cpu, bytes, SHARE) != 0;
    }
    wrong += ctxrt_free(cpu) != CTXRT_SUCCESS;
    wrong += ctxrt_free(gpu) != CTXRT_SUCCESS;
    wrong += ctxrt_stack_pop() != CTXRT_SUCCESS;
    return wrong;
}

static void *work(void *argument)
{
    worker *self = argument;
    ctxrt_stream *own = NULL;
    unsigned char *bytes = malloc(SHARE);
    if (self->stream == NULL) {
        self->wrong += ctxrt_device_push(two_drivers_device(self->side)) != CTXRT_SUCCESS;
        self->wrong += ctxrt_stream_create(0, 0, &own) != CTXRT_SUCCESS;
        self->wrong += ctxrt_stack_pop() != CTXRT_SUCCESS;
    }
    self->wrong += copy_there_and_back(self, own != NULL ? own : self->stream, bytes);
    self->wrong += ctxrt_stream_destroy(own) != CTXRT_SUCCESS;
    free(bytes);
    return NULL;
}

START_TEST(threads_copy_between_the_same_two_contexts_at_once)
{
    pthread_t threads[THREADS];
    worker workers[THREADS];
    const int side = _i % SIDES;
    const bool together = _i / SIDES == SCHEDULES;
    start_under(schedules[_i / SIDES % SCHEDULES]);
    ctxrt_stream *stream = enter(side);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.side = side, .number = i, .stream = together ? stream : NULL};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(workers[i].wrong, 0);
    }
    leave(stream);
    cx_fixture_end();
}
END_TEST

static Suite *staged_suite(void)
{
    Suite *suite = suite_create("copies between two drivers that nobody waits for");
    TCase *order = tcase_create("order");
    tcase_add_loop_test(order, copies_of_every_size_arrive_whole, 0, SIDES * SCHEDULES);
    tcase_add_loop_test(order, regions_arrive_and_what_is_between_their_rows_stays, 0,
                        SIDES * SCHEDULES);
    tcase_add_loop_test(order, a_copy_keeps_its_place_in_the_stream_and_the_caller_goes_on, 0,
                        (CALLS + SCHEDULES - 1) * SIDES);
    tcase_add_loop_test(order, a_stream_does_not_wait_for_the_copies_of_another_one, 0, SIDES);
    tcase_add_loop_test(order, threads_copy_between_the_same_two_contexts_at_once, 0,
                        SIDES * (SCHEDULES + 1));
    suite_add_tcase(suite, order);

    return suite;
}

CX_TESTS(staged_suite);
