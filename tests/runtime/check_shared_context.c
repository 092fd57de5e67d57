/* Contexts that are current on several threads at once. */
#include "device/device.h"
#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

enum { BYTES = 4096 };

static const cx_driver_table *driver;

static void start(void)
{
    cx_fixture_start();
    driver = &cx_drivers[0].table;
}

enum { SHARERS = 8 };

typedef struct shared {
    ctxrt_context *context;
    pthread_barrier_t everywhere, done;
    _Atomic ctxrt_status after[SHARERS];
} shared;

typedef struct sharer {
    shared *all;
    int number;
} sharer;

static void *share(void *argument)
{
    const sharer *self = argument;
    void *pointer;
    cx_assert_ok(ctxrt_stack_push(self->all->context));
    cx_assert_ok(ctxrt_alloc(BYTES, &pointer));
    cx_assert_ok(ctxrt_fill(pointer, self->number, BYTES));
    cx_assert_ok(ctxrt_free(pointer));
    pthread_barrier_wait(&self->all->everywhere);
    pthread_barrier_wait(&self->all->done);
    /* More than the allocator keeps: it must ask the driver. */
    atomic_store(&self->all->after[self->number], ctxrt_alloc((size_t)16 << 20, &pointer));
    if (atomic_load(&self->all->after[self->number]) == CTXRT_SUCCESS)
        cx_assert_ok(ctxrt_free(pointer));
    cx_assert_ok(ctxrt_stack_pop());
    return NULL;
}

static void share_and(shared *all, void (*act)(shared *all))
{
    pthread_t threads[SHARERS];
    sharer each[SHARERS];
    pthread_barrier_init(&all->everywhere, NULL, SHARERS + 1);
    pthread_barrier_init(&all->done, NULL, SHARERS + 1);
    for (int i = 0; i < SHARERS; i++) {
        each[i] = (sharer){all, i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, share, &each[i]), 0);
    }
    pthread_barrier_wait(&all->everywhere);
    act(all);
    pthread_barrier_wait(&all->done);
    for (int i = 0; i < SHARERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all->everywhere);
    pthread_barrier_destroy(&all->done);
}

static void destroy_is_refused(shared *all)
{
    cx_assert_error(ctxrt_context_destroy(all->context), CTXRT_ERROR_IN_USE);
    ck_assert_ptr_nonnull(strstr(ctxrt_last_error()->message, "frame 0 of thread"));
}

static void guest_destroys(shared *all)
{
    CUcontext native;
    cx_assert_ok(ctxrt_context_native(all->context, &native));
    ck_assert_int_eq(driver->ctx_destroy(native), CXU_SUCCESS);
}

START_TEST(a_context_current_on_eight_threads_is_not_destroyed_by_ctxrt)
{
    shared all = {0};
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &all.context));
    share_and(&all, destroy_is_refused);
    for (int i = 0; i < SHARERS; i++)
        ck_assert_int_eq(atomic_load(&all.after[i]), CTXRT_SUCCESS);
    cx_assert_ok(ctxrt_context_destroy(all.context));
}
END_TEST

/* C2: it stays current there, and use says that it is destroyed. */
START_TEST(a_context_that_other_code_destroys_under_eight_threads_is_popped_by_each)
{
    shared all = {0};
    cx_assert_ok(ctxrt_context_create(CTXRT_CUDA(1), 0, &all.context));
    share_and(&all, guest_destroys);
    for (int i = 0; i < SHARERS; i++)
        ck_assert_int_eq(atomic_load(&all.after[i]), CTXRT_ERROR_CONTEXT_DESTROYED);
    cx_assert_ok(ctxrt_context_destroy(all.context));
}
END_TEST

static Suite *shared_context_suite(void)
{
    Suite *suite = suite_create("shared context");
    TCase *tcase = tcase_create("shared context");
    tcase_add_checked_fixture(tcase, start, cx_fixture_end);
    tcase_add_test(tcase, a_context_current_on_eight_threads_is_not_destroyed_by_ctxrt);
    tcase_add_test(tcase, a_context_that_other_code_destroys_under_eight_threads_is_popped_by_each);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(shared_context_suite);
