/*
 * Pinned memory at random: threads write into it, let streams copy it and write to it, and free it
 * at once, on any thread. Who gets it next writes to it at once too: then an earlier copy sees the
 * wrong bytes, or an earlier fill changes them, if it was given out too early. A shadow of memory
 * shows overlap.
 */
#include "crowd.h"
#include "fixture.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    uint32_t name;
    ctxrt_memory *memory;
    unsigned char *bytes;
    size_t size;
    unsigned char value;
} block;

static bool is_whole(const block *one)
{
    return one->bytes[0] == one->value && memcmp(one->bytes, one->bytes + 1, one->size - 1) == 0;
}

static block *make_block(member *self)
{
    uint32_t whose;
    crowd *all = self->all;
    block *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->name = crowd_name(all);
    made->value = (unsigned char)(1 + made->name % 255);
    made->size = 1 + pick(self, (uint64_t)1 << (8 + pick(self, 12)));
    if (!EXPECT(all, ctxrt_memory_alloc_pinned(made->size, &made->memory))) {
        free(made);
        return NULL;
    }
    made->bytes = ctxrt_memory_pointer(made->memory);
    if (!shadow_take((uintptr_t)made->bytes, made->size, made->name, 0, &whose))
        crowd_tell(all, "block %u got %zu bytes that %u has", made->name, made->size, whose);
    memset(made->bytes, made->value, made->size);
    atomic_fetch_add_explicit(&all->served, 1, memory_order_relaxed);
    return made;
}

/* Work may use it still, but nobody has written to it since the host did. */
static void free_block(member *self, block *one)
{
    crowd *all = self->all;
    if (one == NULL)
        return;
    if (!shadow_pass((uintptr_t)one->bytes, one->size, one->name, 0))
        crowd_tell(all, "block %u lost some of its memory", one->name);
    (void)EXPECT(all, ctxrt_memory_release(one->memory));
    free(one);
}

static lane *pick_lane(member *self)
{
    return &self->all->lanes[pick(self, PLACES)][pick(self, LANES)];
}

/* ---- steps ---- */

/* Looked at before it is freed: a fill of an earlier life would show. */
static void step_hold(member *self)
{
    block *made = make_block(self);
    block *before =
        atomic_exchange(&self->all->blocks[self->place][pick(self, BLOCKS)], made);
    if (before != NULL && !is_whole(before))
        crowd_tell(self->all, "work of before wrote into block %u", before->name);
    free_block(self, before);
}

static void step_copy(member *self)
{
    block *made = make_block(self);
    lane *at = pick_lane(self);
    if (made == NULL)
        return;
    size_t from = pick(self, made->size);
    pthread_rwlock_rdlock(&at->lock);
    lane_check(self->all, at, made->bytes + from, made->size - from, made->value);
    pthread_rwlock_unlock(&at->lock);
    free_block(self, made);
}

static void step_fill(member *self)
{
    block *made = make_block(self);
    lane *at = pick_lane(self);
    if (made == NULL)
        return;
    size_t from = pick(self, made->size);
    pthread_rwlock_rdlock(&at->lock);
    (void)EXPECT(self->all, ctxrt_fill_async(made->bytes + from, 0, made->size - from, at->stream));
    pthread_rwlock_unlock(&at->lock);
    free_block(self, made);
}

typedef struct kernel {
    crowd *all;
    block seen;
} kernel;

static void read_all(void *argument)
{
    kernel *self = argument;
    if (!is_whole(&self->seen))
        crowd_tell(self->all, "block %u changed before the work that reads it", self->seen.name);
    atomic_fetch_add_explicit(&self->all->checks, 1, memory_order_relaxed);
    free(self);
}

/* What ctxrt does not see is said. */
static void step_record(member *self)
{
    crowd *all = self->all;
    block *made = make_block(self);
    kernel *reads = malloc(sizeof *reads);
    lane *at = pick_lane(self);
    if (reads == NULL)
        abort();
    if (made == NULL) {
        free(reads);
        return;
    }
    *reads = (kernel){all, *made};
    pthread_rwlock_rdlock(&at->lock);
    (void)EXPECT(all, ctxrt_stream_add_host_function(at->stream, read_all, reads));
    (void)EXPECT(all, ctxrt_memory_record_stream(made->memory, at->stream));
    pthread_rwlock_unlock(&at->lock);
    free_block(self, made);
}

static void step_wait(member *self)
{
    lane *at = pick_lane(self);
    pthread_rwlock_rdlock(&at->lock);
    (void)EXPECT(self->all, ctxrt_stream_synchronize(at->stream));
    pthread_rwlock_unlock(&at->lock);
}

static void step_trim(member *self)
{
    ctxrt_allocator *allocator;
    if (EXPECT(self->all, ctxrt_allocator_pinned(&allocator)))
        (void)EXPECT(self->all, ctxrt_allocator_trim(allocator, NULL));
}

static void step_replace(member *self)
{
    lane_replace(self, &self->all->lanes[self->place][pick(self, LANES)]);
}

static void step_go(member *self)
{
    crowd *all = self->all;
    (void)EXPECT(all, ctxrt_stack_pop());
    self->place = (int)pick(self, PLACES);
    (void)EXPECT(all, ctxrt_device_push(all->places[self->place]));
}

static void (*const steps[])(member *self) = {
    step_hold, step_hold, step_hold,   step_copy, step_copy, step_copy,    step_fill, step_fill,
    step_fill, step_fill, step_record, step_wait, step_trim, step_replace, step_go,   step_hold,
};

static void *join_crowd(void *argument)
{
    member *self = argument;
    if (!EXPECT(self->all, ctxrt_device_push(self->all->places[self->place])))
        return NULL;
    for (int i = 0; i < self->steps && atomic_load(&self->all->wrong) == 0; i++)
        steps[pick(self, sizeof steps / sizeof steps[0])](self);
    (void)EXPECT(self->all, ctxrt_stack_pop());
    return NULL;
}

/* ---- a round ---- */

static void open_place(crowd *all, int place)
{
    cx_assert_ok(ctxrt_device_push(all->places[place]));
    all->lanes[place] = calloc(LANES, sizeof(lane));
    ck_assert_ptr_nonnull(all->lanes[place]);
    for (int i = 0; i < LANES; i++)
        ck_assert(lane_open(all, &all->lanes[place][i], place));
    cx_assert_ok(ctxrt_stack_pop());
}

static void close_lanes(crowd *all, int place)
{
    cx_assert_ok(ctxrt_device_push(all->places[place]));
    for (int i = 0; i < LANES; i++)
        lane_close(all, &all->lanes[place][i]);
    free(all->lanes[place]);
    cx_assert_ok(ctxrt_device_synchronize());
    cx_assert_ok(ctxrt_stack_pop());
}

/* When no stream has anything to do, all goes back. */
static void assert_empty(const crowd *all, int place)
{
    ctxrt_allocator *allocator;
    ctxrt_allocator_info info = CTXRT_ALLOCATOR_INFO_INIT;
    cx_assert_ok(ctxrt_device_push(all->places[place]));
    cx_assert_ok(ctxrt_allocator_pinned(&allocator));
    cx_assert_ok(ctxrt_allocator_trim(allocator, NULL));
    cx_assert_ok(ctxrt_allocator_describe(allocator, &info));
    ck_assert_uint_eq(info.requested.current_count, 0);
    ck_assert_uint_eq(info.reserved.current_bytes, 0);
    cx_assert_ok(ctxrt_stack_pop());
}

static void free_all(crowd *all)
{
    member sweeper = {.all = all};
    for (int place = 0; place < PLACES; place++)
        for (int i = 0; i < BLOCKS; i++)
            free_block(&sweeper, atomic_exchange(&all->blocks[place][i], NULL));
}

static void run_threads(crowd *all, int threads, int count)
{
    member members[THREADS_MAX];
    pthread_t ids[THREADS_MAX];
    for (int t = 0; t < threads; t++) {
        members[t] = (member){.all = all, .number = t, .place = t % PLACES, .steps = count};
        members[t].random = (all->seed * THREADS_MAX + (uint64_t)t) * 0x9e3779b97f4a7c15u;
        ck_assert_int_eq(pthread_create(&ids[t], NULL, join_crowd, &members[t]), 0);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
}

static void play(const char *schedule, int threads, int count)
{
    static crowd all;
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", schedule, 1), 0);
    cx_fixture_start_with(2, CTXRT_FOREIGN_FOLLOW);
    const char *seed = getenv("CTXRT_TEST_SEED");
    all = (crowd){.places = {CTXRT_CUDA(0), CTXRT_CUDA(1), CTXRT_CPU(0)}};
    all.seed = seed != NULL ? strtoull(seed, NULL, 10) : 1;
    pthread_mutex_init(&all.telling, NULL);
    shadow_clear(8);
    for (int place = 0; place < PLACES; place++)
        open_place(&all, place);
    run_threads(&all, threads, count);
    free_all(&all);
    for (int place = 0; place < PLACES; place++)
        close_lanes(&all, place);
    for (int place = 0; place < PLACES; place++)
        assert_empty(&all, place);
    ck_assert_msg(atomic_load(&all.wrong) == 0, "%d wrong, first: %s", atomic_load(&all.wrong),
                  all.first_wrong);
    ck_assert_int_gt(atomic_load(&all.served), 0);
    ck_assert_int_gt(atomic_load(&all.checks), 0);
    pthread_mutex_destroy(&all.telling);
    cx_fixture_end();
}

START_TEST(one_thread_where_nothing_runs_before_it_must)
{
    play("lazy", 1, 500);
}
END_TEST

START_TEST(threads_where_nothing_runs_before_it_must)
{
    play("lazy", 3, 150);
}
END_TEST

START_TEST(threads_where_work_runs_in_any_legal_order)
{
    play("random:1", 3, 150);
}
END_TEST

START_TEST(threads_where_work_runs_at_once)
{
    play("threads", 3, 200);
}
END_TEST

static Suite *random_suite(void)
{
    Suite *suite = suite_create("pinned random");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, one_thread_where_nothing_runs_before_it_must);
    tcase_add_test(tcase, threads_where_nothing_runs_before_it_must);
    tcase_add_test(tcase, threads_where_work_runs_in_any_legal_order);
    tcase_add_test(tcase, threads_where_work_runs_at_once);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(random_suite);
