/*
 * Allocators used at random: by several threads, in streams that come and go, with limits, trims,
 * recorded graphs, frees by other threads and streams, and driver calls that fail. A shadow of
 * memory shows overlap; each block is filled with a value of its own in the order of its stream,
 * and looked at before it is freed, which shows early reuse. On large devices, whose memory is
 * mapped in large mappings, blocks are of many megabytes, of which little is touched.
 *
 * CTXRT_TEST_SEED says where it starts, CTXRT_TEST_SECONDS how long each test goes on with further
 * seeds.
 */
#include "blocks.h"
#include "fixture.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- steps ---- */

static void go_somewhere(member *self)
{
    crowd *all = self->all;
    if (self->place >= 0)
        (void)EXPECT(all, ctxrt_stack_pop());
    self->place = (int)pick(self, PLACES + 1) - 1;
    if (self->place >= 0 && !EXPECT(all, ctxrt_device_push(all->places[self->place])))
        self->place = -1;
}

static void choose_allocator(member *self)
{
    uint64_t which = pick(self, 2 * ALLOCATORS);
    ctxrt_allocator *allocator =
        which < ALLOCATORS ? self->all->allocators[self->place][which] : NULL;
    (void)EXPECT(self->all, ctxrt_frame_set_allocator(allocator));
}

static void step_alloc(member *self)
{
    crowd *all = self->all;
    lane *at = &all->lanes[self->place][pick(self, LANES)];
    pthread_rwlock_rdlock(&at->lock);
    block *made = NULL;
    if (EXPECT(all, ctxrt_frame_set_stream(at->stream)))
        made = block_make(self, at);
    if (pick(self, 4) != 0)
        (void)EXPECT(all, ctxrt_frame_set_stream(NULL));
    pthread_rwlock_unlock(&at->lock);
    block_free(self, block_put(self, self->place, made));
}

static void step_free(member *self)
{
    block_free(self, block_take(self, (int)pick(self, PLACES)));
}

static void step_trim(member *self)
{
    (void)EXPECT(self->all, ctxrt_allocator_trim(NULL, NULL));
}

static size_t scaled(const crowd *all, size_t bytes)
{
    return all->large ? bytes / GPU_MIB * LARGE_GPU_MIB : bytes;
}

static void step_limit(member *self)
{
    ctxrt_allocator *allocator = self->all->allocators[self->place][pick(self, ALLOCATORS)];
    uint64_t limit = pick(self, 2) == 0 ? 0 : pick(self, scaled(self->all, 4 << 20));
    (void)EXPECT(self->all, ctxrt_allocator_set_limit(allocator, limit));
}

static void step_look(member *self)
{
    ctxrt_allocator_figures figures;
    if (!EXPECT(self->all, ctxrt_allocator_statistics(NULL, &figures)))
        return;
    if (figures.current_bytes > figures.total_bytes || figures.current_count > figures.total_count)
        crowd_tell(self->all, "more is live than ever was");
}

static void step_query(member *self)
{
    ctxrt_pointer_info info;
    int place = (int)pick(self, PLACES);
    block *one = block_take(self, place);
    if (one == NULL)
        return;
    const unsigned char *inside = (const unsigned char *)one->pointer + pick(self, one->size);
    if (EXPECT(self->all, ctxrt_pointer_query(inside, &info)) &&
        (!info.known || info.base != one->pointer || info.size_bytes != one->size))
        crowd_tell(self->all, "a query does not find the block");
    block_free(self, block_put(self, place, one));
}

static void step_replace(member *self)
{
    (void)EXPECT(self->all, ctxrt_frame_set_stream(NULL));
    lane_replace(self, &self->all->lanes[self->place][pick(self, LANES)]);
}

static void step_record(member *self)
{
    crowd *all = self->all;
    if (all->large || !EXPECT(all, ctxrt_frame_set_stream(NULL)))
        return;
    recorded *made = record(self);
    recorded *before = atomic_exchange(&all->recorded[pick(self, RECORDED)], made);
    if (before != NULL)
        recorded_release(all, before);
}

static void step_launch(member *self)
{
    crowd *all = self->all;
    uint64_t which = pick(self, RECORDED);
    recorded *graph = atomic_exchange(&all->recorded[which], NULL);
    if (graph == NULL)
        return;
    lane *at = &all->lanes[graph->place][pick(self, LANES)];
    pthread_rwlock_rdlock(&at->lock);
    ctxrt_status status = ctxrt_graph_launch(graph->graph, at->stream);
    /* Its recording had memory in a lane that is gone, and another lane captures. */
    if (status != CTXRT_ERROR_NOT_PERMITTED)
        (void)crowd_expect(all, status, "ctxrt_graph_launch");
    pthread_rwlock_unlock(&at->lock);
    recorded *before = atomic_exchange(&all->recorded[which], graph);
    if (before != NULL)
        recorded_release(all, before);
}

static void step_wait(member *self)
{
    lane *at = &self->all->lanes[self->place][pick(self, LANES)];
    pthread_rwlock_rdlock(&at->lock);
    (void)EXPECT(self->all, ctxrt_stream_synchronize(at->stream));
    pthread_rwlock_unlock(&at->lock);
}

/* Memory that is mapped is opened to a peer, or not any more. */
static void step_peer(member *self)
{
    crowd *all = self->all;
    ctxrt_device other = all->places[self->place == 0];
    if (all->places[self->place].type != CTXRT_DEVICE_CUDA)
        return;
    ctxrt_status status =
        pick(self, 2) == 0 ? ctxrt_device_enable_peer(other) : ctxrt_device_disable_peer(other);
    if (status != CTXRT_ERROR_ALREADY && status != CTXRT_ERROR_INVALID_ARGUMENT)
        (void)crowd_expect(all, status, "a change of peer access");
}

typedef struct chance {
    int of_1000;
    void (*step)(member *self);
} chance;

/* What a thread does where a device is current. */
static const chance chances[] = {
    {470, step_alloc},         {340, step_free},  {20, go_somewhere}, {30, choose_allocator},
    {10, step_trim},           {10, step_limit},  {10, step_look},    {20, step_query},
    {10, step_replace},        {10, step_record}, {30, step_launch},  {20, step_wait},
    {10, capture_for_a_while}, {10, step_peer},
};

static void step(member *self)
{
    int number = (int)pick(self, 1000);
    if (self->place < 0) {
        if (number < 300)
            go_somewhere(self);
        else
            step_free(self);
        return;
    }
    size_t which = 0;
    while (number >= chances[which].of_1000)
        number -= chances[which++].of_1000;
    chances[which].step(self);
}

static void *join_crowd(void *argument)
{
    member *self = argument;
    self->place = -1;
    for (int i = 0; i < self->steps && atomic_load(&self->all->wrong) == 0; i++)
        step(self);
    if (self->place >= 0)
        (void)EXPECT(self->all, ctxrt_stack_pop());
    return NULL;
}

/* ---- a round ---- */

static size_t free_bytes_of(ctxrt_device device)
{
    size_t free_bytes = 0;
    cx_assert_ok(ctxrt_device_memory_info(device, &free_bytes, NULL));
    return free_bytes;
}

static void open_place(crowd *all, int place)
{
    cx_assert_ok(ctxrt_device_push(all->places[place]));
    all->lanes[place] = calloc(LANES, sizeof(lane));
    ck_assert_ptr_nonnull(all->lanes[place]);
    for (int i = 0; i < LANES; i++)
        ck_assert(lane_open(all, &all->lanes[place][i], place));
    for (int i = 0; i < ALLOCATORS; i++) {
        ctxrt_allocator_options options = CTXRT_ALLOCATOR_OPTIONS_INIT;
        options.limit_bytes = i == 1 ? scaled(all, 2 << 20) : 0;
        options.release_threshold_bytes = i == 0 ? scaled(all, 1 << 20) : 0;
        if (i > 0 && all->places[place].type == CTXRT_DEVICE_CUDA)
            options.source = CTXRT_ALLOCATOR_SOURCE_VMM;
        cx_assert_ok(ctxrt_allocator_create(&options, &all->allocators[place][i]));
    }
    cx_assert_ok(ctxrt_stack_pop());
}

/* A place serves all of its memory again once everything is freed; a call that is made to fail is
 * asked again. Where the question whether a stream is done fails, a mark is behind its work, which
 * takes its time. */
static void assert_works_again(const crowd *all, size_t bytes)
{
    void *pointer;
    ctxrt_status status = CTXRT_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < (all->faults ? 16 : 1) && status != CTXRT_SUCCESS; i++)
        status = ctxrt_alloc(bytes, &pointer);
    cx_assert_ok(status);
    cx_assert_ok(ctxrt_free(pointer));
    for (int i = 0; i < (all->faults ? 16 : 1); i++) {
        cx_assert_ok(ctxrt_device_synchronize());
        cx_assert_ok(ctxrt_allocator_trim(NULL, NULL));
    }
}

static void assert_empty(ctxrt_allocator *allocator)
{
    ctxrt_allocator_figures figures;
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    cx_assert_ok(ctxrt_allocator_statistics(allocator, &figures));
    ck_assert_uint_eq(figures.current_bytes, 0);
    ck_assert_uint_eq(figures.current_count, 0);
}

/* Of a stream that went while it could not be marked, because a call was made to fail, memory goes
 * back only when it is needed; until then the allocator says that it holds it, free. */
static void assert_is_back(const crowd *all, int place, size_t free_bytes)
{
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_allocator_describe(NULL, &info));
    ck_assert_uint_eq(info.inactive.current_bytes, info.reserved.current_bytes);
    if (!all->faults || !all->large)
        ck_assert_uint_eq(info.reserved.current_bytes, 0);
    ck_assert_uint_eq(free_bytes_of(all->places[place]) + info.reserved.current_bytes, free_bytes);
}

static void close_place(crowd *all, int place, size_t free_bytes)
{
    cx_assert_ok(ctxrt_device_push(all->places[place]));
    for (int i = 0; i < LANES; i++)
        lane_close(all, &all->lanes[place][i]);
    free(all->lanes[place]);
    cx_assert_ok(ctxrt_device_synchronize());
    for (int i = 0; i < ALLOCATORS; i++) {
        assert_empty(all->allocators[place][i]);
        cx_assert_ok(ctxrt_allocator_destroy(all->allocators[place][i]));
    }
    assert_empty(NULL);
    if (all->places[place].type == CTXRT_DEVICE_CUDA) {
        if (!all->faults)
            ck_assert_uint_eq(free_bytes_of(all->places[place]), free_bytes);
        /* All of a large one would be mapped by single chunks. */
        assert_works_again(all, all->large ? free_bytes / 8 * 7 : free_bytes);
        assert_is_back(all, place, free_bytes);
    }
    cx_assert_ok(ctxrt_stack_pop());
}

static void free_all(crowd *all)
{
    member sweeper = {.all = all, .place = -1, .random = all->seed};
    for (int place = 0; place < PLACES; place++)
        for (int i = 0; i < BLOCKS; i++)
            block_free(&sweeper, atomic_exchange(&all->blocks[place][i], NULL));
    for (int i = 0; i < RECORDED; i++) {
        recorded *graph = atomic_exchange(&all->recorded[i], NULL);
        if (graph != NULL)
            recorded_release(all, graph);
    }
}

static void run_threads(crowd *all, int threads, int steps)
{
    member members[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    for (int t = 0; t < threads; t++) {
        members[t] = (member){.all = all, .number = t, .steps = steps};
        members[t].random = (all->seed * THREADS_MAX + (uint64_t)t) * 0x9e3779b97f4a7c15u;
        ck_assert_int_eq(pthread_create(&ids[t], NULL, join_crowd, &members[t]), 0);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
}

/* How a test plays. */
typedef struct manner {
    const char *schedule;
    int threads, steps;
    bool faults, large;
} manner;

static void play_round(const manner *how, uint64_t seed)
{
    static crowd all;
    size_t free_bytes[PLACES];
    all = (crowd){.places = {CTXRT_CUDA(0), CTXRT_CUDA(1), CTXRT_CPU(0)},
                  .seed = seed,
                  .faults = how->faults,
                  .large = how->large};
    if (how->large)
        all.places[2] = CTXRT_CUDA(2);
    pthread_mutex_init(&all.telling, NULL);
    shadow_clear(how->large ? LARGE_UNIT_BITS : 8);
    for (int place = 0; place < PLACES; place++) {
        cx_assert_ok(ctxrt_device_push(all.places[place]));
        cx_assert_ok(ctxrt_stack_pop());
        free_bytes[place] = free_bytes_of(all.places[place]);
    }
    for (int place = 0; place < PLACES; place++)
        open_place(&all, place);
    run_threads(&all, how->threads, how->steps);
    free_all(&all);
    for (int place = 0; place < PLACES; place++)
        close_place(&all, place, free_bytes[place]);
    ck_assert_msg(atomic_load(&all.wrong) == 0, "seed %llu: %d wrong, first: %s",
                  (unsigned long long)seed, atomic_load(&all.wrong), all.first_wrong);
    ck_assert_int_gt(atomic_load(&all.served), 0);
    ck_assert_int_gt(atomic_load(&all.checks), 0);
    pthread_mutex_destroy(&all.telling);
}

/* ---- the tests ---- */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Driver calls that the allocator makes, and how often each fails. */
typedef struct fault {
    const char *call;
    int times, first, apart;
} fault;

static const fault scheduled[] = {
    {"cuMemAlloc", 6, 3, 5},           {"cuMemCreate", 5, 2, 7},     {"cuMemMap", 4, 2, 9},
    {"cuMemSetAccess", 3, 2, 13},     {"cuEventCreate", 3, 31, 11}, {"cuEventRecord", 4, 31, 23},
    {"cuMemAddressReserve", 1, 1, 1}, {"cuEventQuery", 3, 5, 17},   {"cuStreamQuery", 3, 5, 17},
};

/* The errors that calls have by themselves might end the context. */
static const char *error_of(const char *call)
{
    return strstr(call, "Query") != NULL ? ":UNKNOWN" : "";
}

static void set_faults(uint64_t seed)
{
    char text[1024];
    int length = 0;
    for (size_t i = 0; i < sizeof scheduled / sizeof *scheduled; i++)
        for (int k = 0; k < scheduled[i].times;
             k++, seed = seed * 6364136223846793005u + 1442695040888963407u)
            length +=
                snprintf(text + length, sizeof text - (size_t)length, "%s%s@%d%s",
                         length == 0 ? "" : ",", scheduled[i].call,
                         scheduled[i].first + scheduled[i].apart * k + (int)((seed >> 33) % 4),
                         error_of(scheduled[i].call));
    ck_assert_int_eq(setenv("CTXRT_EMU_FAULT", text, 1), 0);
}

static void start(const manner *how, uint64_t seed)
{
    ctxrt_options options = CTXRT_OPTIONS_INIT;
    if (how->large)
        cx_fixture_allow_files();
    if (how->faults)
        set_faults(seed);
    const char *source = how->large || seed % 2 == 0 ? "vmm" : "alloc";
    ck_assert_int_eq(setenv("CTXRT_ALLOCATOR", source, 1), 0);
    options.cuda_driver = CTXRT_CUDA_DRIVER_EMULATED;
    options.emulated_devices = how->large ? 3 : 2;
    options.emulated_memory_bytes = (size_t)(how->large ? LARGE_GPU_MIB : GPU_MIB) << 20;
    cx_assert_ok(ctxrt_init(&options));
}

static void set_schedule(const char *schedule, uint64_t seed)
{
    char text[64];
    snprintf(text, sizeof text, "%s%llu", schedule, (unsigned long long)seed);
    ck_assert_int_eq(
        setenv("CTXRT_EMU_SCHEDULE", schedule[strlen(schedule) - 1] == ':' ? text : schedule, 1),
        0);
}

/* Prints the seed of a round that fails by itself: a process that dies says nothing more. */
static void play(manner how)
{
    uint64_t seed = number_from("CTXRT_TEST_SEED", 1);
    double end_s = now_s() + (double)number_from("CTXRT_TEST_SECONDS", 0);
    do {
        if (getenv("CTXRT_TEST_SECONDS") != NULL)
            printf("# schedule %s, %d threads, seed %llu\n", how.schedule, how.threads,
                   (unsigned long long)seed);
        fflush(stdout);
        set_schedule(how.schedule, seed);
        start(&how, seed);
        play_round(&how, seed++);
        cx_fixture_end();
    } while (now_s() < end_s);
}

START_TEST(one_thread_where_nothing_runs_before_it_must)
{
    play((manner){.schedule = "lazy", .threads = 1, .steps = 900});
}
END_TEST

START_TEST(one_thread_where_work_runs_in_any_legal_order)
{
    play((manner){.schedule = "random:", .threads = 1, .steps = 900});
}
END_TEST

START_TEST(threads_where_nothing_runs_before_it_must)
{
    play((manner){.schedule = "lazy", .threads = 3, .steps = 300});
}
END_TEST

START_TEST(threads_where_work_runs_in_any_legal_order)
{
    play((manner){.schedule = "random:", .threads = 3, .steps = 300});
}
END_TEST

START_TEST(threads_where_work_runs_at_once)
{
    play((manner){.schedule = "threads", .threads = 4, .steps = 300});
}
END_TEST

START_TEST(threads_of_a_driver_that_has_no_memory_now_and_then)
{
    play((manner){.schedule = "threads", .threads = 3, .steps = 300, .faults = true});
}
END_TEST

START_TEST(one_thread_on_large_devices)
{
    play((manner){.schedule = "lazy", .threads = 1, .steps = 200, .large = true});
}
END_TEST

START_TEST(threads_on_large_devices)
{
    play((manner){.schedule = "threads", .threads = 3, .steps = 70, .large = true});
}
END_TEST

START_TEST(threads_on_large_devices_that_have_no_memory_now_and_then)
{
    play((manner){
        .schedule = "random:", .threads = 3, .steps = 70, .faults = true, .large = true});
}
END_TEST

static void add(Suite *suite, const char *name, const TTest *test)
{
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 60 + 2 * (double)number_from("CTXRT_TEST_SECONDS", 0));
    tcase_add_test(tcase, test);
    suite_add_tcase(suite, tcase);
}

/* CK_RUN_CASE chooses one. */
static Suite *random_suite(void)
{
    Suite *suite = suite_create("allocator random");
    add(suite, "alone-lazy", one_thread_where_nothing_runs_before_it_must);
    add(suite, "alone-random", one_thread_where_work_runs_in_any_legal_order);
    add(suite, "lazy", threads_where_nothing_runs_before_it_must);
    add(suite, "random", threads_where_work_runs_in_any_legal_order);
    add(suite, "threads", threads_where_work_runs_at_once);
    add(suite, "large-alone", one_thread_on_large_devices);
    add(suite, "large-threads", threads_on_large_devices);
    add(suite, "large-faults", threads_on_large_devices_that_have_no_memory_now_and_then);
    add(suite, "faults", threads_of_a_driver_that_has_no_memory_now_and_then);
    return suite;
}

CX_TESTS(random_suite);
