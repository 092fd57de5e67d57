/* Sections, and the threads that close them. */
#include "base/section.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#define THREADS 4
#define ROUNDS 2000

static cx_section sections[THREADS];
static cx_section own;

/* Two numbers that are equal whenever the sections are open. */
static int one, other;
static atomic_int torn, stop;
static atomic_long entered;

static void *look(void *argument)
{
    cx_section_join(argument);
    while (!atomic_load(&stop)) {
        cx_section_enter();
        cx_section_enter();
        atomic_fetch_add(&torn, one != other);
        cx_section_leave();
        cx_section_leave();
        atomic_fetch_add(&entered, 1);
    }
    cx_section_quit(argument);
    return NULL;
}

static void change_beside_threads(void)
{
    pthread_t threads[THREADS];
    atomic_store(&stop, 0);
    cx_section_join(&own);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look, &sections[i]), 0);
    for (int i = 0; i < ROUNDS; i++) {
        long before = atomic_load(&entered);
        cx_sections_close();
        cx_sections_close(); /* nests */
        one++;
        cx_section_enter(); /* of the thread that closed them */
        other++;
        cx_section_leave();
        cx_sections_open();
        cx_sections_open();
        while (i % 100 == 0 && atomic_load(&entered) == before)
            sched_yield();
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cx_section_quit(&own);
    ck_assert_int_eq(atomic_load(&torn), 0);
}

START_TEST(no_thread_is_in_a_section_while_another_has_closed_them)
{
    cx_barrier_begin();
    change_beside_threads();
}
END_TEST

START_TEST(it_is_so_without_a_barrier_of_the_kernels)
{
    cx_barrier_cheap = false;
    change_beside_threads();
}
END_TEST

typedef struct visit {
    cx_section *section;
    sem_t inside, leave;
    atomic_bool closed;
} visit;

static void *stay(void *argument)
{
    visit *self = argument;
    cx_section_join(self->section);
    cx_section_enter();
    sem_post(&self->inside);
    sem_wait(&self->leave);
    ck_assert(!atomic_load(&self->closed));
    cx_section_leave();
    cx_section_quit(self->section);
    return NULL;
}

static void *close_and_open(void *argument)
{
    visit *self = argument;
    cx_sections_close();
    atomic_store(&self->closed, true);
    cx_sections_open();
    return NULL;
}

START_TEST(who_closes_waits_for_a_thread_that_is_inside)
{
    pthread_t visitor, closer;
    visit self = {.section = &sections[0]};
    cx_barrier_begin();
    ck_assert_int_eq(sem_init(&self.inside, 0, 0), 0);
    ck_assert_int_eq(sem_init(&self.leave, 0, 0), 0);
    ck_assert_int_eq(pthread_create(&visitor, NULL, stay, &self), 0);
    sem_wait(&self.inside);
    ck_assert_int_eq(pthread_create(&closer, NULL, close_and_open, &self), 0);
    while (!atomic_load(&cx_sections_closed))
        sched_yield();
    sem_post(&self.leave);
    pthread_join(visitor, NULL);
    pthread_join(closer, NULL);
    ck_assert(atomic_load(&self.closed));
}
END_TEST

static void *end_inside(void *argument)
{
    cx_section_join(argument);
    cx_section_enter();
    return NULL;
}

START_TEST(a_thread_that_was_found_dead_is_in_no_section)
{
    pthread_t dead;
    cx_barrier_begin();
    ck_assert_int_eq(pthread_create(&dead, NULL, end_inside, &sections[0]), 0);
    pthread_join(dead, NULL);
    cx_section_quit(&sections[0]);
    cx_sections_close();
    cx_sections_open();
}
END_TEST

static Suite *section_suite(void)
{
    Suite *suite = suite_create("section");
    TCase *tcase = tcase_create("section");
    tcase_add_test(tcase, no_thread_is_in_a_section_while_another_has_closed_them);
    tcase_add_test(tcase, it_is_so_without_a_barrier_of_the_kernels);
    tcase_add_test(tcase, who_closes_waits_for_a_thread_that_is_inside);
    tcase_add_test(tcase, a_thread_that_was_found_dead_is_in_no_section);
    suite_add_tcase(suite, tcase);
    return suite;
}

CX_TESTS(section_suite);
