/*
 * Many threads push, pop, set and enter scopes at random, each checked against a small model of its
 * own stack; meanwhile other threads release devices, destroy contexts and take snapshots.
 */
#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Minutes otherwise, where sanitizers watch: what they see they see at once. */
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
enum { OPERATIONS = 20000, MEETINGS = 12000 };
#else
enum { OPERATIONS = 100000, MEETINGS = 60000 };
#endif

enum { THREADS = 64, DEVICES = 4, DEPTH = 24 };

/* ---- the model ---- */

typedef enum model_origin { MODEL_PUSH, MODEL_SCOPE, MODEL_SET } model_origin;

typedef struct model_frame {
    int device; /* DEVICES: the CPU */
    model_origin origin;
} model_frame;

typedef struct model {
    model_frame frames[DEPTH];
    int depth;
    ctxrt_scope scopes[DEPTH]; /* open ones, innermost last */
    int scope_count;
    uint64_t random;
    long counts[6];
} model;

static uint32_t next_random(model *self)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(self->random >> 33);
}

static ctxrt_device device_of(int number)
{
    return number == DEVICES ? CTXRT_CPU(0) : CTXRT_CUDA(number);
}

static void model_set(model *self, int device)
{
    if (self->depth > 0 && self->frames[self->depth - 1].origin == MODEL_SET)
        self->frames[self->depth - 1].device = device;
    else
        self->frames[self->depth++] = (model_frame){device, MODEL_SET};
}

/* What a pop must answer; takes the level off if it may. */
static ctxrt_status model_pop(model *self)
{
    int lowest = self->depth - 1;
    if (lowest < 0)
        return CTXRT_ERROR_STACK_EMPTY;
    if (self->frames[lowest].origin == MODEL_SET && lowest > 0)
        lowest--;
    if (self->frames[lowest].origin == MODEL_SCOPE)
        return CTXRT_ERROR_NOT_PERMITTED;
    self->depth = lowest;
    return CTXRT_SUCCESS;
}

/* Leaves the innermost scope. */
static ctxrt_status model_leave(model *self)
{
    int index = self->depth - 1;
    bool leftover = false;
    while (self->frames[index].origin != MODEL_SCOPE) {
        leftover = leftover || self->frames[index].origin == MODEL_PUSH;
        index--;
    }
    self->depth = index;
    return leftover ? CTXRT_ERROR_STACK_LEFTOVER : CTXRT_SUCCESS;
}

static void compare(const model *self)
{
    ctxrt_device device;
    if (ctxrt_stack_depth() != (size_t)self->depth)
        ck_abort_msg("depth %zu, not %d", ctxrt_stack_depth(), self->depth);
    ctxrt_status status = ctxrt_device_get(&device);
    if (self->depth == 0) {
        ck_assert_int_eq(status, CTXRT_ERROR_NO_DEVICE);
        return;
    }
    ctxrt_device wanted = device_of(self->frames[self->depth - 1].device);
    if (status != CTXRT_SUCCESS || device.type != wanted.type || device.index != wanted.index)
        ck_abort_msg("%s:%d is current, not %s:%d (%s)", ctxrt_device_type_name(device.type),
                     device.index, ctxrt_device_type_name(wanted.type), wanted.index,
                     ctxrt_status_name(status));
}

static void step(model *self, ctxrt_context *const *contexts)
{
    uint32_t choice = next_random(self) % 6;
    int device = (int)(next_random(self) % (DEVICES + 1));
    bool room = self->depth < DEPTH - 2;
    self->counts[choice]++;
    switch (choice) {
    case 0:
    case 1:
        cx_assert_ok(ctxrt_device_set(device_of(device)));
        model_set(self, device);
        break;
    case 2:
        if (!room)
            break;
        if (device < DEVICES && next_random(self) % 2 == 0)
            cx_assert_ok(ctxrt_stack_push(contexts[device]));
        else
            cx_assert_ok(ctxrt_device_push(device_of(device)));
        self->frames[self->depth++] = (model_frame){device, MODEL_PUSH};
        break;
    case 3:
        cx_assert_status(ctxrt_stack_pop(), model_pop(self));
        break;
    case 4:
        if (!room)
            break;
        self->scopes[self->scope_count] = (ctxrt_scope){0};
        cx_assert_ok(ctxrt_scope_enter(device_of(device), &self->scopes[self->scope_count]));
        self->scope_count++;
        self->frames[self->depth++] = (model_frame){device, MODEL_SCOPE};
        break;
    case 5:
        if (self->scope_count == 0)
            break;
        self->scope_count--;
        cx_assert_status(ctxrt_scope_leave(&self->scopes[self->scope_count]), model_leave(self));
        break;
    }
}

/* ---- the threads ---- */

/* One disturbance for each so many operations of the workers. */
enum { PACE = 256 };

typedef struct stage {
    ctxrt_context *contexts[DEVICES];
    atomic_int running;
    atomic_long operations;
} stage;

/* Waits for the workers to have done `disturbances` times PACE operations; false when they are
 * done. */
static bool keep_pace(stage *shared, long disturbances)
{
    while (atomic_load(&shared->operations) < disturbances * PACE) {
        if (atomic_load(&shared->running) == 0)
            return false;
        sched_yield();
    }
    return true;
}

typedef struct worker {
    stage *shared;
    uint64_t seed;
} worker;

static void *work(void *argument)
{
    const worker *self = argument;
    model state = {.random = self->seed};
    for (int i = 0; i < OPERATIONS; i++) {
        step(&state, self->shared->contexts);
        compare(&state);
        if (i % PACE == 0)
            atomic_fetch_add(&self->shared->operations, PACE);
    }
    while (state.scope_count > 0) {
        state.scope_count--;
        cx_assert_status(ctxrt_scope_leave(&state.scopes[state.scope_count]), model_leave(&state));
    }
    while (state.depth > 0)
        cx_assert_status(ctxrt_stack_pop(), model_pop(&state));
    compare(&state);
    for (int i = 0; i < 6; i++)
        ck_assert_int_gt(state.counts[i], OPERATIONS / 10);
    atomic_fetch_sub(&self->shared->running, 1);
    return NULL;
}

/* Devices in use are not released; those that are come back with their next use. */
static void *release_devices(void *argument)
{
    stage *shared = argument;
    for (long i = 0; keep_pace(shared, i); i++) {
        ctxrt_status status = ctxrt_device_release(device_of((int)(i % (DEVICES + 1))));
        ck_assert_msg(status == CTXRT_SUCCESS || status == CTXRT_ERROR_IN_USE, "%s",
                      ctxrt_last_error()->message);
    }
    return NULL;
}

/* A context of its own comes and goes; those of the workers are refused whenever a frame has
 * them. */
static void *create_and_destroy(void *argument)
{
    stage *shared = argument;
    for (long i = 0; keep_pace(shared, i); i++) {
        ctxrt_context *context;
        cx_assert_ok(ctxrt_context_create(CTXRT_CUDA((int)(i % DEVICES)), 0, &context));
        cx_assert_ok(ctxrt_stack_push(context));
        cx_assert_status(ctxrt_context_destroy(context), CTXRT_ERROR_IN_USE);
        cx_assert_ok(ctxrt_stack_pop());
        cx_assert_ok(ctxrt_context_destroy(context));
    }
    return NULL;
}

/* Every stack in a snapshot is one that its thread had: whole lines, an arrow at the top, nothing
 * torn. */
static void check_snapshot(char *text)
{
    static const char *const origins[] = {"set", "push", "scope"};
    int left = 0, expected = 0;
    for (char *line = strtok_r(text, "\n", &text); line != NULL;
         line = strtok_r(NULL, "\n", &text)) {
        int level, number;
        char device[16], origin[16], kind[16];
        unsigned long long id;
        if (sscanf(line, "thread %d", &number) == 1) {
            ck_assert_int_eq(left, 0);
            const char *quote = strrchr(line, '"');
            ck_assert_ptr_nonnull(quote);
            ck_assert_int_eq(sscanf(quote, "\": %d frame", &left), 1);
            expected = left;
            continue;
        }
        if (strncmp(line, "memory of ", 10) == 0)
            continue;
        ck_assert_msg((strncmp(line, "  -> ", 5) == 0) == (left == expected), "%s", line);
        ck_assert_msg(sscanf(line + 5, "%d %15s %15s %15s context %llu", &level, device, origin,
                             kind, &id) == 5,
                      "%s", line);
        ck_assert_int_eq(level, --left);
        bool known = false;
        for (size_t i = 0; i < sizeof origins / sizeof origins[0]; i++)
            known = known || strcmp(origin, origins[i]) == 0;
        ck_assert_msg(known && id != 0, "%s", line);
    }
    ck_assert_int_eq(left, 0);
}

static void *take_snapshots(void *argument)
{
    stage *shared = argument;
    for (long i = 0; keep_pace(shared, 8 * i); i++) {
        char *text;
        size_t size;
        FILE *file = open_memstream(&text, &size);
        cx_assert_ok(ctxrt_snapshot_write(file, CTXRT_SNAPSHOT_TEXT));
        fclose(file);
        check_snapshot(text);
        free(text);
    }
    return NULL;
}

START_TEST(sixty_four_threads_agree_with_the_model_whatever_others_do_meanwhile)
{
    static void *(*const disturbers[])(void *) = {release_devices, create_and_destroy,
                                                  take_snapshots};
    enum { DISTURBERS = sizeof disturbers / sizeof disturbers[0] };
    static worker workers[THREADS];
    static pthread_t threads[THREADS], disturbing[DISTURBERS];
    stage shared = {.running = THREADS};
    for (int i = 0; i < DEVICES; i++)
        cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(i), 0, &shared.contexts[i]));
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){&shared, 0x9E3779B97F4A7C15u * (uint64_t)(i + 1)};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < DISTURBERS; i++)
        ck_assert_int_eq(pthread_create(&disturbing[i], NULL, disturbers[i], &shared), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < DISTURBERS; i++)
        pthread_join(disturbing[i], NULL);
    for (int i = 0; i < DEVICES; i++)
        cx_assert_ok(ctxrt_context_destroy(shared.contexts[i]));
}
END_TEST

/* ---- taking up a device that another thread releases at that moment ---- */

static void *release_always(void *argument)
{
    atomic_int *running = argument;
    while (atomic_load(running) > 0) {
        ctxrt_status status = ctxrt_device_release(CTXRT_CUDA(0));
        ck_assert_int_eq(status == CTXRT_SUCCESS || status == CTXRT_ERROR_IN_USE, 1);
    }
    return NULL;
}

START_TEST(a_device_that_was_set_is_never_released_under_it)
{
    pthread_t thread;
    atomic_int running = 1;
    ck_assert_int_eq(pthread_create(&thread, NULL, release_always, &running), 0);
    for (int i = 0; i < MEETINGS; i++) {
        if (i % 2 == 0)
            cx_assert_ok(ctxrt_device_push(CTXRT_CUDA(1)));
        cx_assert_ok(ctxrt_device_set(CTXRT_CUDA(0)));
        cx_assert_ok(ctxrt_device_synchronize()); /* CONTEXT_DESTROYED if it was */
        cx_assert_ok(ctxrt_stack_pop());
    }
    atomic_store(&running, 0);
    pthread_join(thread, NULL);
}
END_TEST

static Suite *stress_suite(void)
{
    Suite *suite = suite_create("stress");
    TCase *tcase = tcase_create("stress");
    tcase_set_timeout(tcase, 600);
    tcase_add_checked_fixture(tcase, cx_fixture_start, cx_fixture_end);
    tcase_add_test(tcase, sixty_four_threads_agree_with_the_model_whatever_others_do_meanwhile);
    tcase_add_test(tcase, a_device_that_was_set_is_never_released_under_it);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(stress_suite);
