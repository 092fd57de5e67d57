/*
 * Threads that mix calls of ctxrt with raw driver calls of a guest, at random, each against a model
 * of its own stacks: the same status, the same depth, the same current context, the same entries
 * and frames.
 *
 * CTXRT_TEST_STEPS sets how many steps the threads take together, CTXRT_TEST_SEED where they start.
 */
#include "device/device.h"
#include "fixture.h"
#include "model.h"
#include "test.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 8,
    DEVICES = 4,
    PRIVATE = 2,
    CONTEXTS = DEVICES + PRIVATE,
    SCOPES = 8,
    HISTORY = 24
};
/* A minute otherwise: CTXRT_TEST_STEPS asks for all of them. */
#ifdef __SANITIZE_THREAD__
enum { STEPS = 500000 };
#elif defined __SANITIZE_ADDRESS__
enum { STEPS = 2500000 };
#else
enum { STEPS = 10000000 };
#endif

typedef enum step_kind {
    GUEST_PUSH,
    GUEST_POP,
    GUEST_SET,
    GUEST_RENEW,
    CALL_WORK,
    CALL_SET,
    CALL_PUSH,
    CALL_PUSH_CONTEXT,
    CALL_POP,
    CALL_ENTER,
    CALL_LEAVE,
    CALL_RESYNC,
    STEP_KINDS
} step_kind;

typedef struct actor {
    int number;
    long steps;
    ctxrt_foreign_policy policy;
    uint64_t random;
    model model;
    CUcontext natives[CONTEXTS];         /* the primary ones, then the thread's own of the guest */
    ctxrt_context *primaries[DEVICES];
    ctxrt_scope scopes[SCOPES];          /* open, innermost last */
    int scope_numbers[SCOPES];
    int scope_count, next_scope;
    char history[HISTORY][48];
    long done;
    long counts[STEP_KINDS][2];          /* of each kind, granted and refused */
    long findings[CTXRT_RESYNC_AMBIGUOUS + 1];
    /* Check's assertions are for the main thread: they share a lock */
    char failure[512];
} actor;

static atomic_bool failed;

static uint32_t next_random(actor *self, uint32_t below)
{
    self->random = self->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(self->random >> 33) % below;
}

__attribute__((format(printf, 2, 3))) static void note(actor *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->history[self->done % HISTORY], sizeof self->history[0], format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 2, 3))) static void differ(actor *self, const char *format, ...)
{
    va_list arguments;
    if (self->failure[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(self->failure, sizeof self->failure, format, arguments);
    va_end(arguments);
    atomic_store(&failed, true);
}

static const cx_driver_table *driver(void)
{
    return &cx_drivers[0].table;
}

static CUcontext native_of(const actor *self, int context)
{
    return context == MODEL_NONE ? NULL : self->natives[context];
}

/* ---- comparing ---- */

static void compare_entries(actor *self)
{
    CUcontext entries[MODEL_DEPTH + 1];
    int count = 0;
    while (count <= MODEL_DEPTH && driver()->ctx_pop(&entries[count]) == CXU_SUCCESS)
        count++;
    for (int i = count - 1; i >= 0; i--)
        if (driver()->ctx_push(entries[i]) != CXU_SUCCESS)
            differ(self, "an entry could not be pushed back");
    if (count != self->model.entry_count)
        differ(self, "the driver has %d entries, not %d", count, self->model.entry_count);
    for (int i = 0; i < count && count == self->model.entry_count; i++)
        if (entries[count - 1 - i] != native_of(self, self->model.entries[i]))
            differ(self, "entry %d is %p, not context %d", i, (void *)entries[count - 1 - i],
                   self->model.entries[i]);
}

static void compare_frames(actor *self)
{
    const model *wanted = &self->model;
    for (int i = 0; i < wanted->frame_count; i++) {
        const model_frame *frame = &wanted->frames[wanted->frame_count - 1 - i];
        ctxrt_frame_info info;
        CUcontext native = NULL;
        uint64_t id = 0;
        unsigned long long driver_id = 0;
        if (ctxrt_stack_peek((size_t)i, &info) != CTXRT_SUCCESS ||
            ctxrt_context_native(info.context, &native) != CTXRT_SUCCESS ||
            ctxrt_context_id(info.context, &id) != CTXRT_SUCCESS)
            differ(self, "frame %d: %s", i, ctxrt_last_error()->message);
        else if (native != native_of(self, frame->context) || info.origin != frame->origin)
            differ(self, "frame %d is %p, origin %d, not context %d, origin %d", i, (void *)native,
                   info.origin, frame->context, frame->origin);
        else if (driver()->ctx_get_id(native, &driver_id) != CXU_SUCCESS || id != driver_id)
            differ(self, "frame %d has context id %llu, not %llu", i, (unsigned long long)id,
                   driver_id);
    }
}

static void compare(actor *self, bool thoroughly)
{
    CUcontext current = NULL;
    if (driver()->ctx_get_current(&current) != CXU_SUCCESS ||
        current != native_of(self, model_current(&self->model)))
        differ(self, "%p is current, not context %d", (void *)current, model_current(&self->model));
    if (ctxrt_stack_depth() != (size_t)self->model.frame_count)
        differ(self, "the depth is %zu, not %d", ctxrt_stack_depth(), self->model.frame_count);
    if (thoroughly && self->failure[0] == '\0') {
        compare_entries(self);
        compare_frames(self);
    }
}

static void expect(actor *self, step_kind kind, ctxrt_status status, ctxrt_status wanted)
{
    self->counts[kind][status != CTXRT_SUCCESS]++;
    if (status != wanted)
        differ(self, "%s, not %s: %s", ctxrt_status_name(status), ctxrt_status_name(wanted),
             ctxrt_last_error()->message);
}

/* ---- steps of the guest ---- */

static void guest_call(actor *self, step_kind kind, cxu_result result, bool granted)
{
    self->counts[kind][result != CXU_SUCCESS]++;
    if ((result == CXU_SUCCESS) != granted)
        differ(self, "the driver said %d", (int)result);
}

static bool is_used(const model *self, int context)
{
    for (int i = 0; i < self->entry_count; i++)
        if (self->entries[i] == context)
            return true;
    for (int i = 0; i < self->frame_count; i++)
        if (self->frames[i].context == context || self->frames[i].beneath == context)
            return true;
    return false;
}

/* The guest destroys a context of its own and makes another, which may get the same handle. */
static void renew(actor *self)
{
    int context = DEVICES + (int)next_random(self, PRIVATE);
    CUcontext native;
    if (is_used(&self->model, context))
        return;
    note(self, "guest renews %d", context);
    cxu_result result = driver()->ctx_destroy(self->natives[context]);
    if (result == CXU_SUCCESS)
        result = driver()->ctx_create_v2(&native, 0, 1 + context % DEVICES);
    if (result == CXU_SUCCESS)
        result = driver()->ctx_pop(&self->natives[context]);
    guest_call(self, GUEST_RENEW, result, true);
}

static void guest_step(actor *self, step_kind kind)
{
    int context = (int)next_random(self, CONTEXTS);
    switch (kind) {
    case GUEST_PUSH:
        note(self, "guest pushes %d", context);
        if (model_has_room(&self->model))
            guest_call(self, kind, driver()->ctx_push(self->natives[context]),
                       model_guest_push(&self->model, context));
        break;
    case GUEST_POP:
        note(self, "guest pops");
        guest_call(self, kind, driver()->ctx_pop(NULL), model_guest_pop(&self->model));
        break;
    case GUEST_SET:
        context = next_random(self, 8) == 0 ? MODEL_NONE : context;
        note(self, "guest sets %d", context);
        guest_call(self, kind, driver()->ctx_set_current(native_of(self, context)),
                   model_guest_set(&self->model, context));
        break;
    default:
        renew(self);
        break;
    }
}

/* ---- steps of ctxrt ---- */

static ctxrt_status work(actor *self)
{
    ctxrt_context *context;
    ctxrt_memory *memory;
    if (next_random(self, 16) != 0)
        return ctxrt_context_current(&context);
    ctxrt_status status = ctxrt_memory_alloc(64, &memory);
    return status == CTXRT_SUCCESS ? ctxrt_memory_release(memory) : status;
}

static void enter(actor *self, int device)
{
    ctxrt_scope *scope = &self->scopes[self->scope_count];
    int number = self->next_scope;
    if (self->scope_count == SCOPES)
        return;
    *scope = (ctxrt_scope){0};
    note(self, "enter scope %d on %d", number, device);
    ctxrt_status status = ctxrt_scope_enter(CTXRT_CUDA(device), scope);
    expect(self, CALL_ENTER, status, model_push(&self->model, device, CTXRT_FRAME_SCOPE, number));
    if (status == CTXRT_SUCCESS) {
        self->scope_numbers[self->scope_count++] = number;
        self->next_scope++;
    }
}

/* The innermost scope, or now and then one around it. */
static void leave(actor *self)
{
    if (self->scope_count == 0)
        return;
    int index = self->scope_count - 1 - (self->scope_count > 1 && next_random(self, 8) == 0);
    note(self, "leave scope %d", self->scope_numbers[index]);
    ctxrt_status status = ctxrt_scope_leave(&self->scopes[index]);
    expect(self, CALL_LEAVE, status, model_leave(&self->model, self->scope_numbers[index]));
    self->scope_count = index;
}

static void resync(actor *self)
{
    ctxrt_resync_report report = {CTXRT_RESYNC_IN_STEP, 0}, wanted;
    note(self, "resync");
    ctxrt_status status = ctxrt_stack_resync(&report);
    expect(self, CALL_RESYNC, status, model_resync(&self->model, &wanted));
    self->findings[report.finding]++;
    if (report.finding != wanted.finding || report.count != wanted.count)
        differ(self, "found %d (%d), not %d (%d)", report.finding, report.count, wanted.finding,
               wanted.count);
}

static void call_step(actor *self, step_kind kind)
{
    int device = (int)next_random(self, DEVICES);
    bool room = model_has_room(&self->model);
    switch (kind) {
    case CALL_WORK:
        note(self, "work");
        expect(self, kind, work(self), model_work(&self->model));
        break;
    case CALL_SET:
        note(self, "set %d", device);
        if (room)
            expect(self, kind, ctxrt_device_set(CTXRT_CUDA(device)),
                   model_set(&self->model, device));
        break;
    case CALL_PUSH:
        note(self, "push device %d", device);
        if (room)
            expect(self, kind, ctxrt_device_push(CTXRT_CUDA(device)),
                   model_push(&self->model, device, CTXRT_FRAME_PUSH, MODEL_NONE));
        break;
    case CALL_PUSH_CONTEXT:
        note(self, "push context %d", device);
        if (room)
            expect(self, kind, ctxrt_stack_push(self->primaries[device]),
                   model_push(&self->model, device, CTXRT_FRAME_PUSH, MODEL_NONE));
        break;
    case CALL_POP:
        note(self, "pop");
        expect(self, kind, ctxrt_stack_pop(), model_pop(&self->model));
        break;
    case CALL_ENTER:
        if (room)
            enter(self, device);
        break;
    case CALL_LEAVE:
        leave(self);
        break;
    default:
        resync(self);
        break;
    }
}

/* More calls than mischief, or every stack would be beyond explanation. */
static step_kind choose(actor *self)
{
    static const step_kind kinds[] = {
        GUEST_PUSH, GUEST_POP, GUEST_SET,  GUEST_SET,         CALL_WORK, CALL_WORK,  CALL_WORK,
        CALL_SET,   CALL_SET,  CALL_PUSH,  CALL_PUSH_CONTEXT, CALL_POP,  CALL_POP,   CALL_ENTER,
        CALL_LEAVE, CALL_POP,  CALL_LEAVE, CALL_RESYNC,
    };
    if (next_random(self, 64) == 0)
        return GUEST_RENEW;
    return kinds[next_random(self, sizeof kinds / sizeof kinds[0])];
}

/* Back to the empty stack, however it comes about: a scope around all of it is what the library
 * offers. */
static void start_over(actor *self)
{
    while (self->scope_count > 0)
        leave(self);
    for (int i = 0; i < 8 && self->model.frame_count > 0; i++) {
        resync(self);
        while (model_pop(&self->model) == CTXRT_SUCCESS && self->failure[0] == '\0')
            expect(self, CALL_POP, ctxrt_stack_pop(), CTXRT_SUCCESS);
        while (self->model.frame_count > 0 && model_guest_pop(&self->model))
            guest_call(self, GUEST_POP, driver()->ctx_pop(NULL), true);
    }
    while (model_guest_pop(&self->model))
        guest_call(self, GUEST_POP, driver()->ctx_pop(NULL), true);
    compare(self, true);
}

static cxu_result open_guest(actor *self)
{
    cxu_result result = CXU_SUCCESS;
    for (int i = 0; i < DEVICES && result == CXU_SUCCESS; i++)
        result = driver()->primary_retain(&self->natives[i], i + 1);
    for (int i = DEVICES; i < CONTEXTS && result == CXU_SUCCESS; i++) {
        result = driver()->ctx_create_v2(&self->natives[i], 0, 1 + i % DEVICES);
        if (result == CXU_SUCCESS)
            result = driver()->ctx_pop(NULL);
    }
    return result;
}

static void close_guest(actor *self)
{
    for (int i = 0; i < DEVICES; i++)
        (void)driver()->primary_release(i + 1);
    for (int i = DEVICES; i < CONTEXTS; i++)
        (void)driver()->ctx_destroy(self->natives[i]);
}

static void *act(void *argument)
{
    actor *self = argument;
    self->model.policy = self->policy;
    if (open_guest(self) != CXU_SUCCESS)
        differ(self, "the guest could not be opened");
    for (; self->done < self->steps && !atomic_load(&failed); self->done++) {
        step_kind kind = choose(self);
        self->history[self->done % HISTORY][0] = '\0';
        if (kind <= GUEST_RENEW)
            guest_step(self, kind);
        else
            call_step(self, kind);
        compare(self, self->done % 16 == 0);
        if (self->done % 256 == 255)
            start_over(self);
    }
    if (self->failure[0] == '\0')
        start_over(self);
    close_guest(self);
    return NULL;
}

/* ---- the tests ---- */

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text != NULL ? strtoull(text, NULL, 0) : otherwise;
}

static void report_failure(const actor *self)
{
    printf("# thread %d, step %ld: %s\n", self->number, self->done, self->failure);
    for (long i = self->done >= HISTORY ? self->done - HISTORY + 1 : 0; i <= self->done; i++)
        printf("#   %s\n", self->history[i % HISTORY]);
    fflush(stdout);
}

/* Each kind of step is granted and refused, and each finding is found, often enough to mean
 * something. */
static void check_coverage(const actor *actors, ctxrt_foreign_policy policy, long steps)
{
    static const bool may_be_refused[STEP_KINDS] = {
        [GUEST_POP] = true, [CALL_WORK] = true,  [CALL_POP] = true,
        [CALL_LEAVE] = true, [CALL_RESYNC] = true, [CALL_PUSH] = true,
    };
    long least = steps / 10000;
    for (int kind = 0; kind < STEP_KINDS; kind++) {
        long counts[2] = {0, 0};
        for (int i = 0; i < THREADS; i++)
            for (int refused = 0; refused < 2; refused++)
                counts[refused] += actors[i].counts[kind][refused];
        ck_assert_msg(counts[0] > least, "kind %d was granted %ld times", kind, counts[0]);
        ck_assert_msg(!may_be_refused[kind] || counts[1] > least, "kind %d was refused %ld times",
                      kind, counts[1]);
    }
    for (int finding = 0; finding <= CTXRT_RESYNC_AMBIGUOUS; finding++) {
        long count = 0;
        for (int i = 0; i < THREADS; i++)
            count += actors[i].findings[finding];
        ck_assert_msg(count > least / 10, "finding %d was found %ld times (policy %d)", finding,
                      count, policy);
    }
}

static void no_log(ctxrt_log_level level, const char *line, void *argument)
{
    (void)level, (void)line, (void)argument;
}

static void run(ctxrt_foreign_policy policy, long steps)
{
    static actor actors[THREADS];
    pthread_t threads[THREADS];
    uint64_t seed = number_from("CTXRT_TEST_SEED", 1);
    cx_fixture_start_with(DEVICES, policy);
    cx_assert_ok(ctxrt_log_set(no_log, NULL, CTXRT_LOG_OFF));
    printf("# seed %llu, %ld steps\n", (unsigned long long)seed, steps);
    for (int i = 0; i < THREADS; i++) {
        actors[i] = (actor){.number = i,
                            .steps = steps / THREADS,
                            .policy = policy,
                            .random = seed * THREADS + (uint64_t)i};
        for (int device = 0; device < DEVICES; device++)
            cx_assert_ok(
                ctxrt_context_retain_primary(CTXRT_CUDA(device), &actors[i].primaries[device]));
        ck_assert_int_eq(pthread_create(&threads[i], NULL, act, &actors[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        for (int device = 0; device < DEVICES; device++)
            cx_assert_ok(ctxrt_context_release(actors[i].primaries[device]));
        if (actors[i].failure[0] != '\0')
            report_failure(&actors[i]);
    }
    ck_assert(!atomic_load(&failed));
    check_coverage(actors, policy, steps);
    cx_fixture_end();
}

START_TEST(threads_that_share_their_stack_with_a_guest_do_as_the_model_under_follow)
{
    run(CTXRT_FOREIGN_FOLLOW, (long)number_from("CTXRT_TEST_STEPS", STEPS) / 4 * 3);
}
END_TEST

START_TEST(threads_that_share_their_stack_with_a_guest_do_as_the_model_under_error)
{
    run(CTXRT_FOREIGN_ERROR, (long)number_from("CTXRT_TEST_STEPS", STEPS) / 4);
}
END_TEST

static Suite *random_suite(void)
{
    Suite *suite = suite_create("random");
    TCase *tests = tcase_create("random");
    tcase_add_test(tests, threads_that_share_their_stack_with_a_guest_do_as_the_model_under_follow);
    tcase_add_test(tests, threads_that_share_their_stack_with_a_guest_do_as_the_model_under_error);
    suite_add_tcase(suite, tests);
    return suite;
}

CX_TESTS(random_suite);
