/* Memory plans: how small the peak gets when all lifetimes are known, and threads with one plan. */
#include "plan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- all lifetimes known ---- */

typedef struct lifetime {
    size_t size, offset;
    int begin, end;
} lifetime;

enum { LIFETIMES_MAX = 2000 };
static lifetime lifetimes[LIFETIMES_MAX];
static size_t lifetime_count;
static int moment;

static void begin_lifetime(size_t size_bytes)
{
    ck_assert_uint_lt(lifetime_count, LIFETIMES_MAX);
    lifetimes[lifetime_count] = (lifetime){.size = size_bytes, .begin = moment++, .end = INT32_MAX};
    ck_assert_uint_eq(add(size_bytes), lifetime_count++);
}

static void end_lifetime(size_t tensor)
{
    lifetimes[tensor].end = moment++;
    drop(tensor);
}

static void read_trace(const char *name)
{
    char path[512], line[64];
    const char *top = getenv("top_builddir");
    size_t slot, size, tensors[LIFETIMES_MAX];
    snprintf(path, sizeof path, "%s/bench/traces/%s", top != NULL ? top : ".", name);
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s is not there", path);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "a,%zu,%zu", &slot, &size) == 2) {
            ck_assert_uint_lt(slot, LIFETIMES_MAX);
            tensors[slot] = lifetime_count;
            begin_lifetime(size);
        } else {
            ck_assert_int_eq(sscanf(line, "f,%zu", &slot), 1);
            end_lifetime(tensors[slot]);
        }
    }
    fclose(file);
}

static bool collide(const lifetime *one, const lifetime *other)
{
    bool together = one->begin < other->end && other->begin < one->end;
    return together && one->offset < other->offset + other->size &&
           other->offset < one->offset + one->size;
}

/* Shares nothing with the planner: each pair is looked at. */
static void assert_valid(void)
{
    for (size_t i = 0; i < lifetime_count; i++) {
        lifetime *one = &lifetimes[i];
        size_t k = 0;
        one->offset = offset_of(i);
        ck_assert_uint_eq(one->offset % 256, 0);
        ck_assert_uint_le(one->offset + one->size, peak());
        while (k < i && !collide(one, &lifetimes[k]))
            k++;
        ck_assert_msg(k == i, "tensors %zu and %zu overlap", i, k);
    }
}

static size_t most_together(void)
{
    size_t most = 0;
    for (int at = 0; at < moment; at++) {
        size_t together = 0;
        for (size_t i = 0; i < lifetime_count; i++)
            if (lifetimes[i].begin <= at && at < lifetimes[i].end)
                together += lifetimes[i].size;
        most = together > most ? together : most;
    }
    return most;
}

/* Each is known to fit into 2^20 units of 256 bytes; `percent` is how near to it the peak must
 * come. */
static const struct trace {
    const char *name;
    int tensors;
    unsigned int percent;
} traces[] = {
    {"minimalloc_A.csv", 154, 106}, {"minimalloc_B.csv", 170, 106}, {"minimalloc_C.csv", 203, 100},
    {"minimalloc_D.csv", 213, 106}, {"minimalloc_E.csv", 215, 106},
};

START_TEST(hard_cases_come_near_to_the_capacity_they_are_known_to_fit_into)
{
    const struct trace *trace = &traces[_i];
    const size_t goal = ((size_t)256 << 20) / 100 * trace->percent;
    read_trace(trace->name);
    ck_assert_uint_eq(lifetime_count, trace->tensors);
    assert_valid();
    cx_assert_ok(ctxrt_plan_optimise(plan, goal, 0));
    assert_valid();
    ck_assert_uint_ge(peak(), most_together());
    ck_assert_uint_le(peak(), goal);
}
END_TEST

static void random_lifetimes(uint32_t seed, int tensors)
{
    uint32_t random = seed;
    for (int i = 0; i < tensors; i++) {
        random = random * 1664525u + 1013904223u;
        begin_lifetime(256 * (1 + (random >> 8) % 64));
        for (size_t k = 0; k < lifetime_count; k++) {
            random = random * 1664525u + 1013904223u;
            if (lifetimes[k].end == INT32_MAX && (random >> 8) % 12 == 0)
                end_lifetime(k);
        }
    }
}

START_TEST(optimising_never_makes_the_peak_larger_and_is_always_valid)
{
    random_lifetimes(99u + (uint32_t)_i, 20 + 15 * _i);
    size_t before = peak();
    cx_assert_ok(ctxrt_plan_optimise(plan, 0, (uint64_t)1 << (4 * _i)));
    assert_valid();
    ck_assert_uint_le(peak(), before);
    ck_assert_uint_ge(peak(), most_together());
}
END_TEST

START_TEST(an_easy_plan_gets_the_least_peak_there_is)
{
    begin_lifetime(256);  /* in the order of time the last does not fit between the first two */
    begin_lifetime(1024);
    end_lifetime(0);
    begin_lifetime(512);
    end_lifetime(1);
    begin_lifetime(1536);
    ck_assert_uint_gt(peak(), most_together());
    cx_assert_ok(ctxrt_plan_optimise(plan, 0, 0));
    assert_valid();
    ck_assert_uint_eq(peak(), most_together());
}
END_TEST

START_TEST(the_same_plan_and_effort_give_the_same_offsets)
{
    size_t first[LIFETIMES_MAX];
    random_lifetimes(5, 80);
    cx_assert_ok(ctxrt_plan_optimise(plan, 0, 3000000));
    for (size_t i = 0; i < lifetime_count; i++)
        first[i] = offset_of(i);
    cx_assert_ok(ctxrt_plan_destroy(plan));
    cx_assert_ok(ctxrt_plan_create(0, &plan));
    lifetime_count = 0;
    moment = 0;
    random_lifetimes(5, 80);
    cx_assert_ok(ctxrt_plan_optimise(plan, 0, 3000000));
    for (size_t i = 0; i < lifetime_count; i++)
        ck_assert_uint_eq(offset_of(i), first[i]);
}
END_TEST

START_TEST(an_empty_plan_can_be_optimised_but_has_no_memory)
{
    cx_assert_ok(ctxrt_plan_optimise(plan, 0, 0));
    ck_assert_uint_eq(peak(), 0);
    cx_assert_error(ctxrt_plan_commit(plan, NULL), CTXRT_ERROR_INVALID_ARGUMENT);
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 8, ROUNDS = 300 };
static atomic_int failures;

static void *plan_and_free(void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++) {
        size_t tensor, bytes;
        if (ctxrt_plan_alloc(plan, 256, &tensor) != CTXRT_SUCCESS ||
            ctxrt_plan_peak(plan, &bytes) != CTXRT_SUCCESS || bytes > THREADS * 256 ||
            ctxrt_plan_free(plan, tensor) != CTXRT_SUCCESS)
            atomic_fetch_add(&failures, 1);
    }
    return NULL;
}

static void run_threads(void *(*body)(void *argument))
{
    pthread_t threads[THREADS];
    atomic_store(&failures, 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, body, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

START_TEST(threads_plan_side_by_side)
{
    run_threads(plan_and_free);
    ck_assert_int_eq(atomic_load(&failures), 0);
    ck_assert_uint_eq(offset_of(add(256)), 0);
    cx_assert_error(ctxrt_plan_free(plan, THREADS * ROUNDS + 1), CTXRT_ERROR_INVALID_ARGUMENT);
}
END_TEST

static atomic_int destroyed;

static void *destroy(void *argument)
{
    (void)argument;
    ctxrt_status status = ctxrt_plan_destroy(plan);
    if (status == CTXRT_SUCCESS)
        atomic_fetch_add(&destroyed, 1);
    else if (status != CTXRT_ERROR_INVALID_HANDLE)
        atomic_fetch_add(&failures, 1);
    return NULL;
}

static void *use_and_destroy(void *argument)
{
    size_t bytes;
    (void)argument;
    ctxrt_status looked = ctxrt_plan_peak(plan, &bytes);
    if (looked != CTXRT_SUCCESS && looked != CTXRT_ERROR_INVALID_HANDLE)
        atomic_fetch_add(&failures, 1);
    return destroy(NULL);
}

START_TEST(of_threads_that_destroy_a_plan_one_does)
{
    for (int i = 0; i < 20; i++) {
        atomic_store(&destroyed, 0);
        add(1024);
        cx_assert_ok(ctxrt_plan_commit(plan, NULL));
        run_threads(use_and_destroy);
        ck_assert_int_eq(atomic_load(&failures), 0);
        ck_assert_int_eq(atomic_load(&destroyed), 1);
        cx_assert_ok(ctxrt_plan_create(0, &plan));
    }
}
END_TEST

static pthread_barrier_t together;

static void *optimise_for_long(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&together);
    ctxrt_status status = ctxrt_plan_optimise(plan, 0, 10000000);
    if (status != CTXRT_SUCCESS && status != CTXRT_ERROR_INVALID_HANDLE)
        atomic_fetch_add(&failures, 1);
    return NULL;
}

/* They come while it is being optimised, if they can: all have found it then, and one destroys
 * it. */
START_TEST(threads_that_wait_for_a_plan_are_told_that_it_was_destroyed)
{
    pthread_t thread;
    read_trace("minimalloc_E.csv");
    atomic_store(&destroyed, 0);
    ck_assert_int_eq(pthread_barrier_init(&together, NULL, 2), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, optimise_for_long, NULL), 0);
    pthread_barrier_wait(&together);
    run_threads(destroy);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&together);
    ck_assert_int_eq(atomic_load(&failures), 0);
    ck_assert_int_eq(atomic_load(&destroyed), 1);
    cx_assert_ok(ctxrt_plan_create(0, &plan));
}
END_TEST
static Suite *plan_lifetimes_suite(void)
{
    Suite *suite = suite_create("plan, all lifetimes known");
    TCase *tcase = tcase_create("all lifetimes known");
    tcase_add_checked_fixture(tcase, start, finish);
    tcase_add_loop_test(tcase, hard_cases_come_near_to_the_capacity_they_are_known_to_fit_into, 0,
                        sizeof traces / sizeof traces[0]);
    tcase_add_loop_test(tcase, optimising_never_makes_the_peak_larger_and_is_always_valid, 0, 6);
    tcase_add_test(tcase, an_easy_plan_gets_the_least_peak_there_is);
    tcase_add_test(tcase, the_same_plan_and_effort_give_the_same_offsets);
    tcase_add_test(tcase, an_empty_plan_can_be_optimised_but_has_no_memory);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("threads");
    tcase_add_checked_fixture(tcase, start, finish);
    tcase_add_test(tcase, threads_plan_side_by_side);
    tcase_add_test(tcase, of_threads_that_destroy_a_plan_one_does);
    tcase_add_test(tcase, threads_that_wait_for_a_plan_are_told_that_it_was_destroyed);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(plan_lifetimes_suite);
